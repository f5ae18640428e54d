"""Averaged stochastic gradient descent (Polyak and Juditsky, 1992), as PyTorch has it."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ..tensor import Tensor
from .elementwise import elementwise, in_type_of, steepest
from .ruled import Plan, RuledOptimizer, check_not_negative, check_rate, scalar, with_decay, zeros_like


@elementwise
def asgd(param: Any, grad: Any, state: dict, h: dict, *, decay: bool, maximize: bool) -> tuple:
    """p = (1 - lambd eta) p - eta g; ax = ax + mu (p - ax); eta = lr / (1 + lambd lr t)^alpha; mu = 1 / max(1, t - t0)."""
    c = in_type_of(param)
    g = steepest(param, grad, h, maximize, decay)
    double = h["lr"].dtype
    t, eta = state["step"].astype(double), state["eta"].astype(double)
    moved = param * c(1 - h["lambd"] * eta) - c(eta) * g
    averaged = jnp.where(state["mu"] == 1, moved, state["ax"] + (moved - state["ax"]) * c(state["mu"]))
    new_eta = h["lr"] / (1 + h["lambd"] * h["lr"] * t) ** h["alpha"]
    return moved, {"eta": new_eta, "mu": 1 / jnp.maximum(1, t - h["t0"]), "ax": averaged}


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
        foreach, capturable: accepted; a step is always one dispatch.
        differentiable: put the step on the tape.

    Raises:
        ValueError: a negative rate or weight decay.
    """

    rule = staticmethod(asgd)

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

    def _plan(self, group: dict[str, Any]) -> Plan:
        return Plan(("eta", "mu", "ax"), *with_decay(group, "lr", "lambd", "alpha", "t0"))

    def _first_state(self, param: Tensor, group: dict[str, Any]) -> dict[str, Tensor]:
        return {"eta": scalar(float(group["lr"])), "mu": scalar(1.0), "ax": zeros_like(param)}
