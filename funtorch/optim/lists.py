"""PyTorch's functional form of an algorithm: lists of parameters, gradients and states, which change in place by the class's rule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..autograd.modes import no_grad
from ..core.handle import Handle
from ..core.state import state as mode
from ..errors import OpError
from ..tensor import Tensor
from .ruled import Plan
from .update import Rule, apply_rule, name_of

STEPS = "API has changed, `state_steps` argument must contain a list of singleton tensors"


def step_lists(
    rule: Rule, plan: Plan, group: dict[str, Any], params: Sequence[Tensor], grads: Sequence[Tensor], columns: Mapping[str, Sequence[Any]],
    steps: Sequence[Tensor] | None = None,
) -> None:  # fmt: skip
    """One step of ``rule`` for all parameters, on the tape if grad mode is on and something requires grad.

    Args:
        plan, group: which states and numbers the rule takes, and the numbers.
        columns: the states of all parameters by key.
        steps: the step counters, if the algorithm counts; one that stands there twice counts twice.

    Raises:
        IndexError: a list is shorter than that of the parameters.
        RuntimeError: a counter is no Tensor, or a parameter is a leaf that requires grad while grad mode is on.
    """
    check_steps(steps or ())
    for name, given in (("gradients", grads), *((key, columns[key]) for key in plan.keys), ("state_steps", steps)):
        if given is not None and len(given) < len(params):
            raise IndexError(f"{name_of(rule)}(): list index out of range: {len(given)} {name} for {len(params)} parameters")
    states: list[dict[str, Any]] = [{key: columns[key][i] for key in plan.keys} for i in range(len(params))]
    for state, step in zip(states, steps or (), strict=False):
        state["step"] = step
    recording = is_recorded(params, grads, (value for state in states for value in state.values()), group.values())
    for part in separately(steps or ()):
        apply_rule(rule, group, params[part], states[part], plan.keys, plan.numbers, plan.options, recording, grads[part])


def check_steps(steps: Sequence[Any]) -> None:
    """Raise RuntimeError for a step counter that is no Tensor."""
    if not all(isinstance(step, Tensor) for step in steps):
        raise OpError(STEPS)


def skipped(fused: bool | None, grads: Sequence[Tensor], grad_scale: Tensor | None, found_inf: Tensor | None) -> bool:
    """Whether a fused step is left out because a gradient is infinite; else the gradients are divided by their scale, in place.

    Raises AssertionError where a step that isn't fused is given a scale.
    """
    if grad_scale is None and found_inf is None:
        return False
    if not fused:
        raise AssertionError("Expected grad_scale and found_inf to be None")
    if found_inf is not None and found_inf != 0:
        return True
    with no_grad():
        for grad in grads if grad_scale is not None else ():
            grad.div_(grad_scale)
    return False


def separately(steps: Sequence[Tensor]) -> list[slice]:
    """The parts of lists that go into one step: all at once, or one after another where a counter stands there twice."""
    if len(set(map(id, steps))) == len(steps):
        return [slice(None)]
    return [slice(i, i + 1) for i in range(len(steps))]


def is_recorded(*given: Iterable[Any]) -> bool:
    """Whether a step goes on the tape: in grad mode, where something that it takes requires grad."""
    if not mode.grad:
        return False
    flat = (each for part in given for value in part for each in (value if isinstance(value, (tuple, list)) else (value,)))
    return any(isinstance(each, Handle) and each.requires_grad for each in flat)
