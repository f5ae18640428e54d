"""Gradients of float16 and bfloat16 arrays are rounded once, and their sums made in float32."""

import jax
import numpy as np
import pytest
import torch

import funtorch
from funtorch.core.halves import rounded_once
from funtorch.core.op import Op

HALVES = ("bfloat16", "float16")
EPS = {"bfloat16": 2.0**-8, "float16": 2.0**-11}
_rng = np.random.default_rng(0)


def _gradients(t, kind, fn, arrays):
    """The gradients of a weighted sum of ``fn``'s result, in float64, for inputs that are exact in ``kind``."""
    inputs = [t.tensor(a.tolist()).to(getattr(t, kind)).requires_grad_() for a in arrays]
    z = fn(t, *inputs)
    weights = t.linspace(-1, 2, z.numel()).to(t.bfloat16).to(z.dtype).reshape(z.shape)
    return [g.double().numpy() for g in t.autograd.grad(z, inputs, weights)]


X, B = _rng.normal(size=(700, 3)), _rng.normal(size=3)
POSITIVE = np.abs(X) + 0.5
CASES = {
    "sum over rows": (lambda t, x, b: x + b, X, B),
    "product with a row": (lambda t, x, b: x * b, X, B),
    "choice": (lambda t, x, b: t.where(x > 0, x, b), X, B),
    "expand": (lambda t, b: b.expand(900, 3), B),
    "quotient by large numbers": (lambda t, x, y: x / y, X * 30, POSITIVE * 300),
    "root": (lambda t, x: x.sqrt(), POSITIVE),
    "tanh": (lambda t, x: x.tanh(), X),
    "kron": (lambda t, x, b: t.kron(x[:40], b), X, B),
    "between": (lambda t, x, b: t.lerp(x, b, 0.3), X, B),
    "rows picked again and again": (lambda t, x: x[t.arange(2000) % 3], X),
    "running maxima": (lambda t, x: t.cummax(x, 0)[0], X),
    "images made larger": (lambda t, x: t.nn.functional.interpolate(x.reshape(1, 1, 70, 30), (140, 45)), X),
}


@pytest.mark.parametrize("mode", ["host", "kernel"])
@pytest.mark.parametrize("kind", HALVES)
@pytest.mark.parametrize("name", CASES)
def test_as_near_to_the_exact_gradients_as_one_rounding_allows(name, kind, mode):
    fn, *given = CASES[name]
    given = [torch.tensor(a).to(getattr(torch, kind)).double().numpy() for a in given]
    exact = _gradients(torch, "float64", fn, given)
    with funtorch.set_engine(mode):
        found = _gradients(funtorch, kind, fn, given)
    for g, e in zip(found, exact, strict=True):
        tiny = float(funtorch.finfo(getattr(funtorch, kind)).tiny)
        # float32 within: sums of hundreds of numbers cancel to some millionths of their parts
        assert (np.abs(g - e) <= 1.02 * EPS[kind] * np.abs(e) + 2e-6 * np.abs(e).max() + tiny).all()


@pytest.mark.parametrize("kind", HALVES)
def test_a_bias_of_many_rows(kind):
    b = funtorch.zeros(2).to(getattr(funtorch, kind)).requires_grad_()
    (funtorch.ones(5000, 2).to(b.dtype) + b).sum().backward()
    assert b.grad.tolist() == torch.tensor([5000.0] * 2).to(getattr(torch, kind)).tolist()


def test_transforms_higher_derivatives_and_compiled_code():
    x, b = (funtorch.tensor(a[:8].tolist()).bfloat16() for a in (X, B))

    def loss(b):
        return ((x + b) / 3).tanh().float().sum()

    want = funtorch.func.grad(loss)(b)
    lanes = funtorch.vmap(funtorch.func.grad(loss))(funtorch.stack([b, b]))
    compiled = funtorch.compile(funtorch.func.grad(loss))
    assert want.dtype is funtorch.bfloat16
    assert funtorch.equal(lanes, funtorch.stack([want, want]))
    for _ in range(3):
        assert funtorch.allclose(compiled(b).float(), want.float(), rtol=EPS["bfloat16"])
    exact = torch.func.hessian(lambda b: ((torch.tensor(x.float().tolist()).double() + b) / 3).tanh().sum())(
        torch.tensor(b.float().tolist()).double()
    )
    found = funtorch.func.hessian(loss)(b).float().numpy()
    np.testing.assert_allclose(found, exact.numpy(), rtol=0.03, atol=0.02)


def test_what_is_selected_out_has_no_gradient():
    found = []
    for kind in (funtorch.float32, funtorch.bfloat16):
        x = funtorch.tensor([0.0, 4.0]).to(kind).requires_grad_()
        (funtorch.where(x > 0, x.sqrt(), x) * funtorch.ones(3, 2).to(kind)).sum().backward()
        found.append(x.grad.tolist())
    assert found == [[3.0, 0.75]] * 2


def test_a_gradient_that_rounds_once_already_is_left_as_it_is():
    half = jax.ShapeDtypeStruct((3,), jax.numpy.bfloat16)

    def steps(fn):
        return [eqn.primitive.name for eqn in jax.make_jaxpr(rounded_once(fn))(half, half).eqns]

    assert steps(lambda x, y: (x * y,)) == ["mul"]
    assert "convert_element_type" in steps(lambda x, y: (x * y + y,))
    pull = Op(lambda x, y: x * y, "mul").vjp((True, True))
    names = [eqn.primitive.name for eqn in pull.trace((((3,), half.dtype),) * 3)[0].eqns]
    assert set(names) == {"mul"}
