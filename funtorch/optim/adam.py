"""Adam (Kingma and Ba, 2015, algorithm 1) and AdamW (Loshchilov and Hutter, 2019), as PyTorch has them."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ..errors import ArgumentValueError
from ..tensor import Tensor
from .elementwise import prepared
from .lists import skipped, step_lists
from .pieces import separable
from .ruled import Plan, RuledOptimizer, check_fused, check_rate
from .update import safe_sqrt


def _numbers(h: dict, step: Any) -> dict:
    """What a step needs of the options. In single precision 1 - 0.999 would have four digits."""
    t = step.astype(h["lr"].dtype)
    made = {
        "b2": h["betas1"], "part1": 1 - h["betas0"], "part2": 1 - h["betas1"], "rate": h["lr"] / (1 - h["betas0"] ** t),
        "root": jnp.sqrt(1 - h["betas1"] ** t), "eps": h["eps"],
    }  # fmt: skip
    if "weight_decay" in h:
        made |= {"weight_decay": h["weight_decay"], "kept": 1 - h["lr"] * h["weight_decay"]}
    return made


@separable
@prepared(_numbers)
def adam_rule(
    param: Any, grad: Any, state: dict, h: dict, *, decay: bool, decoupled: bool, amsgrad: bool, maximize: bool
) -> tuple:
    """m = b1 m + (1 - b1) g; v = b2 v + (1 - b2) g^2; p = p - lr m / (1 - b1^t) / (sqrt(v / (1 - b2^t)) + eps)."""
    g = -grad if maximize else grad
    if decay and decoupled:
        param = param * h["kept"]
    elif decay:
        g = g + h["weight_decay"] * param
    m = state["exp_avg"] + h["part1"] * (g - state["exp_avg"])
    v = h["b2"] * state["exp_avg_sq"] + h["part2"] * _square(g)
    new = {"exp_avg": m, "exp_avg_sq": v}
    if amsgrad:
        v = new["max_exp_avg_sq"] = _larger(state["max_exp_avg_sq"], v)
    # PyTorch treats a complex parameter as two real ones.
    parts = [a / (safe_sqrt(b) / h["root"] + h["eps"]) for a, b in zip(_parts(m), _parts(v), strict=True)]
    return param - h["rate"] * _join(parts, m), new


def _parts(x: Any) -> tuple:
    return (x.real, x.imag) if jnp.iscomplexobj(x) else (x,)


def _join(parts: list, like: Any) -> Any:
    return parts[0] + 1j * parts[1] if jnp.iscomplexobj(like) else parts[0]


def _square(x: Any) -> Any:
    return _join([p * p for p in _parts(x)], x)


def _larger(x: Any, y: Any) -> Any:
    return _join([jnp.maximum(a, b) for a, b in zip(_parts(x), _parts(y), strict=True)], x)


class Adam(RuledOptimizer):
    r"""Adam: :math:`p \leftarrow p - \gamma\, \hat m / (\sqrt{\hat v} + \epsilon)`.

    Args:
        params: see `Optimizer`.
        lr: step size; a number or a Tensor of one element.
        betas: decay of the averages of gradients and of their squares, each in [0, 1).
        eps: added to the root of the second average.
        weight_decay: factor of p that is added to its gradient, or with ``decoupled_weight_decay`` taken from p itself.
        amsgrad: divide by the largest second average so far (Reddi et al., 2018).
        maximize: ascend.
        foreach, capturable, fused: accepted; a step is always one dispatch.
        differentiable: put the step on the tape.

    Raises:
        ValueError: an option out of its range.
        RuntimeError: ``fused`` with ``differentiable`` or ``foreach``.
    """

    rule = staticmethod(adam_rule)
    columns = ("exp_avg", "exp_avg_sq", "max_exp_avg_sq")

    def __init__(
        self, params: Any, lr: Any = 1e-3, betas: tuple[Any, Any] = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0,
        amsgrad: bool = False, *, foreach: bool | None = None, maximize: bool = False, capturable: bool = False,
        differentiable: bool = False, fused: bool | None = None, decoupled_weight_decay: bool = False,
    ) -> None:  # fmt: skip
        _check_options(lr, betas, eps, weight_decay)
        if foreach and not capturable:
            for name, value in (("lr", lr), ("betas[0]", betas[0]), ("betas[1]", betas[1])):
                if isinstance(value, Tensor):
                    raise ArgumentValueError(f"{name} as a Tensor is not supported for capturable=False and foreach=True")
        check_fused(fused, foreach, differentiable)
        defaults = {
            "lr": lr, "betas": tuple(betas), "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad, "maximize": maximize,
            "foreach": foreach, "capturable": capturable, "differentiable": differentiable, "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }  # fmt: skip
        super().__init__(params, defaults)

    @staticmethod
    def _plan(group: dict[str, Any]) -> Plan:
        decay = isinstance(group["weight_decay"], Tensor) or group["weight_decay"] != 0
        options = {
            "decay": decay, "decoupled": group["decoupled_weight_decay"], "amsgrad": group["amsgrad"], "maximize": group["maximize"],
        }  # fmt: skip
        return Plan(
            ("exp_avg", "exp_avg_sq", *(("max_exp_avg_sq",) if group["amsgrad"] else ())),
            ("lr", "betas0", "betas1", "eps", *(("weight_decay",) if decay else ())),
            options,
        )


class AdamW(Adam):
    """Adam with decoupled weight decay: p shrinks by ``lr * weight_decay`` each step. See `Adam`."""

    def __init__(
        self, params: Any, lr: Any = 1e-3, betas: tuple[Any, Any] = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 1e-2,
        amsgrad: bool = False, *, maximize: bool = False, foreach: bool | None = None, capturable: bool = False,
        differentiable: bool = False, fused: bool | None = None,
    ) -> None:  # fmt: skip
        super().__init__(
            params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach, maximize=maximize, capturable=capturable,
            differentiable=differentiable, fused=fused, decoupled_weight_decay=True,
        )  # fmt: skip

    def __setstate__(self, saved: dict) -> None:
        super().__setstate__(saved)
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True  # which states lack that were saved before it was an option


def _check_options(lr: Any, betas: tuple, eps: float, weight_decay: float) -> None:
    check_rate(lr)
    if not eps >= 0.0:
        raise ArgumentValueError(f"Invalid epsilon value: {eps}")
    kinds = [isinstance(betas[number], Tensor) for number in (0, 1)]
    if any(kinds) and not all(kinds):
        raise ArgumentValueError("betas must be either both floats or both Tensors")
    for number in (0, 1):
        beta = betas[number]
        if isinstance(beta, Tensor) and beta.numel() != 1:
            raise ArgumentValueError(f"Tensor betas[{number}] must be 1-element, got {beta.numel()} elements")
        if not isinstance(beta, Tensor) and not 0.0 <= beta < 1.0:
            raise ArgumentValueError(f"Invalid beta parameter at index {number}: {beta}")
    if not weight_decay >= 0.0:
        raise ArgumentValueError(f"Invalid weight_decay value: {weight_decay}")


def adam(
    params: list[Tensor], grads: list[Tensor], exp_avgs: list[Tensor], exp_avg_sqs: list[Tensor], max_exp_avg_sqs: list[Tensor],
    state_steps: list[Tensor], foreach: bool | None = None, capturable: bool = False, differentiable: bool = False,
    fused: bool | None = None, grad_scale: Tensor | None = None, found_inf: Tensor | None = None, has_complex: bool = False,
    decoupled_weight_decay: bool = False, *, amsgrad: bool, beta1: Any, beta2: Any, lr: Any, weight_decay: float, eps: float,
    maximize: bool,
) -> None:  # fmt: skip
    """One step of `Adam` for lists, in place: PyTorch's functional form, with the same options.

    Args:
        params, grads: of equal lengths; what is on the tape is decided by grad mode.
        fused, grad_scale, found_inf: a fused step divides the gradients by the scale, in place, and is left out if one was infinite.
        exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps: the states that `Adam` keeps, a Tensor for each parameter; the
            third is read with ``amsgrad`` only.

    Raises:
        RuntimeError: a step counter that is no Tensor, or a parameter that is a leaf and requires grad in grad mode.
        AssertionError: a scale of gradients for a step that isn't fused.
    """
    if skipped(fused, grads, grad_scale, found_inf):
        return
    group = {
        "lr": lr, "betas": (beta1, beta2), "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad, "maximize": maximize,
        "decoupled_weight_decay": decoupled_weight_decay,
    }  # fmt: skip
    columns = {"exp_avg": exp_avgs, "exp_avg_sq": exp_avg_sqs, "max_exp_avg_sq": max_exp_avg_sqs}
    step_lists(adam_rule, Adam._plan(group), group, params, grads, columns, state_steps)
