"""Gradients by hand: an ODE solved backwards by a Function that keeps the module on ctx, a reversible block, `grad` by ``parameters()``."""

import numpy as np
from starting_point import arrays, fill

TOLERANCE = 1e-6


def build(torch):
    nn = torch.nn

    class Field(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 2))
            self.evaluations = 0

        def forward(self, y):
            self.evaluations += 1
            return self.net(y**3)

    def midpoint(field, y, h):
        return y + h * field(y + h / 2 * field(y))

    class Adjoint(torch.autograd.Function):
        """The path of ``y``; its gradient runs each step again, from the end, and flattens those of the parameters."""

        @staticmethod
        def forward(ctx, field, y, times, flat):
            with torch.no_grad():
                path = [y]
                for h in times.diff():
                    path.append(midpoint(field, path[-1], h))
            path = torch.stack(path)
            ctx.field = field
            ctx.save_for_backward(path, times)
            return path

        @staticmethod
        def backward(ctx, g):
            path, times = ctx.saved_tensors
            slope, total = torch.zeros_like(path[0]), 0
            for i in reversed(range(1, len(path))):
                with torch.enable_grad():
                    y = path[i - 1].detach().requires_grad_()
                    z = midpoint(ctx.field, y, times[i] - times[i - 1])
                parameters = tuple(ctx.field.parameters())
                slope, *grads = torch.autograd.grad(z, (y, *parameters), slope + g[i])
                total = total + torch.cat([each.flatten() for each in grads])
            return None, slope + g[0], None, total

    class Reversible(torch.autograd.Function):
        """(a, b) -> (a + f(b), b + g(a + f(b))): nothing is kept but the results; the modules' gradients add up as they are met."""

        @staticmethod
        def forward(ctx, a, b, blocks):
            ctx.blocks = blocks
            with torch.no_grad():
                a = a + blocks["f"](b)
                b = b + blocks["g"](a)
            ctx.results = (a, b)
            return a, b

        @staticmethod
        def backward(ctx, da, db):
            (a, b), blocks = ctx.results, ctx.blocks
            with torch.enable_grad():
                a = a.detach().requires_grad_()
                torch.autograd.backward(blocks["g"](a), db)
                da = da + a.grad
                b = (b - blocks["g"](a)).detach().requires_grad_()
                torch.autograd.backward(blocks["f"](b), da)
            return da, db + b.grad, None

    return Field(), nn.ModuleDict({"f": nn.Linear(2, 2), "g": nn.Linear(2, 2)}), Adjoint, Reversible


def run(torch, seed: int = 0) -> dict:
    rng = np.random.default_rng(seed)
    field, blocks, adjoint, reversible = build(torch)
    model = fill(torch, torch.nn.ModuleDict({"field": field, "blocks": blocks}).double(), rng)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    times = torch.linspace(0, 1, 6, dtype=torch.float64)
    start = torch.tensor(rng.normal(size=(8, 2)), requires_grad=True)
    wanted = torch.stack([start.detach() * torch.cos(2 * t) for t in times])
    losses, slopes, evaluations = [], [], []
    for step in range(10):
        optimizer.zero_grad()
        flat = torch.nn.utils.parameters_to_vector(field.parameters())
        path = adjoint.apply(field, start, times, flat)
        a, b = reversible.apply(path[-1], start * 2, blocks)
        loss = (path - wanted).abs().mean() + 0.1 * (a * b).pow(2).mean()
        loss.backward()
        if step % 3 == 0:  # a penalty on the gradient itself, by whatever gives parameters
            plain = field(start).pow(2).mean()
            grads = torch.autograd.grad(plain, field.parameters(), create_graph=True)
            named = torch.autograd.grad(plain, dict(blocks=start), retain_graph=True)
            (1e-2 * sum(g.pow(2).sum() for g in grads)).backward(inputs=field.net.parameters())
            slopes.append(named["blocks"].abs().sum().item())
        optimizer.step()
        losses.append(loss.item())
        evaluations.append(field.evaluations)
    return {
        "loss": losses, "slopes": slopes, "evaluations": evaluations, "start": start.grad.numpy(),
        "parameters": arrays(model.named_parameters()),
    }  # fmt: skip
