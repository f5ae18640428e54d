"""Two optimisers written as PyTorch's users write them: Lion with in-place ops, and Lookahead around another."""

from collections import defaultdict

import numpy as np
from starting_point import arrays, fill

TOLERANCE = 1e-4


def optimizers(torch):
    class Lion(torch.optim.Optimizer):
        def __init__(self, params, lr=1e-3, betas=(0.9, 0.99), weight_decay=0.0):
            if not 0.0 <= lr:
                raise ValueError(f"Invalid learning rate: {lr}")
            super().__init__(params, dict(lr=lr, betas=betas, weight_decay=weight_decay))

        @torch.no_grad()
        def step(self, closure=None):
            loss = None
            if closure is not None:
                with torch.enable_grad():
                    loss = closure()
            for group in self.param_groups:
                beta1, beta2 = group["betas"]
                for p in group["params"]:
                    if p.grad is None:
                        continue
                    state = self.state[p]
                    if len(state) == 0:
                        state["step"] = 0
                        state["exp_avg"] = torch.zeros_like(p, memory_format=torch.preserve_format)
                    state["step"] += 1
                    p.data.mul_(1 - group["lr"] * group["weight_decay"])
                    update = state["exp_avg"] * beta1 + p.grad * (1 - beta1)
                    p.add_(torch.tanh(update * 1e3), alpha=-group["lr"])
                    state["exp_avg"].mul_(beta2).add_(p.grad, alpha=1 - beta2)
            return loss

    class Lookahead(torch.optim.Optimizer):
        def __init__(self, optimizer, k=3, alpha=0.5):
            self.optimizer, self.k, self.alpha, self.counter = optimizer, k, alpha, 0
            self.param_groups = optimizer.param_groups
            self.state = defaultdict(dict)
            self.slow = [[p.clone().detach() for p in group["params"]] for group in self.param_groups]

        def step(self, closure=None):
            loss = self.optimizer.step(closure)
            self.counter += 1
            if self.counter % self.k == 0:
                for group, slow in zip(self.param_groups, self.slow, strict=True):
                    for p, q in zip(group["params"], slow, strict=True):
                        q.add_(p.data - q, alpha=self.alpha)
                        p.data.copy_(q)
            return loss

        def zero_grad(self, set_to_none=True):
            self.optimizer.zero_grad(set_to_none)

    return Lion, Lookahead


def run(torch, seed: int = 0) -> dict:
    nn = torch.nn
    Lion, Lookahead = optimizers(torch)
    rng = np.random.default_rng(seed)
    model = fill(torch, nn.Sequential(nn.Linear(4, 8), nn.Softplus(beta=2), nn.Linear(8, 2)), rng)
    groups = [{"params": [model[0].weight, model[2].weight], "weight_decay": 0.1}, {"params": [model[0].bias, model[2].bias]}]
    inner = Lion(groups, lr=0.02)
    optimizer = Lookahead(inner)
    scheduler = torch.optim.lr_scheduler.StepLR(inner, step_size=5, gamma=0.5)
    x = torch.as_tensor(rng.normal(size=(24, 4)), dtype=torch.float32)
    y = torch.stack([x.prod(dim=1), x.norm(dim=1)], dim=-1)
    criterion = nn.HuberLoss(delta=0.7)

    losses = []
    for _ in range(12):

        def closure():
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            return loss

        losses.append(optimizer.step(closure).item())
        scheduler.step()
    saved = inner.state_dict()
    return {
        "loss": losses,
        "rate": scheduler.get_last_lr(),
        "steps": [state["step"] for state in saved["state"].values()],
        "groups": [group["params"] for group in saved["param_groups"]],
        "moment": saved["state"][0]["exp_avg"].numpy(),
        "parameters": arrays(model.named_parameters()),
    }
