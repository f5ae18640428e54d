"""Hooks in use: values logged, inputs and outputs replaced, gradients scaled, logged and accumulated."""

import numpy as np
from starting_point import arrays, fill

TOLERANCE = 1e-8


def attach(torch, model, log: dict) -> list:
    """Hooks on the model's modules and parameters that write to ``log``; returns their handles."""
    handles = [
        model[0].register_forward_pre_hook(lambda module, args: (args[0] * 0.9,)),
        model[1].register_forward_hook(lambda module, args, output: output + 0.1 * args[0]),
        model[2].register_forward_hook(lambda module, args, output: log["activations"].append(output.mean().item())),
        model[2].register_full_backward_hook(
            lambda module, grad_input, grad_output: log["module"].append(
                [grad_input[0].norm().item(), grad_output[0].norm().item()]
            )
        ),
        model[4].register_full_backward_pre_hook(lambda module, grad_output: (grad_output[0] * 1.5,)),
        model[0].weight.register_hook(lambda grad: grad * 2),
        model[0].bias.register_hook(lambda grad: log["tensor"].append(grad.abs().max().item())),
        model[4].bias.register_post_accumulate_grad_hook(lambda p: log["accumulated"].append(p.grad.sum().item())),
    ]
    return handles


def run(torch, seed: int = 0) -> dict:
    nn, F = torch.nn, torch.nn.functional
    rng = np.random.default_rng(seed)
    model = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 8), nn.Softplus(), nn.Linear(8, 2))
    fill(torch, model.double(), rng)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    log = {"activations": [], "module": [], "tensor": [], "accumulated": [], "retained": []}
    handles = attach(torch, model, log)

    losses = []
    for step in range(12):
        if step == 9:
            for handle in handles:
                handle.remove()
        x, y = (torch.from_numpy(rng.normal(size=(6, width))) for width in (5, 2))
        prediction = model(x)
        prediction.retain_grad()
        remembered = []
        handle = prediction.register_hook(lambda grad, kept=remembered: kept.append(grad.sum().item()))
        loss = F.mse_loss(prediction, y, reduction="none").sum(dim=1).mean()
        optimizer.zero_grad()
        loss.backward()
        handle.remove()
        optimizer.step()
        log["retained"].append([prediction.grad.norm().item(), *remembered])
        losses.append(loss.item())
    return {"loss": losses, "log": log, "parameters": arrays(model.named_parameters())}
