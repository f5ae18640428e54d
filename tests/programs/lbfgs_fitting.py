"""A Gaussian process fitted by LBFGS with a closure: softplus parameters, Cholesky solves, jitter, predictions."""

import math

import numpy as np
from starting_point import arrays

TOLERANCE = 1e-6


def run(torch, seed: int = 0) -> dict:
    nn, F = torch.nn, torch.nn.functional
    rng = np.random.default_rng(seed)

    class GaussianProcess(nn.Module):
        def __init__(self, x, y):
            super().__init__()
            self.register_buffer("x", x)
            self.register_buffer("y", y)
            start = torch.from_numpy(rng.normal(size=3) * 0.3)
            self.raw_length, self.raw_scale, self.raw_noise = (nn.Parameter(each) for each in start.unbind())
            self.mean = nn.Parameter(y.mean())

        def kernel(self, a, b):
            squared = (a.unsqueeze(-2) - b.unsqueeze(-3)).pow(2).sum(-1)
            return F.softplus(self.raw_scale) * torch.exp(-0.5 * squared / F.softplus(self.raw_length).square())

        def factor(self):
            noise = F.softplus(self.raw_noise) + 1e-4
            return torch.linalg.cholesky(self.kernel(self.x, self.x) + noise * torch.eye(len(self.x), dtype=self.x.dtype))

        def loss(self):
            L, r = self.factor(), (self.y - self.mean).unsqueeze(-1)
            fit = 0.5 * (r.mT @ torch.cholesky_solve(r, L)).squeeze()
            return fit + L.diagonal().log().sum() + 0.5 * len(r) * math.log(2 * math.pi)

        def forward(self, points):
            L, cross = self.factor(), self.kernel(points, self.x)
            mean = self.mean + cross @ torch.cholesky_solve((self.y - self.mean)[:, None], L).squeeze(-1)
            half = torch.linalg.solve_triangular(L, cross.T, upper=False)
            return mean, F.softplus(self.raw_scale) - half.square().sum(dim=0)

    x = torch.from_numpy(np.sort(rng.uniform(-2, 2, (20, 1)), axis=0))
    y = torch.sin(3 * x).squeeze(-1) + 0.1 * torch.from_numpy(rng.normal(size=20))
    model = GaussianProcess(x, y)
    optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=4, history_size=6, line_search_fn="strong_wolfe")
    losses, calls = [], [0]

    def closure():
        optimizer.zero_grad()
        loss = model.loss()
        loss.backward()
        calls[0] += 1
        return loss

    for _ in range(8):
        losses.append(optimizer.step(closure).item())
    points = torch.linspace(-2, 2, 9, dtype=torch.float64).unsqueeze(1).requires_grad_()
    mean, variance = model(points)
    (slope,) = torch.autograd.grad(mean.sum(), points)
    return {
        "loss": losses,
        "calls": calls[0],
        "mean": mean.detach().numpy(),
        "variance": variance.detach().numpy(),
        "slope": slope.numpy(),
        "parameters": {**arrays(model.named_parameters())},
        "state": arrays(model.state_dict().items()),
    }
