"""Eager forward, forward and backward, and whole training steps, beside torch's."""

from collections.abc import Callable, Iterator
from types import ModuleType

import torch
from timing import Effort, Row, agree, measure
from workloads import DIGITS_CNN, MLP, Workload

import funtorch

STEP_TARGET = 1.0


def rows(effort: Effort) -> Iterator[Row]:
    for workload in (MLP, DIGITS_CNN):
        for part, make, target in PARTS:
            name = f"eager {part}: {workload.name}"
            contenders = {peer.__name__: make(peer, workload) for peer in (funtorch, torch)}
            agree(name, {peer: first_losses(run) for peer, run in contenders.items()})
            times = measure(contenders, effort)
            yield Row(name, times["funtorch"], "torch", times["torch"], target)


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
