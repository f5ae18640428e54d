"""Adamax (Kingma and Ba, 2015, algorithm 2), as PyTorch has it."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from .elementwise import elementwise, in_type_of, mixed, steepest
from .ruled import Plan, RuledOptimizer, check_betas, check_not_negative, check_rate, with_decay


@elementwise
def adamax(param: Any, grad: Any, state: dict, h: dict, *, decay: bool, maximize: bool) -> tuple:
    """m = b1 m + (1 - b1) g; u = max(b2 u, |g| + eps); p = p - lr / (1 - b1^t) m / u."""
    c = in_type_of(param)
    g = steepest(param, grad, h, maximize, decay)
    average = mixed(state["exp_avg"], g, c(1 - h["betas0"]))
    largest = jnp.maximum(c(h["betas1"]) * state["exp_inf"], jnp.abs(g) + c(h["eps"]))
    rate = h["lr"] / (1 - h["betas0"] ** state["step"].astype(h["lr"].dtype))
    return param - c(rate) * average / largest, {"exp_avg": average, "exp_inf": largest}


class Adamax(RuledOptimizer):
    r"""Adamax: :math:`p \leftarrow p - \gamma\, \hat m / u`, :math:`u` a decaying maximum of :math:`|g|`.

    Args:
        params: see `Optimizer`.
        lr: step size; a number or a Tensor of one element.
        betas: decay of the average of gradients and of the maximum, each in [0, 1).
        eps: added to :math:`|g|`.
        weight_decay: factor of p that is added to its gradient.
        maximize: ascend.
        foreach, capturable: accepted; a step is always one dispatch.
        differentiable: put the step on the tape.

    Raises:
        ValueError: an option out of its range.
    """

    rule = staticmethod(adamax)

    def __init__(
        self, params: Any, lr: Any = 2e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0,
        foreach: bool | None = None, *, maximize: bool = False, differentiable: bool = False, capturable: bool = False,
    ) -> None:  # fmt: skip
        check_rate(lr)
        check_betas(betas)
        check_not_negative(epsilon=eps, weight_decay=weight_decay)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "capturable": capturable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _plan(self, group: dict[str, Any]) -> Plan:
        return Plan(("exp_avg", "exp_inf"), *with_decay(group, "lr", "betas0", "betas1", "eps"))
