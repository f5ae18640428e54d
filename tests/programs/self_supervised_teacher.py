"""A teacher that trails its student by an average (lerp_ under no_grad), with centred, sharpened targets on crops."""

import copy

import numpy as np
from starting_point import arrays, fill

TOLERANCE = 2e-4


def run(torch, seed: int = 0) -> dict:
    nn, F = torch.nn, torch.nn.functional
    rng = np.random.default_rng(seed)
    student = nn.Sequential(
        nn.Conv1d(2, 6, kernel_size=3, padding="same"), nn.GELU(), nn.AdaptiveMaxPool1d(4), nn.Flatten(), nn.Linear(24, 5)
    )
    student = fill(torch, student, rng)
    teacher = copy.deepcopy(student)
    teacher.requires_grad_(False)
    optimizer = torch.optim.AdamW(student.parameters(), lr=5e-3, weight_decay=1e-2)
    schedule = 1 - 0.1 * (np.cos(np.pi * np.arange(10) / 10) + 1) / 2
    centre = torch.zeros(1, 5)

    def crops(x, length: int, count: int):
        starts = rng.integers(0, x.shape[-1] - length + 1, count)
        return [
            x.narrow(-1, int(start), length) + 0.1 * torch.from_numpy(rng.normal(size=(*x.shape[:2], length))).float()
            for start in starts
        ]

    losses, entropies = [], []
    for step in range(10):
        x = torch.from_numpy(rng.normal(size=(8, 2, 16)).cumsum(-1)).float()
        wide, narrow = crops(x, 12, 2), crops(x, 6, 2)
        with torch.no_grad():
            outputs = teacher(torch.cat(wide))
            targets = F.softmax((outputs - centre) / 0.2, dim=-1).chunk(2)
        views = [student(view) for view in (*wide, *narrow)]
        terms = [
            torch.sum(-target * F.log_softmax(view / 0.5, dim=-1), dim=-1).mean()
            for i, target in enumerate(targets)
            for j, view in enumerate(views)
            if i != j
        ]
        loss = sum(terms) / len(terms)
        optimizer.zero_grad()
        loss.backward()
        for name, parameter in student.named_parameters():
            norm = parameter.grad.data.norm(2)
            if norm > 1.0 and "0.weight" in name:
                parameter.grad.data.mul_(1.0 / (norm + 1e-6))
        optimizer.step()
        with torch.no_grad():
            for kept, new in zip(teacher.parameters(), student.parameters(), strict=True):
                kept.lerp_(new, 1 - schedule[step])
            centre = centre * 0.9 + outputs.mean(dim=0, keepdim=True) * 0.1
        losses.append(loss.item())
        entropies.append(torch.special.entr(targets[0]).sum(-1).mean().item())
    return {
        "loss": losses,
        "entropy": entropies,
        "centre": centre.numpy(),
        "student": arrays(student.named_parameters()),
        "teacher": arrays(teacher.named_parameters()),
    }
