"""A set of boxes from queries: attention over image features, Hungarian matching by SciPy, generalised IoU, focal loss."""

import numpy as np
from scipy.optimize import linear_sum_assignment
from starting_point import arrays, fill

TOLERANCE = 1e-6
QUERIES, KINDS = 4, 2


def build(torch):
    nn = torch.nn

    class Detector(nn.Module):
        def __init__(self, width: int = 8):
            super().__init__()
            self.backbone = nn.Sequential(nn.Conv2d(1, width, 3, stride=2, padding=1), nn.ReLU6())
            self.query_embed = nn.Embedding(QUERIES, width)
            self.row_embed, self.col_embed = nn.Parameter(torch.rand(10, width // 2)), nn.Parameter(torch.rand(10, width // 2))
            layer = nn.TransformerDecoderLayer(width, 2, 16, dropout=0.0, batch_first=True)
            self.decoder = nn.TransformerDecoder(layer, num_layers=1)
            self.class_embed, self.bbox_embed = nn.Linear(width, KINDS), nn.Linear(width, 4)

        def forward(self, images):
            features = self.backbone(images)
            H, W = features.shape[-2:]
            columns = self.col_embed[:W].unsqueeze(0).repeat(H, 1, 1)
            rows = self.row_embed[:H].unsqueeze(1).repeat(1, W, 1)
            memory = features.flatten(2).permute(0, 2, 1) + torch.cat([columns, rows], dim=-1).flatten(0, 1)
            hidden = self.decoder(self.query_embed.weight.unsqueeze(0).expand(len(images), -1, -1), memory)
            return self.class_embed(hidden), self.bbox_embed(hidden).sigmoid()

    return Detector()


def corners(torch, boxes):
    x, y, w, h = boxes.unbind(-1)
    return torch.stack([x - 0.5 * w, y - 0.5 * h, x + 0.5 * w, y + 0.5 * h], dim=-1)


def generalised_iou(torch, a, b):
    """Of each pair of boxes by corners (N, 4) and (M, 4): (N, M)."""
    assert (a[:, 2:] >= a[:, :2]).all() and (b[:, 2:] >= b[:, :2]).all()
    areas = [(boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1]) for boxes in (a, b)]
    inner = (torch.min(a[:, None, 2:], b[:, 2:]) - torch.max(a[:, None, :2], b[:, :2])).clamp(min=0).prod(-1)
    union = areas[0][:, None] + areas[1] - inner
    hull = (torch.max(a[:, None, 2:], b[:, 2:]) - torch.min(a[:, None, :2], b[:, :2])).clamp(min=0).prod(dim=2)
    return inner / union - (hull - union) / hull


def run(torch, seed: int = 0) -> dict:
    F = torch.nn.functional
    rng = np.random.default_rng(seed)
    model = fill(torch, build(torch).double(), rng)
    optimizer = torch.optim.AdamW(
        [
            {"params": [p for n, p in model.named_parameters() if "backbone" not in n and p.requires_grad]},
            {"params": [p for n, p in model.named_parameters() if "backbone" in n], "lr": 1e-3},
        ],
        lr=5e-3,
        weight_decay=1e-4,
        eps=1e-6,
    )
    targets = []
    images = torch.from_numpy(0.1 * rng.normal(size=(3, 1, 12, 12)))
    for image in images:
        count = int(rng.integers(1, 3))
        boxes = torch.from_numpy(np.concatenate([rng.uniform(0.3, 0.7, (count, 2)), rng.uniform(0.2, 0.5, (count, 2))], axis=1))
        for x0, y0, x1, y1 in (corners(torch, boxes) * 12).round().int().clamp(0, 12).tolist():
            image[0, y0:y1, x0:x1] += 1.0
        targets.append({"boxes": boxes, "labels": torch.from_numpy(rng.integers(0, KINDS, count))})

    losses, matches = [], []
    for _ in range(8):
        logits, boxes = model(images)
        with torch.no_grad():
            every = torch.cat([t["boxes"] for t in targets])
            cost = torch.cdist(boxes.flatten(0, 1), every, p=1)
            cost = cost - generalised_iou(torch, corners(torch, boxes.flatten(0, 1)), corners(torch, every))
            cost = cost - logits.flatten(0, 1).sigmoid()[:, torch.cat([t["labels"] for t in targets])]
            cost = cost.view(len(images), QUERIES, -1)
            parts = cost.split([len(t["boxes"]) for t in targets], -1)
            indices = [linear_sum_assignment(part[i]) for i, part in enumerate(parts)]
        picture = torch.cat([torch.full((len(rows),), i) for i, (rows, _) in enumerate(indices)])
        query = torch.cat([torch.as_tensor(rows) for rows, _ in indices])
        wanted = torch.cat([t["boxes"][columns] for t, (_, columns) in zip(targets, indices, strict=True)])
        labels = torch.cat([t["labels"][columns] for t, (_, columns) in zip(targets, indices, strict=True)])
        found = boxes[picture, query]
        one_hot = torch.zeros_like(logits)
        one_hot[picture, query, labels] = 1
        entropy = F.binary_cross_entropy_with_logits(logits, one_hot, reduction="none")
        p_t = torch.exp(-entropy)
        focal = (torch.where(one_hot == 1, 0.25, 0.75) * entropy * (1 - p_t) ** 2).mean(1).sum() * QUERIES / len(wanted)
        giou = 1 - torch.diag(generalised_iou(torch, corners(torch, found), corners(torch, wanted)))
        loss = focal + 5 * F.l1_loss(found, wanted, reduction="sum") / len(wanted) + 2 * giou.sum() / len(wanted)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        optimizer.step()
        losses.append(loss.item())
        matches.append(query.tolist())
    scores, kinds = logits.detach().sigmoid().flatten(1).topk(3)
    return {
        "loss": losses,
        "matches": matches,
        "scores": scores.numpy(),
        "kinds": (kinds % KINDS).numpy(),
        "queries": torch.div(kinds, KINDS, rounding_mode="floor").numpy(),
        "parameters": arrays(model.named_parameters()),
    }
