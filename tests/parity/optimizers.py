"""The optimiser database as a suite: a few steps from the same parameters on both Sides, in float64."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from parity.candidate import MissingError, Side
from parity.compare import check_equal
from parity.convert import Array, Crossing, portable, tensor_on
from parity.exceptions import looseness
from parity.samples import seed_all, spread
from parity.verdict import FAIL, MISSING, NOTHING, ORACLE, PASS, Cell, describe, first_difference

STEPS = 5
# One step of an optimiser with a closure is twenty iterations; further ones multiply the rounding without bound.
STEPS_WITH_CLOSURE = 1
OPTIONS = 10


@functools.cache
def database() -> dict[str, Any]:
    """PyTorch's optimiser database by class name."""
    from torch.testing._internal.common_optimizers import optim_db

    return {info.name: info for info in optim_db}


def _array(side: Side, *shape: int, seed: int) -> Any:
    return tensor_on(side, Array("float64", np.random.default_rng(seed).standard_normal(shape)))


class Problem:
    """Least squares with a twist: the loss of a two-layer map, so that the two parameters interact."""

    def __init__(self, side: Side, sparse: bool):
        self.side, self.sparse = side, sparse
        self.inputs, self.targets = _array(side, 8, 4, seed=1), _array(side, 8, 2, seed=2)
        self.parameters = [side.find("nn.Parameter")(_array(side, *shape, seed=i)) for i, shape in enumerate(SHAPES)]

    def loss(self) -> Any:
        first, second = self.parameters
        return (((self.inputs @ first).tanh() @ second - self.targets) ** 2).mean()

    def backward(self) -> Any:
        """Sets the gradients (sparse ones where the optimiser takes nothing else) and returns the loss."""
        loss = self.loss()
        loss.backward()
        if self.sparse:
            for parameter in self.parameters:
                parameter.grad = parameter.grad.to_sparse()
        return loss


SHAPES = ((4, 3), (3, 2))


def _descend(side: Side, info: Any, options: dict[str, Any], groups: bool = False) -> tuple[Problem, Any, list[Any]]:
    problem = Problem(side, info.only_supports_sparse_grads)
    options = Crossing(side).mapping(options)
    parameters = problem.parameters
    if groups:
        first, second = parameters
        parameters = [{"params": [first]}, {"params": [second], "lr": 0.05}]
    optimizer = side.find(f"optim.{info.name}")(parameters, **options)

    def closure() -> Any:
        optimizer.zero_grad()
        return problem.backward()

    count = STEPS_WITH_CLOSURE if info.step_requires_closure else STEPS
    losses = [optimizer.step(closure) for _ in range(count)]
    return problem, optimizer, losses


def steps(side: Side, info: Any, options: dict[str, Any]) -> Any:
    """The parameters after five steps, and the losses on the way."""
    problem, _, losses = _descend(side, info, options)
    return problem.parameters, losses


def groups(side: Side, info: Any, options: dict[str, Any]) -> Any:
    """The same with two parameter groups, the second with its own learning rate."""
    if not info.supports_param_groups:
        raise NotImplementedError("one group only")
    problem, _, losses = _descend(side, info, options, groups=True)
    return problem.parameters, losses


def state(side: Side, info: Any, options: dict[str, Any]) -> Any:
    """The state_dict after five steps: keys of state and groups, and the tensors' values."""
    _, optimizer, _ = _descend(side, info, options)
    return optimizer.state_dict()


def resume(side: Side, info: Any, options: dict[str, Any]) -> Any:
    """Five steps, the state loaded into a new optimiser, one step more."""
    problem, optimizer, _ = _descend(side, info, options)
    fresh = side.find(f"optim.{info.name}")(problem.parameters, **Crossing(side).mapping(options))
    fresh.load_state_dict(optimizer.state_dict())
    fresh.zero_grad()
    fresh.step(problem.backward)
    return problem.parameters


def text(side: Side, info: Any, options: dict[str, Any]) -> Any:
    """The optimiser's repr."""
    return repr(side.find(f"optim.{info.name}")(Problem(side, False).parameters, **Crossing(side).mapping(options)))


PROGRAMS: dict[str, Callable | None] = {
    "optim.steps": steps,
    "optim.groups": groups,
    "optim.state": state,
    "optim.resume": resume,
    "optim.repr": text,
    "optim.errors": None,
}


def check(name: str, column: str, candidate: Side) -> Cell:
    """Runs one optimiser in one column."""
    info, program = database()[name], PROGRAMS[column]
    if program is None:
        return check_errors(info, candidate)
    seed_all()
    compare = functools.partial(check_equal, input_dtype="float64", factor=looseness(name, column))
    tried = 0
    for item in spread(info.optim_inputs_func(device="cpu"), OPTIONS):
        try:
            expected = portable(ORACLE, program(ORACLE, info, item.kwargs))
        except NotImplementedError:
            continue
        tried += 1
        reason = first_difference(lambda kwargs=item.kwargs: program(candidate, info, kwargs), expected, candidate, compare)
        if isinstance(reason, MissingError):
            return Cell(MISSING, str(reason))
        if reason is not None:
            return Cell(FAIL, f"{item.desc}: {reason}")
    return Cell(PASS if tried else NOTHING)


def _what_is_raised(side: Side, info: Any, item: Any) -> BaseException | None:
    cross = Crossing(side)
    given = item.optimizer_error_input
    parameters = cross(given.params) if given.params is not None else Problem(side, False).parameters
    make = side.find(f"optim.{info.name}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            optimizer = make(parameters, **cross(given.kwargs))
            if item.error_on.name == "STEP_ERROR":
                optimizer.step()
    except (Exception, Warning) as error:
        return error
    return None


def check_errors(info: Any, candidate: Side) -> Cell:
    """Options that must be refused: the same exception type (or warning) as PyTorch's."""
    items = info.optim_error_inputs_func("cpu", torch.float64) if info.optim_error_inputs_func else []
    for item in items:
        wanted = _what_is_raised(ORACLE, info, item)
        if wanted is None:
            continue
        try:
            raised = _what_is_raised(candidate, info, item)
        except MissingError as missing:
            return Cell(MISSING, str(missing))
        if not isinstance(raised, (type(wanted), item.error_type)):
            got = "nothing" if raised is None else describe(raised)
            return Cell(FAIL, f"{item.optimizer_error_input.desc}: raised {got}, expected {type(wanted).__name__}")
    return Cell(PASS if items else NOTHING)
