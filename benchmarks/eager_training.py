"""Eager forward, forward and backward, and whole training steps, beside torch's; one process each, in turns."""

import importlib
from collections.abc import Callable, Iterator
from types import ModuleType

from processes import beside
from timing import Effort, Row, agree
from workloads import DIGITS_CNN, MLP, Workload

STEP_TARGET = 1.0
PEERS = ("funtorch", "torch")


def rows(effort: Effort) -> Iterator[Row]:
    for (name, run), (_, peers) in zip(calls("funtorch"), calls("torch"), strict=True):
        agree(name, {"funtorch": first_losses(run), "torch": first_losses(peers)})
    times = beside("eager_training", PEERS, effort)
    for name, target in targets():
        yield Row(name, times["funtorch"][name], "torch", times["torch"][name], target)


def calls(framework: str) -> Iterator[tuple[str, Callable]]:
    for workload in (MLP, DIGITS_CNN):
        for part, make, _ in PARTS:
            yield f"eager {part}: {workload.name}", make(importlib.import_module(framework), workload)


def targets() -> Iterator[tuple[str, float | None]]:
    for workload in (MLP, DIGITS_CNN):
        for part, _, target in PARTS:
            yield f"eager {part}: {workload.name}", target


def first_losses(run: Callable) -> list[float]:
    return [run()[0].item() for _ in range(4)]


def forward(torch: ModuleType, workload: Workload) -> Callable:
    """The loss, recorded for a backward pass that doesn't come."""
    model, (x, y) = workload.model(torch), map(torch.from_numpy, workload.batch())
    return lambda: [torch.nn.functional.cross_entropy(model(x), y)]


def forward_and_backward(torch: ModuleType, workload: Workload) -> Callable:
    """The loss and all gradients."""
    model, (x, y) = workload.model(torch), map(torch.from_numpy, workload.batch())
    parameters = list(model.parameters())

    def run() -> list:
        for parameter in parameters:
            parameter.grad = None
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        return [loss, *(parameter.grad for parameter in parameters)]

    return run


def step(optimizer_name: str) -> Callable[[ModuleType, Workload], Callable]:
    """A whole training step with the optimiser of that name."""

    def make(torch: ModuleType, workload: Workload) -> Callable:
        model, (x, y) = workload.model(torch), map(torch.from_numpy, workload.batch())
        parameters = list(model.parameters())
        optimizer = getattr(torch.optim, optimizer_name)(parameters, lr=1e-3)

        def run() -> list:
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            return [loss, *parameters]

        return run

    return make


PARTS = [
    ("forward", forward, None),
    ("forward + backward", forward_and_backward, None),
    ("SGD step", step("SGD"), STEP_TARGET),
    ("Adam step", step("Adam"), STEP_TARGET),
]
