"""Every transform beside PyTorch's: values, inverses, determinants, shapes; and the registry from constraints."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import funtorch
from funtorch import distributions as d

RNG = np.random.default_rng(0)
X = RNG.standard_normal((2, 3))
MATRICES = RNG.standard_normal((2, 3, 3))
PARTS = RNG.standard_normal((2, 3))

TRANSFORMS: dict[str, Any] = {
    "Abs": (lambda t, lib: t.AbsTransform(), X),
    "Affine": (lambda t, lib: t.AffineTransform(1.0, -2.0), X),
    "AffineTensor": (lambda t, lib: t.AffineTransform(lib.tensor(X[0]), lib.tensor(X[1]), event_dim=1), X),
    "Cat": (lambda t, lib: t.CatTransform([t.ExpTransform(), t.AffineTransform(1.0, 2.0)], dim=-1, lengths=[1, 2]), X),
    "CatEvents": (lambda t, lib: t.CatTransform([t.SoftmaxTransform(), t.StickBreakingTransform().inv], 0), None),
    "Compose": (lambda t, lib: t.ComposeTransform([t.AffineTransform(1.0, 0.5), t.SigmoidTransform(), t.ExpTransform()]), X),
    "ComposeEvents": (lambda t, lib: t.ComposeTransform([t.ExpTransform(), t.AffineTransform(0.0, -1.0), t.StickBreakingTransform()]), X),
    "CorrCholesky": (lambda t, lib: t.CorrCholeskyTransform(), RNG.standard_normal((2, 6))),
    "CumulativeDistribution": (lambda t, lib: t.CumulativeDistributionTransform(lib.distributions.Normal(lib.tensor(0.5, dtype=lib.float64), 2.0)), X),
    "Exp": (lambda t, lib: t.ExpTransform(), X),
    "ExpInverse": (lambda t, lib: t.ExpTransform().inv, np.abs(X)),
    "Identity": (lambda t, lib: t.identity_transform, X),
    "Independent": (lambda t, lib: t.IndependentTransform(t.ExpTransform(), 1), X),
    "LowerCholesky": (lambda t, lib: t.LowerCholeskyTransform(), MATRICES),
    "PositiveDefinite": (lambda t, lib: t.PositiveDefiniteTransform(), MATRICES),
    "Power": (lambda t, lib: t.PowerTransform(lib.tensor([2.0, -1.0, 0.5], dtype=lib.float64)), np.abs(X)),
    "PowerNumber": (lambda t, lib: t.PowerTransform(2.0), np.abs(X)),
    "Reshape": (lambda t, lib: t.ReshapeTransform((3,), (3, 1)), X),
    "Sigmoid": (lambda t, lib: t.SigmoidTransform(), np.concatenate([X, [[-800, 40, 800]]])),
    "Softplus": (lambda t, lib: t.SoftplusTransform(), X),
    "Softmax": (lambda t, lib: t.SoftmaxTransform(), X),
    "Stack": (lambda t, lib: t.StackTransform([t.ExpTransform(), t.SigmoidTransform(), t.AffineTransform(0.0, 2.0)], dim=1), X),
    "StickBreaking": (lambda t, lib: t.StickBreakingTransform(), X),
    "Tanh": (lambda t, lib: t.TanhTransform(), X),
}  # fmt: skip
WITH_VALUES = [name for name, (_, x) in TRANSFORMS.items() if x is not None]
NOT_INVERTED = ("Abs", "Softmax")


def make(name: str, lib: Any) -> Any:
    return TRANSFORMS[name][0](lib.distributions.transforms, lib)


def test_every_transform_is_in_the_table():
    exported = {n.removesuffix("Transform") for n in d.transforms.__all__} - {"", "identity_transform"}
    assert exported <= set(TRANSFORMS)


@pytest.mark.parametrize("name", WITH_VALUES)
def test_forward_inverse_and_determinant(name: str, same: Any):
    def run(lib: Any) -> list:
        t, x = make(name, lib), lib.tensor(TRANSFORMS[name][1]).requires_grad_()
        y = t(x)
        results = [y, t.inv(y.detach()), *lib.autograd.grad((y * y).sum(), x)]
        try:
            ladj = t.log_abs_det_jacobian(x, t(x))
        except NotImplementedError:
            return [*results, "none"]
        finite = ladj.masked_fill(~lib.isfinite(ladj), 0.0)
        grad = lib.autograd.grad(finite.sum(), x, allow_unused=True)[0] if finite.requires_grad else None
        return [*results, ladj, lib.zeros_like(x) if grad is None else grad]

    same(run, 1e-8)


@pytest.mark.parametrize("name", [n for n in WITH_VALUES if n not in NOT_INVERTED])
def test_round_trip(name: str):
    t, x = make(name, funtorch), funtorch.tensor(TRANSFORMS[name][1][:2])
    back = t.inv(t(x))
    expected = x.tril() if name in ("LowerCholesky", "PositiveDefinite") else x
    np.testing.assert_allclose(back.numpy(), expected.numpy(), rtol=1e-6, atol=1e-8)
    assert t.inv.inv is t
    assert t.inv.codomain.check(back).all() and t.codomain.check(t(x)).all()


@pytest.mark.parametrize(
    "name", [n for n in WITH_VALUES if n not in (*NOT_INVERTED, "LowerCholesky", "PositiveDefinite", "CorrCholesky")]
)
def test_the_determinant_is_that_of_the_jacobian(name: str):
    """Of one event, or of each number."""
    t, x = make(name, funtorch), funtorch.tensor(TRANSFORMS[name][1])[0]
    if name == "Stack":
        t = d.StackTransform(t.transforms, dim=0)

    def flat(v: Any) -> Any:
        y = t(v).reshape(-1)
        return y[: v.numel()]  # the last share follows from the others

    jacobian = funtorch.func.jacrev(flat)(x)
    found = t.log_abs_det_jacobian(x, t(x)).sum()
    np.testing.assert_allclose(float(found), float(jacobian.det().abs().log()), rtol=1e-6, atol=1e-9)


def test_the_determinant_of_correlation_factors():
    t, x = d.CorrCholeskyTransform(), funtorch.tensor(RNG.standard_normal(6))
    jacobian = funtorch.func.jacrev(lambda v: d.utils.tril_matrix_to_vec(t(v), -1))(x)
    np.testing.assert_allclose(float(t.log_abs_det_jacobian(x, t(x))), float(jacobian.det().abs().log()), rtol=1e-9)


@pytest.mark.parametrize("name", TRANSFORMS)
def test_properties(name: str, same: Any):
    def read(f: Any) -> Any:
        try:
            return f()
        except Exception as error:
            return next(k.__name__ for k in type(error).__mro__ if k.__module__ == "builtins")

    def run(lib: Any) -> list:
        t = make(name, lib)
        shape = (5, *(TRANSFORMS[name][1].shape if TRANSFORMS[name][1] is not None else (3,)))
        asked = [
            lambda: t.bijective,
            lambda: t.sign,
            lambda: t.domain.event_dim,
            lambda: t.codomain.event_dim,
            lambda: t.event_dim,
            lambda: str(t.codomain).replace("distribution=", ""),
            lambda: tuple(t.forward_shape(shape)),
            lambda: tuple(t.inverse_shape(t.forward_shape(shape))),
            lambda: tuple(t.inv.forward_shape(t.forward_shape(shape))),
            lambda: repr(t),
            lambda: repr(t.inv),
            lambda: t == make(name, lib),
            lambda: t.inv == t.inv,
            lambda: t == lib.distributions.AbsTransform(),
            lambda: type(t.with_cache()) is type(t),
        ]
        return [read(f) for f in asked]

    same(run)


@pytest.mark.parametrize("name", [n for n in WITH_VALUES if n not in ("Identity",)])
def test_cache(name: str):
    t, x = make(name, funtorch).with_cache(), funtorch.tensor(TRANSFORMS[name][1])
    y = t(x)
    if name.startswith("Compose"):
        assert all(part._cache_size == 1 for part in t.parts)
        return
    assert t(x) is y
    assert t.inv(y) is x
    assert t.with_cache(1) is t
    assert t.with_cache(0)(x) is not y


ERRORS: dict[str, Any] = {
    "cache size": lambda t, lib: t.ExpTransform(cache_size=2),
    "reshape": lambda t, lib: t.ReshapeTransform((2,), (3,)),
    "reshape shape": lambda t, lib: t.ReshapeTransform((2,), (1, 2)).forward_shape((3,)),
    "reshape dims": lambda t, lib: t.ReshapeTransform((2,), (1, 2)).inverse_shape((2,)),
    "few": lambda t, lib: t.StickBreakingTransform().forward_shape(()),
    "corr": lambda t, lib: t.CorrCholeskyTransform().forward_shape((4,)),
    "corr square": lambda t, lib: t.CorrCholeskyTransform().inverse_shape((4, 3)),
    "independent": lambda t, lib: t.IndependentTransform(t.ExpTransform(), 1)(lib.tensor(1.0)),
    "no determinant": lambda t, lib: t.SoftmaxTransform().log_abs_det_jacobian(None, None),
    "no sign": lambda t, lib: t.SoftmaxTransform().sign,
    "event_dim": lambda t, lib: t.CorrCholeskyTransform().event_dim,
    "no cache": lambda t, lib: type("Own", (t.Transform,), {"__init__": lambda self: t.Transform.__init__(self)})().with_cache(),
    "no call": lambda t, lib: t.Transform()(lib.tensor(1.0)),
    "not a transform": lambda t, lib: lib.distributions.TransformedDistribution(lib.distributions.Normal(0.0, 1.0), 3),
    "not transforms": lambda t, lib: lib.distributions.TransformedDistribution(lib.distributions.Normal(0.0, 1.0), [3]),
    "too small": lambda t, lib: lib.distributions.TransformedDistribution(
        lib.distributions.Normal(0.0, 1.0), [t.StickBreakingTransform()]
    ),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name: str, both: Any):
    theirs, ours = both(lambda lib: ERRORS[name](lib.distributions.transforms, lib))
    assert theirs is ours
    assert isinstance(ours, type)


def test_a_wrong_number_of_parts():
    with pytest.raises(ValueError, match="2 transforms need as many lengths"):
        d.CatTransform([d.ExpTransform(), d.AbsTransform()], lengths=[1])
    with pytest.raises(ValueError, match="must have 2 entries along 0"):
        d.StackTransform([d.ExpTransform(), d.AbsTransform()])(funtorch.zeros(3))
    with pytest.raises(AssertionError, match="must have 2 entries along 0"):
        d.CatTransform([d.ExpTransform(), d.AbsTransform()])(funtorch.zeros(3))
    with pytest.raises(AssertionError, match="expected a sequence of Transforms"):
        d.CatTransform([3])


def test_a_power_that_is_no_number():
    with pytest.raises(ValueError, match="instances of Number"):
        d.PowerTransform("a")


def test_transforms_are_pickled():
    t = d.ComposeTransform([d.ExpTransform(), d.AffineTransform(0.0, 2.0)])
    assert t.inv.inv is t
    assert pickle.loads(pickle.dumps(t)) == t


CONSTRAINTS: dict[str, Any] = {
    "real": lambda c: c.real,
    "real_vector": lambda c: c.real_vector,
    "positive": lambda c: c.positive,
    "nonnegative": lambda c: c.nonnegative,
    "greater_than": lambda c: c.greater_than(2.0),
    "less_than": lambda c: c.less_than(-1.0),
    "unit_interval": lambda c: c.unit_interval,
    "interval": lambda c: c.interval(-1.0, 3.0),
    "half_open_interval": lambda c: c.half_open_interval(-1.0, 3.0),
    "simplex": lambda c: c.simplex,
    "lower_cholesky": lambda c: c.lower_cholesky,
    "corr_cholesky": lambda c: c.corr_cholesky,
    "positive_definite": lambda c: c.positive_definite,
    "positive_semidefinite": lambda c: c.positive_semidefinite,
    "cat": lambda c: c.cat([c.positive, c.real], 0, [1, 2]),
    "stack": lambda c: c.stack([c.positive, c.real, c.unit_interval], 0),
    "boolean": lambda c: c.boolean,
    "one_hot": lambda c: c.one_hot,
}


@pytest.mark.parametrize("registry", ["biject_to", "transform_to"])
@pytest.mark.parametrize("name", CONSTRAINTS)
def test_registry(name: str, registry: str, same: Any):
    x = MATRICES[0] if name in ("lower_cholesky", "positive_definite", "positive_semidefinite") else X[0]

    def run(lib: Any) -> list:
        constraint = CONSTRAINTS[name](lib.distributions.constraints)
        t = getattr(lib.distributions, registry)(constraint)
        y = t(lib.tensor(x))
        assert bool(constraint.check(y).all())
        return [repr(t), y, t.inv(y), t.bijective]

    same(run)


def test_registering_a_constraint():
    class Even(d.constraints.Constraint): ...

    @d.biject_to.register(Even)
    def doubled(constraint: Any) -> Any:
        return d.AffineTransform(0, 2)

    try:
        assert d.biject_to(Even())(funtorch.tensor(1.5)) == 3
    finally:
        del d.biject_to._registry[Even]
    with pytest.raises(TypeError, match="either a Constraint subclass or instance"):
        d.biject_to.register(int, doubled)
