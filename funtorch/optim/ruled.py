"""The step of an optimiser whose algorithm is a rule: state for parameters that have none yet, then one dispatch a group."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import dtypes
from ..core.views import concrete
from ..errors import ArgumentValueError, OpError
from ..tensor import Tensor
from .counters import counters
from .optimizer import Optimizer
from .update import Rule, apply_rule


class Plan(NamedTuple):
    """What a group's options make of the rule: the state that it keeps, the numbers that it reads, and its options."""

    keys: tuple[str, ...]
    numbers: tuple[str, ...]
    options: dict[str, Any]


class RuledOptimizer(Optimizer):
    """An optimiser that applies ``rule`` to each parameter. A subclass tells the `Plan` of a group, and the first state."""

    rule: Rule
    counts = True  # whether the state has a "step"
    columns: tuple[str, ...] = ()  # the keys of the states, in the order of PyTorch's functional form

    @staticmethod
    def _plan(group: dict[str, Any]) -> Plan:
        raise NotImplementedError

    def _first_state(self, param: Tensor, group: dict[str, Any]) -> dict[str, Tensor]:
        """The state of a parameter before its first step: zeros like it, unless a subclass knows better."""
        return {key: zeros_like(param) for key in self._plan(group).keys}

    def step(self, closure: Callable | None = None) -> Any:
        """Change the parameters by their gradients."""
        loss = self._closure_loss(closure)
        for group in self.param_groups:
            params = [p for p in group["params"] if p.grad is not None]
            self._start([p for p in params if not self.state[p]], group)
            plan = self._plan(group)
            states = [self.state[p] for p in params]
            apply_rule(
                type(self).rule, group, params, states, plan.keys, plan.numbers, plan.options, group.get("differentiable", False)
            )
        return loss

    def _start(self, params: Sequence[Tensor], group: dict[str, Any]) -> None:
        if not params:
            return
        steps = counters(scalar(0.0), len(params))
        for p, step in zip(params, steps, strict=True):
            first = self._first_state(p, group)
            self.state[p].update({"step": step, **first} if self.counts else first)

    def __setstate__(self, saved: dict) -> None:
        super().__setstate__(saved)
        complete(self)

    def _init_group(self, group: dict[str, Any], params_with_grad: list, grads: list, *columns: list) -> Any:
        """Append to lists what the functional form takes: parameters with gradients, these, and the states; whether one is complex."""
        params = [p for p in group["params"] if p.grad is not None]
        self._start([p for p in params if not self.state[p]], group)
        params_with_grad += params
        grads += [p.grad for p in params]
        for key, column in zip((*self.columns, *(("step",) if self.counts else ())), columns, strict=True):
            column += self._column(key, [self.state[p] for p in params])
        return any(p.is_complex() for p in params)

    def _column(self, key: str, states: list[dict[str, Any]]) -> list[Any]:
        return [state[key] for state in states if key in state]


# What an option is in a state that was saved before it existed, and which states were plain numbers then.
OFF = {
    "amsgrad": False, "capturable": False, "centered": False, "decoupled_weight_decay": False, "differentiable": False, "foreach": None,
    "fused": None, "maximize": False, "momentum": 0, "nesterov": False,
}  # fmt: skip
NUMBERS = ("step", "eta", "mu", "mu_product")


def complete(optimizer: Optimizer) -> None:
    """Give groups and states that an older version saved what they lack."""
    for group in optimizer.param_groups:
        for name in OFF.keys() & optimizer.defaults.keys():
            group.setdefault(name, OFF[name])
    for state in optimizer.state.values():
        for name in NUMBERS:
            if isinstance(state.get(name), (int, float)):
                state[name] = scalar(float(state[name]))


def zeros_like(param: Tensor) -> Tensor:
    """Zeros in the shape and dtype of a parameter."""
    return param.detach().new_zeros(param.shape)


def first_rate(group: dict[str, Any]) -> Tensor:
    """A group's rate as the state that begins with it: one number, on the tape if the steps are."""
    lr = group["lr"]
    if not isinstance(lr, Tensor):
        return scalar(float(lr))
    return on_tape(lr, group).reshape(()).to(dtype=scalar(0.0).dtype).clone()


def on_tape(number: Tensor, group: dict[str, Any]) -> Tensor:
    """A hyperparameter with its place on the tape if the group's steps are on it, else without."""
    return number if group.get("differentiable") else number.detach()


def scalar(value: float) -> Tensor:
    """State of one number: single precision, or the default dtype if that is double."""
    return Tensor._of_numpy(np.array(value, np.float64 if dtypes.default() is dtypes.float64 else np.float32))


def with_decay(group: dict[str, Any], *numbers: str) -> tuple[tuple[str, ...], dict[str, bool]]:
    """The numbers, with the weight decay if there is one, and the options that `steepest` takes."""
    decay = isinstance(group["weight_decay"], Tensor) or group["weight_decay"] != 0
    return (*numbers, *(("weight_decay",) if decay else ())), {"decay": decay, "maximize": group["maximize"]}


def check_rate(lr: Any) -> None:
    """Raise ValueError for a negative rate, or a Tensor of more than one."""
    if isinstance(lr, Tensor):
        if lr.numel() != 1:
            raise ArgumentValueError(f"Tensor lr must be 1-element, got {lr.numel()} elements")
        value = concrete(lr)
        lr = 0.0 if value is None else value.item()  # it has no value yet inside of compiled code
    if not lr >= 0.0:
        raise ArgumentValueError(f"Invalid learning rate: {lr}")


def check_fused(fused: bool | None, foreach: bool | None, differentiable: bool) -> None:
    """Raise RuntimeError where ``fused`` is asked for with what PyTorch can't do at once."""
    if fused and differentiable:
        raise OpError("`fused` does not support `differentiable`")
    if fused and foreach:
        raise OpError("`fused` and `foreach` cannot be `True` together.")


def check_not_negative(**values: Any) -> None:
    """Raise ValueError for an option that is below zero."""
    for name, value in values.items():
        if not isinstance(value, Tensor) and not value >= 0.0:
            raise ArgumentValueError(f"Invalid {name} value: {value}")


def check_betas(betas: Sequence[Any]) -> None:
    """Raise ValueError for a beta outside [0, 1)."""
    for number in (0, 1):
        beta = betas[number]
        if not isinstance(beta, Tensor) and not 0.0 <= beta < 1.0:
            raise ArgumentValueError(f"Invalid beta parameter at index {number}: {beta}")
