"""The families, with parameters and values at which PyTorch's and funtorch's are compared."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import torch

import funtorch

LIBS = {"torch": torch, "funtorch": funtorch}


@pytest.fixture(autouse=True)
def oracle_checks_its_arguments():
    """PyTorch's default, which its compiler switches off for the whole process when another test has used it."""
    torch.distributions.Distribution.set_default_validate_args(True)


def numbers(value: Any) -> Any:
    """The values of Tensors of either library, in lists too."""
    if isinstance(value, (tuple, list)):
        return [numbers(v) for v in value]
    return value.detach().numpy() if isinstance(value, (torch.Tensor, funtorch.Tensor)) else value


@dataclass
class Family:
    """A family with parameters that are differentiated, and values of its support."""

    name: str
    parameters: dict[str, np.ndarray]
    value: np.ndarray
    options: dict[str, Any] = field(default_factory=dict)
    build: Callable | None = None  # of a library and its Tensors, where the class itself does not do it
    invalid: dict[str, Any] = field(default_factory=dict)
    outside: Any = None  # a value that is outside of the support
    tolerance: float = 1e-8
    dtype: str = "float64"

    def tensors(self, lib: Any, dtype: str | None = None, grad: bool = False) -> dict[str, Any]:
        dtype = dtype or self.dtype
        made = {k: lib.tensor(v.astype(dtype) if v.dtype.kind == "f" else v) for k, v in self.parameters.items()}
        return {k: v.requires_grad_() if grad and v.dtype.is_floating_point else v for k, v in made.items()}

    def make(self, lib: Any, tensors: dict[str, Any] | None = None, **named: Any) -> Any:
        tensors = self.tensors(lib) if tensors is None else tensors
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if self.build:
                return self.build(lib, tensors)
            return getattr(lib.distributions, self.name)(**tensors, **self.options, **named)

    def __str__(self) -> str:
        return "-".join([self.name, *self.parameters]) + ("".join(f"-{k}" for k in self.options))


def of(*values: Any) -> np.ndarray:
    return np.array(values, np.float64)


RNG = np.random.default_rng(0)
POSITIVE, REAL = of(0.3, 1.2, 4.5), of(-1.5, 0.2, 2.0)
CHANCES = of(0.05, 0.5, 0.9)
WEIGHTS = of([1, 2, 5], [3, 0.5, 1])
LOGITS = of([0.3, -1.0, 2.0], [0.0, 0.1, -0.4])
SPREAD = RNG.standard_normal((3, 3))
COVARIANCE = SPREAD @ SPREAD.T + np.eye(3)
ROOT = np.linalg.cholesky(COVARIANCE)
VECTORS = RNG.standard_normal((2, 3))
UNIT = of(0.1, 0.55, 0.97)
SIMPLEX = of([0.2, 0.3, 0.5], [0.7, 0.1, 0.2])
FACTOR = RNG.standard_normal((2, 3, 2))
COUNTS = of(0, 1, 3)
LOC_SCALE = {"loc": REAL, "scale": POSITIVE}


def _independent(lib: Any, t: dict) -> Any:
    return lib.distributions.Independent(lib.distributions.Normal(t["loc"], t["scale"]), 1)


def _mixture(lib: Any, t: dict) -> Any:
    d = lib.distributions
    return d.MixtureSameFamily(d.Categorical(logits=t["logits"]), d.Normal(t["loc"], t["scale"]))


def _vector_mixture(lib: Any, t: dict) -> Any:
    d = lib.distributions
    return d.MixtureSameFamily(d.Categorical(probs=t["probs"]), d.Independent(d.Normal(t["loc"], 1.0), 1))


def _wishart(lib: Any, t: dict) -> Any:
    # Below the diagonal, since PyTorch's gradient by what stands above is not zero, though nothing depends on it.
    return lib.distributions.Wishart(t["df"], scale_tril=t["scale_tril"].tril())


def _transformed(lib: Any, t: dict) -> Any:
    d = lib.distributions
    return d.TransformedDistribution(d.Normal(t["loc"], t["scale"]), [d.TanhTransform(), d.AffineTransform(1.0, -2.0)])


FAMILIES = [
    Family("Bernoulli", {"probs": CHANCES}, of(0, 1, 1), invalid={"probs": 1.5}, outside=0.5),
    Family("Bernoulli", {"logits": REAL}, of(0, 1, 1), invalid={"logits": np.nan}),
    Family("Beta", {"concentration1": POSITIVE, "concentration0": POSITIVE[::-1].copy()}, UNIT, invalid={"concentration1": 0.0}, outside=2.0),
    Family("Binomial", {"probs": CHANCES}, COUNTS, {"total_count": 5}, invalid={"probs": -0.1}, outside=6.0),
    Family("Binomial", {"logits": REAL, "total_count": np.array([3, 4, 9])}, COUNTS, invalid={"total_count": -1}),
    Family("Categorical", {"probs": WEIGHTS}, np.array([0, 2]), invalid={"probs": WEIGHTS - 2.5}, outside=3),
    Family("Categorical", {"logits": LOGITS}, np.array([1, 0]), invalid={"logits": LOGITS * np.nan}),
    Family("Cauchy", LOC_SCALE, REAL[::-1].copy(), invalid={"scale": -1.0}, outside=np.nan),
    Family("Chi2", {"df": POSITIVE}, POSITIVE, invalid={"df": 0.0}, outside=-1.0),
    Family("ContinuousBernoulli", {"probs": of(0.05, 0.4995, 0.9)}, UNIT, outside=2.0),
    Family("ContinuousBernoulli", {"logits": REAL}, UNIT, invalid={"logits": np.nan}),
    Family("Dirichlet", {"concentration": WEIGHTS}, SIMPLEX, invalid={"concentration": -WEIGHTS}, outside=[0.5, 0.1, 0.1]),
    Family("Exponential", {"rate": POSITIVE}, POSITIVE, invalid={"rate": 0.0}, outside=-1.0),
    Family("FisherSnedecor", {"df1": POSITIVE, "df2": of(1.0, 3.0, 7.0)}, POSITIVE, invalid={"df1": -1.0}, outside=-1.0),
    Family("Gamma", {"concentration": POSITIVE, "rate": of(2.0, 0.5, 1.0)}, POSITIVE, invalid={"rate": 0.0}, outside=-1.0),
    Family("GeneralizedPareto", {**LOC_SCALE, "concentration": of(0.3, 0.0, -0.2)}, of(-1.0, 1.0, 3.0), invalid={"scale": 0.0}, outside=-9.0, tolerance=1e-5, dtype="float32"),
    Family("Geometric", {"probs": CHANCES}, COUNTS, invalid={"probs": 0.0}, outside=-1.0),
    Family("Geometric", {"logits": REAL}, COUNTS, invalid={"logits": np.nan}),
    Family("Gumbel", LOC_SCALE, REAL[::-1].copy(), invalid={"scale": 0.0}, outside=np.nan),
    Family("HalfCauchy", {"scale": POSITIVE}, POSITIVE, invalid={"scale": 0.0}, outside=-1.0),
    Family("HalfNormal", {"scale": POSITIVE}, POSITIVE, invalid={"scale": 0.0}, outside=-1.0),
    Family("Independent", {"loc": VECTORS, "scale": POSITIVE}, VECTORS + 0.5, build=_independent),
    Family("InverseGamma", {"concentration": of(0.7, 1.8, 3.0), "rate": POSITIVE}, POSITIVE, invalid={"rate": -1.0}, outside=-1.0),
    Family("Kumaraswamy", {"concentration1": of(0.7, 2, 3), "concentration0": of(3.0, 2, 1.5)}, UNIT, invalid={"concentration1": 0.0}, outside=2.0),
    Family("LKJCholesky", {"concentration": of(0.5, 3.0)}, np.linalg.cholesky(of([1, 0.3, 0.1], [0.3, 1, -0.5], [0.1, -0.5, 1])), {"dim": 3}, invalid={"concentration": -1.0}, outside=2 * np.eye(3)),
    Family("Laplace", LOC_SCALE, REAL[::-1].copy(), invalid={"scale": 0.0}, outside=np.nan),
    Family("LogNormal", LOC_SCALE, POSITIVE, invalid={"scale": 0.0}, outside=-1.0),
    Family("LogisticNormal", {"loc": REAL[:2], "scale": POSITIVE[:2]}, SIMPLEX, invalid={"scale": of(0, 1)}, outside=[1.0, 1.0, 1.0]),
    Family("LowRankMultivariateNormal", {"loc": VECTORS, "cov_factor": FACTOR, "cov_diag": POSITIVE}, VECTORS + 1, invalid={"cov_diag": -POSITIVE}, outside=[np.nan] * 3),
    Family("MixtureSameFamily", {"logits": LOGITS, "loc": of(0, 1, 2), "scale": POSITIVE}, of(0.3, -0.5), build=lambda lib, t: _mixture(lib, {**t, "loc": t["loc"].expand(2, 3)})),
    Family("MixtureSameFamily", {"probs": WEIGHTS[0], "loc": SPREAD}, VECTORS, build=_vector_mixture),
    Family("Multinomial", {"probs": WEIGHTS}, of([1, 0, 3], [2, 2, 0]), {"total_count": 4}, invalid={"probs": WEIGHTS - 2.5}, outside=[5.0, 0.0, 0.0]),
    Family("Multinomial", {"logits": LOGITS}, of([1, 0, 3], [2, 2, 0]), {"total_count": 4}),
    Family("MultivariateNormal", {"loc": VECTORS, "covariance_matrix": COVARIANCE}, VECTORS + 1, invalid={"covariance_matrix": -COVARIANCE}, outside=[np.nan] * 3),
    Family("MultivariateNormal", {"loc": VECTORS, "precision_matrix": COVARIANCE}, VECTORS + 1, invalid={"precision_matrix": -COVARIANCE}),
    Family("MultivariateNormal", {"loc": VECTORS, "scale_tril": ROOT}, VECTORS + 1, invalid={"scale_tril": -ROOT}),
    Family("NegativeBinomial", {"total_count": of(0.5, 2, 3), "probs": CHANCES}, COUNTS, invalid={"probs": 1.0}, outside=-1.0),
    Family("NegativeBinomial", {"total_count": of(0.5, 2, 3), "logits": REAL}, COUNTS, invalid={"total_count": -1.0}),
    Family("Normal", LOC_SCALE, REAL[::-1].copy(), invalid={"scale": 0.0}, outside=np.nan),
    Family("OneHotCategorical", {"probs": WEIGHTS}, of([0, 1, 0], [1, 0, 0]), invalid={"probs": WEIGHTS - 2.5}, outside=[1.0, 1.0, 0.0]),
    Family("OneHotCategoricalStraightThrough", {"logits": LOGITS}, of([0, 1, 0], [1, 0, 0]), outside=[0.0, 0.0, 0.0]),
    Family("Pareto", {"scale": POSITIVE, "alpha": of(0.7, 1.5, 3.0)}, of(1, 2, 5), invalid={"alpha": 0.0}, outside=0.1),
    Family("Poisson", {"rate": POSITIVE}, COUNTS, invalid={"rate": -1.0}, outside=0.5),
    Family("RelaxedBernoulli", {"temperature": of(0.7), "probs": CHANCES}, UNIT, invalid={"probs": 2.0}, outside=2.0),
    Family("RelaxedBernoulli", {"temperature": of(0.7), "logits": REAL}, UNIT),
    Family("RelaxedOneHotCategorical", {"temperature": np.array(0.7), "probs": WEIGHTS}, SIMPLEX, invalid={"probs": WEIGHTS - 2.5}, outside=[1.0, 1.0, 1.0]),
    Family("StudentT", {"df": of(0.7, 1.5, 5.0), **LOC_SCALE}, REAL[::-1].copy(), invalid={"df": 0.0}, outside=np.nan),
    Family("TransformedDistribution", LOC_SCALE, of(-0.5, 1.3, 2.7), build=_transformed),
    Family("Uniform", {"low": REAL, "high": REAL + POSITIVE}, REAL + POSITIVE / 3, invalid={"low": 9.0}, outside=99.0),
    Family("VonMises", {"loc": REAL, "concentration": POSITIVE}, of(0.3, -3, 2), invalid={"concentration": 0.0}, outside=np.nan, tolerance=3e-6),
    Family("Weibull", {"scale": POSITIVE, "concentration": of(0.7, 2, 3)}, POSITIVE, invalid={"scale": 0.0}, outside=-1.0),
    Family("Wishart", {"df": of(4.0, 7.5), "covariance_matrix": COVARIANCE}, np.stack([COVARIANCE, COVARIANCE + np.eye(3)]), invalid={"df": 1.0}, outside=-COVARIANCE),
    Family("Wishart", {"df": of(4.0, 7.5), "precision_matrix": COVARIANCE}, np.stack([COVARIANCE, COVARIANCE + np.eye(3)])),
    Family("Wishart", {"df": of(4.0, 7.5), "scale_tril": ROOT}, np.stack([COVARIANCE, COVARIANCE + np.eye(3)]), build=_wishart),
]  # fmt: skip


@pytest.fixture(params=FAMILIES, ids=str)
def family(request: Any) -> Family:
    return request.param


@pytest.fixture
def listed() -> list[Family]:
    return FAMILIES


@pytest.fixture
def both() -> Callable:
    """``both(f)`` is f(lib) for torch and for funtorch: results, or the builtin class of the exception."""

    def run(f: Callable) -> list:
        found: list[Any] = []
        for lib in LIBS.values():
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    found.append(numbers(f(lib)))
            except Exception as error:
                found.append(next(k for k in type(error).__mro__ if k.__module__ == "builtins"))
        return found

    return run


@pytest.fixture
def same(both: Callable) -> Callable:
    """``same(f)`` asserts that f(lib) is the same for both: values and dtypes, or the class of the exception."""

    def check(f: Callable, tolerance: float = 1e-8) -> Any:
        theirs, ours = both(f)
        compare(theirs, ours, tolerance)
        return ours

    return check


def compare(theirs: Any, ours: Any, tolerance: float) -> None:
    if isinstance(theirs, list):
        assert isinstance(ours, list) and len(theirs) == len(ours), (theirs, ours)
        for a, b in zip(theirs, ours, strict=True):
            compare(a, b, tolerance)
    elif isinstance(theirs, np.ndarray):
        assert isinstance(ours, np.ndarray), f"torch gives {theirs}, funtorch {ours}"
        assert (theirs.shape, theirs.dtype) == (ours.shape, ours.dtype)
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)
    elif isinstance(theirs, type):
        assert isinstance(ours, type) and issubclass(ours, theirs), f"torch raises {theirs}, funtorch gives {ours}"
    else:
        assert ours == theirs or str(ours) == str(theirs), (theirs, ours)
