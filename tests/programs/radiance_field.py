"""Volume rendering along rays: sines of positions, densities to weights by cumprod, finer samples by searchsorted, chunks."""

import numpy as np
from starting_point import arrays, fill

TOLERANCE = 2e-4


def build(torch):
    nn, F = torch.nn, torch.nn.functional

    class Field(nn.Module):
        def __init__(self, octaves: int = 3):
            super().__init__()
            self.register_buffer("bands", 2.0 ** torch.linspace(0.0, octaves - 1, steps=octaves), persistent=False)
            width = 2 + 2 * 2 * octaves
            self.layers = nn.ModuleList([nn.Linear(width, 16)] + [nn.Linear(16 + width if i == 1 else 16, 16) for i in range(2)])
            self.alpha, self.rgb = nn.Linear(16, 1), nn.Linear(16, 3)

        def forward(self, points):
            scaled = (points[..., None] * self.bands).flatten(start_dim=-2)
            x = encoded = torch.cat([points, torch.sin(scaled), torch.cos(scaled)], -1)
            for i, layer in enumerate(self.layers):
                x = F.relu(layer(torch.cat([encoded, x], -1) if i == 2 else x))
            return torch.sigmoid(self.rgb(x)), F.relu(self.alpha(x)[..., 0])

    return Field()


def render(torch, field, origins, directions, depths):
    """Colours (R, 3), depths (R,) and weights (R, S) of rays."""
    points = origins[..., None, :] + directions[..., None, :] * depths[..., :, None]
    chunks = [field(part) for part in torch.split(points.reshape(-1, 2), 32)]
    rgb, sigma = (torch.cat(each, 0).reshape(*depths.shape, *each[0].shape[1:]) for each in zip(*chunks, strict=True))
    gaps = depths[..., 1:] - depths[..., :-1]
    gaps = torch.cat([gaps, torch.Tensor([1e10]).expand(gaps[..., :1].shape)], -1)
    alpha = 1.0 - torch.exp(-sigma * gaps * torch.norm(directions[..., None, :], dim=-1))
    passed = torch.cumprod(torch.cat([torch.ones((alpha.shape[0], 1)), 1.0 - alpha + 1e-10], -1), -1)[:, :-1]
    weights = alpha * passed
    return torch.sum(weights[..., None] * rgb, -2), torch.sum(weights * depths, -1), weights


def finer(torch, bins, weights, count: int):
    """Depths (R, count) where the weights are: the inverse of their cumulative sum at even places."""
    pdf = (weights + 1e-5) / torch.sum(weights + 1e-5, -1, keepdim=True)
    cdf = torch.cat([torch.zeros_like(pdf[..., :1]), torch.cumsum(pdf, -1)], -1)
    u = torch.linspace(0.02, 0.98, steps=count).expand(list(cdf.shape[:-1]) + [count]).contiguous()
    index = torch.searchsorted(cdf, u, right=True)
    below, above = torch.max(torch.zeros_like(index), index - 1), torch.min(torch.full_like(index, cdf.shape[-1] - 1), index)
    c0, c1, b0, b1 = (torch.gather(x, -1, i) for x in (cdf, bins) for i in (below, above))
    width = torch.where(c1 - c0 < 1e-5, torch.ones_like(c0), c1 - c0)
    return b0 + (u - c0) / width * (b1 - b0)


def run(torch, seed: int = 0) -> dict:
    rng = np.random.default_rng(seed)
    field = fill(torch, build(torch), rng)
    optimizer = torch.optim.Adam(params=list(field.parameters()), lr=5e-3, betas=(0.9, 0.999))
    angles = torch.from_numpy(rng.uniform(0, 2 * np.pi, 12)).float()
    directions = torch.stack((angles.cos(), angles.sin()), -1)
    colours = torch.stack([angles.cos().clamp(min=0), angles.sin().clamp_min(0), torch.full_like(angles, 0.2)], dim=-1)

    losses, psnrs = [], []
    for step in range(8):
        near, far = torch.zeros(12, 1), torch.full((12, 1), 2.0)
        t = torch.linspace(0.0, 1.0, steps=6)
        depths = (near * (1.0 - t) + far * t).expand([12, 6])
        rgb, _, weights = render(torch, field, torch.zeros(12, 2), directions, depths)
        middle = 0.5 * (depths[..., 1:] + depths[..., :-1])
        more = finer(torch, middle, weights[..., 1:-1].detach(), 4).detach()
        depths, _ = torch.sort(torch.cat([depths, more], -1), -1)
        fine, depth, _ = render(torch, field, torch.zeros(12, 2), directions, depths)
        loss = torch.mean((rgb - colours) ** 2) + torch.mean((fine - colours) ** 2)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        for group in optimizer.param_groups:
            group["lr"] = 5e-3 * 0.1 ** (step / 100)
        losses.append(loss.item())
        psnrs.append((-10.0 * torch.log(loss.detach()) / torch.log(torch.Tensor([10.0]))).item())
    return {"loss": losses, "psnr": psnrs, "depth": depth.detach().numpy(), "parameters": arrays(field.named_parameters())}
