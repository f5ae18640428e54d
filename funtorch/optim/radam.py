"""RAdam: Adam whose adaptive rate is rectified while its variance is large (Liu et al., 2020, algorithm 2), as PyTorch has it."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ..tensor import Tensor
from .elementwise import elementwise, in_type_of, mixed, steepest
from .lists import step_lists
from .ruled import Plan, RuledOptimizer, check_betas, check_not_negative, check_rate, with_decay
from .update import safe_sqrt


@elementwise
def radam_rule(param: Any, grad: Any, state: dict, h: dict, *, decay: bool, decoupled: bool, maximize: bool) -> tuple:
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

    rule = staticmethod(radam_rule)
    columns = ("exp_avg", "exp_avg_sq")

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

    @staticmethod
    def _plan(group: dict[str, Any]) -> Plan:
        numbers, options = with_decay(group, "lr", "betas0", "betas1", "eps")
        return Plan(("exp_avg", "exp_avg_sq"), numbers, {**options, "decoupled": group["decoupled_weight_decay"]})


def radam(
    params: list[Tensor], grads: list[Tensor], exp_avgs: list[Tensor], exp_avg_sqs: list[Tensor], state_steps: list[Tensor],
    decoupled_weight_decay: bool = False, foreach: bool | None = None, differentiable: bool = False, capturable: bool = False,
    has_complex: bool = False, maximize: bool = False, *, beta1: float, beta2: float, lr: Any, weight_decay: float, eps: float,
) -> None:  # fmt: skip
    """One step of `RAdam` for lists, in place: PyTorch's functional form, with the same options.

    Args:
        params, grads: of equal lengths; what is on the tape is decided by grad mode.
        exp_avgs, exp_avg_sqs, state_steps: the states that `RAdam` keeps, a Tensor for each parameter.

    Raises:
        RuntimeError: a step counter that is no Tensor, or a parameter that is a leaf and requires grad in grad mode.
    """
    group = {
        "lr": lr, "betas": (beta1, beta2), "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
        "decoupled_weight_decay": decoupled_weight_decay,
    }  # fmt: skip
    columns = {"exp_avg": exp_avgs, "exp_avg_sq": exp_avg_sqs}
    step_lists(radam_rule, RAdam._plan(group), group, params, grads, columns, state_steps)
