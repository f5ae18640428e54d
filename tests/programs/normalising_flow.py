"""Affine coupling layers with masks, an invertible linear map by its LU factors, exact likelihood; the way back is checked."""

import numpy as np
from starting_point import arrays, fill

TOLERANCE = 1e-6


def build(torch):
    nn = torch.nn

    class Coupling(nn.Module):
        def __init__(self, even: bool):
            super().__init__()
            self.register_buffer("mask", (torch.arange(4) % 2 == int(even)).double())
            self.net = nn.Sequential(nn.Linear(4, 8), nn.Softsign(), nn.Linear(8, 8))

        def forward(self, x, inverse: bool = False):
            scale, shift = self.net(x * self.mask).chunk(2, dim=-1)
            scale, shift = torch.tanh(scale) * (1 - self.mask), shift * (1 - self.mask)
            y = (x - shift) * torch.exp(-scale) if inverse else x * torch.exp(scale) + shift
            return y, scale.sum(dim=-1)

    class Mixing(nn.Module):
        def __init__(self):
            super().__init__()
            self.lower, self.upper = nn.Parameter(torch.zeros(4, 4)), nn.Parameter(torch.zeros(4, 4))
            self.log_diagonal = nn.Parameter(torch.zeros(4))
            self.register_buffer("order", torch.tensor([2, 0, 3, 1]))

        def forward(self, x, inverse: bool = False):
            L = torch.tril(self.lower, -1) + torch.eye(4, dtype=x.dtype)
            U = torch.triu(self.upper, diagonal=1) + torch.diag(self.log_diagonal.exp())
            if inverse:
                y = torch.linalg.solve_triangular(
                    U, torch.linalg.solve_triangular(L, x.T, upper=False, unitriangular=True), upper=True
                )
                return y.T[:, torch.argsort(self.order)], self.log_diagonal.sum()
            return torch.index_select(x, 1, self.order) @ (L @ U).T, self.log_diagonal.sum()

    return nn.ModuleList([Coupling(True), Mixing(), Coupling(False), Mixing()])


def run(torch, seed: int = 0) -> dict:
    D = torch.distributions
    rng = np.random.default_rng(seed)
    torch.manual_seed(seed)
    flow = fill(torch, build(torch).double(), rng)
    base = D.Independent(D.Normal(torch.zeros(4, dtype=torch.double), 1.0), 1)
    optimizer = torch.optim.Adam(flow.parameters(), lr=1e-2, eps=1e-6)
    scheduler = torch.optim.lr_scheduler.SequentialLR(
        optimizer,
        [
            torch.optim.lr_scheduler.LinearLR(optimizer, 0.1, total_iters=4),
            torch.optim.lr_scheduler.PolynomialLR(optimizer, 8, power=0.9),
        ],
        milestones=[4],
    )
    x = torch.from_numpy(np.tanh(rng.normal(size=(32, 4)) @ rng.normal(size=(4, 4))))

    losses, rates = [], []
    for _ in range(10):
        z, total = x, x.new_zeros(len(x))
        for layer in flow:
            z, logdet = layer(z)
            total += logdet
        loss = -(base.log_prob(z) + total).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        losses.append(loss.item())
        rates.append(scheduler.get_last_lr()[0])

    @torch.no_grad()
    def back(z):
        for layer in reversed(flow):
            z, _ = layer(z, inverse=True)
        return z

    def forth(x):
        for layer in flow:
            x = layer(x[None])[0][0]
        return x

    with torch.no_grad():
        z = torch.vmap(forth)(x)
    jacobian = torch.autograd.functional.jacobian(forth, x[0])
    return {
        "loss": losses,
        "rate": rates,
        "gone and come back": torch.allclose(back(z), x, atol=1e-8),
        "log determinant": torch.linalg.slogdet(jacobian).logabsdet.item(),
        "sample": back(base.sample((3,))).numpy(),
        "parameters": arrays(flow.named_parameters()),
    }
