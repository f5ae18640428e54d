"""A neural ODE by midpoint steps, each recomputed in the backward pass by checkpoint, fitted to a spiral."""

import numpy as np
from starting_point import arrays, fill

TOLERANCE = 1e-7


def run(torch, seed: int = 0) -> dict:
    nn = torch.nn
    checkpoint = torch.utils.checkpoint.checkpoint
    rng = np.random.default_rng(seed)

    class ODEFunc(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Sequential(nn.Linear(3, 12), nn.Tanh(), nn.Linear(12, 2))
            for m in self.net.modules():
                if isinstance(m, nn.Linear):
                    nn.init.constant_(m.bias, val=0)
            self.evaluations = 0

        def forward(self, t, y):
            self.evaluations += 1
            return self.net(torch.cat([y**3, t.expand(*y.shape[:-1], 1)], dim=-1))

    def odeint(func, y, times):
        def midpoint(y, t0, t1):
            step = t1 - t0
            half = y + 0.5 * step * func(t0, y)
            return y + step * func(t0 + 0.5 * step, half)

        path = [y]
        for t0, t1 in zip(times[:-1], times[1:], strict=True):
            path.append(checkpoint(midpoint, path[-1], t0, t1, use_reentrant=False))
        return torch.stack(path, dim=0)

    times = torch.linspace(0.0, 1.0, 6, dtype=torch.float64)
    matrix = torch.tensor([[-0.1, 2.0], [-2.0, -0.1]], dtype=torch.float64)
    start = torch.from_numpy(rng.normal(size=(4, 2)))
    truth = torch.stack([start @ torch.matrix_exp(matrix * t) for t in times])  # (T, N, 2)
    func = fill(torch, ODEFunc().double(), rng)
    optimizer = torch.optim.RMSprop(func.parameters(), lr=1e-2)

    losses = []
    for _ in range(8):
        optimizer.zero_grad()
        predicted = odeint(func, start, times)
        loss = torch.mean(torch.abs(predicted - truth))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    evaluations = func.evaluations
    y = start[0].clone().requires_grad_()
    jacobian = torch.autograd.functional.jacobian(lambda y: odeint(func, y[None], times)[-1, 0], y)
    return {
        "loss": losses,
        "jacobian": jacobian.numpy(),
        "evaluations": evaluations,
        "parameters": arrays(func.named_parameters()),
    }
