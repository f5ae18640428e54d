"""Draws from the same seed as PyTorch's, their shapes, and gradients through them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import torch
from scipy import special, stats

import funtorch
from funtorch import distributions as d

SHAPES = ((), (7,), (2, 9))
# PyTorch's pathwise derivatives of gamma and beta numbers are approximations of three digits.
APPROXIMATE = ("Beta", "Chi2", "Dirichlet", "FisherSnedecor", "Gamma", "InverseGamma", "StudentT", "Wishart")


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_samples_are_those_of_pytorch(family: Any, same: Any, shape: tuple, dtype: str):
    def run(lib: Any) -> list:
        lib.manual_seed(3)
        made = family.make(lib, family.tensors(lib, dtype))
        first, second = made.sample(shape), made.sample(shape)
        assert not first.requires_grad
        return [first, second, lib.rand(2)]  # the last says that as many numbers were drawn

    if family.name != "LKJCholesky":  # see below
        same(run, 1e-9 if dtype == "float64" else 2e-5)


def test_gradients_of_samples(family: Any, same: Any):
    """Through 30 draws from the same seed."""

    def run(lib: Any) -> Any:
        tensors = family.tensors(lib, grad=True)
        lib.manual_seed(3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # PyTorch can't differentiate the numbers of a Wishart that it has drawn again.
            options = {"max_try_correction": 0} if family.name == "Wishart" else {}
            z = family.make(lib, tensors).rsample((30,), **options)
        weights = lib.tensor(np.cos(np.arange(z.numel(), dtype=family.dtype)).reshape(tuple(z.shape)))
        wanted = [t for t in tensors.values() if t.requires_grad]
        grads = lib.autograd.grad((z * weights).sum(), wanted, allow_unused=True)
        return [lib.zeros_like(t) if g is None else g for g, t in zip(grads, wanted, strict=True)]

    same(run, 5e-3 if family.name in APPROXIMATE else max(family.tolerance, 1e-7))


@pytest.mark.parametrize("a", [0.02, 0.3, 1.0, 7.0, 400.0])
@pytest.mark.parametrize("share", [0.01, 0.4, 0.9, 0.999])
def test_pathwise_derivative_of_gamma_numbers(a: float, share: float):
    """The derivative of a quantile by the concentration, and its own derivatives: differences of SciPy's quantiles."""

    def quantile(a: float) -> float:
        return special.gammaincinv(a, share)

    z = quantile(a)
    if z < 1e-200:
        return
    slope = torch_slope = (quantile(a * (1 + 1e-5)) - quantile(a * (1 - 1e-5))) / (2e-5 * a)
    ours = funtorch._standard_gamma_grad(funtorch.tensor(a, dtype=funtorch.float64), funtorch.tensor(z, dtype=funtorch.float64))
    np.testing.assert_allclose(float(ours), slope, rtol=1e-5)
    theirs = torch._standard_gamma_grad(torch.tensor(a, dtype=torch.float64), torch.tensor(z, dtype=torch.float64))
    np.testing.assert_allclose(float(theirs), torch_slope, rtol=2e-3)


@pytest.mark.parametrize(("a", "b"), [(0.05, 0.3), (0.7, 3.0), (20.0, 0.4), (2e3, 5e2), (1.0, 1.0)])
@pytest.mark.parametrize("share", [0.01, 0.4, 0.9, 0.999])
def test_pathwise_derivative_of_beta_numbers(a: float, b: float, share: float):
    def below(a: float) -> float:
        return special.betainc(a, b, x)

    x = special.betaincinv(a, b, share)
    if not 1e-200 < x < 1 - 1e-12:
        return
    h = 1e-4 * a
    slope = (below(a - 2 * h) - 8 * below(a - h) + 8 * below(a + h) - below(a + 2 * h)) / (12 * h)
    expected = -slope / stats.beta.pdf(x, a, b) / (1 - x)
    arguments = [funtorch.tensor(v, dtype=funtorch.float64) for v in (x, a, a + b)]
    np.testing.assert_allclose(float(funtorch._dirichlet_grad(*arguments)), expected, rtol=1e-7)


@pytest.mark.parametrize(
    ("make", "x0"),
    [(lambda a: d.Gamma(a, 1.0), 2.3), (lambda a: d.Beta(a, 1.5), 1.2), (lambda a: d.Dirichlet(funtorch.stack([a, 2 * a])), 0.7)],
)
def test_second_derivatives_of_samples(make: Any, x0: float):
    """Which PyTorch does not have: differences of first ones at the same quantile."""

    def slope(a: Any, drawn: Any) -> Any:
        name = "_standard_gamma_grad" if type(make(a)) is d.Gamma else "_dirichlet_grad"
        total = {"Beta": a + 1.5, "Dirichlet": 3 * a}.get(type(make(a)).__name__)
        if name == "_standard_gamma_grad":
            return funtorch._standard_gamma_grad(a, drawn)
        return funtorch._dirichlet_grad(drawn, a, total) * (1 - drawn)

    a = funtorch.tensor(x0, dtype=funtorch.float64, requires_grad=True)
    funtorch.manual_seed(0)
    drawn = make(a).rsample().reshape(-1)[0]
    (first,) = funtorch.autograd.grad(drawn, a, create_graph=True)
    (second,) = funtorch.autograd.grad(first, a)
    if type(make(a)) is d.Dirichlet:  # both concentrations move: take the derivative of the derivative by itself
        assert second.isfinite()
        return
    step = 1e-5
    shares = {d.Gamma: (special.gammainc, special.gammaincinv), d.Beta: (None, None)}[type(make(a))]
    if type(make(a)) is d.Gamma:
        share = shares[0](x0, drawn.item())
        moved = [special.gammaincinv(x0 + s * step, share) for s in (-1, 1)]
    else:
        share = special.betainc(x0, 1.5, drawn.item())
        moved = [special.betaincinv(x0 + s * step, 1.5, share) for s in (-1, 1)]
    ends = [
        float(slope(funtorch.tensor(x0 + s * step, dtype=funtorch.float64), funtorch.tensor(z, dtype=funtorch.float64)))
        for s, z in zip((-1, 1), moved, strict=True)
    ]
    np.testing.assert_allclose(first.item(), slope(a, drawn).item(), rtol=1e-10)
    np.testing.assert_allclose(second.item(), (ends[1] - ends[0]) / (2 * step), rtol=1e-4)


LAWS = [
    (d.Gamma(0.4, 2.0), stats.gamma(0.4, scale=0.5)),
    (d.Beta(0.5, 2.0), stats.beta(0.5, 2.0)),
    (d.StudentT(3.0), stats.t(3.0)),
    (d.VonMises(0.5, 2.0), stats.vonmises(2.0, loc=0.5)),
    (d.FisherSnedecor(3.0, 7.0), stats.f(3.0, 7.0)),
    (d.InverseGamma(3.0, 2.0), stats.invgamma(3.0, scale=2.0)),
    (d.Kumaraswamy(2.0, 1.0), stats.beta(2.0, 1.0)),
    (d.HalfNormal(2.0), stats.halfnorm(scale=2.0)),
    (d.GeneralizedPareto(1.0, 2.0, 0.3), stats.genpareto(0.3, loc=1.0, scale=2.0)),
    (d.Weibull(2.0, 1.5), stats.weibull_min(1.5, scale=2.0)),
]


@pytest.mark.parametrize(("ours", "law"), LAWS, ids=lambda v: type(v).__name__)
def test_samples_follow_the_law(ours: Any, law: Any):
    funtorch.manual_seed(1)
    values = ours.sample((4000,)).numpy()
    if isinstance(ours, d.VonMises):
        values = (values - 0.5 + np.pi) % (2 * np.pi) - np.pi + 0.5
    assert stats.kstest(values, law.cdf).pvalue > 1e-3


def test_wishart_samples_have_the_right_mean():
    funtorch.manual_seed(0)
    v = funtorch.tensor([[1.0, 0.3], [0.3, 2.0]])
    wishart = d.Wishart(funtorch.tensor(4.0), v)
    np.testing.assert_allclose(wishart.sample((5000,)).mean(0).numpy(), (4 * v).numpy(), atol=0.25)


def test_lkj_samples_of_two_dimensions_are_those_of_pytorch(same: Any):
    def run(lib: Any) -> Any:
        lib.manual_seed(0)
        return lib.distributions.LKJCholesky(2, lib.tensor([0.5, 3.0])).sample((5,))

    same(run, 1e-5)


@pytest.mark.parametrize(("row", "column"), [(1, 0), (2, 0), (2, 1), (3, 2)])
def test_lkj_samples_follow_the_law(row: int, column: int):
    """A correlation is 2 x - 1 for x of beta law, both concentrations eta + (n - 2) / 2. (PyTorch's samples don't.)"""
    funtorch.manual_seed(0)
    factors = d.LKJCholesky(4, 1.5).sample((4000,))
    assert d.constraints.corr_cholesky.check(factors).all()
    correlations = (factors @ factors.mT)[:, row, column].numpy()
    assert stats.kstest((correlations + 1) / 2, stats.beta(2.5, 2.5).cdf).pvalue > 1e-3


def test_no_gradient_where_there_is_none(family: Any, same: Any):
    same(lambda lib: family.make(lib).rsample().requires_grad)


def test_sample_n_is_deprecated():
    with pytest.warns(FutureWarning, match="sample_n"):
        assert d.Normal(0.0, 1.0).sample_n(3).shape == (3,)


def test_a_category_without_weight_is_never_drawn():
    drawn = d.Categorical(logits=funtorch.tensor([0.0, float("-inf"), 1.0])).sample((20000,))
    assert not (drawn == 1).any()
    assert abs(float((drawn == 2).float().mean()) - 0.7311) < 0.02
