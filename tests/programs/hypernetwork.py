"""A hypernetwork: one network writes the weights of another, which are never leaves."""

import numpy as np
from starting_point import arrays, fill

TOLERANCE = 1e-8
SHAPES = {"weight1": (6, 2), "bias1": (6,), "weight2": (1, 6), "bias2": (1,)}


def build(torch):
    nn = torch.nn

    class HyperNetwork(nn.Module):
        """Maps a task's index to the weights of its target network."""

        def __init__(self, tasks: int = 3, width: int = 5):
            super().__init__()
            self.code = nn.Parameter(torch.zeros(tasks, width))
            self.body = nn.Sequential(nn.Linear(width, 16), nn.GELU(), nn.LayerNorm(16))
            sizes = {name: int(np.prod(shape)) for name, shape in SHAPES.items()}
            self.heads = nn.ModuleDict({name: nn.Linear(16, size) for name, size in sizes.items()})

        def forward(self, task: int) -> dict:
            features = self.body(self.code[task])
            return {name: self.heads[name](features).view(shape) for name, shape in SHAPES.items()}

    return HyperNetwork().double()


def run(torch, seed: int = 0) -> dict:
    nn, F = torch.nn, torch.nn.functional
    rng = np.random.default_rng(seed)
    hyper = fill(torch, build(torch), rng)
    target = nn.Sequential()
    target.add_module("first", nn.Linear(2, 6))
    target.add_module("second", nn.Linear(6, 1))
    target = target.double()
    optimizer = torch.optim.AdamW(hyper.parameters(), lr=0.01)

    losses = []
    for step in range(12):
        task = step % 3
        x = torch.from_numpy(rng.normal(size=(10, 2)))
        y = (x[:, :1] * x[:, 1:] + task).sin()
        w = hyper(task)
        by_hand = F.softplus(F.linear(x, w["weight1"], w["bias1"])) @ w["weight2"].t() + w["bias2"]
        named = {"first.weight": w["weight1"], "first.bias": w["bias1"]}
        named |= {"second.weight": w["weight2"], "second.bias": w["bias2"]}
        by_call = torch.func.functional_call(target, named, (x,))
        loss = F.mse_loss(by_hand, y) + 0.1 * F.l1_loss(by_call, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return {"loss": losses, "parameters": arrays(hyper.named_parameters())}
