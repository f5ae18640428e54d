"""Second-order MAML through the tape: autograd.grad(create_graph=True) inside, backward and Adam outside."""

import numpy as np
from starting_point import arrays, draw, leaf

TOLERANCE = 1e-8
SHAPES = {"w1": (12, 1), "b1": (12,), "w2": (12, 12), "b2": (12,), "w3": (1, 12), "b3": (1,)}


def sinusoid(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Inputs and targets (10, 1) of one random sine wave."""
    x = rng.uniform(-3, 3, (10, 1))
    return x, rng.uniform(0.5, 2) * np.sin(x + rng.uniform(0, np.pi))


def run(torch, seed: int = 0) -> dict:
    F = torch.nn.functional
    rng = np.random.default_rng(seed)
    parameters = {name: leaf(torch, draw(rng, name, shape)) for name, shape in SHAPES.items()}
    optimizer = torch.optim.Adam(list(parameters.values()), lr=0.01)

    def loss_of(weights, x, y):
        w1, b1, w2, b2, w3, b3 = weights
        hidden = torch.tanh(F.linear(torch.tanh(F.linear(x, w1, b1)), w2, b2))
        return F.mse_loss(F.linear(hidden, w3, b3), y)

    losses, inner_losses = [], []
    for _ in range(8):
        optimizer.zero_grad()
        total = 0.0
        for _ in range(3):
            x, y = (torch.from_numpy(array) for array in sinusoid(rng))
            weights = list(parameters.values())
            for _ in range(2):
                inner = loss_of(weights, x[:5], y[:5])
                grads = torch.autograd.grad(inner, weights, create_graph=True)
                weights = [w - 0.1 * g for w, g in zip(weights, grads, strict=True)]
            inner_losses.append(inner.item())
            outer = loss_of(weights, x[5:], y[5:])
            outer.backward()
            total += outer.item()
        optimizer.step()
        losses.append(total)
    return {"loss": losses, "inner loss": inner_losses, "parameters": arrays(parameters.items())}
