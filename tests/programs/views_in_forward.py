"""Views and in-place writes in the forward pass: a scratch tensor filled by slices, masks and transposes."""

import numpy as np
from starting_point import arrays, leaf

TOLERANCE = 1e-8


def run(torch, seed: int = 0) -> dict:
    rng = np.random.default_rng(seed)
    weight, mix = leaf(torch, rng.normal(size=(4, 4)) / 2), leaf(torch, rng.normal(size=4))
    optimizer = torch.optim.SGD([weight, mix], lr=0.05, momentum=0.9)

    def forward(x):
        scratch = torch.zeros(6, 4, 3, dtype=torch.float64)
        scratch[:, :, 0] = x @ weight
        scratch[:, :, 1].copy_(x * mix)
        last = scratch.select(2, 2)
        last += scratch[..., 0] * 0.5
        last[last > 1] = 1.0
        scratch[0].mul_(2).t()[1] -= mix
        flat = scratch.view(6, -1)
        flat[1:3, ::2].neg_()
        flat[[3, 5]] = flat[[5, 3]].tanh()
        square = flat[:4, :4].clone()
        square.diagonal().add_(mix.exp())
        first, second = flat.clone().tensor_split(2, dim=1)
        second.unsqueeze(0)[0, 2].fill_(0.25)
        return square.sum(0).sin().sum() + (first * second).mean() + scratch.pow(2).mean()

    losses, grads = [], []
    for _ in range(10):
        x = torch.from_numpy(rng.normal(size=(6, 4))).requires_grad_()
        loss = forward(x * 1.0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        grads.append(x.grad.numpy().copy())
    return {"loss": losses, "input gradient": grads, "parameters": arrays([("weight", weight), ("mix", mix)])}
