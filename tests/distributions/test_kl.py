"""Every pair that has a divergence, beside PyTorch's, with its gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import funtorch
from funtorch.distributions import kl

MATRIX = np.array([[2.0, 0.3], [0.3, 1.0]])


def _t(lib: Any, *values: Any) -> Any:
    return lib.tensor(np.array(values, np.float64))


# Two of each, as functions of a library; the parameters of the first are differentiated.
P: dict[str, Any] = {
    "Bernoulli": (lambda d, a: d.Bernoulli(a), (0.2, 0.7), lambda d, t: d.Bernoulli(t(0.9, 0.7))),
    "Beta": (lambda d, a: d.Beta(a, 2.0), (0.8, 3.0), lambda d, t: d.Beta(t(1.5, 0.7), t(2.5, 0.9))),
    "Binomial": (lambda d, a: d.Binomial(4, a), (0.2, 0.7), lambda d, t: d.Binomial(4, t(0.9, 0.7))),
    "Categorical": (lambda d, a: d.Categorical(logits=a), (0.2, 0.7, -1.0), lambda d, t: d.Categorical(t(1.0, 2.0, 3.0))),
    "Cauchy": (lambda d, a: d.Cauchy(a, 1.5), (0.2, 0.7), lambda d, t: d.Cauchy(t(0.9, 0.7), t(0.5, 2.0))),
    "ContinuousBernoulli": (lambda d, a: d.ContinuousBernoulli(a), (0.2, 0.4995), lambda d, t: d.ContinuousBernoulli(t(0.9, 0.5))),
    "Dirichlet": (lambda d, a: d.Dirichlet(a), (0.2, 0.7, 3.0), lambda d, t: d.Dirichlet(t(0.9, 1.0, 2.0))),
    "Exponential": (lambda d, a: d.Exponential(a), (0.2, 1.7), lambda d, t: d.Exponential(t(0.9, 1.0))),
    "Gamma": (lambda d, a: d.Gamma(a, 1.3), (0.2, 1.7), lambda d, t: d.Gamma(t(0.9, 1.5), t(2.0, 0.5))),
    "Geometric": (lambda d, a: d.Geometric(a), (0.2, 0.7), lambda d, t: d.Geometric(t(0.9, 0.5))),
    "Gumbel": (lambda d, a: d.Gumbel(a, 1.3), (0.2, 1.7), lambda d, t: d.Gumbel(t(0.9, 1.5), t(2.0, 0.5))),
    "HalfNormal": (lambda d, a: d.HalfNormal(a), (0.2, 1.7), lambda d, t: d.HalfNormal(t(0.9, 1.0))),
    "Independent": (lambda d, a: d.Independent(d.Normal(a, 1.0), 1), (0.2, 1.7), lambda d, t: d.Independent(d.Normal(t(0.9, 1.0), 2.0), 1)),
    "Laplace": (lambda d, a: d.Laplace(a, 1.3), (0.2, 1.7), lambda d, t: d.Laplace(t(0.9, 1.5), t(2.0, 0.5))),
    "LowRankMultivariateNormal": (
        lambda d, a: d.LowRankMultivariateNormal(a, a.new_tensor([[1.0], [0.5]]), a.new_tensor([0.3, 2.0])), (0.2, 1.7),
        lambda d, t: d.LowRankMultivariateNormal(t(0.9, 1.5), t([2.0], [1.0]), t(1.0, 0.5)),
    ),
    "MultivariateNormal": (
        lambda d, a: d.MultivariateNormal(a, a.new_tensor(MATRIX.tolist())), (0.2, 1.7),
        lambda d, t: d.MultivariateNormal(t([0.9, 1.5], [0.0, 1.0]), scale_tril=t([2.0, 0.0], [0.4, 1.0])),
    ),
    "Normal": (lambda d, a: d.Normal(a, 1.3), (0.2, 1.7), lambda d, t: d.Normal(t(0.9, 1.5), t(2.0, 0.5))),
    "OneHotCategorical": (lambda d, a: d.OneHotCategorical(logits=a), (0.2, 0.7, -1.0), lambda d, t: d.OneHotCategorical(t(1.0, 2.0, 3.0))),
    "Pareto": (lambda d, a: d.Pareto(a, 2.5), (1.2, 1.7), lambda d, t: d.Pareto(t(1.1, 1.9), t(0.7, 3.0))),
    "Poisson": (lambda d, a: d.Poisson(a), (0.2, 1.7), lambda d, t: d.Poisson(t(0.9, 3.0))),
    "TransformedDistribution": (lambda d, a: d.LogNormal(a, 1.3), (0.2, 1.7), lambda d, t: d.LogNormal(t(0.9, 1.5), t(2.0, 0.5))),
    "Uniform": (lambda d, a: d.Uniform(a, a + 0.5), (0.2, 0.4), lambda d, t: d.Uniform(t(0.0, 0.3), t(1.0, 1.5))),
}  # fmt: skip
# PyTorch says that ContinuousBernoulli is outside of a Uniform whose ends are just 0 and 1.
UNIFORM = lambda d, t: d.Uniform(t(-0.5, 0.3), t(1.5, 1.5))  # noqa: E731
PAIRS = sorted({(p.__name__, q.__name__) for p, q in torch.distributions.kl._KL_REGISTRY} - {("ExponentialFamily",) * 2})


def test_the_pairs_are_those_of_pytorch():
    assert {(p.__name__, q.__name__) for p, q in kl._KL_REGISTRY} == {*PAIRS, ("ExponentialFamily",) * 2}


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_divergence(first: str, second: str, same: Any):
    make_p, values, _ = P[first]
    make_q = UNIFORM if (first, second) == ("ContinuousBernoulli", "Uniform") else P[second][2]

    def run(lib: Any) -> list:
        a = _t(lib, *values).requires_grad_()
        found = lib.distributions.kl_divergence(make_p(lib.distributions, a), make_q(lib.distributions, lambda *v: _t(lib, *v)))
        if not found.requires_grad or not bool(lib.isfinite(found).any()):
            return [found]
        total = found.masked_fill(~lib.isfinite(found), 0.0)
        return [found, *lib.autograd.grad((total * total).sum(), a)]

    found = same(run, 1e-7)
    assert isinstance(found, list), found


def test_a_continuous_bernoulli_is_inside_of_the_unit_interval():
    d = funtorch.distributions
    p = d.ContinuousBernoulli(funtorch.tensor(0.2))
    assert d.kl_divergence(p, d.Uniform(0.0, 1.0)).allclose(-p.entropy())
    assert d.kl_divergence(p, d.Uniform(0.1, 1.0)).isinf()


FAMILIES = {
    "Normal": lambda d, t, k: d.Normal(t(0.2 + k), t(1.0 + k)),
    "Gamma": lambda d, t, k: d.Gamma(t(0.2 + k), t(1.0 + k)),
    "Beta": lambda d, t, k: d.Beta(t(0.2 + k), t(1.0 + k)),
    "Dirichlet": lambda d, t, k: d.Dirichlet(t(0.2 + k, 1.0)),
    "Exponential": lambda d, t, k: d.Exponential(t(0.2 + k)),
    "Bernoulli": lambda d, t, k: d.Bernoulli(t(0.2 + k / 2)),
    "Poisson": lambda d, t, k: d.Poisson(t(0.2 + k)),
    "ContinuousBernoulli": lambda d, t, k: d.ContinuousBernoulli(t(0.2 + k / 2)),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_divergence_and_entropy_by_bregman(name: str):
    """The general forms for exponential families agree with the particular ones; and have gradients, unlike PyTorch's."""
    d = funtorch.distributions
    p, q = (FAMILIES[name](d, lambda *v: _t(funtorch, *v), k) for k in (0.1, 0.9))
    general = kl._KL_REGISTRY[d.ExponentialFamily, d.ExponentialFamily]
    np.testing.assert_allclose(general(p, q).numpy(), d.kl_divergence(p, q).numpy(), rtol=1e-6)
    if name not in ("Beta", "Dirichlet", "Poisson"):  # whose mean of k is not known
        np.testing.assert_allclose(d.ExponentialFamily.entropy(p).numpy().squeeze(), p.entropy().numpy().squeeze(), rtol=1e-6)


def test_entropy_by_bregman_has_a_gradient():
    rate = funtorch.tensor(2.0, requires_grad=True)
    funtorch.distributions.ExponentialFamily.entropy(funtorch.distributions.Exponential(rate)).backward()
    assert float(rate.grad) == pytest.approx(-0.5)


def test_what_has_no_divergence(both: Any):
    cases = [
        lambda d: d.kl_divergence(d.Normal(0.0, 1.0), d.Cauchy(0.0, 1.0)),
        lambda d: d.kl_divergence(d.Chi2(1.0), d.Poisson(1.0)),
        lambda d: d.kl_divergence(d.Independent(d.Normal(0.0, 1.0), 0), d.Normal(0.0, 1.0)),
        lambda d: d.kl_divergence(d.Binomial(2, d.Bernoulli(0.5).probs), d.Binomial(3, d.Bernoulli(0.5).probs)),
        lambda d: d.kl_divergence(d.LogNormal(0.0, 1.0), d.HalfCauchy(1.0)),
    ]
    for case in cases:
        theirs, ours = both(lambda lib, case=case: case(lib.distributions))
        assert theirs is ours is NotImplementedError


def test_event_shapes_must_agree():
    d = funtorch.distributions
    with pytest.raises(ValueError, match="different event shapes"):
        d.kl_divergence(
            d.MultivariateNormal(funtorch.zeros(2), funtorch.eye(2)), d.MultivariateNormal(funtorch.zeros(3), funtorch.eye(3))
        )


def test_registering():
    d = funtorch.distributions

    class A(d.Normal): ...

    class B(A): ...

    try:
        d.register_kl(A, d.Normal)(lambda p, q: "A, Normal")
        d.register_kl(d.Normal, B)(lambda p, q: "Normal, B")
        assert d.kl_divergence(B(0.0, 1.0), d.Normal(0.0, 1.0)) == "A, Normal"
        assert d.kl_divergence(d.Normal(0.0, 1.0), B(0.0, 1.0)) == "Normal, B"
        with pytest.warns(RuntimeWarning, match="Ambiguous"):
            assert d.kl_divergence(A(0.0, 1.0), B(0.0, 1.0)) == "A, Normal"
        with pytest.raises(TypeError, match="expected subclasses"):
            d.register_kl(int, A)
    finally:
        for pair in ((A, d.Normal), (d.Normal, B)):
            kl._KL_REGISTRY.pop(pair, None)
        kl._KL_MEMOIZE.clear()


def test_the_divergence_of_a_batch_is_that_of_each():
    """(PyTorch adds the parts of Wishart's degrees of freedom up over the batch.)"""
    d, v, counts = funtorch.distributions, funtorch.eye(2), funtorch.tensor([3.0, 4.5])
    together = d.kl_divergence(d.Wishart(counts, v), d.Wishart(funtorch.tensor(4.0), 2 * v))
    each = [d.kl_divergence(d.Wishart(n, v), d.Wishart(funtorch.tensor(4.0), 2 * v)).item() for n in counts]
    assert together.tolist() == pytest.approx(each)
    assert min(each) > 0
