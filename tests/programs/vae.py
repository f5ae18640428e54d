"""A variational autoencoder in float32: reparametrised noise from NumPy, Bernoulli likelihood, exact KL."""

import numpy as np
from starting_point import arrays, fill

TOLERANCE = 1e-4


def build(torch):
    nn, F = torch.nn, torch.nn.functional

    class VAE(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = nn.Sequential(nn.Conv2d(1, 4, 3, stride=2, padding=1), nn.ReLU(), nn.Flatten())
            self.mean, self.log_variance = nn.Linear(64, 3), nn.Linear(64, 3)
            self.widen = nn.Sequential(nn.Linear(3, 64), nn.ReLU(), nn.Unflatten(1, (4, 4, 4)))
            self.paint = nn.ConvTranspose2d(4, 1, 4, stride=2, padding=1)

        def forward(self, x, noise):
            features = self.encoder(x)
            mean, log_variance = self.mean(features), self.log_variance(features)
            logits = self.paint(self.widen(mean + noise * torch.exp(0.5 * log_variance)))
            reconstruction = F.binary_cross_entropy_with_logits(logits, x, reduction="sum") / len(x)
            kl = -0.5 * torch.sum(1 + log_variance - mean.pow(2) - log_variance.exp()) / x.size(0)
            return reconstruction, kl

    return VAE()


def run(torch, seed: int = 0) -> dict:
    rng = np.random.default_rng(seed)
    model = fill(torch, build(torch), rng)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    data = (rng.random((32, 1, 8, 8)) < np.linspace(0.1, 0.9, 8)).astype(np.float32)
    dataset = torch.utils.data.TensorDataset(torch.from_numpy(data))
    loader = torch.utils.data.DataLoader(dataset, batch_size=16)

    reconstructions, divergences = [], []
    for _ in range(5):
        for (x,) in loader:
            noise = torch.tensor(rng.normal(size=(len(x), 3)), dtype=torch.float32)
            reconstruction, kl = model(x, noise)
            optimizer.zero_grad()
            (reconstruction + kl).backward()
            optimizer.step()
            reconstructions.append(reconstruction.item())
            divergences.append(kl.item())
    return {
        "reconstruction": reconstructions,
        "divergence": divergences,
        "parameters": arrays(model.named_parameters()),
    }
