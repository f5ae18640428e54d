"""Contrastive learning of two views of each sample: cosine similarities, a learned temperature, logsumexp without the diagonal."""

import numpy as np
from starting_point import arrays, fill

TOLERANCE = 1e-7  # in double precision: a bias before a norm has no gradient, and Adam would step by its rounding errors


def run(torch, seed: int = 0) -> dict:
    nn, F = torch.nn, torch.nn.functional
    rng = np.random.default_rng(seed)

    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU(inplace=True))
            self.projection = nn.Sequential(nn.Linear(16, 16), nn.LeakyReLU(0.2), nn.Linear(16, 4))
            self.logit_scale = nn.Parameter(torch.ones([]) * np.log(1 / 0.5))

        def forward(self, x):
            features = self.body(x)
            return features, F.normalize(self.projection(features), dim=-1)

    def nt_xent(z_i, z_j, scale):
        z = torch.cat([z_i, z_j], dim=0)
        count = len(z)
        similarity = F.cosine_similarity(z[:, None], z[None], dim=-1) * scale
        diagonal = torch.eye(count, dtype=torch.bool)
        positive = similarity[torch.arange(count), torch.arange(count).roll(count // 2)]
        return (-positive + torch.logsumexp(similarity.masked_fill(diagonal, -9e15), dim=-1)).mean()

    def symmetric(z_i, z_j, scale):
        logits = scale * z_i @ z_j.t()
        labels = torch.arange(logits.size(0))
        return (F.cross_entropy(logits, labels) + F.cross_entropy(logits.T, labels)) / 2

    model = fill(torch, Encoder().double(), rng)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2, amsgrad=True)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.95)
    centres = torch.as_tensor(rng.normal(size=(12, 6)), dtype=torch.double)

    losses, ranks = [], []
    for step in range(10):
        views = [centres + 0.3 * torch.as_tensor(rng.normal(size=centres.shape), dtype=torch.double) for _ in range(2)]
        (_, z_i), (_, z_j) = (model(view) for view in views)
        scale = model.logit_scale.exp().clamp(max=100)
        loss = nt_xent(z_i, z_j, scale) if step % 2 else symmetric(z_i, z_j, scale)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        losses.append(loss.item())
        order = (z_i @ z_j.T).detach().argsort(dim=-1, descending=True)
        ranks.append((order == torch.arange(12)[:, None]).nonzero()[:, 1].float().mean().item())
    model.eval()
    with torch.no_grad():
        distances = torch.cdist(model(centres)[1], model(centres)[1])
    return {"loss": losses, "mean rank": ranks, "distances": distances.numpy(), "parameters": arrays(model.named_parameters())}
