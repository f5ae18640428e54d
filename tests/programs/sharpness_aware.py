"""Adversarial training by an optimiser around an optimiser: attacks within a bound, mixed samples, steps up and down again,
slow weights behind fast ones, layers that join later."""

import numpy as np
from starting_point import arrays, fill

TOLERANCE = 1e-7  # in double precision: the sign of a gradient that is nearly 0 decides an attack's step


def sharpness_aware(torch):
    class SharpnessAware(torch.optim.Optimizer):
        """Climbs to the worst point nearby, takes the gradient there, and steps with it from where it was."""

        def __init__(self, params, base, rho: float = 0.05, **options):
            super().__init__(params, {"rho": rho, **options})
            self.base = base(self.param_groups, **options)
            self.param_groups = self.base.param_groups  # a schedule changes both
            self.defaults.update(self.base.defaults)

        def held(self):
            return [(g, p) for g in self.param_groups for p in g["params"] if p.grad is not None]

        @torch.no_grad()
        def climb(self):
            norm = torch.stack([p.grad.norm(p=2) for _, p in self.held()]).norm(p=2)
            for group, p in self.held():
                self.state[p]["was"] = p.data.clone()
                p.add_(p.grad * (group["rho"] / (norm + 1e-12)).to(p))
            self.zero_grad()

        @torch.no_grad()
        def step(self, closure=None):
            assert closure is not None, "a second pass is needed"
            self.climb()
            loss = torch.enable_grad()(closure)()
            for _, p in self.held():
                p.data = self.state[p].pop("was")
            self.base.step()
            self.zero_grad()
            return loss

    return SharpnessAware


class SlowWeights:
    """Weights that go a part of the way to the fast ones every few steps, and take them along."""

    def __init__(self, torch, params, every: int = 4, part: float = 0.5):
        self.torch, self.params, self.every, self.part, self.count = torch, list(params), every, part, 0
        self.slow = [p.detach().clone() for p in self.params]

    def follow(self) -> None:
        self.count += 1
        if self.count % self.every == 0:
            with self.torch.no_grad():
                for slow, fast in zip(self.slow, self.params, strict=True):
                    slow += self.part * (fast - slow)
                    fast.copy_(slow)


def attacked(torch, model, x, y, bound: float, steps: int = 3):
    """``x`` with the disturbance, no element above ``bound``, that raises the loss in a few steps of signs."""
    model.eval()
    delta = torch.zeros_like(x).uniform_(-bound, bound).requires_grad_()
    for _ in range(steps):
        torch.nn.functional.cross_entropy(model(x + delta), y).backward()
        delta.data = (delta + 0.5 * bound * delta.grad.detach().sign()).clamp(-bound, bound)
        delta.data = torch.max(torch.min(1 - x, delta.data), 0 - x)
        delta.grad.zero_()
    model.train()
    return (x + delta).detach()


def run(torch, seed: int = 0) -> dict:
    nn, rng = torch.nn, np.random.default_rng(seed)
    torch.manual_seed(seed)
    stem = nn.Sequential(nn.Conv2d(1, 4, 3, stride=2, bias=False), nn.BatchNorm2d(4), nn.Hardswish())
    model = nn.Sequential(stem, nn.Flatten(), nn.Linear(36, 12), nn.PReLU(12), nn.Dropout(0.1), nn.Linear(12, 3)).double()
    fill(torch, model, rng)
    x, y = torch.from_numpy(rng.uniform(size=(40, 1, 8, 8))), torch.from_numpy(rng.integers(0, 3, 40))
    x[torch.arange(40), 0, 2 * y] = 1.0

    stem.requires_grad_(False)
    outer = [p for p in model.parameters() if p.requires_grad]
    optimizer = sharpness_aware(torch)(outer, torch.optim.SGD, lr=0.1, momentum=0.9, weight_decay=1e-3)
    slow = SlowWeights(torch, model.parameters())
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer.base, [8, 12], gamma=0.3)

    losses, moved = [], []
    for step in range(15):
        if step == 5:
            stem.requires_grad_(True)
            optimizer.base.add_param_group({"params": stem.parameters(), "lr": 0.02, "rho": 0.02, "initial_lr": 0.02})
            scheduler.base_lrs.append(0.02)
        batch = torch.randperm(40)[:10]
        worse, labels = attacked(torch, model, x[batch], y[batch], bound=0.05), y[batch]
        optimizer.zero_grad()
        share, other = rng.beta(1.0, 1.0), torch.randperm(10)
        mixed = share * worse + (1 - share) * worse[other]

        def closure(mixed=mixed, labels=labels, share=share, other=other):
            scores = model(mixed)
            one, two = (nn.functional.cross_entropy(scores, t, label_smoothing=0.1) for t in (labels, labels[other]))
            loss = share * one + (1 - share) * two
            loss.backward()
            return loss

        first = closure().item()
        losses.append([first, optimizer.step(closure).item()])
        scheduler.step()
        slow.follow()
        moved.append(sum((s - p.detach()).abs().sum().item() for s, p in zip(slow.slow, slow.params, strict=True)))
    saved = optimizer.state_dict()
    return {
        "loss": losses,
        "moved": moved,
        "rates": [group["lr"] for group in optimizer.param_groups],
        "saved": len(saved["param_groups"][1]),
        "robust": (model.eval()(attacked(torch, model, x, y, 0.05)).argmax(1) == y).double().mean().item(),
        "parameters": arrays(model.named_parameters()),
        "buffers": arrays(model.named_buffers()),
    }
