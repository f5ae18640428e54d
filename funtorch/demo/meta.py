"""Second-order MAML (Finn et al., 2017) on few-shot tasks of digits whose classes meta-training did not see."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import funtorch as torch
from funtorch import nn
from funtorch.func import functional_call, grad, vmap
from funtorch.nn import functional as F

from .digits import Digits

WAYS, SHOTS, QUERIES = 3, 5, 10
SEEN, UNSEEN = (0, 1, 2, 3, 4, 5, 6), (7, 8, 9)
TASKS, META_STEPS, INNER_STEPS, INNER_RATE = 16, 150, 2, 0.4
TEST_TASKS = 100


class Tasks:
    """Draws tasks: a few classes under new labels, with images to learn from and images to be judged by."""

    def __init__(self, data: Digits, classes: tuple[int, ...], generator: Any) -> None:
        images = torch.cat([data.train_images, data.test_images]).flatten(1)  # (N, 64)
        labels = torch.cat([data.train_labels, data.test_labels])
        self.images = {c: images[labels == c] for c in classes}
        self.classes = classes
        self.generator = generator

    def draw(self, count: int) -> tuple[Any, Any, Any, Any]:
        """(support images (T, S, 64), support labels (T, S), query images (T, Q, 64), query labels (T, Q))."""
        tasks = [self._one() for _ in range(count)]
        return tuple(torch.stack(part) for part in zip(*tasks, strict=True))

    def _one(self) -> tuple[Any, Any, Any, Any]:
        chosen = torch.randperm(len(self.classes), generator=self.generator)[:WAYS].tolist()
        support, query = [], []
        for number in chosen:
            images = self.images[self.classes[number]]
            order = torch.randperm(len(images), generator=self.generator)[: SHOTS + QUERIES]
            support.append(images[order[:SHOTS]])
            query.append(images[order[SHOTS:]])
        labels = torch.arange(WAYS)
        return torch.cat(support), labels.repeat_interleave(SHOTS), torch.cat(query), labels.repeat_interleave(QUERIES)


def learner(seed: int) -> nn.Module:
    """The network that adapts: images (N, 64) to logits (N, WAYS)."""
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, WAYS))


def adapted(model: nn.Module, parameters: dict, images: Any, labels: Any, steps: int) -> dict:
    """``parameters`` after some steps of gradient descent on the support images."""

    def loss(parameters: dict) -> Any:
        return F.cross_entropy(functional_call(model, parameters, (images,)), labels)

    for _ in range(steps):
        slopes = grad(loss)(parameters)
        parameters = {name: p - INNER_RATE * slopes[name] for name, p in parameters.items()}
    return parameters


def maml(data: Digits, seed: int, device: str, progress: Callable) -> dict[str, Any]:
    """Meta-train: ``grad`` inside, ``vmap`` over tasks, plain ``backward()`` and Adam outside. Test on unseen classes."""
    model = learner(seed).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    generator = torch.Generator().manual_seed(seed)
    training, testing = Tasks(data, SEEN, generator), Tasks(data, UNSEEN, generator)
    parameters = dict(model.named_parameters())

    def task_loss(support: Any, support_labels: Any, query: Any, query_labels: Any) -> Any:
        learned = adapted(model, parameters, support, support_labels, INNER_STEPS)
        return F.cross_entropy(functional_call(model, learned, (query,)), query_labels)

    def meta_step(*tasks: Any) -> Any:
        optimizer.zero_grad()
        loss = vmap(task_loss)(*tasks).mean()
        loss.backward()
        optimizer.step()
        return loss

    advance = progress("maml", META_STEPS)
    run = torch.compile(meta_step)
    for _ in range(META_STEPS):
        loss = run(*training.draw(TASKS))
        advance()
    tasks = testing.draw(TEST_TASKS)
    result: dict[str, Any] = {f"accuracy_after_{steps}": _accuracy(model, tasks, steps) for steps in (0, 1, 5)}
    result["last_meta_loss"] = loss.item()
    result["rises"] = result["accuracy_after_0"] < result["accuracy_after_1"] <= result["accuracy_after_5"]
    return result


def _accuracy(model: nn.Module, tasks: tuple, steps: int) -> float:
    parameters = {name: p.detach() for name, p in model.named_parameters()}

    def right(support: Any, support_labels: Any, query: Any, query_labels: Any) -> Any:
        learned = adapted(model, parameters, support, support_labels, steps)
        return (functional_call(model, learned, (query,)).argmax(1) == query_labels).float().mean()

    return vmap(right)(*tasks).mean().item()
