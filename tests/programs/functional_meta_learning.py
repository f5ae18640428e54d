"""Reptile and MAML over sine waves with functional_call: adapted weights in a dict, lanes of tasks by vmap."""

import numpy as np
from starting_point import arrays, fill

TOLERANCE = 1e-6


def run(torch, seed: int = 0) -> dict:
    nn, F = torch.nn, torch.nn.functional
    functional_call, grad, vmap = torch.func.functional_call, torch.func.grad, torch.func.vmap
    rng = np.random.default_rng(seed)
    model = fill(torch, nn.Sequential(nn.Linear(1, 10), nn.Tanh(), nn.Linear(10, 1)).double(), rng)
    parameters = {name: p.detach().clone().requires_grad_() for name, p in model.named_parameters()}
    optimizer = torch.optim.Adam(parameters.values(), lr=1e-2)

    def tasks(count: int = 4):
        amplitude, phase = rng.uniform(0.5, 2, (count, 1, 1)), rng.uniform(0, np.pi, (count, 1, 1))
        x = rng.uniform(-3, 3, (count, 10, 1))
        return torch.from_numpy(x), torch.from_numpy(amplitude * np.sin(x + phase))

    def loss_of(weights, x, y):
        return F.mse_loss(functional_call(model, weights, (x,)), y)

    def adapt(weights, x, y, rate: float = 0.05):
        for _ in range(2):
            grads = grad(loss_of)(weights, x, y)
            weights = {name: weight - rate * grads[name] for name, weight in weights.items()}
        return weights

    def task_loss(weights, x, y):
        return loss_of(adapt(weights, x[:5], y[:5]), x[5:], y[5:])

    losses, before = [], []
    for step in range(8):
        x, y = tasks()
        if step % 2:  # MAML through the adaptation
            loss = vmap(task_loss, in_dims=(None, 0, 0))(parameters, x, y).mean()
            optimizer.zero_grad()
            loss.backward()
        else:  # Reptile: towards the mean of the adapted weights
            adapted = vmap(adapt, in_dims=(None, 0, 0))({name: p.detach() for name, p in parameters.items()}, x, y)
            loss = vmap(loss_of)(adapted, x, y).mean()
            for name, parameter in parameters.items():
                parameter.grad = parameter.detach() - adapted[name].mean(dim=0)
        optimizer.step()
        losses.append(loss.item())
        before.append(vmap(loss_of, in_dims=(None, 0, 0))(parameters, x, y).tolist())
    with torch.no_grad():
        model.load_state_dict(parameters)
    flat = nn.utils.parameters_to_vector(model.parameters())
    return {"loss": losses, "before": before, "flat": flat.detach().numpy(), "parameters": arrays(model.named_parameters())}
