"""Divergences within a family."""

from __future__ import annotations

import funtorch as torch

from ...errors import MissingError
from ...tensor import Tensor
from ..bernoulli import Bernoulli
from ..beta import Beta
from ..binomial import Binomial
from ..categorical import Categorical
from ..cauchy import Cauchy
from ..continuous_bernoulli import ContinuousBernoulli
from ..dirichlet import Dirichlet
from ..exp_family import ExponentialFamily
from ..exponential import Exponential
from ..gamma import Gamma
from ..geometric import Geometric
from ..half_normal import HalfNormal
from ..independent import Independent
from ..normal import Normal
from ..one_hot_categorical import OneHotCategorical
from ..pareto import Pareto
from ..poisson import Poisson
from ..transformed_distribution import TransformedDistribution
from ..uniform import Uniform
from ..utils import _sum_rightmost
from .registry import kl_divergence, register_kl


def _weighed(chance: Tensor, log_ratio: Tensor, impossible: Tensor) -> Tensor:
    """chance * log_ratio, with 0 log 0 = 0, and infinite where q has no chance."""
    never = chance == 0
    terms = chance * torch.where(never | impossible, 0.0, log_ratio)
    return torch.where(impossible & ~never, torch.inf, terms)


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Bernoulli, q: Bernoulli) -> Tensor:
    softplus = torch.nn.functional.softplus
    one = _weighed(p.probs, softplus(-q.logits) - softplus(-p.logits), q.probs == 0)
    return one + _weighed(1 - p.probs, softplus(q.logits) - softplus(p.logits), q.probs == 1)


@register_kl(Categorical, Categorical)
def _categorical(p: Categorical, q: Categorical) -> Tensor:
    return _weighed(p.probs, p.logits - q.logits, q.probs == 0).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot(p: OneHotCategorical, q: OneHotCategorical) -> Tensor:
    return _categorical(p._categorical, q._categorical)


@register_kl(Binomial, Binomial)
def _binomial(p: Binomial, q: Binomial) -> Tensor:
    if bool((p.total_count < q.total_count).any()):
        raise MissingError("KL between Binomials where q.total_count > p.total_count is not implemented")
    each = p.probs * (p.logits - q.logits) + torch.log1p(-p.probs) - torch.log1p(-q.probs)
    return torch.where(p.total_count > q.total_count, torch.inf, p.total_count * each)


@register_kl(Geometric, Geometric)
def _geometric(p: Geometric, q: Geometric) -> Tensor:
    return -p.entropy() - torch.log1p(-q.probs) / p.probs - q.logits


@register_kl(Poisson, Poisson)
def _poisson(p: Poisson, q: Poisson) -> Tensor:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Normal, Normal)
def _normal(p: Normal, q: Normal) -> Tensor:
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p: HalfNormal, q: HalfNormal) -> Tensor:
    return _normal(p.base_dist, q.base_dist)


@register_kl(Exponential, Exponential)
def _exponential(p: Exponential, q: Exponential) -> Tensor:
    ratio = q.rate / p.rate
    return ratio - 1 - ratio.log()


@register_kl(Gamma, Gamma)
def _gamma(p: Gamma, q: Gamma) -> Tensor:
    a, b = p.concentration, q.concentration
    of_shapes = torch.lgamma(b) - torch.lgamma(a) + (a - b) * torch.digamma(a)
    return of_shapes + b * (p.rate / q.rate).log() + (q.rate - p.rate) * (a / p.rate)


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Dirichlet, q: Dirichlet) -> Tensor:
    a, b = p.concentration, q.concentration
    total = a.sum(-1)
    normalizers = (torch.lgamma(b) - torch.lgamma(a)).sum(-1) + torch.lgamma(total) - torch.lgamma(b.sum(-1))
    return normalizers + ((a - b) * (torch.digamma(a) - torch.digamma(total).unsqueeze(-1))).sum(-1)


@register_kl(Beta, Beta)
def _beta(p: Beta, q: Beta) -> Tensor:
    return _dirichlet(p._dirichlet, q._dirichlet)


@register_kl(Cauchy, Cauchy)
def _cauchy(p: Cauchy, q: Cauchy) -> Tensor:
    """Chyzak and Nielsen, 2019."""
    return ((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)).log() - (4 * p.scale * q.scale).log()


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli(p: ContinuousBernoulli, q: ContinuousBernoulli) -> Tensor:
    of_p = p._cont_bern_log_norm() + torch.log1p(-p.probs)
    return p.mean * (p.logits - q.logits) + of_p - q._cont_bern_log_norm() - torch.log1p(-q.probs)


@register_kl(Pareto, Pareto)
def _pareto(p: Pareto, q: Pareto) -> Tensor:
    ratio = q.alpha / p.alpha
    found = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return torch.where(p.scale < q.scale, torch.inf, found)


@register_kl(Uniform, Uniform)
def _uniform(p: Uniform, q: Uniform) -> Tensor:
    found = ((q.high - q.low) / (p.high - p.low)).log()
    return torch.where((q.low > p.low) | (q.high < p.high), torch.inf, found)


@register_kl(ExponentialFamily, ExponentialFamily)
def _exponential_family(p: ExponentialFamily, q: ExponentialFamily) -> Tensor:
    """Bregman's divergence of the log normaliser F: F(q) - F(p) - <q - p, dF(p)>."""
    if type(p) is not type(q):
        raise MissingError(
            "The cross KL-divergence between different exponential families cannot be computed using Bregman divergences"
        )
    ours, theirs = p._natural_params, q._natural_params
    slopes = torch.func.grad(lambda *t: p._log_normalizer(*t).sum(), argnums=tuple(range(len(ours))))(*ours)
    result = q._log_normalizer(*theirs) - p._log_normalizer(*ours)
    for a, b, slope in zip(ours, theirs, slopes, strict=True):
        # A parameter's own dimensions, which may be fewer than an event's: the degrees of freedom of a Wishart are numbers.
        result = result - _sum_rightmost((b - a) * slope, max(a.dim() - len(p.batch_shape), 0))
    return result


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p: TransformedDistribution, q: TransformedDistribution) -> Tensor:
    """That of the bases, if the transforms are the same: they lose nothing."""
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise MissingError("kl_divergence(): the two are transformed by different transforms, or to different shapes")
    return _sum_rightmost(kl_divergence(p.base_dist, q.base_dist), len(p.event_shape) - len(p.base_dist.event_shape))


@register_kl(Independent, Independent)
def _independent(p: Independent, q: Independent) -> Tensor:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise MissingError("kl_divergence(): the two Independents reinterpret different numbers of dimensions")
    return _sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)
