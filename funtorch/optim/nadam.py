"""NAdam: Adam with Nesterov's look ahead (Dozat, 2016), as PyTorch has it."""

from __future__ import annotations

from typing import Any

from ..tensor import Tensor
from .elementwise import elementwise, in_type_of, mixed, steepest
from .lists import step_lists
from .ruled import Plan, RuledOptimizer, check_betas, check_not_negative, check_rate, scalar, with_decay, zeros_like
from .update import safe_sqrt

SLOWING = 0.96  # Dozat's constant: how the momentum grows with the steps


@elementwise
def nadam_rule(param: Any, grad: Any, state: dict, h: dict, *, decay: bool, decoupled: bool, maximize: bool) -> tuple:
    """mu_t = b1 (1 - 0.96^(t psi) / 2); p = p - lr ((1 - mu_t) g / (1 - prod mu) + mu_(t+1) m / (1 - prod mu mu_(t+1))) / d."""
    c = in_type_of(param)
    if decoupled and decay:
        param = param * c(1 - h["lr"] * h["weight_decay"])
    g = steepest(param, grad, h, maximize, decay and not decoupled)
    t = state["step"].astype(h["lr"].dtype)
    now, following = (h["betas0"] * (1 - 0.5 * SLOWING ** (n * h["momentum_decay"])) for n in (t, t + 1))
    kind = state["mu_product"].dtype
    product = state["mu_product"] * now.astype(kind)
    m = mixed(state["exp_avg"], g, c(1 - h["betas0"]))
    v = c(h["betas1"]) * state["exp_avg_sq"] + c(1 - h["betas1"]) * g * g
    so_far = product.astype(h["lr"].dtype)
    divisor = safe_sqrt(v / c(1 - h["betas1"] ** t)) + c(h["eps"])
    moved = (
        param
        - c(h["lr"] * (1 - now) / (1 - so_far)) * g / divisor
        - c(h["lr"] * following / (1 - so_far * following)) * m / divisor
    )
    return moved, {"mu_product": product, "exp_avg": m, "exp_avg_sq": v}


class NAdam(RuledOptimizer):
    r"""NAdam: Adam's step with the momentum of the step to come.

    Args:
        params: see `Optimizer`.
        lr: step size; a number or a Tensor of one element.
        betas: decay of the averages of gradients and of their squares, each in [0, 1).
        eps: added to the root of the second average.
        weight_decay: factor of p that is added to its gradient, or with ``decoupled_weight_decay`` taken from p itself.
        momentum_decay: :math:`\psi`, how fast the momentum reaches its full size.
        maximize: ascend.
        foreach, capturable: accepted; a step is always one dispatch.
        differentiable: put the step on the tape.

    Raises:
        ValueError: an option out of its range.
    """

    rule = staticmethod(nadam_rule)
    columns = ("exp_avg", "exp_avg_sq", "mu_product")

    def __init__(
        self, params: Any, lr: Any = 2e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0,
        momentum_decay: float = 4e-3, decoupled_weight_decay: bool = False, *, foreach: bool | None = None, maximize: bool = False,
        capturable: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        check_rate(lr)
        check_betas(betas)
        check_not_negative(epsilon=eps, weight_decay=weight_decay, momentum_decay=momentum_decay)
        defaults = {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay, "maximize": maximize, "foreach": foreach, "capturable": capturable,
            "differentiable": differentiable,
        }  # fmt: skip
        super().__init__(params, defaults)

    @staticmethod
    def _plan(group: dict[str, Any]) -> Plan:
        numbers, options = with_decay(group, "lr", "betas0", "betas1", "eps", "momentum_decay")
        return Plan(("mu_product", "exp_avg", "exp_avg_sq"), numbers, {**options, "decoupled": group["decoupled_weight_decay"]})

    def _first_state(self, param: Tensor, group: dict[str, Any]) -> dict[str, Tensor]:
        return {"mu_product": scalar(1.0), "exp_avg": zeros_like(param), "exp_avg_sq": zeros_like(param)}


def nadam(
    params: list[Tensor], grads: list[Tensor], exp_avgs: list[Tensor], exp_avg_sqs: list[Tensor], mu_products: list[Tensor],
    state_steps: list[Tensor], decoupled_weight_decay: bool = False, foreach: bool | None = None, capturable: bool = False,
    differentiable: bool = False, has_complex: bool = False, maximize: bool = False, *, beta1: float, beta2: float, lr: Any,
    weight_decay: float, momentum_decay: float, eps: float,
) -> None:  # fmt: skip
    """One step of `NAdam` for lists, in place: PyTorch's functional form, with the same options.

    Args:
        params, grads: of equal lengths; what is on the tape is decided by grad mode.
        exp_avgs, exp_avg_sqs, mu_products, state_steps: the states that `NAdam` keeps, a Tensor for each parameter.

    Raises:
        RuntimeError: a step counter that is no Tensor, or a parameter that is a leaf and requires grad in grad mode.
    """
    group = {
        "lr": lr, "betas": (beta1, beta2), "eps": eps, "weight_decay": weight_decay, "momentum_decay": momentum_decay,
        "decoupled_weight_decay": decoupled_weight_decay, "maximize": maximize,
    }  # fmt: skip
    columns = {"mu_product": mu_products, "exp_avg": exp_avgs, "exp_avg_sq": exp_avg_sqs}
    step_lists(nadam_rule, NAdam._plan(group), group, params, grads, columns, state_steps)
