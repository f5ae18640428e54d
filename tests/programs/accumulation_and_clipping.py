"""Gradient accumulation, clip_grad_norm_, parameter groups, and an optimiser saved and loaded midway."""

import numpy as np
from starting_point import arrays, fill

TOLERANCE = 1e-8


def groups(model) -> list[dict]:
    """Weight decay for matrices only, as is usual."""
    matrices = [p for p in model.parameters() if p.ndim > 1]
    vectors = [p for p in model.parameters() if p.ndim <= 1]
    return [{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0, "lr": 2e-2}]


def run(torch, seed: int = 0) -> dict:
    nn, F = torch.nn, torch.nn.functional
    rng = np.random.default_rng(seed)
    model = nn.Sequential(nn.Linear(4, 12), nn.LayerNorm(12), nn.GELU(approximate="tanh"), nn.Linear(12, 4))
    fill(torch, model.double(), rng)
    optimizer = torch.optim.AdamW(groups(model), lr=1e-2, amsgrad=True)

    losses, norms = [], []
    for step in range(10):
        optimizer.zero_grad()
        for size in (4, 8, 4):
            x = torch.from_numpy(rng.normal(size=(size, 4)))
            target = x.softmax(dim=-1)
            loss = F.kl_div(F.log_softmax(model(x), dim=-1), target, reduction="batchmean")
            (loss * size / 16).backward()
            losses.append(loss.item())
        norms.append(nn.utils.clip_grad_norm_(model.parameters(), max_norm=0.02).item())
        optimizer.step()
        if step == 4:
            state, weights = optimizer.state_dict(), model.state_dict()
            optimizer = torch.optim.AdamW(groups(model), lr=1.0, amsgrad=True)
            optimizer.load_state_dict(state)
            model.load_state_dict(weights)
            optimizer.param_groups[0]["lr"] *= 0.5
    return {"loss": losses, "gradient norm": norms, "parameters": arrays(model.named_parameters())}
