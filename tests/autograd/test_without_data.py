"""Derivatives of functions of Tensors without data, on the device "meta": they have none either, also where they are zero."""

import pytest
import torch

import funtorch


def without(t, *shape, **options):
    return t.empty(*shape, device="meta", **options)


def unused_output(t):
    class Two(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, g, h):
            return g * 2 + h * 3

    x = without(t, 3, requires_grad=True)
    return t.autograd.grad(Two.apply(x)[0].sum(), x)


def of_the_cpu(t):
    class Away(t.autograd.Function):
        forward = staticmethod(lambda ctx, x: x * 2)
        backward = staticmethod(lambda ctx, g: t.ones(3))

    return t.autograd.grad(Away.apply(without(t, 3, requires_grad=True)).sum(), without(t, 3, requires_grad=True))


def hooked(t):
    x = without(t, 3, requires_grad=True)
    x.register_hook(lambda g: t.ones(3))
    x.sum().backward()


def unconnected(t, **options):
    x, y = (without(t, 3, requires_grad=True) for _ in range(2))
    return t.autograd.grad(x.sum(), y, **options)


CASES = {
    "grad of another": lambda t: t.func.grad(lambda x, y: y.sum(), argnums=(0, 1))(without(t, 3), without(t, 3)),
    "jvp of a detached": lambda t: t.func.jvp(lambda x: x.detach(), (without(t, 3),), (without(t, 3),)),
    "vjp of another": lambda t: t.func.vjp(lambda x: without(t, 2), without(t, 3))[1](without(t, 2)),
    "zeros": lambda t: unconnected(t, materialize_grads=True),
    "none": lambda t: unconnected(t, allow_unused=True),
    "jacrev of a product": lambda t: t.func.jacrev(lambda x: x * 2)(without(t, 3)),
    "jacrev of two": lambda t: t.func.jacrev(lambda x, y: x + y, argnums=(0, 1))(without(t, 3), without(t, 3)),
    "jacfwd": lambda t: t.func.jacfwd(lambda x: x**2)(without(t, 3)),
    "hessian": lambda t: t.func.hessian(lambda x: (x**2).sum())(without(t, 3)),
    "hessian of a sum": lambda t: t.func.hessian(lambda x: x.sum())(without(t, 3)),
    "by lanes": lambda t: t.func.vmap(t.func.jacrev(lambda x: x.softmax(0)))(without(t, 4, 3)),
    "jacobian": lambda t: t.autograd.functional.jacobian(lambda x: x * 2, without(t, 3)),
    "jacobian of a constant": lambda t: t.autograd.functional.jacobian(lambda x: without(t, 2), without(t, 3)),
    "functional hessian": lambda t: t.autograd.functional.hessian(lambda x: (x**2).sum(), without(t, 3)),
    "functional vjp": lambda t: t.autograd.functional.vjp(lambda x: (x * 2).sum(), without(t, 3)),
    "functional hvp": lambda t: t.autograd.functional.hvp(lambda x: (x**2).sum(), without(t, 3), without(t, 3)),
    "function with an unused output": unused_output,
}


@pytest.mark.parametrize("refused", [of_the_cpu, hooked])
@pytest.mark.parametrize("t", [torch, funtorch], ids=["torch", "funtorch"])
def test_gradients_with_data_are_refused(t, refused):
    with pytest.raises(RuntimeError):
        refused(t)


@pytest.mark.parametrize("name", CASES)
def test_as_pytorch(name):
    want, got = (str(CASES[name](t)) for t in (torch, funtorch))
    assert got == want
