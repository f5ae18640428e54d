"""RMSprop (Hinton, 2012, lecture 6), also centred (Graves, 2013) and with momentum, as PyTorch has it."""

from __future__ import annotations

from typing import Any

from ..tensor import Tensor
from .elementwise import elementwise, in_type_of, mixed, steepest
from .lists import step_lists
from .ruled import Plan, RuledOptimizer, check_not_negative, check_rate, with_decay
from .update import safe_sqrt


@elementwise
def rmsprop_rule(
    param: Any, grad: Any, state: dict, h: dict, *, momentum: bool, centered: bool, decay: bool, maximize: bool
) -> tuple:
    """v = a v + (1 - a) g^2; d = sqrt(v - mean(g)^2 if centred, else v) + eps; p = p - lr g / d, or by a buffer of g / d."""
    c = in_type_of(param)
    g = steepest(param, grad, h, maximize, decay)
    new = {"square_avg": c(h["alpha"]) * state["square_avg"] + c(1 - h["alpha"]) * g * g}
    spread = new["square_avg"]
    if centered:
        new["grad_avg"] = mixed(state["grad_avg"], g, c(1 - h["alpha"]))
        spread = spread - new["grad_avg"] * new["grad_avg"]
    move = g / (safe_sqrt(spread) + c(h["eps"]))
    if momentum:
        move = new["momentum_buffer"] = c(h["momentum"]) * state["momentum_buffer"] + move
    return param - c(h["lr"]) * move, new


class RMSprop(RuledOptimizer):
    r"""RMSprop: :math:`p \leftarrow p - \gamma\, g / (\sqrt{v} + \epsilon)`, :math:`v` the average of :math:`g^2`.

    Args:
        params: see `Optimizer`.
        lr: step size; a number or a Tensor of one element.
        alpha: decay of the average of squares.
        eps: added to its root.
        weight_decay: factor of p that is added to its gradient.
        momentum: if not 0, steps are added up with this decay.
        centered: subtract the square of the average gradient from the average of squares.
        maximize: ascend.
        foreach, capturable: accepted; a step is always one dispatch.
        differentiable: put the step on the tape.

    Raises:
        ValueError: a negative option.
    """

    rule = staticmethod(rmsprop_rule)
    columns = ("square_avg", "momentum_buffer", "grad_avg")

    def __init__(
        self, params: Any, lr: Any = 1e-2, alpha: float = 0.99, eps: float = 1e-8, weight_decay: float = 0, momentum: float = 0,
        centered: bool = False, capturable: bool = False, foreach: bool | None = None, maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        check_rate(lr)
        check_not_negative(epsilon=eps, momentum=momentum, weight_decay=weight_decay, alpha=alpha)
        defaults = {
            "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered, "weight_decay": weight_decay,
            "capturable": capturable, "foreach": foreach, "maximize": maximize, "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    @staticmethod
    def _plan(group: dict[str, Any]) -> Plan:
        momentum, centered = group["momentum"] > 0, group["centered"]
        keys = ("square_avg", *(("momentum_buffer",) if momentum else ()), *(("grad_avg",) if centered else ()))
        numbers, options = with_decay(group, "lr", "alpha", "eps", *(("momentum",) if momentum else ()))
        return Plan(keys, numbers, {**options, "momentum": momentum, "centered": centered})


def rmsprop(
    params: list[Tensor], grads: list[Tensor], square_avgs: list[Tensor], grad_avgs: list[Tensor], momentum_buffer_list: list[Tensor],
    state_steps: list[Tensor], foreach: bool | None = None, maximize: bool = False, differentiable: bool = False, capturable: bool = False,
    has_complex: bool = False, *, lr: Any, alpha: float, eps: float, weight_decay: float, momentum: float, centered: bool,
) -> None:  # fmt: skip
    """One step of `RMSprop` for lists, in place: PyTorch's functional form, with the same options.

    Args:
        params, grads: of equal lengths; what is on the tape is decided by grad mode.
        square_avgs, grad_avgs (if centred), momentum_buffer_list (with momentum), state_steps: the states that `RMSprop` keeps, a Tensor for each parameter.

    Raises:
        RuntimeError: a step counter that is no Tensor, or a parameter that is a leaf and requires grad in grad mode.
    """
    group = {
        "lr": lr, "alpha": alpha, "eps": eps, "weight_decay": weight_decay, "momentum": momentum, "centered": centered, "maximize": maximize,
    }  # fmt: skip
    columns = {"square_avg": square_avgs, "momentum_buffer": momentum_buffer_list, "grad_avg": grad_avgs}
    step_lists(rmsprop_rule, RMSprop._plan(group), group, params, grads, columns, state_steps)
