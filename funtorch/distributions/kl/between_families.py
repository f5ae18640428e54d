"""Divergences between families: KL(p || q) = -H(p) - E_p[log q(x)], from moments of p."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import funtorch as torch

from ...tensor import Tensor
from ..bernoulli import Bernoulli
from ..beta import Beta
from ..binomial import Binomial
from ..continuous_bernoulli import ContinuousBernoulli
from ..distribution import Distribution
from ..exponential import Exponential
from ..gamma import Gamma
from ..gumbel import Gumbel
from ..laplace import Laplace
from ..normal import Normal
from ..pareto import Pareto
from ..poisson import Poisson
from ..uniform import Uniform
from ..utils import euler_constant
from .registry import register_kl

Moment = dict[type, Callable]


def _uniform_log(low: Tensor, high: Tensor) -> Tensor:
    """The mean of log x over [low, high]: of x log x - x, the difference over the width."""
    return (torch.xlogy(high, high) - torch.xlogy(low, low)) / (high - low) - 1


# E[log x]
LOG: Moment = {
    Beta: lambda p: torch.digamma(p.concentration1) - torch.digamma(p.concentration1 + p.concentration0),
    Exponential: lambda p: -p.rate.log() - euler_constant,
    Gamma: lambda p: torch.digamma(p.concentration) - p.rate.log(),
    Pareto: lambda p: p.scale.log() + p.alpha.reciprocal(),
    Uniform: lambda p: _uniform_log(p.low, p.high),
}

# log E[exp(-(x - m) / s)]
LOG_DECAY: Moment = {
    Exponential: lambda p, m, s: m / s - torch.log1p((p.rate * s).reciprocal()),
    Gamma: lambda p, m, s: m / s - p.concentration * torch.log1p((p.rate * s).reciprocal()),
    Gumbel: lambda p, m, s: torch.lgamma(1 + p.scale / s) - (p.loc - m) / s,
    Normal: lambda p, m, s: (p.scale / s).pow(2) / 2 - (p.loc - m) / s,
    Uniform: lambda p, m, s: (m - p.low) / s + (-torch.expm1((p.low - p.high) / s) * s / (p.high - p.low)).log(),
}


def _normal_distance(p: Normal, m: Tensor) -> Tensor:
    off = (p.loc - m) / p.scale
    return p.scale * (math.sqrt(2 / math.pi) * torch.exp(-off.pow(2) / 2) + off * torch.erf(off / math.sqrt(2)))


def _laplace_distance(p: Laplace, m: Tensor) -> Tensor:
    off = (p.loc - m).abs()
    return off + p.scale * torch.exp(-off / p.scale)


# E|x - m|
DISTANCE: Moment = {Laplace: _laplace_distance, Normal: _normal_distance}


def _in_beta(p: Any, q: Beta) -> Tensor:
    a, b = q.concentration1, q.concentration0
    upper = _uniform_log(1 - p.high, 1 - p.low)
    return (a - 1) * _find(LOG, p)(p) + (b - 1) * upper - torch.lgamma(a) - torch.lgamma(b) + torch.lgamma(a + b)


def _in_gamma(p: Any, q: Gamma) -> Tensor:
    a, r = q.concentration, q.rate
    return torch.xlogy(a, r) - torch.lgamma(a) + (a - 1) * _find(LOG, p)(p) - r * p.mean


def _in_gumbel(p: Any, q: Gumbel) -> Tensor:
    decay = torch.exp(_find(LOG_DECAY, p)(p, q.loc, q.scale))
    return -q.scale.log() - (p.mean - q.loc) / q.scale - decay


def _find(moments: Moment, p: Any) -> Callable:
    return next(moments[kind] for kind in type(p).__mro__ if kind in moments)


# E_p[log q(x)], by q, of a p inside of q's support
EXPECTED_LOG: Moment = {
    Beta: _in_beta,
    ContinuousBernoulli: lambda p, q: p.mean * q.logits + torch.log1p(-q.probs) + q._cont_bern_log_norm(),
    Exponential: lambda p, q: q.rate.log() - q.rate * p.mean,
    Gamma: _in_gamma,
    Gumbel: _in_gumbel,
    Laplace: lambda p, q: -(2 * q.scale).log() - _find(DISTANCE, p)(p, q.loc) / q.scale,
    Normal: lambda p, q: -0.5 * (2 * math.pi * q.variance).log() - (p.variance + (p.mean - q.loc).pow(2)) / (2 * q.variance),
    Pareto: lambda p, q: q.alpha.log() + q.alpha * q.scale.log() - (q.alpha + 1) * _find(LOG, p)(p),
    Poisson: lambda p, q: p.mean * q.rate.log() - q.rate,  # of a p that is 0 or 1
    Uniform: lambda p, q: -(q.high - q.low).log(),
}

UNIT = (Beta, ContinuousBernoulli)

# For each q, the p that are inside of its support always, and those which may be.
INSIDE: dict[type, tuple[type, ...]] = {
    Exponential: (*UNIT, Gamma, Pareto),
    Gamma: (Beta, Exponential, Pareto),
    Gumbel: (Exponential, Gamma, Gumbel, Normal, Uniform),
    Laplace: (Laplace, Normal),
    Normal: (*UNIT, Exponential, Gamma, Gumbel, Laplace, Pareto, Uniform),
    ContinuousBernoulli: (Beta,),
    Poisson: (Bernoulli,),
}
PERHAPS: dict[tuple[type, type], Callable] = {
    (Beta, Uniform): lambda p, q: (q.low > 0) | (q.high < 1),
    (ContinuousBernoulli, Uniform): lambda p, q: (q.low > 0) | (q.high < 1),
    (Uniform, Beta): lambda p, q: (p.low < 0) | (p.high > 1),
    (Uniform, ContinuousBernoulli): lambda p, q: (p.low < 0) | (p.high > 1),
    (Uniform, Exponential): lambda p, q: p.low < 0,
    (Uniform, Gamma): lambda p, q: p.low < 0,
    (Uniform, Pareto): lambda p, q: p.low < q.scale,
}

# For each p, the q outside of whose support it has values.
OUTSIDE: dict[type, tuple[type, ...]] = {
    **dict.fromkeys(UNIT, (Pareto,)),
    **dict.fromkeys((Exponential, Gamma), (*UNIT, Pareto, Uniform)),
    **dict.fromkeys((Gumbel, Laplace, Normal), (*UNIT, Exponential, Gamma, Pareto, Uniform)),
    Pareto: (*UNIT, Uniform),
    Poisson: (Bernoulli, Binomial),
}


def _inside(p: Distribution, q: Distribution) -> Tensor:
    return -p.entropy() - _find(EXPECTED_LOG, q)(p, q)


def _perhaps(outside: Callable) -> Callable:
    return lambda p, q: torch.where(outside(p, q), torch.inf, _inside(p, q))


def _infinite(p: Distribution, q: Distribution) -> Tensor:
    like = p.mean
    shape = torch.broadcast_shapes(p.batch_shape, q.batch_shape)
    return torch.full(shape, torch.inf, dtype=like.dtype, device=like.device)


for _q, _kinds in INSIDE.items():
    for _p in _kinds:
        register_kl(_p, _q)(_inside)
for (_p, _q), _where in PERHAPS.items():
    register_kl(_p, _q)(_perhaps(_where))
for _p, _kinds in OUTSIDE.items():
    for _q in _kinds:
        register_kl(_p, _q)(_infinite)
