"""autograd.Function in both styles: a straight-through sign, and a twice differentiable cube."""

import numpy as np
from starting_point import arrays, leaf

TOLERANCE = 1e-8


def functions(torch):
    class Sign(torch.autograd.Function):
        """The sign; its gradient passes where |x| <= 1. Old style: forward takes ctx."""

        @staticmethod
        def forward(ctx, x, limit):
            ctx.save_for_backward(x)
            ctx.limit = limit
            return x.sign()

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * (x.abs() <= ctx.limit), None

    class Cube(torch.autograd.Function):
        """``x ** 3`` and its slope; new style, with setup_context."""

        @staticmethod
        def forward(x):
            return x**3, 3 * x**2

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(inputs[0], output[1])

        @staticmethod
        def backward(ctx, grad, slope_grad):
            x, slope = ctx.saved_tensors
            return grad * slope + slope_grad * 6 * x

    return Sign, Cube


def run(torch, seed: int = 0) -> dict:
    rng = np.random.default_rng(seed)
    Sign, Cube = functions(torch)
    weight, bias = leaf(torch, rng.normal(size=(4, 3))), leaf(torch, rng.normal(size=3) / 2)
    optimizer = torch.optim.SGD([weight, bias], lr=0.01)

    losses, gradients = [], []
    for _ in range(10):
        x = torch.from_numpy(rng.normal(size=(8, 4)) / 2)
        binary = Sign.apply(weight, 1.0)
        value, slope = Cube.apply(x @ binary / 4 + bias)
        fit = (value - x[:, :3]).square().mean() + 0.1 * slope.mean()
        (first,) = torch.autograd.grad(fit, bias, create_graph=True)
        loss = fit + 0.05 * first.square().sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        gradients.append(bias.grad.numpy().copy())
    parameters = arrays([("weight", weight), ("bias", bias)])
    return {"loss": losses, "bias gradient": gradients, "parameters": parameters}
