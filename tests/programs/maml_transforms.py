"""Second-order MAML through transforms: vmap over tasks, grad of functional_call inside, backward outside."""

import numpy as np
from starting_point import arrays, fill

TOLERANCE = 1e-8


def tasks(rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Inputs and targets (count, 10, 1) of random sine waves."""
    x = rng.uniform(-3, 3, (count, 10, 1))
    amplitude, phase = rng.uniform(0.5, 2, (count, 1, 1)), rng.uniform(0, np.pi, (count, 1, 1))
    return x, amplitude * np.sin(x + phase)


def run(torch, seed: int = 0) -> dict:
    nn, F = torch.nn, torch.nn.functional
    rng = np.random.default_rng(seed)
    model = nn.Sequential(nn.Linear(1, 12), nn.Tanh(), nn.Linear(12, 12), nn.Tanh(), nn.Linear(12, 1))
    fill(torch, model.double(), rng)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

    def loss_of(parameters, x, y):
        return F.mse_loss(torch.func.functional_call(model, parameters, (x,)), y)

    def adapted_loss(parameters, x, y):
        for _ in range(2):
            grads = torch.func.grad(loss_of)(parameters, x[:5], y[:5])
            parameters = {name: p - 0.1 * grads[name] for name, p in parameters.items()}
        return loss_of(parameters, x[5:], y[5:])

    losses, per_task = [], []
    for _ in range(10):
        x, y = (torch.from_numpy(array) for array in tasks(rng, 4))
        optimizer.zero_grad()
        each = torch.func.vmap(adapted_loss, in_dims=(None, 0, 0))(dict(model.named_parameters()), x, y)
        loss = each.mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        per_task.append(each.detach().numpy().copy())
    return {"loss": losses, "per task": per_task, "parameters": arrays(model.named_parameters())}
