"""Adamax (Kingma and Ba, 2015, algorithm 2), as PyTorch has it."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ..tensor import Tensor
from .elementwise import elementwise, in_type_of, mixed, steepest
from .lists import step_lists
from .ruled import Plan, RuledOptimizer, check_betas, check_not_negative, check_rate, with_decay


@elementwise
def adamax_rule(param: Any, grad: Any, state: dict, h: dict, *, decay: bool, maximize: bool) -> tuple:
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

    rule = staticmethod(adamax_rule)
    columns = ("exp_avg", "exp_inf")

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

    @staticmethod
    def _plan(group: dict[str, Any]) -> Plan:
        return Plan(("exp_avg", "exp_inf"), *with_decay(group, "lr", "betas0", "betas1", "eps"))


def adamax(
    params: list[Tensor], grads: list[Tensor], exp_avgs: list[Tensor], exp_infs: list[Tensor], state_steps: list[Tensor],
    foreach: bool | None = None, maximize: bool = False, differentiable: bool = False, capturable: bool = False, has_complex: bool = False,
    *, eps: float, beta1: float, beta2: float, lr: Any, weight_decay: float,
) -> None:  # fmt: skip
    """One step of `Adamax` for lists, in place: PyTorch's functional form, with the same options.

    Args:
        params, grads: of equal lengths; what is on the tape is decided by grad mode.
        exp_avgs, exp_infs, state_steps: the states that `Adamax` keeps, a Tensor for each parameter.

    Raises:
        RuntimeError: a step counter that is no Tensor, or a parameter that is a leaf and requires grad in grad mode.
    """
    group = {"lr": lr, "betas": (beta1, beta2), "eps": eps, "weight_decay": weight_decay, "maximize": maximize}
    columns = {"exp_avg": exp_avgs, "exp_inf": exp_infs}
    step_lists(adamax_rule, Adamax._plan(group), group, params, grads, columns, state_steps)
