"""Private training: per-sample gradients by vmap(grad_and_value), each clipped, averaged, with noise."""

import numpy as np
from starting_point import arrays, fill

TOLERANCE = 1e-8


def run(torch, seed: int = 0) -> dict:
    nn, F, func = torch.nn, torch.nn.functional, torch.func
    rng = np.random.default_rng(seed)
    body = [nn.Conv1d(2, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(16, 8), nn.GroupNorm(2, 8)]
    model = fill(torch, nn.Sequential(*body, nn.Linear(8, 3)).double(), rng)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def loss_of(parameters, x, y):
        logits = func.functional_call(model, parameters, (x.unsqueeze(0),))
        return F.cross_entropy(logits, y.unsqueeze(0))

    per_sample = func.vmap(func.grad_and_value(loss_of), in_dims=(None, 0, 0))
    losses, clipped = [], []
    for _ in range(10):
        x, y = torch.from_numpy(rng.normal(size=(8, 2, 6))), torch.from_numpy(rng.integers(0, 3, 8))
        parameters = {name: p.detach() for name, p in model.named_parameters()}
        grads, each = per_sample(parameters, x, y)
        norms = torch.stack([g.flatten(1).norm(dim=1) for g in grads.values()], dim=1).norm(dim=1)
        scale = (1.0 / (norms + 1e-6)).clamp(max=1.0)
        for name, parameter in model.named_parameters():
            noise = torch.from_numpy(0.05 * rng.normal(size=tuple(parameter.shape)))
            parameter.grad = torch.einsum("n,n...->...", scale, grads[name]) / len(x) + noise
        optimizer.step()
        losses.append(each.mean().item())
        clipped.append(norms.numpy().copy())
    return {"loss": losses, "norms": clipped, "parameters": arrays(model.named_parameters())}
