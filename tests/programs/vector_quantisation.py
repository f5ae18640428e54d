"""A vector-quantised autoencoder: nearest codes, straight-through gradients, codes moved by averages or by gradient."""

import numpy as np
from starting_point import arrays, fill

TOLERANCE = 1e-4


def build(torch):
    nn, F = torch.nn, torch.nn.functional

    class VectorQuantizer(nn.Module):
        def __init__(self, count: int = 6, width: int = 3, decay: float = 0.8):
            super().__init__()
            self.embedding, self.decay = nn.Embedding(count, width), decay
            self.register_buffer("size", torch.ones(count))
            self.register_buffer("total", torch.zeros(count, width))

        def forward(self, z):
            z = z.permute(0, 2, 1).contiguous()  # (N, T, width)
            flat = z.view(-1, z.shape[-1])
            weight = self.embedding.weight
            distance = flat.pow(2).sum(1, keepdim=True) + weight.pow(2).sum(1) - 2 * torch.matmul(flat, weight.t())
            codes = torch.argmin(distance, dim=1)
            one_hot = F.one_hot(codes, num_classes=len(weight)).to(flat.dtype)
            if self.training:
                with torch.no_grad():
                    self.size.mul_(self.decay).add_(one_hot.sum(0), alpha=1 - self.decay)
                    self.total.mul_(self.decay).addmm_(one_hot.t(), flat, alpha=1 - self.decay)
            quantised = self.embedding(codes).view_as(z)
            loss = F.mse_loss(quantised, z.detach()) + 0.25 * F.mse_loss(quantised.detach(), z)
            quantised = z + (quantised - z).detach()
            share = one_hot.mean(dim=0)
            perplexity = torch.exp(-torch.sum(share * torch.log(share + 1e-10)))
            return loss, quantised.permute(0, 2, 1), perplexity, codes.view(z.shape[:-1])

        @torch.no_grad()
        def move(self):
            size = (self.size + 1e-5) / (self.size.sum() + 1e-5 * len(self.size)) * self.size.sum()
            self.embedding.weight.data.lerp_(self.total / size.unsqueeze(1), 0.1)

    class Autoencoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = nn.Sequential(nn.Conv1d(1, 4, 4, stride=2, padding=1), nn.ReLU(), nn.Conv1d(4, 3, 3, padding=1))
            self.quantizer = VectorQuantizer()
            self.decoder = nn.Sequential(nn.ConvTranspose1d(3, 4, 4, stride=2, padding=1), nn.ReLU(), nn.Conv1d(4, 1, 1))

        def forward(self, x):
            loss, quantised, perplexity, codes = self.quantizer(self.encoder(x))
            return loss, self.decoder(quantised), perplexity, codes

    return Autoencoder()


def run(torch, seed: int = 0) -> dict:
    rng = np.random.default_rng(seed)
    model = fill(torch, build(torch), rng)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    x = torch.from_numpy(np.sin(np.linspace(0, 6, 12) * rng.uniform(0.5, 2, (8, 1, 1)))).float()

    losses, perplexities = [], []
    for step in range(10):
        vq_loss, x_hat, perplexity, codes = model(x)
        loss = torch.nn.functional.mse_loss(x_hat, x) / x.var() + vq_loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 3 == 2:
            model.quantizer.move()
        losses.append(loss.item())
        perplexities.append(perplexity.item())
    used, counts = torch.unique(codes, return_counts=True)
    return {
        "loss": losses,
        "perplexity": perplexities,
        "used": used.numpy(),
        "counts": counts.numpy(),
        "parameters": arrays(model.named_parameters()),
        "buffers": arrays(model.named_buffers()),
    }
