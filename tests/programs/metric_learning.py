"""Triplets mined from pairwise distances, class centres moved by index_put_, index_add_ and scatter_add."""

import numpy as np
from starting_point import arrays, fill

TOLERANCE = 1e-7  # in double precision: the last bias has no gradient, and Adamax would step by its rounding errors
CLASSES = 4


def hardest_triplets(torch, distance, labels):
    """For each anchor the farthest sample of its class and the nearest of another: indices (N,), (N,)."""
    same = labels.unsqueeze(0) == labels.unsqueeze(1)
    itself = torch.eye(len(labels), dtype=torch.bool)
    positive = torch.where(same & ~itself, distance, torch.full_like(distance, -1.0)).max(dim=1)[1]
    negative = distance.masked_fill(same, float("inf")).min(dim=1)[1]
    return positive, negative


def run(torch, seed: int = 0) -> dict:
    nn, F = torch.nn, torch.nn.functional
    rng = np.random.default_rng(seed)
    model = fill(torch, nn.Sequential(nn.Linear(5, 12), nn.PReLU(), nn.Linear(12, 3)).double(), rng)
    criterion = nn.TripletMarginLoss(margin=0.5, p=2)
    optimizer = torch.optim.Adamax(model.parameters(), lr=2e-2)
    prototypes = rng.normal(size=(CLASSES, 5))
    centres, seen = torch.zeros(CLASSES, 3, dtype=torch.double), torch.zeros(CLASSES, dtype=torch.long)

    losses, spreads, accuracies = [], [], []
    for _ in range(10):
        labels = torch.from_numpy(rng.permutation(np.repeat(np.arange(CLASSES), 4)))
        x = torch.from_numpy(prototypes[labels.numpy()] + 0.7 * rng.normal(size=(16, 5))).to(torch.float64)
        z = model(x)
        with torch.no_grad():
            positive, negative = hardest_triplets(torch, torch.cdist(z, z), labels)
        counts = torch.zeros(CLASSES, dtype=torch.double).scatter_add(0, labels, torch.ones(16).double())
        means = torch.zeros(CLASSES, 3, dtype=torch.double).index_add(0, labels, z) / counts[:, None]
        pull = (z - means[labels]).pow(2).sum(dim=-1).sqrt().mean()
        loss = criterion(z, z[positive], z[negative]) + 0.1 * pull
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            centres.index_copy_(0, torch.arange(CLASSES), centres.lerp(means, 0.3))
            seen.index_put_((labels,), torch.ones(16, dtype=torch.long), accumulate=True)
            one_hot = torch.zeros(16, CLASSES).scatter_(1, labels.view(-1, 1), 1)
            nearest = torch.cdist(z, centres).topk(2, dim=1, largest=False).indices
            accuracies.append((one_hot.gather(1, nearest[:, :1]).mean().item(), (nearest == labels[:, None]).any(1).sum().item()))
        losses.append(loss.item())
        spreads.append(F.pdist(means.detach()).amin().item())
    return {
        "loss": losses,
        "least distance": spreads,
        "accuracy": accuracies,
        "seen": seen.numpy(),
        "centres": centres.numpy(),
        "parameters": arrays(model.named_parameters()),
    }
