"""A denoising diffusion model of points: tables as buffers, gathered per sample, sinusoidal times, ancestral sampling, EMA."""

import copy

import numpy as np
from starting_point import arrays, fill

TOLERANCE = 1e-4
STEPS = 20


def build(torch):
    nn, F = torch.nn, torch.nn.functional

    class Diffusion(nn.Module):
        def __init__(self):
            super().__init__()
            betas = torch.linspace(1e-3, 0.2, STEPS)
            alphas = torch.cumprod(1.0 - betas, dim=0)
            for name, value in {"betas": betas, "alphas": alphas, "previous": F.pad(alphas[:-1], (1, 0), value=1.0)}.items():
                self.register_buffer(name, value)
            self.time = nn.Sequential(nn.Linear(8, 16), nn.Mish())
            self.inner, self.outer = nn.Linear(2, 16), nn.Linear(16, 2)

        def embedding(self, t):
            rate = torch.exp(-np.log(1000.0) * torch.arange(4, dtype=torch.float32) / 4)
            angle = t[:, None].float() * rate[None]
            return torch.cat([angle.sin(), angle.cos()], dim=-1)

        def forward(self, x, t):
            return self.outer(F.mish(self.inner(x) + self.time(self.embedding(t))))

        def loss(self, x, t, noise):
            level = self.alphas.gather(-1, t).reshape(-1, 1)
            noisy = level.sqrt() * x + torch.sqrt(1 - level) * noise
            each = F.smooth_l1_loss(self(noisy, t), noise, reduction="none").mean(dim=list(range(1, x.ndim)))
            return (each * (1 / (1 - level.squeeze(1))).clamp_(max=5)).mean()

        @torch.no_grad()
        def sample(self, count: int):
            x = torch.randn(count, 2)
            for step in reversed(range(STEPS)):
                t = torch.full((count,), step, dtype=torch.long)
                beta, alpha, before = self.betas[step], self.alphas[step], self.previous[step]
                start = ((x - (1 - alpha).sqrt() * self(x, t)) / alpha.sqrt()).clamp(-3, 3)
                x = (before.sqrt() * beta * start + (1 - beta).sqrt() * (1 - before) * x) / (1 - alpha)
                if step > 0:
                    x = x + (beta * (1 - before) / (1 - alpha)).sqrt() * torch.randn_like(x)
            return x

    return Diffusion()


def run(torch, seed: int = 0) -> dict:
    rng = np.random.default_rng(seed)
    torch.manual_seed(seed)
    model = fill(torch, build(torch), rng)
    average = copy.deepcopy(model)
    optimizer = torch.optim.RAdam(model.parameters(), lr=5e-3)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=2e-2, total_steps=12)
    angle = torch.from_numpy(rng.uniform(0, 2 * np.pi, 64)).float()
    points = torch.stack((angle.cos(), angle.sin()), dim=1)

    losses, rates = [], []
    for _ in range(12):
        x = points[torch.randint(0, 64, (16,))]
        loss = model.loss(x, torch.randint(0, STEPS, (16,)), torch.randn_like(x))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        for kept, new in zip(average.parameters(), model.parameters(), strict=True):
            kept.data.mul_(0.8).add_(new.data, alpha=0.2)
        losses.append(loss.item())
        rates.append(optimizer.param_groups[0]["lr"])
    return {
        "loss": losses,
        "rate": rates,
        "sample": average.sample(6).numpy(),
        "parameters": arrays(model.named_parameters()),
        "average": arrays(average.state_dict().items()),
    }
