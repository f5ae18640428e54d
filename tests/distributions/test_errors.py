"""What is refused: with the class of PyTorch's exception, and in the same words but for the cases below."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import funtorch

CASES: dict[str, Any] = {
    "scale": lambda d, t: d.Normal(0.0, -1.0),
    "scales": lambda d, t: d.Normal(t([0.0, 1.0]), t([1.0, -1.0])),
    "no number": lambda d, t: d.Normal("a", 1.0),
    "shapes": lambda d, t: d.Normal(t([0.0, 1.0]), t([1.0, 2.0, 3.0])),
    "beta": lambda d, t: d.Beta(t(-1.0), t(1.0)),
    "bernoulli, none": lambda d, t: d.Bernoulli(),
    "bernoulli, both": lambda d, t: d.Bernoulli(0.5, 0.5),
    "categorical, none": lambda d, t: d.Categorical(),
    "categorical, no dimension": lambda d, t: d.Categorical(t(1.0)),
    "categorical, logits": lambda d, t: d.Categorical(logits=t(1.0)),
    "binomial": lambda d, t: d.Binomial(),
    "binomial, count": lambda d, t: d.Binomial(t(-1), t(0.5)),
    "geometric": lambda d, t: d.Geometric(),
    "geometric, zero": lambda d, t: d.Geometric(0.0),
    "negative binomial": lambda d, t: d.NegativeBinomial(1.0),
    "continuous bernoulli": lambda d, t: d.ContinuousBernoulli(),
    "relaxed": lambda d, t: d.RelaxedBernoulli(t(1.0)),
    "relaxed one-hot": lambda d, t: d.RelaxedOneHotCategorical(t(1.0)),
    "dirichlet": lambda d, t: d.Dirichlet(t(1.0)),
    "multinomial": lambda d, t: d.Multinomial(t([1]), t([1.0])),
    "multinomial, negative": lambda d, t: d.Multinomial(-1, t([1.0])),
    "uniform": lambda d, t: d.Uniform(1.0, 0.0),
    "mvn, loc": lambda d, t: d.MultivariateNormal(t(0.0), t([[1.0]])),
    "mvn, none": lambda d, t: d.MultivariateNormal(t([0.0])),
    "mvn, covariance": lambda d, t: d.MultivariateNormal(t([0.0]), t([1.0])),
    "mvn, scale_tril": lambda d, t: d.MultivariateNormal(t([0.0]), scale_tril=t([1.0])),
    "mvn, precision": lambda d, t: d.MultivariateNormal(t([0.0]), precision_matrix=t([1.0])),
    "mvn, not symmetric": lambda d, t: d.MultivariateNormal(t([0.0, 0.0]), t([[1.0, 0.5], [0.0, 1.0]])),
    "low rank, loc": lambda d, t: d.LowRankMultivariateNormal(t(0.0), t([1.0]), t(1.0)),
    "low rank, factor": lambda d, t: d.LowRankMultivariateNormal(t([0.0]), t([1.0]), t([1.0])),
    "low rank, factor's size": lambda d, t: d.LowRankMultivariateNormal(t([0.0]), t([[1.0], [1.0]]), t([1.0])),
    "low rank, diagonal": lambda d, t: d.LowRankMultivariateNormal(t([0.0]), t([[1.0]]), t([1.0, 1.0])),
    "wishart, none": lambda d, t: d.Wishart(t(3.0)),
    "wishart, two": lambda d, t: d.Wishart(t(3.0), t([[1.0]]), t([[1.0]])),
    "wishart, df": lambda d, t: d.Wishart(t(1.0), t([[1.0, 0.0], [0.0, 1.0]])),
    "wishart, vector": lambda d, t: d.Wishart(t(3.0), t([1.0])),
    "lkj": lambda d, t: d.LKJCholesky(1),
    "independent": lambda d, t: d.Independent(d.Normal(0.0, 1.0), 1),
    "mixture": lambda d, t: d.MixtureSameFamily(1, 2),
    "mixture, component": lambda d, t: d.MixtureSameFamily(d.Categorical(t([1.0, 1.0])), 2),
    "mixture, count": lambda d, t: d.MixtureSameFamily(d.Categorical(t([1.0, 1.0, 1.0])), d.Normal(t([0.0, 1.0]), 1.0)),
    "mixture, batch": lambda d, t: d.MixtureSameFamily(d.Categorical(t([[1.0]] * 3)), d.Normal(t([[0.0]] * 2), 1.0)),
    "value, number": lambda d, t: d.Normal(0.0, 1.0).log_prob(1.0),
    "value, outside": lambda d, t: d.Beta(1.0, 1.0).log_prob(t(2.0)),
    "values, outside": lambda d, t: d.Exponential(1.0).log_prob(t([2.0, -1.0])),
    "value, event": lambda d, t: d.Dirichlet(t([1.0, 1.0])).log_prob(t([1.0, 1.0, 1.0])),
    "value, batch": lambda d, t: d.Normal(t([0.0, 1.0]), 1.0).log_prob(t([0.0, 1.0, 2.0])),
    "value, cdf": lambda d, t: d.HalfNormal(1.0).cdf(t(-1.0)),
    "value, transformed cdf": lambda d, t: d.Weibull(1.0, 1.0).cdf(t(-1.0)),
    "counts": lambda d, t: d.Multinomial(2, t([1.0, 1.0])).log_prob(t([3.0, 0.0])),
    "counts differ": lambda d, t: d.Binomial(t([1, 2]), t([0.5, 0.5])).enumerate_support(),
    "counts differ, entropy": lambda d, t: d.Binomial(t([1, 2]), t([0.5, 0.5])).entropy(),
    "independent, enumerate": lambda d, t: d.Independent(d.Bernoulli(t([0.5])), 1).enumerate_support(),
    "kl": lambda d, t: d.kl_divergence(d.Normal(0.0, 1.0), d.Cauchy(0.0, 1.0)),
    "registry": lambda d, t: d.biject_to(d.constraints.boolean),
    "registry, class": lambda d, t: d.biject_to.register(int, int),
    "transform, cache": lambda d, t: d.transforms.Transform(3),
    "transform, reshape": lambda d, t: d.ReshapeTransform((2,), (3,)),
    "transform, triangle": lambda d, t: d.CorrCholeskyTransform().forward_shape((4,)),
    "transform, dimensions": lambda d, t: d.IndependentTransform(d.ExpTransform(), 1)(t(1.0)),
    "transformed": lambda d, t: d.TransformedDistribution(d.Normal(0.0, 1.0), 3),
    "transformed, list": lambda d, t: d.TransformedDistribution(d.Normal(0.0, 1.0), [3]),
    "transformed, event": lambda d, t: d.TransformedDistribution(d.Normal(0.0, 1.0), [d.StickBreakingTransform()]),
    "rsample": lambda d, t: d.Bernoulli(0.5).rsample(),
    "icdf": lambda d, t: d.Gamma(1.0, 1.0).icdf(t(0.5)),
    "poisson's entropy": lambda d, t: d.Poisson(1.0).entropy(),
    "expand": lambda d, t: d.Normal(t([0.0, 1.0]), 1.0).expand((3,)),
    "integers": lambda d, t: d.Normal(t(1), t(1)).sample(),
    "triangle": lambda d, t: d.utils.vec_to_tril_matrix(t([1.0, 2.0])),
    "diagonal": lambda d, t: d.utils.tril_matrix_to_vec(t([[1.0]]), 2),
    "default": lambda d, t: d.Distribution.set_default_validate_args(3),
}
# Said otherwise: where PyTorch says nothing, names its own package, or says it in words of its operators.
OWN_WORDS = (
    "beta", "multinomial, negative", "rsample", "icdf", "poisson's entropy", "expand", "integers", "default", "wishart, df", "wishart, vector",
)  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_refused(name: str):
    errors = []
    for lib in (torch, funtorch):
        with pytest.raises(Exception) as raised:
            CASES[name](lib.distributions, lib.tensor)
        errors.append(raised)
    theirs, ours = errors
    kind = next(k for k in theirs.type.__mro__ if k.__module__ == "builtins")
    assert isinstance(ours.value, kind), f"torch raises {theirs.value!r}, funtorch {ours.value!r}"
    said, expected = (" ".join(str(e.value).split()) for e in (ours, theirs))
    assert said
    if name not in OWN_WORDS:
        assert said == expected
