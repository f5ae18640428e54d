"""Transforms as maps from functions R^n -> R^n to functions R^n -> R^n, so that any of them follows any other.

`OURS` and `REFERENCE` have the same keys. The reference is torch.func; what it can't nest (``compile``, ``checkpoint``,
``.backward()`` inside) has there the plain function that it stands for.
"""

import warnings

import numpy as np
import torch as reference

import funtorch
from funtorch.utils.checkpoint import checkpoint

N = 3
LANES = np.array([1.0, -0.5, 2.0])
WEIGHTS = np.array([0.7, -1.3, 0.4])
DIRECTION = np.array([0.5, 1.0, -2.0])


def grad(m, f):
    return m.func.grad(lambda x: (f(x) * m.tensor(WEIGHTS)).sum())


def vmap(m, f):
    def mapped(x):
        lanes = m.func.vmap(f)(x[None] * m.tensor(LANES)[:, None])
        return (lanes * m.tensor(WEIGHTS)[:, None]).sum(0)

    return mapped


def jvp(m, f):
    return lambda x: m.func.jvp(f, (x,), (m.tensor(DIRECTION),))[1]


def jacrev(m, f):
    return lambda x: m.func.jacrev(f)(x) @ m.tensor(DIRECTION)


def jacfwd(m, f):
    return lambda x: m.tensor(WEIGHTS) @ m.func.jacfwd(f)(x)


def compiled(m, f):
    return funtorch.compile(f)


def checkpointed(m, f):
    return lambda x: checkpoint(f, x, use_reentrant=False)


def backward(m, f):
    def gradient(x):
        z = x.clone()
        if not z.requires_grad:
            z.requires_grad_()
        (f(z) * m.tensor(WEIGHTS)).sum().backward(create_graph=True, inputs=[z])
        return z.grad

    return gradient


def same(m, f):
    return f


OURS = {
    "grad": grad, "vmap": vmap, "jvp": jvp, "jacrev": jacrev, "jacfwd": jacfwd,
    "compile": compiled, "checkpoint": checkpointed, "backward": backward,
}  # fmt: skip
REFERENCE = {**OURS, "compile": same, "checkpoint": same, "backward": grad}


class Cubed(funtorch.autograd.Function):
    """x^3 with a kept output and a kept intermediate value."""

    @staticmethod
    def forward(ctx, x):
        square = x * x
        ctx.square = square
        y = square * x
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * (ctx.square + 2 * y / x)


def elementwise(m, w):
    return lambda x: m.sin(x) * m.exp(0.3 * x) + x**3 / 4


def perceptron(m, w):
    def f(x):
        h = m.tanh(w @ x + 0.1)
        return w.T @ (h * h) - x

    return f


def written(m, w):
    def f(x):  # in place, through views of several kinds
        y = x * 1.5
        y[0] = x[1] * x[0]
        tail = y[1:]
        tail.mul_(m.cos(x[:-1]))
        square = m.zeros(2, 3, dtype=y.dtype)
        square += y
        square[0].add_(x**2)
        square.t()[1] = square.t()[1] * w[0, 0]
        return square.sum(0) * y

    def plain(x):  # torch refuses to differentiate the above: it overwrites what it saved
        y = m.cat([x[1:2] * x[:1], 1.5 * x[1:] * m.cos(x[:-1])])
        scale = m.stack([m.ones_like(w[0, 0]), w[0, 0], m.ones_like(w[0, 0])])
        return (2 * y + x**2) * scale * y

    return plain if m is reference else f


def custom(m, w):
    cube = Cubed.apply if m is funtorch else (lambda x: x * x * x)
    return lambda x: cube(x + 2.0) * w[0] + x


FUNCTIONS = {"elementwise": elementwise, "perceptron": perceptron, "written": written, "custom": custom}
X = np.array([0.3, -0.8, 1.1])
W = np.array([[0.3, -0.2, 0.5], [0.1, 0.7, -0.4], [-0.6, 0.2, 0.9]])


def agree(function, *names):
    """Apply transforms ``names`` (outermost first) to a function, here and in the reference; compare values and d/dw."""
    results = []
    for m, table in ((reference, REFERENCE), (funtorch, OURS)):
        w = m.tensor(W, requires_grad=True)
        f = FUNCTIONS[function](m, w)
        for name in reversed(names):
            f = table[name](m, f)
        x = m.tensor(X)
        with warnings.catch_warnings():
            if m is reference:
                warnings.simplefilter("ignore")  # of what torch deprecates
            for _ in range(3 if m is funtorch and names[0] == "compile" else 1):
                value = f(x)
        gradient = None
        if value.requires_grad:
            (gradient,) = m.autograd.grad((value * m.tensor(WEIGHTS)).sum(), w, allow_unused=True)
        results.append((value.detach().numpy(), np.zeros_like(W) if gradient is None else gradient.numpy()))
    (value, slope), (our_value, our_slope) = results
    np.testing.assert_allclose(our_value, value, rtol=1e-8, atol=1e-8, err_msg="value")
    np.testing.assert_allclose(our_slope, slope, rtol=1e-8, atol=1e-8, err_msg="derivative by the captured parameter")
