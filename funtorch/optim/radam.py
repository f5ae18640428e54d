"""RAdam: Adam whose adaptive rate is rectified while its variance is large (Liu et al., 2020, algorithm 2), as PyTorch has it."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from .elementwise import elementwise, in_type_of, mixed, steepest
from .ruled import Plan, RuledOptimizer, check_betas, check_not_negative, check_rate, with_decay
from .update import safe_sqrt


@elementwise
def radam(param: Any, grad: Any, state: dict, h: dict, *, decay: bool, decoupled: bool, maximize: bool) -> tuple:
    """p = p - lr m / (1 - b1^t) r sqrt(1 - b2^t) / (sqrt(v) + eps) where rho_t > 5, else p - lr m / (1 - b1^t)."""
    c = in_type_of(param)
    if decoupled and decay:
        param = param * c(1 - h["lr"] * h["weight_decay"])
    g = steepest(param, grad, h, maximize, decay and not decoupled)
    m = mixed(state["exp_avg"], g, c(1 - h["betas0"]))
    v = c(h["betas1"]) * state["exp_avg_sq"] + c(1 - h["betas1"]) * g * g
    t = state["step"].astype(h["lr"].dtype)
    left = 1 - h["betas1"] ** t
    longest = 2 / (1 - h["betas1"]) - 1
    length = longest - 2 * t * h["betas1"] ** t / left
    known = length > 5
    n = jnp.where(known, length, 6.0)  # its root is taken in either case
    most = jnp.where(known, longest, 6.0)  # its factors are divided by in either case, and may be 0 where nothing is ever known
    rectified = jnp.sqrt((n - 4) * (n - 2) * most / ((most - 4) * (most - 2) * n) * left)
    adaptive = c(rectified) / (safe_sqrt(v) + c(h["eps"]))
    move = m * c(h["lr"] / (1 - h["betas0"] ** t))
    return param - jnp.where(known, move * adaptive, move), {"exp_avg": m, "exp_avg_sq": v}


class RAdam(RuledOptimizer):
    r"""RAdam: Adam's step where enough squares are known, else one by momentum alone.

    Args:
        params: see `Optimizer`.
        lr: step size; a number or a Tensor of one element.
        betas: decay of the averages of gradients and of their squares, each in [0, 1).
        eps: added to the root of the second average.
        weight_decay: factor of p that is added to its gradient, or with ``decoupled_weight_decay`` taken from p itself.
        maximize: ascend.
        foreach, capturable: accepted; a step is always one dispatch.
        differentiable: put the step on the tape.

    Raises:
        ValueError: an option out of its range.
    """

    rule = staticmethod(radam)

    def __init__(
        self, params: Any, lr: Any = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0,
        decoupled_weight_decay: bool = False, *, foreach: bool | None = None, maximize: bool = False, capturable: bool = False,
        differentiable: bool = False,
    ) -> None:  # fmt: skip
        check_rate(lr)
        check_betas(betas)
        check_not_negative(epsilon=eps, weight_decay=weight_decay)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "maximize": maximize, "foreach": foreach,
            "capturable": capturable, "decoupled_weight_decay": decoupled_weight_decay, "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _plan(self, group: dict[str, Any]) -> Plan:
        numbers, options = with_decay(group, "lr", "betas0", "betas1", "eps")
        return Plan(("exp_avg", "exp_avg_sq"), numbers, {**options, "decoupled": group["decoupled_weight_decay"]})
