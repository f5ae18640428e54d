"""PyTorch's address of `AdamW`, which is `Adam` with an option, and of its functional form."""

from __future__ import annotations

from typing import Any

from ..tensor import Tensor
from .adam import AdamW, adam

__all__ = ["AdamW", "adamw"]

AdamW.__module__ = __name__  # how it is printed and pickled


def adamw(
    params: list[Tensor], grads: list[Tensor], exp_avgs: list[Tensor], exp_avg_sqs: list[Tensor], max_exp_avg_sqs: list[Tensor],
    state_steps: list[Tensor], foreach: bool | None = None, capturable: bool = False, differentiable: bool = False,
    fused: bool | None = None, grad_scale: Tensor | None = None, found_inf: Tensor | None = None, has_complex: bool = False, *,
    amsgrad: bool, beta1: Any, beta2: Any, lr: Any, weight_decay: float, eps: float, maximize: bool,
) -> None:  # fmt: skip
    """One step of `AdamW` for lists, in place: see `funtorch.optim.adam.adam`."""
    adam(
        params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, amsgrad=amsgrad, beta1=beta1, beta2=beta2, lr=lr,
        weight_decay=weight_decay, eps=eps, maximize=maximize, decoupled_weight_decay=True, fused=fused, grad_scale=grad_scale,
        found_inf=found_inf,
    )  # fmt: skip
