"""A small convolutional classifier of digits: trained eagerly, trained compiled, differentiated sample by sample, and twice."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import funtorch as torch
from funtorch import nn
from funtorch.func import functional_call, grad, jvp, vmap
from funtorch.nn import functional as F
from funtorch.utils.data import DataLoader, TensorDataset

from .digits import Digits

BATCH = 64
EPOCHS = 15
COMPARED_STEPS = 60
ROUNDS = 16


class Classifier(nn.Module):
    """Two convolutions and two linear layers: images (N, 1, 8, 8) to logits (N, 10)."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(1, 16, 3, padding=1)
        self.second = nn.Conv2d(16, 32, 3, padding=1)
        self.dropout = nn.Dropout(0.3)
        self.hidden = nn.Linear(32 * 4 * 4, 64)
        self.logits = nn.Linear(64, 10)

    def forward(self, x: Any) -> Any:
        x = F.relu(self.first(x))  # (N, 16, 8, 8)
        x = F.max_pool2d(F.relu(self.second(x)), 2)  # (N, 32, 4, 4)
        x = F.relu(self.hidden(self.dropout(x.flatten(1))))  # (N, 64)
        return self.logits(x)  # (N, 10)


def new_classifier(seed: int, device: str) -> Classifier:
    """A classifier with the initial weights that belong to ``seed``."""
    torch.manual_seed(seed)
    return Classifier().to(device)


def accuracy(model: nn.Module, images: Any, labels: Any) -> float:
    """The share of images that ``model`` puts in the right class."""
    model.eval()
    with torch.no_grad():
        return (model(images).argmax(1) == labels).float().mean().item()


def train(data: Digits, seed: int, device: str, progress: Callable) -> dict[str, Any]:
    """Train eagerly, as one does in PyTorch."""
    model = new_classifier(seed, device)
    optimizer = torch.optim.Adam(model.parameters())
    loader: DataLoader = DataLoader(TensorDataset(data.train_images, data.train_labels), batch_size=BATCH, shuffle=True)
    start, steps = time.perf_counter(), 0
    advance = progress("train", EPOCHS * len(loader))
    for epoch in range(EPOCHS):
        model.train()
        for group in optimizer.param_groups:
            group["lr"] = 3e-3 * (1 - epoch / EPOCHS)
        for images, labels in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(images), labels)
            loss.backward()
            optimizer.step()
            steps += 1
            advance()
    seconds = time.perf_counter() - start
    return {
        "test_accuracy": accuracy(model, data.test_images, data.test_labels),
        "last_loss": loss.item(),
        "steps": steps,
        "seconds": seconds,
    }


def _batches(data: Digits, count: int) -> list[tuple[Any, Any]]:
    per_epoch = len(data.train_labels) // BATCH
    starts = [(i % per_epoch) * BATCH for i in range(count)]
    return [(data.train_images[s : s + BATCH], data.train_labels[s : s + BATCH]) for s in starts]


def _timed_run(data: Digits, seed: int, device: str, compiled: bool, advance: Callable) -> tuple[list[float], float]:
    """The losses of the first steps, and the median time of a step in milliseconds once warm."""
    model = new_classifier(seed, device)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)

    def step(images: Any, labels: Any) -> Any:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        return loss

    run = torch.compile(step) if compiled else step
    losses, times = [], []
    for images, labels in _batches(data, COMPARED_STEPS):
        start = time.perf_counter()
        losses.append(run(images, labels).item())
        times.append(time.perf_counter() - start)
        advance()
    warm = sorted(times[COMPARED_STEPS // 3 :])
    return losses, warm[len(warm) // 2] * 1e3


def compile_step(data: Digits, seed: int, device: str, progress: Callable) -> dict[str, Any]:
    """Train with the whole step as one program, and compare with the same steps run eagerly."""
    advance = progress("compile", 2 * COMPARED_STEPS)
    eager, eager_ms = _timed_run(data, seed, device, False, advance)
    compiled, compiled_ms = _timed_run(data, seed, device, True, advance)
    gap = max(abs(a - b) / max(abs(a), 1e-3) for a, b in zip(eager, compiled, strict=True))
    return {"eager_ms": eager_ms, "compiled_ms": compiled_ms, "largest_loss_difference": gap, "agree": gap < 1e-2}


def per_sample(data: Digits, seed: int, device: str, progress: Callable) -> dict[str, Any]:
    """Gradients of each sample's own loss, all at once, checked against a loop."""
    model = new_classifier(seed, device).eval()
    parameters = {name: p.detach() for name, p in model.named_parameters()}
    images, labels = data.train_images[:BATCH], data.train_labels[:BATCH]

    def loss(parameters: dict, image: Any, label: Any) -> Any:
        logits = functional_call(model, parameters, (image.unsqueeze(0),))
        return F.cross_entropy(logits, label.unsqueeze(0))

    one = grad(loss)
    all_at_once = vmap(one, in_dims=(None, 0, 0))
    advance = progress("per-sample", 2 * ROUNDS)
    vectorised_s, found = _median(lambda: all_at_once(parameters, images, labels), advance)
    loop_s, each = _median(lambda: [one(parameters, images[i], labels[i]) for i in range(BATCH)], advance)
    gap = max((found[name][i] - g).abs().max().item() for i, grads in enumerate(each) for name, g in grads.items())
    return {
        "vectorised_ms": vectorised_s * 1e3,
        "loop_ms": loop_s * 1e3,
        "speed_up": loop_s / vectorised_s,
        "largest_difference": gap,
        "agree": gap < 1e-4,
    }


def _median(fn: Callable, advance: Callable) -> tuple[float, Any]:
    """The median time of a call in seconds, once warm (the first half compiles kernels), and the last result."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        result = fn()
        times.append(time.perf_counter() - start)
        advance()
    return statistics.median(times[ROUNDS // 2 :]), result


def hessian_vector(data: Digits, seed: int, device: str, progress: Callable) -> dict[str, Any]:
    """The Hessian of the loss times a direction, forward over reverse, against finite differences of the gradient."""
    advance = progress("hvp", 3)
    model = new_classifier(seed, device).double().eval()
    parameters = {name: p.detach() for name, p in model.named_parameters()}
    images, labels = data.train_images[:BATCH].double(), data.train_labels[:BATCH]

    def gradient(parameters: dict) -> dict:
        return grad(lambda p: F.cross_entropy(functional_call(model, p, (images,)), labels))(parameters)

    direction = {name: torch.randn_like(p) for name, p in parameters.items()}
    length = sum(d.square().sum() for d in direction.values()).sqrt()
    direction = {name: d / length for name, d in direction.items()}  # short, so that no ReLU changes its mind on the way
    _, product = jvp(gradient, (parameters,), (direction,))
    advance()
    step = 1e-6
    ahead = gradient({name: p + step * direction[name] for name, p in parameters.items()})
    advance()
    behind = gradient({name: p - step * direction[name] for name, p in parameters.items()})
    advance()
    error = sum(((ahead[n] - behind[n]) / (2 * step) - product[n]).square().sum() for n in product).sqrt()
    norm = sum(p.square().sum() for p in product.values()).sqrt()
    relative = (error / norm).item()
    return {"norm": norm.item(), "relative_difference": relative, "agree": relative < 1e-4}
