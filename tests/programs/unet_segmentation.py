"""Segmentation by a small U-Net: max pooling, bilinear upsampling, joined skips, weighted BCE and Dice, IoU."""

import numpy as np
from starting_point import arrays, fill

TOLERANCE = 2e-4


def build(torch):
    nn, F = torch.nn, torch.nn.functional

    class DoubleConv(nn.Module):
        def __init__(self, planes_in: int, planes_out: int):
            super().__init__()
            layers = []
            for a, b in ((planes_in, planes_out), (planes_out, planes_out)):
                layers += [nn.Conv2d(a, b, 3, padding=1, padding_mode="reflect"), nn.GroupNorm(2, b), nn.SiLU()]
            self.double_conv = nn.Sequential(*layers)

        def forward(self, x):
            return self.double_conv(x)

    class UNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.inc, self.down, self.deep = DoubleConv(1, 4), DoubleConv(4, 8), DoubleConv(8, 8)
            self.up1, self.up2 = DoubleConv(16, 4), DoubleConv(8, 4)
            self.reduce = nn.ConvTranspose2d(4, 4, kernel_size=2, stride=2)
            self.outc = nn.Conv2d(4, 1, kernel_size=1)

        def forward(self, x):
            x1 = self.inc(x)
            x2 = self.down(F.max_pool2d(x1, 2))
            x3 = self.deep(F.max_pool2d(x2, kernel_size=2, ceil_mode=True))
            x3 = F.interpolate(x3, size=x2.shape[-2:], mode="bilinear", align_corners=True)
            y = self.reduce(self.up1(torch.cat([x2, x3], dim=1)))
            rows, columns = x1.size(2) - y.size(2), x1.size(3) - y.size(3)
            y = F.pad(y, [columns // 2, columns - columns // 2, rows // 2, rows - rows // 2])
            return self.outc(self.up2(torch.cat((x1, y), 1)))

    return UNet()


def discs(torch, rng: np.random.Generator, count: int = 4, size: int = 14):
    """Noisy images (N, 1, H, W) of discs, and where these are."""
    row, column = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    centre = torch.from_numpy(rng.integers(3, size - 3, (count, 2)))[:, :, None, None]
    mask = (((row - centre[:, 0]) ** 2 + (column - centre[:, 1]) ** 2) < 12).unsqueeze(1).float()
    return mask + 0.5 * torch.from_numpy(rng.normal(size=mask.shape)).float(), mask


def dice_loss(probability, target, smooth: float = 1.0):
    intersection = (probability * target).flatten(1).sum(-1)
    return (1 - (2 * intersection + smooth) / (probability.flatten(1).sum(-1) + target.flatten(1).sum(-1) + smooth)).mean()


def run(torch, seed: int = 0) -> dict:
    rng = np.random.default_rng(seed)
    model = fill(torch, build(torch), rng)
    optimizer = torch.optim.Adam([{"params": [p]} for p in model.parameters()], lr=5e-3)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, "min", patience=1, factor=0.5)
    criterion = torch.nn.BCEWithLogitsLoss(pos_weight=torch.tensor([2.0]))
    batches = [discs(torch, rng) for _ in range(2)]

    losses, overlaps, rates = [], [], []
    for step in range(8):
        images, masks = batches[step % 2]
        logits = model(images)
        loss = criterion(logits, masks) + dice_loss(torch.sigmoid(logits), masks)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step(loss.detach())
        found = logits.detach() > 0
        overlap = torch.logical_and(found, masks.bool()).sum((1, 2, 3)) / torch.logical_or(found, masks.bool()).sum((1, 2, 3))
        losses.append(loss.item())
        overlaps.append(overlap.tolist())
        rates.append(optimizer.param_groups[0]["lr"])
    return {"loss": losses, "overlap": overlaps, "rate": rates, "parameters": arrays(model.named_parameters())}
