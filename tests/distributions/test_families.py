"""Every family beside PyTorch's: densities, moments and their gradients in float64, shapes, checks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import special, stats

import funtorch
from funtorch import distributions

QUANTILES = np.array([0.1, 0.5, 0.93])


def test_every_family_is_in_the_table(listed: Any):
    bases = {"Distribution", "ExponentialFamily"}
    classes = {n for n in distributions.__all__ if isinstance(getattr(distributions, n), type)}
    families = {n for n in classes if issubclass(getattr(distributions, n), distributions.Distribution)}
    assert families - bases == {f.name for f in listed}


def with_gradients(lib: Any, tensors: dict, result: Any) -> list:
    """The result, and the gradients of a weighted sum of it."""
    wanted = [t for t in tensors.values() if t.requires_grad]
    if not result.requires_grad:
        return [result]
    weights = lib.tensor(np.cos(np.arange(result.numel(), dtype=np.float64)).reshape(tuple(result.shape)))
    total = (lib.where(lib.isfinite(result), result, 0.0) * weights).sum()
    grads = lib.autograd.grad(total, wanted, allow_unused=True)
    return [result, *(lib.zeros_like(t) if g is None else g for g, t in zip(grads, wanted, strict=True))]


def test_log_prob(family: Any, same: Any):
    def run(lib: Any) -> list:
        tensors = family.tensors(lib, grad=True)
        value = lib.tensor(family.value.astype(family.dtype) if family.value.dtype.kind == "f" else family.value)
        if family.value.dtype.kind == "f" and family.name not in (
            "OneHotCategorical",
            "OneHotCategoricalStraightThrough",
            "Wishart",
        ):
            tensors["value"] = value.requires_grad_()
        d = family.make(lib, {k: v for k, v in tensors.items() if k != "value"})
        return with_gradients(lib, tensors, d.log_prob(value))

    same(run, family.tolerance)


@pytest.mark.parametrize("name", ["mean", "mode", "variance", "stddev"])
def test_moments(family: Any, same: Any, name: str):
    if (family.name, name) != ("Kumaraswamy", "mode"):  # see below
        same(lambda lib: getattr(family.make(lib), name), max(family.tolerance, 1e-7))


def test_mode_of_kumaraswamy():
    """PyTorch's is always NaN."""
    a, b = funtorch.tensor([2.0, 3.0, 0.5]), funtorch.tensor([2.0, 1.5, 2.0])
    d = distributions.Kumaraswamy(a, b)
    grid = funtorch.linspace(0.001, 0.999, 999).unsqueeze(-1)
    best = grid[d.log_prob(grid).argmax(0), 0]
    np.testing.assert_allclose(d.mode[:2].numpy(), best[:2].numpy(), atol=1e-3)
    assert d.mode[2].isnan()


def test_chances_that_are_none():
    """PyTorch checks those of a ContinuousBernoulli when it is asked to, and moves them off 0 and 1."""
    assert distributions.ContinuousBernoulli(funtorch.tensor(1.5)).probs < 1
    with pytest.raises(ValueError, match="invalid values: 1.5"):
        distributions.ContinuousBernoulli(funtorch.tensor(1.5), validate_args=True)


def tolerance_of_entropy(family: Any) -> float:
    """The log-gamma of an integer count is float32, and XLA's is off by some units in the last place."""
    return 2e-6 if family.name == "Multinomial" else family.tolerance


@pytest.mark.parametrize("name", ["entropy", "perplexity"])
def test_entropy(family: Any, same: Any, name: str):
    same(lambda lib: getattr(family.make(lib), name)(), tolerance_of_entropy(family))


def test_gradient_of_entropy(family: Any, same: Any):
    def run(lib: Any) -> list:
        tensors = family.tensors(lib, grad=True)
        return with_gradients(lib, tensors, family.make(lib, tensors).entropy())

    same(run, tolerance_of_entropy(family))


def test_cdf_and_icdf(family: Any, same: Any):
    tolerance = 1e-6 if family.name in ("Gamma", "Chi2") else family.tolerance  # PyTorch's own incomplete gamma function
    same(lambda lib: family.make(lib).cdf(lib.tensor(family.value.astype(family.dtype))), tolerance)
    shape = (3,) if family.name != "MixtureSameFamily" else (3, 2)
    quantiles = np.broadcast_to(QUANTILES, shape[::-1]).T.copy() if len(shape) > 1 else QUANTILES
    same(lambda lib: family.make(lib).icdf(lib.tensor(quantiles.astype(family.dtype))), family.tolerance)


def test_gradient_of_cdf(family: Any, same: Any):
    def run(lib: Any) -> list:
        tensors = family.tensors(lib, grad=True)
        found = family.make(lib, tensors).cdf(lib.tensor(family.value.astype(family.dtype)))
        return with_gradients(lib, tensors, found)

    if family.name not in ("Gamma", "Chi2", "InverseGamma"):  # which PyTorch can't differentiate
        same(run, family.tolerance)


def test_gradient_of_the_cdf_of_gamma():
    """By differences of SciPy's."""
    a, x = (funtorch.tensor(v, dtype=funtorch.float64, requires_grad=True) for v in (1.7, 2.3))
    found = funtorch.autograd.grad(distributions.Gamma(a, 1.0).cdf(x), (a, x))
    slope = (special.gammainc(1.7 + 1e-5, 2.3) - special.gammainc(1.7 - 1e-5, 2.3)) / 2e-5
    np.testing.assert_allclose([float(f) for f in found], [slope, stats.gamma(1.7).pdf(2.3)], rtol=1e-7)


def test_shapes_support_and_flags(family: Any, same: Any):
    def run(lib: Any) -> list:
        d = family.make(lib)
        support = (
            repr(d.support).replace("\n", "") if family.name not in ("Uniform", "Pareto", "Binomial", "GeneralizedPareto") else ""
        )
        flags = [d.has_rsample, d.has_enumerate_support]
        return [tuple(d.batch_shape), tuple(d.event_shape), *flags, repr(d), support, d.support.event_dim, d.support.is_discrete]

    same(run)


def test_expand(family: Any, same: Any):
    def run(lib: Any) -> list:
        d = family.make(lib)
        wide = d.expand((4, *d.batch_shape))
        again = wide.expand((2, *wide.batch_shape))
        moments = (
            []
            if family.name in ("LKJCholesky", "LogisticNormal", "TransformedDistribution") or "Relaxed" in family.name
            else [again.mean]
        )
        value = lib.tensor(family.value.astype(family.dtype) if family.value.dtype.kind == "f" else family.value)
        return [
            type(wide) is type(d),
            tuple(again.batch_shape),
            tuple(again.event_shape),
            again.log_prob(value),
            *moments,
            repr(wide),
        ]

    same(run, family.tolerance)


def test_enumerate_support(family: Any, same: Any):
    same(lambda lib: [family.make(lib).enumerate_support(expand) for expand in (False, True)])


def test_invalid_parameters(family: Any, both: Any):
    for name, bad in family.invalid.items():

        def run(lib: Any, name: str = name, bad: Any = bad) -> Any:
            tensors = family.tensors(lib)
            tensors[name] = lib.tensor(bad) if isinstance(bad, int) else lib.tensor(np.array(bad, np.float64))
            return family.make(lib, tensors)

        theirs, ours = both(run)
        assert theirs is ours
        # W W^T + D is factored first
        assert ours is (RuntimeError if name == "cov_diag" else ValueError)


def test_unchecked_parameters(family: Any, same: Any):
    """Parts of a distribution and factorisations may refuse even so."""
    for name, bad in family.invalid.items():

        def run(lib: Any, name: str = name, bad: Any = bad) -> bool:
            family.make(lib, {**family.tensors(lib), name: lib.tensor(np.array(bad, np.float64))}, validate_args=False)
            return True

        same(run)


def test_values_outside_of_the_support(family: Any, both: Any):
    if family.outside is None:
        return

    def run(lib: Any) -> Any:
        like = family.value.dtype if family.value.dtype.kind == "i" else family.dtype
        return family.make(lib).log_prob(lib.tensor(np.array(family.outside, like)))

    theirs, ours = both(run)
    assert theirs is ours is ValueError


def test_values_of_another_shape(family: Any, both: Any):
    for shape in ((7,), (7, 7, 7)):

        def run(lib: Any, shape: tuple = shape) -> Any:
            return family.make(lib).log_prob(lib.tensor(np.zeros(shape, family.dtype)))

        theirs, ours = both(run)
        if isinstance(theirs, type):
            assert issubclass(ours, theirs) or ours is ValueError


def test_the_float32_default(family: Any, same: Any):
    """Numbers as parameters make Tensors of the default dtype, and results keep float32."""

    def run(lib: Any) -> Any:
        d = family.make(lib, family.tensors(lib, "float32"))
        value = lib.tensor(family.value if family.value.dtype.kind == "i" else family.value.astype("float32"))
        return str(d.log_prob(value).dtype), str(d.sample().dtype)

    same(run)


@pytest.mark.parametrize(
    "name", ["Normal", "Laplace", "Cauchy", "Gumbel", "LogNormal", "Beta", "Gamma", "Uniform", "Weibull", "Pareto"]
)
def test_numbers_as_parameters(name: str, same: Any):
    def run(lib: Any) -> list:
        d = getattr(lib.distributions, name)(0.5, 2.0)
        return [tuple(d.batch_shape), d.mean, d.log_prob(lib.tensor(0.75)), repr(d)]

    same(run, 1e-5)


def test_matrices_that_are_not_positive_definite(same: Any):
    """Unchecked, their logarithm is NaN or infinite; infinite ones have no factor."""
    value = np.array([[-1.0, 0.0], [0.0, 2.0]])
    same(
        lambda lib: lib.distributions.Wishart(lib.tensor(3.0).double(), lib.eye(2).double(), validate_args=False).log_prob(
            lib.tensor(value)
        )
    )
    same(lambda lib: lib.distributions.MultivariateNormal(lib.zeros(2), lib.full((2, 2), np.inf)))
    same(lambda lib: lib.distributions.Wishart(lib.tensor(np.nan), lib.eye(2)))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_the_variance_of_a_half(dtype: str, same: Any):
    same(lambda lib: str(lib.distributions.StudentT(lib.tensor([0.5, 1.5, 4.0], dtype=getattr(lib, dtype))).variance.dtype))


def test_chances_of_far_log_odds(same: Any):
    """They are kept off 0 and 1, where the formulas are not finite."""

    def run(lib: Any) -> list:
        d = lib.distributions.ContinuousBernoulli(logits=lib.tensor([-1e4, -60.0, 60.0, 1e4], dtype=lib.float64))
        return [d.probs, d.mean, d.variance, d.entropy(), d.log_prob(lib.tensor(0.25, dtype=lib.float64))]

    same(run)


VALUES: dict[str, Any] = {
    "bool": lambda lib: lib.distributions.OneHotCategorical(lib.tensor([0.2, 0.8])).log_prob(lib.tensor([False, True])),
    "int": lambda lib: lib.distributions.Binomial(3, logits=lib.tensor([-1, 0, 2])).log_prob(lib.tensor([0.0, 1.0, 3.0])),
    "wider": lambda lib: lib.distributions.MultivariateNormal(lib.zeros(2), lib.eye(2)).log_prob(lib.ones(2).double()),
    "wider temperature": lambda lib: lib.distributions.RelaxedOneHotCategorical(
        lib.tensor([0.5]).double(), lib.tensor([0.2, 0.8])
    ).log_prob(lib.tensor([0.5, 0.5])),
}


@pytest.mark.parametrize("name", VALUES)
def test_other_dtypes(name: str, same: Any):
    same(lambda lib: VALUES[name](lib), 1e-6)
