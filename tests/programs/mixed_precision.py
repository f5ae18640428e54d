"""Training under autocast("cpu") in bfloat16 with a gradient scaler, accumulation, and a loss that overflows once."""

import numpy as np
from starting_point import arrays, fill

TOLERANCE = 2e-2  # of bfloat16


def run(torch, seed: int = 0) -> dict:
    nn, F = torch.nn, torch.nn.functional
    rng = np.random.default_rng(seed)
    model = nn.Sequential(nn.Linear(8, 16), nn.LayerNorm(16), nn.GELU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 3))
    model = fill(torch, model, rng)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-3)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**8, growth_interval=4)
    x, y = torch.from_numpy(rng.normal(size=(32, 8))).float(), torch.from_numpy(rng.integers(0, 3, 32))

    losses, scales, kinds = [], [], []
    for step in range(12):
        total = 0.0
        for part in range(2):
            rows = slice(16 * part, 16 * (part + 1))
            with torch.autocast(device_type="cpu", dtype=torch.bfloat16):
                hidden = model[:4](x[rows])
                logits = model[4:](hidden)
                loss = F.cross_entropy(logits, y[rows]) / 2
            kinds.append([each.dtype is torch.bfloat16 for each in (hidden, logits, loss)])
            if step == 5:
                loss = loss * float("inf")
            scaler.scale(loss).backward()
            total += loss.item() if step != 5 else 0.0
        scaler.unscale_(optimizer)
        if step != 5:
            nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        losses.append(total)
        scales.append(scaler.get_scale())
    with torch.inference_mode(), torch.autocast("cpu", enabled=False):
        logits = model(x)
    return {
        "loss": losses,
        "scale": scales,
        "in bfloat16": kinds,
        "logits": logits.numpy(),
        "all float32": all(p.dtype == torch.float32 and p.grad is None for p in model.parameters()),
        "parameters": arrays(model.named_parameters()),
    }
