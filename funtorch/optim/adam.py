"""Adam (Kingma and Ba, 2015, algorithm 1) and AdamW (Loshchilov and Hutter, 2019), as PyTorch has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp

from ..errors import ArgumentValueError
from ..tensor import Tensor
from .optimizer import Optimizer
from .pieces import separable
from .ruled import check_fused, check_rate, scalar
from .update import apply_rule, counter, safe_sqrt


@separable
def adam(param: Any, grad: Any, state: dict, h: dict, *, decay: bool, decoupled: bool, amsgrad: bool, maximize: bool) -> tuple:
    """m = b1 m + (1 - b1) g; v = b2 v + (1 - b2) g^2; p = p - lr m / (1 - b1^t) / (sqrt(v / (1 - b2^t)) + eps)."""
    g = -grad if maximize else grad
    if decay and decoupled:
        param = param * (1 - h["lr"] * h["weight_decay"])
    elif decay:
        g = g + h["weight_decay"] * param
    t = state["step"].astype(h["lr"].dtype)
    m = state["exp_avg"] + (1 - h["betas0"]) * (g - state["exp_avg"])
    v = h["betas1"] * state["exp_avg_sq"] + (1 - h["betas1"]) * _square(g)
    new = {"exp_avg": m, "exp_avg_sq": v}
    if amsgrad:
        v = new["max_exp_avg_sq"] = _larger(state["max_exp_avg_sq"], v)
    root = jnp.sqrt(1 - h["betas1"] ** t)
    # PyTorch treats a complex parameter as two real ones.
    parts = [a / (safe_sqrt(b) / root + h["eps"]) for a, b in zip(_parts(m), _parts(v), strict=True)]
    return param - h["lr"] / (1 - h["betas0"] ** t) * _join(parts, m), new


def _parts(x: Any) -> tuple:
    return (x.real, x.imag) if jnp.iscomplexobj(x) else (x,)


def _join(parts: list, like: Any) -> Any:
    return parts[0] + 1j * parts[1] if jnp.iscomplexobj(like) else parts[0]


def _square(x: Any) -> Any:
    return _join([p * p for p in _parts(x)], x)


def _larger(x: Any, y: Any) -> Any:
    return _join([jnp.maximum(a, b) for a, b in zip(_parts(x), _parts(y), strict=True)], x)


class Adam(Optimizer):
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
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad, "maximize": maximize,
            "foreach": foreach, "capturable": capturable, "differentiable": differentiable, "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }  # fmt: skip
        super().__init__(params, defaults)

    def step(self, closure: Callable | None = None) -> Any:
        """Change the parameters by their gradients."""
        loss = self._closure_loss(closure)
        for group in self.param_groups:
            params = [p for p in group["params"] if p.grad is not None]
            self._start([p for p in params if not self.state[p]], group["amsgrad"])
            keys = ("exp_avg", "exp_avg_sq", *(("max_exp_avg_sq",) if group["amsgrad"] else ()))
            options = {
                "decay": group["weight_decay"] != 0, "decoupled": group["decoupled_weight_decay"], "amsgrad": group["amsgrad"],
                "maximize": group["maximize"],
            }  # fmt: skip
            apply_rule(
                adam, group, params, [self.state[p] for p in params], keys,
                ("lr", "betas0", "betas1", "eps", *(("weight_decay",) if options["decay"] else ())), options, group["differentiable"],
            )  # fmt: skip
        return loss

    def _start(self, params: list[Tensor], amsgrad: bool) -> None:
        if not params:
            return
        step = counter(scalar(0.0), len(params))  # one for those that move together
        for p in params:
            self.state[p]["step"] = step
            for key in ("exp_avg", "exp_avg_sq", *(("max_exp_avg_sq",) if amsgrad else ())):
                self.state[p][key] = p.detach().new_zeros(p.shape)


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


def _check_options(lr: Any, betas: tuple, eps: float, weight_decay: float) -> None:
    check_rate(lr)
    if not eps >= 0.0:
        raise ArgumentValueError(f"Invalid epsilon value: {eps}")
    kinds = [isinstance(beta, Tensor) for beta in betas]
    if any(kinds) and not all(kinds):
        raise ArgumentValueError("betas must be either both floats or both Tensors")
    for number, beta in enumerate(betas):
        if isinstance(beta, Tensor) and beta.numel() != 1:
            raise ArgumentValueError(f"Tensor betas[{number}] must be 1-element, got {beta.numel()} elements")
        if not isinstance(beta, Tensor) and not 0.0 <= beta < 1.0:
            raise ArgumentValueError(f"Invalid beta parameter at index {number}: {beta}")
    if not weight_decay >= 0.0:
        raise ArgumentValueError(f"Invalid weight_decay value: {weight_decay}")
