"""Learned learning rates: one a parameter, trained by backward through four momentum steps."""

import numpy as np
from starting_point import arrays, leaf

TOLERANCE = 1e-8


def run(torch, seed: int = 0) -> dict:
    F = torch.nn.functional
    rng = np.random.default_rng(seed)
    log_rates = [leaf(torch, np.full(size, np.log(0.05))) for size in ((3, 1), ())]
    momentum = leaf(torch, np.array(0.0))
    meta = torch.optim.SGD([{"params": log_rates, "lr": 0.1}, {"params": [momentum], "lr": 0.05}], lr=1.0)

    losses, rates = [], []
    for _ in range(10):
        x, direction = (torch.from_numpy(rng.normal(size=size)) for size in ((16, 3), (3, 1)))
        y = (x @ direction).clamp(min=-1) + 0.5
        weights = [torch.zeros(3, 1, dtype=torch.float64, requires_grad=True)]
        weights.append(torch.zeros(1, dtype=torch.float64, requires_grad=True))
        velocity = [torch.zeros_like(w) for w in weights]
        for _ in range(4):
            inner = F.huber_loss(torch.addmm(weights[1], x, weights[0]), y, delta=0.7)
            grads = torch.autograd.grad(inner, weights, create_graph=True)
            velocity = [torch.sigmoid(momentum) * v + g for v, g in zip(velocity, grads, strict=True)]
            weights = [w - rate.exp() * v for w, rate, v in zip(weights, log_rates, velocity, strict=True)]
        outer = F.mse_loss(torch.addmm(weights[1], x, weights[0]), y)
        meta.zero_grad()
        outer.backward()
        meta.step()
        losses.append(outer.item())
        rates.append([rate.sum().item() for rate in log_rates])
    parameters = arrays([("rates", log_rates[0]), ("rate", log_rates[1]), ("momentum", momentum)])
    return {"loss": losses, "log rates": rates, "parameters": parameters}
