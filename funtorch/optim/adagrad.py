"""Adagrad (Duchi et al., 2011), as PyTorch has it."""

from __future__ import annotations

from typing import Any

from ..core.foreign import is_foreign
from ..tensor import Tensor
from .elementwise import elementwise, in_type_of, steepest
from .lists import skipped, step_lists
from .ruled import Plan, RuledOptimizer, check_fused, check_not_negative, check_rate, with_decay
from .update import safe_sqrt


@elementwise
def adagrad_rule(param: Any, grad: Any, state: dict, h: dict, *, decay: bool, maximize: bool) -> tuple:
    """s = s + g^2; p = p - lr / (1 + (t - 1) lr_decay) g / (sqrt(s) + eps)."""
    c = in_type_of(param)
    g = steepest(param, grad, h, maximize, decay)
    total = state["sum"] + g * g
    rate = h["lr"] / (1 + (state["step"].astype(h["lr"].dtype) - 1) * h["lr_decay"])
    return param - c(rate) * g / (safe_sqrt(total) + c(h["eps"])), {"sum": total}


class Adagrad(RuledOptimizer):
    r"""Adagrad: :math:`p \leftarrow p - \gamma_t\, g / (\sqrt{s} + \epsilon)`, :math:`s` the sum of all :math:`g^2`.

    Args:
        params: see `Optimizer`.
        lr: step size; a number or a Tensor of one element.
        lr_decay: the step size at step t is ``lr / (1 + (t - 1) * lr_decay)``.
        weight_decay: factor of p that is added to its gradient.
        initial_accumulator_value: what the sum begins with.
        eps: added to the root of the sum.
        maximize: ascend.
        foreach, fused: accepted; a step is always one dispatch.
        differentiable: put the step on the tape.

    Raises:
        ValueError: a negative option.
        RuntimeError: ``fused`` with ``differentiable`` or ``foreach``.
    """

    rule = staticmethod(adagrad_rule)
    columns = ("sum",)

    def __init__(
        self, params: Any, lr: Any = 1e-2, lr_decay: float = 0, weight_decay: float = 0, initial_accumulator_value: float = 0,
        eps: float = 1e-10, foreach: bool | None = None, *, maximize: bool = False, differentiable: bool = False, fused: bool | None = None,
    ) -> None:  # fmt: skip
        check_rate(lr)
        check_not_negative(
            lr_decay=lr_decay, weight_decay=weight_decay, initial_accumulator_value=initial_accumulator_value, epsilon=eps
        )
        check_fused(fused, foreach, differentiable)
        defaults = {
            "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay, "initial_accumulator_value": initial_accumulator_value,
            "foreach": foreach, "maximize": maximize, "differentiable": differentiable, "fused": fused,
        }  # fmt: skip
        super().__init__(params, defaults)
        for group in self.param_groups:
            self._start(group["params"], group)

    @staticmethod
    def _plan(group: dict[str, Any]) -> Plan:
        return Plan(("sum",), *with_decay(group, "lr", "lr_decay", "eps"))

    def _init_group(self, group: dict[str, Any], params_with_grad: list, grads: list, *columns: list) -> tuple[bool, bool]:
        """Append to lists what the functional form takes; whether a gradient is sparse, and whether one is complex."""
        is_complex = super()._init_group(group, params_with_grad, grads, *columns)
        return any(is_foreign(grad) for grad in grads), is_complex

    def _first_state(self, param: Tensor, group: dict[str, Any]) -> dict[str, Tensor]:
        first = group["initial_accumulator_value"]
        value = complex(first, first) if param.is_complex() else first
        return {"sum": param.detach().new_full(tuple(param.shape), value)}

    def share_memory(self) -> None:
        """Nothing: arrays are immutable, and other processes get copies."""


def adagrad(
    params: list[Tensor], grads: list[Tensor], state_sums: list[Tensor], state_steps: list[Tensor], fused: bool | None = None,
    grad_scale: Tensor | None = None, found_inf: Tensor | None = None, has_sparse_grad: bool = False, foreach: bool | None = None,
    differentiable: bool = False, has_complex: bool = False, *, lr: Any, weight_decay: float, lr_decay: float, eps: float, maximize: bool,
) -> None:  # fmt: skip
    """One step of `Adagrad` for lists, in place: PyTorch's functional form, with the same options.

    Args:
        params, grads: of equal lengths; what is on the tape is decided by grad mode.
        fused, grad_scale, found_inf: a fused step divides the gradients by the scale, in place, and is left out if one was infinite.
        state_sums, state_steps: the states that `Adagrad` keeps, a Tensor for each parameter.

    Raises:
        RuntimeError: a step counter that is no Tensor, or a parameter that is a leaf and requires grad in grad mode.
        AssertionError: a scale of gradients for a step that isn't fused.
    """
    if skipped(fused, grads, grad_scale, found_inf):
        return
    group = {"lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay, "maximize": maximize, "fused": fused}
    step_lists(adagrad_rule, Adagrad._plan(group), group, params, grads, {"sum": state_sums}, state_steps)
