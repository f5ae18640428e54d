"""An MLP that classifies three noisy blobs: float32, Adam with weight decay, shuffled mini-batches."""

import numpy as np
from starting_point import arrays, fill

TOLERANCE = 1e-4


def blobs(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    centres = rng.normal(size=(3, 6)) * 2
    labels = np.arange(60) % 3
    return (centres[labels] + rng.normal(size=(60, 6))).astype(np.float32), labels


def run(torch, seed: int = 0) -> dict:
    nn, F = torch.nn, torch.nn.functional
    rng = np.random.default_rng(seed)
    x, y = (torch.from_numpy(array) for array in blobs(rng))
    model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 3))
    fill(torch, model, rng)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2, weight_decay=1e-3)

    losses, accuracies = [], []
    for _ in range(5):
        for batch in torch.from_numpy(rng.permutation(60)).split(20):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x[batch]), y[batch], label_smoothing=0.05)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        with torch.no_grad():
            accuracies.append((model(x).argmax(dim=1) == y).float().mean().item())
    return {"loss": losses, "accuracy": accuracies, "parameters": arrays(model.named_parameters())}
