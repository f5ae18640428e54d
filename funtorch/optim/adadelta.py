"""Adadelta (Zeiler, 2012, algorithm 1), as PyTorch has it."""

from __future__ import annotations

from typing import Any

from ..errors import ArgumentValueError
from ..tensor import Tensor
from .elementwise import elementwise, in_type_of, steepest
from .lists import step_lists
from .ruled import Plan, RuledOptimizer, check_not_negative, check_rate, with_decay
from .update import safe_sqrt


@elementwise
def adadelta_rule(param: Any, grad: Any, state: dict, h: dict, *, decay: bool, maximize: bool) -> tuple:
    """v = rho v + (1 - rho) g^2; d = sqrt(u + eps) / sqrt(v + eps) g; u = rho u + (1 - rho) d^2; p = p - lr d."""
    c = in_type_of(param)
    g = steepest(param, grad, h, maximize, decay)
    keep, take = c(h["rho"]), c(1 - h["rho"])
    square = keep * state["square_avg"] + take * g * g
    move = safe_sqrt(state["acc_delta"] + c(h["eps"])) / safe_sqrt(square + c(h["eps"])) * g
    return param - c(h["lr"]) * move, {"square_avg": square, "acc_delta": keep * state["acc_delta"] + take * move * move}


class Adadelta(RuledOptimizer):
    r"""Adadelta: steps in the size of past steps, :math:`p \leftarrow p - \gamma \sqrt{u + \epsilon} / \sqrt{v + \epsilon}\; g`.

    Args:
        params: see `Optimizer`.
        lr: step size; a number or a Tensor of one element.
        rho: decay of the averages :math:`v` of squared gradients and :math:`u` of squared steps, in [0, 1].
        eps: added to both.
        weight_decay: factor of p that is added to its gradient.
        maximize: ascend.
        foreach, capturable: accepted; a step is always one dispatch.
        differentiable: put the step on the tape.

    Raises:
        ValueError: an option out of its range.
    """

    rule = staticmethod(adadelta_rule)
    columns = ("square_avg", "acc_delta")

    def __init__(
        self, params: Any, lr: Any = 1.0, rho: float = 0.9, eps: float = 1e-6, weight_decay: float = 0, foreach: bool | None = None, *,
        capturable: bool = False, maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        check_rate(lr)
        if not 0.0 <= rho <= 1.0:
            raise ArgumentValueError(f"Invalid rho value: {rho}")
        check_not_negative(epsilon=eps, weight_decay=weight_decay)
        defaults = {
            "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize, "capturable": capturable,
            "foreach": foreach, "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    @staticmethod
    def _plan(group: dict[str, Any]) -> Plan:
        return Plan(("square_avg", "acc_delta"), *with_decay(group, "lr", "rho", "eps"))


def adadelta(
    params: list[Tensor], grads: list[Tensor], square_avgs: list[Tensor], acc_deltas: list[Tensor], state_steps: list[Tensor],
    capturable: bool = False, foreach: bool | None = None, differentiable: bool = False, has_complex: bool = False, *,
    lr: Any, rho: float, eps: float, weight_decay: float, maximize: bool,
) -> None:  # fmt: skip
    """One step of `Adadelta` for lists, in place: PyTorch's functional form, with the same options.

    Args:
        params, grads: of equal lengths; what is on the tape is decided by grad mode.
        square_avgs, acc_deltas, state_steps: the states that `Adadelta` keeps, a Tensor for each parameter.

    Raises:
        RuntimeError: a step counter that is no Tensor, or a parameter that is a leaf and requires grad in grad mode.
    """
    group = {"lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize}
    columns = {"square_avg": square_avgs, "acc_delta": acc_deltas}
    step_lists(adadelta_rule, Adadelta._plan(group), group, params, grads, columns, state_steps)
