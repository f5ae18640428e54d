"""Batch and event shapes beside PyTorch's, where parameters, transforms and values broadcast."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest


def _t(lib: Any, *shape: int, positive: bool = False) -> Any:
    values = np.random.default_rng(sum(shape) + 7).standard_normal(shape)
    return lib.tensor(np.abs(values) + 0.3 if positive else values)


def _roots(lib: Any, *batch: int) -> Any:
    return _t(lib, *batch, 3, 3).tril(-1) + lib.diag_embed(_t(lib, *batch, 3, positive=True))


CASES: dict[str, Any] = {
    "normal": lambda d, t, lib: (d.Normal(t(4, 1), t(3, positive=True)), t(2, 4, 3)),
    "normal of one": lambda d, t, lib: (d.Normal(t(1), t(1, positive=True)), t(5, 1)),
    "normal, no batch": lambda d, t, lib: (d.Normal(t(), t(positive=True)), t(5, 2)),
    "beta": lambda d, t, lib: (d.Beta(t(2, 1, positive=True), t(3, positive=True)), t(4, 2, 3).sigmoid()),
    "gamma": lambda d, t, lib: (d.Gamma(t(2, 1, positive=True), 2.0), t(4, 2, 3, positive=True)),
    "categorical": lambda d, t, lib: (d.Categorical(logits=t(2, 1, 3)), lib.tensor([[0, 2, 1], [1, 1, 0]])),
    "categorical, one value": lambda d, t, lib: (d.Categorical(logits=t(2, 4, 3)), lib.tensor(2)),
    "categorical, values": lambda d, t, lib: (d.Categorical(logits=t(3)), lib.tensor([[0, 2, 1], [1, 1, 0]])),
    "binomial": lambda d, t, lib: (d.Binomial(lib.tensor([[5], [9]]), logits=t(3)), lib.tensor([1.0, 2.0, 3.0])),
    "multinomial": lambda d, t, lib: (d.Multinomial(3, logits=t(2, 1, 3)), lib.tensor([[1.0, 2.0, 0.0]])),
    "independent": lambda d, t, lib: (d.Independent(d.Normal(t(4, 2, 3), 1.0), 2), t(5, 1, 2, 3)),
    "independent of none": lambda d, t, lib: (d.Independent(d.Normal(t(4, 2), 1.0), 0), t(2)),
    "independent mvn": lambda d, t, lib: (d.Independent(d.MultivariateNormal(t(4, 3), scale_tril=_roots(lib)), 1), t(2, 4, 3)),
    "mvn": lambda d, t, lib: (d.MultivariateNormal(t(3), scale_tril=_roots(lib, 2)), t(5, 2, 3)),
    "mvn, wide loc": lambda d, t, lib: (d.MultivariateNormal(t(4, 1, 3), scale_tril=_roots(lib, 2)), t(5, 4, 2, 3)),
    "mvn, one value": lambda d, t, lib: (d.MultivariateNormal(t(4, 3), scale_tril=_roots(lib, 4)), t(3)),
    "mvn, no batch": lambda d, t, lib: (d.MultivariateNormal(t(3), scale_tril=_roots(lib)), t(6, 5, 3)),
    "mvn, values of ones": lambda d, t, lib: (d.MultivariateNormal(t(4, 2, 3), scale_tril=_roots(lib, 2)), t(1, 2, 3)),
    "low rank": lambda d, t, lib: (d.LowRankMultivariateNormal(t(2, 1, 3), t(3, 2), t(4, 3, positive=True)), t(5, 2, 4, 3)),
    "low rank, no batch": lambda d, t, lib: (d.LowRankMultivariateNormal(t(3), t(3, 2), t(3, positive=True)), t(5, 3)),
    "wishart": lambda d, t, lib: (d.Wishart(t(4, positive=True) + 3, scale_tril=_roots(lib)), _roots(lib, 2, 4) @ _roots(lib, 2, 4).mT),
    "mixture": lambda d, t, lib: (d.MixtureSameFamily(d.Categorical(logits=t(3)), d.Normal(t(3), 1.0)), t(5, 2)),
    "mixture of vectors": lambda d, t, lib: (
        d.MixtureSameFamily(d.Categorical(logits=t(4, 2)), d.MultivariateNormal(t(4, 2, 3), scale_tril=_roots(lib))), t(5, 4, 3)
    ),
    "transform makes a batch": lambda d, t, lib: (d.TransformedDistribution(d.Normal(t(), 1.0), [d.AffineTransform(t(3), 2.0)]), t(2, 3)),
    "transform widens": lambda d, t, lib: (
        d.TransformedDistribution(d.Normal(t(2, 1), 1.0), [d.AffineTransform(0.5, t(3, positive=True))]), t(4, 2, 3)
    ),
    "transform of events": lambda d, t, lib: (
        d.TransformedDistribution(d.Normal(t(2, 3), 1.0), [d.ExpTransform(), d.AffineTransform(t(3), 1.0, event_dim=1)]), t(4, 2, 3, positive=True) + 4
    ),
    "transform of an independent": lambda d, t, lib: (
        d.TransformedDistribution(d.Independent(d.Normal(t(2, 3), 1.0), 1), [d.ExpTransform()]), t(2, 3, positive=True)
    ),
    "reshaped": lambda d, t, lib: (d.TransformedDistribution(d.Normal(t(2, 4), 1.0), [d.ReshapeTransform((4,), (2, 2))]), t(5, 2, 2, 2)),
    "shares": lambda d, t, lib: (d.TransformedDistribution(d.Normal(t(2, 3), 1.0), d.StickBreakingTransform()), t(2, 4).softmax(-1)),
    "no transform": lambda d, t, lib: (d.TransformedDistribution(d.Normal(t(2), 1.0), []), t(2)),
    "nested": lambda d, t, lib: (
        d.TransformedDistribution(d.LogNormal(t(2), 1.0), [d.AffineTransform(0.0, t(3, 1, positive=True))]), t(3, 2, positive=True)
    ),
    "logistic normal": lambda d, t, lib: (d.LogisticNormal(t(2, 3), 1.0), t(5, 2, 4).softmax(-1)),
    "gumbel": lambda d, t, lib: (d.Gumbel(t(2, 1), t(3, positive=True)), t(2, 3)),
    "pareto": lambda d, t, lib: (d.Pareto(t(2, 1, positive=True), t(3, positive=True)), t(2, 3, positive=True) + 3),
    "relaxed": lambda d, t, lib: (d.RelaxedOneHotCategorical(lib.tensor(0.5), logits=t(2, 3)), t(4, 2, 3).softmax(-1)),
    "relaxed, temperatures": lambda d, t, lib: (d.RelaxedBernoulli(t(3, positive=True), logits=t(3)), t(4, 3).sigmoid()),
    "lkj": lambda d, t, lib: (d.LKJCholesky(3, t(2, 4, positive=True)), lib.eye(3, dtype=lib.float64).expand(4, 3, 3)),
    "uniform": lambda d, t, lib: (d.Uniform(t(2, 1), t(3, positive=True) + 5), t(2, 3) + 3),
    "student": lambda d, t, lib: (d.StudentT(t(2, 1, positive=True), t(3)), t(4, 2, 3)),
}  # fmt: skip

# What has a mean.
MEANS = [
    n
    for n in CASES
    if not n.startswith(("transform", "reshaped", "shares", "no transform", "nested", "logistic", "relaxed", "lkj"))
]


def _made(name: str, lib: Any) -> tuple:
    return CASES[name](lib.distributions, lambda *shape, positive=False: _t(lib, *shape, positive=positive), lib)


@pytest.mark.parametrize("name", CASES)
def test_shapes_densities_and_samples(name: str, same: Any):
    def run(lib: Any) -> list:
        made, value = _made(name, lib)
        lib.manual_seed(1)
        drawn = made.sample((2,)) if name not in ("lkj", "wishart") else lib.zeros(1)
        support = made.support
        return [
            tuple(made.batch_shape),
            tuple(made.event_shape),
            made.log_prob(value),
            drawn,
            support.event_dim,
            support.check(value),
        ]

    # The log-gamma of an integer count is float32, and XLA's is off by some units in the last place.
    found = same(run, 2e-6 if name == "binomial" else 1e-7)
    assert isinstance(found, list), found


@pytest.mark.parametrize("name", CASES)
def test_expanded(name: str, same: Any):
    def run(lib: Any) -> list:
        made, _ = _made(name, lib)
        wide = made.expand((2, *made.batch_shape))
        lib.manual_seed(1)
        drawn = wide.sample() if name not in ("lkj", "wishart") else lib.zeros(1)
        return [tuple(wide.batch_shape), tuple(wide.event_shape), drawn, wide.mean if name in MEANS else 0]

    same(run, 1e-7)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("name", ["Normal", "Laplace", "Uniform", "Exponential", "Gumbel", "LogNormal", "Cauchy", "HalfNormal"])
def test_half_precision(name: str, dtype: str, same: Any):
    def run(lib: Any) -> list:
        kind = getattr(lib, dtype)
        parameters = [lib.tensor([0.5, 1.0], dtype=kind), lib.tensor([1.5, 3.0], dtype=kind)]
        made = getattr(lib.distributions, name)(*parameters[: 1 if name in ("Exponential", "HalfNormal") else 2])
        found = [made.log_prob(lib.tensor([1.25, 1.5], dtype=kind)), made.mean, made.sample(), made.rsample((2,))]
        return [str(found[0].dtype), *(v.float() for v in found[:2]), *(str(v.dtype) for v in found[2:])]

    same(run, 4e-2)
