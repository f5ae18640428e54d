"""A moving average of weights, and SGD by hand: in-place writes under no_grad, a deep copy, buffers."""

import copy

import numpy as np
from starting_point import arrays, fill

TOLERANCE = 1e-4


def run(torch, seed: int = 0) -> dict:
    nn, F = torch.nn, torch.nn.functional
    rng = np.random.default_rng(seed)
    model = nn.Sequential(nn.Linear(4, 10), nn.BatchNorm1d(10), nn.Hardtanh(), nn.Linear(10, 1))
    fill(torch, model, rng)
    average = copy.deepcopy(model).requires_grad_(False).eval()
    version = model[0].weight._version

    @torch.no_grad()
    def update(decay: float) -> None:
        for kept, new in zip(average.parameters(), model.parameters(), strict=True):
            kept.mul_(decay).add_(new, alpha=1 - decay)
        for kept, new in zip(average.buffers(), model.buffers(), strict=True):
            kept.copy_(new)

    losses, averaged = [], []
    for step in range(12):
        x = torch.tensor(rng.normal(size=(16, 4)), dtype=torch.float32)
        y = torch.where(x[:, :1] > 0, x.sum(1, keepdim=True), x.prod(1, keepdim=True))
        loss = F.mse_loss(model(x), y)
        loss.backward()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter -= 0.05 * parameter.grad
                parameter.grad.zero_()
        update(decay=min(0.9, (1 + step) / (10 + step)))
        losses.append(loss.item())
        averaged.append(F.mse_loss(average(x), y).item())
    return {
        "loss": losses,
        "loss of the average": averaged,
        "writes to the first weight": model[0].weight._version - version,
        "model": arrays(model.state_dict().items()),
        "average": arrays(average.state_dict().items()),
    }
