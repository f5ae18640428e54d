"""Averaged stochastic gradient descent (Polyak and Juditsky, 1992), as PyTorch has it."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ..tensor import Tensor
from .elementwise import elementwise, in_type_of, steepest
from .lists import step_lists
from .ruled import Plan, RuledOptimizer, check_not_negative, check_rate, first_rate, scalar, with_decay, zeros_like


@elementwise
def asgd_rule(param: Any, grad: Any, state: dict, h: dict, *, decay: bool, maximize: bool, single: bool) -> tuple:
    """p = (1 - lambd eta) p - eta g; ax = ax + mu (p - ax); eta = lr / (1 + lambd lr t)^alpha; mu = 1 / max(1, t - t0)."""
    c = in_type_of(param)
    g = steepest(param, grad, h, maximize, decay)
    double = h["lr"].dtype
    t, eta = state["step"].astype(double), state["eta"].astype(double)
    moved = param * c(1 - h["lambd"] * eta) - c(eta) * g
    averaged = jnp.where(state["mu"] == 1, moved, state["ax"] + (moved - state["ax"]) * c(state["mu"]))
    return moved, {"eta": _next_rate(h, state["step"], single), "mu": 1 / jnp.maximum(1, t - h["t0"]), "ax": averaged}


def _next_rate(h: dict, t: Any, single: bool) -> Any:
    """lr / (1 + lambd lr t)^alpha; ``single``: rounded as PyTorch rounds it where the counters are a list."""
    lr, shrinking = h["lr"], h["lambd"] * h["lr"]
    if not single:
        return lr / (1 + shrinking * t.astype(lr.dtype)) ** h["alpha"]
    power = ((t * shrinking.astype(t.dtype) + 1).astype(lr.dtype) ** h["alpha"]).astype(t.dtype)
    return 1 / power * lr.astype(t.dtype)


class ASGD(RuledOptimizer):
    r"""Averaged SGD: steps that shrink, and in the state's "ax" the average of the parameters from step ``t0`` on.

    Args:
        params: see `Optimizer`.
        lr: step size; a number or a Tensor of one element.
        lambd: by what p shrinks, times the step size.
        alpha: the power with which the step size falls.
        t0: the step from which on parameters are averaged.
        weight_decay: factor of p that is added to its gradient.
        maximize: ascend.
        foreach: compute step sizes in single precision, as PyTorch's form for lists does; a step is always one dispatch.
        capturable: accepted.
        differentiable: put the step on the tape.

    Raises:
        ValueError: a negative rate or weight decay.
    """

    rule = staticmethod(asgd_rule)
    columns = ("mu", "ax", "eta")

    def __init__(
        self, params: Any, lr: Any = 1e-2, lambd: float = 1e-4, alpha: float = 0.75, t0: float = 1e6, weight_decay: float = 0,
        foreach: bool | None = None, maximize: bool = False, differentiable: bool = False, capturable: bool = False,
    ) -> None:  # fmt: skip
        check_rate(lr)
        check_not_negative(weight_decay=weight_decay)
        defaults = {
            "lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "capturable": capturable,
        }  # fmt: skip
        super().__init__(params, defaults)

    @staticmethod
    def _plan(group: dict[str, Any]) -> Plan:
        numbers, options = with_decay(group, "lr", "lambd", "alpha", "t0")
        return Plan(
            ("eta", "mu", "ax"), numbers, {**options, "single": bool(group["foreach"]) and not isinstance(group["lr"], Tensor)}
        )

    def _first_state(self, param: Tensor, group: dict[str, Any]) -> dict[str, Tensor]:
        return {"eta": first_rate(group), "mu": scalar(1.0), "ax": zeros_like(param)}


def asgd(
    params: list[Tensor], grads: list[Tensor], axs: list[Tensor], mus: list[Tensor], etas: list[Tensor], state_steps: list[Tensor],
    foreach: bool | None = None, maximize: bool = False, differentiable: bool = False, capturable: bool = False, has_complex: bool = False,
    *, lambd: float, lr: Any, t0: float, alpha: float, weight_decay: float,
) -> None:  # fmt: skip
    """One step of `ASGD` for lists, in place: PyTorch's functional form, with the same options.

    Args:
        params, grads: of equal lengths; what is on the tape is decided by grad mode.
        axs, mus, etas, state_steps: the states that `ASGD` keeps, a Tensor for each parameter.

    Raises:
        RuntimeError: a step counter that is no Tensor, or a parameter that is a leaf and requires grad in grad mode.
    """
    group = {
        "lr": lr,
        "lambd": lambd,
        "alpha": alpha,
        "t0": t0,
        "weight_decay": weight_decay,
        "maximize": maximize,
        "foreach": foreach,
    }
    step_lists(asgd_rule, ASGD._plan(group), group, params, grads, {"eta": etas, "mu": mus, "ax": axs}, state_steps)
