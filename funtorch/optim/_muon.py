"""Muon (Jordan et al., 2024): momentum made nearly orthogonal by Newton and Schulz's iteration, as PyTorch has it."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp

from ..errors import ArgumentValueError, OpError
from ..tensor import Tensor
from .elementwise import exact, in_type_of, mixed
from .lists import step_lists
from .ruled import Plan, RuledOptimizer, check_rate

# By how much the rate changes with the shape of a matrix (A, B).
_RATIOS = {
    "original": lambda rows, columns: math.sqrt(max(1, rows / columns)),
    "match_rms_adamw": lambda rows, columns: 0.2 * math.sqrt(max(rows, columns)),
}


@exact
def muon_rule(
    param: Any, grad: Any, state: dict, h: dict, *, nesterov: bool, coefficients: tuple, steps: int, eps: float, ratio: str
) -> tuple:
    """b = mu b + (1 - mu) g; p = (1 - lr decay) p - lr ratio orthogonal(g + mu (b - g) with Nesterov, else b)."""
    c = in_type_of(param)
    buffer = mixed(state["momentum_buffer"], grad, c(1 - h["momentum"]))
    move = orthogonal(mixed(grad, buffer, c(h["momentum"])) if nesterov else buffer, coefficients, steps, eps)
    rate = h["lr"] * _RATIOS[ratio](*param.shape)
    return param * c(1 - h["lr"] * h["weight_decay"]) - c(rate) * move.astype(param.dtype), {"momentum_buffer": buffer}


def orthogonal(matrix: Any, coefficients: tuple[float, float, float], steps: int, eps: float) -> Any:
    """The nearest matrix with orthonormal rows or columns, about: singular values near 1. Computed in bfloat16."""
    a, b, c = coefficients
    wide = matrix.T if matrix.shape[0] > matrix.shape[1] else matrix
    x = _short(wide.astype(jnp.float32))
    x = _short(x / jnp.maximum(_short(jnp.sqrt(jnp.sum(x * x))), _short(jnp.float32(eps))))
    for _ in range(steps):
        gram = _short(_product(x, x.T))
        polynomial = _short(b * gram + c * _product(gram, gram))
        x = _short(a * x + _product(polynomial, x))
    return x.T if wide is not matrix else x


def _short(x: Any) -> Any:
    """Rounded to bfloat16, but kept in single precision: XLA leaves out a mere conversion there and back."""
    return jax.lax.reduce_precision(x, exponent_bits=8, mantissa_bits=7)


def _product(x: Any, y: Any) -> Any:
    """A product of matrices of bfloat16 values, added up in single precision."""
    return jnp.matmul(x.astype(jnp.bfloat16), y.astype(jnp.bfloat16), preferred_element_type=jnp.float32)


class Muon(RuledOptimizer):
    """Muon: for the matrices of a network's hidden layers. Steps by momentum with all singular values near 1.

    Args:
        params: see `Optimizer`; matrices only.
        lr: step size; a number or a Tensor of one element.
        weight_decay: by what p shrinks, times ``lr``.
        momentum: decay of the average of gradients.
        nesterov: look ahead.
        ns_coefficients, ns_steps, eps: of the iteration: its polynomial's, how often it runs (less than 100), the least norm.
        adjust_lr_fn: "original" (also None): the rate times sqrt(max(1, A / B)); "match_rms_adamw": times 0.2 sqrt(max(A, B)).

    Raises:
        ValueError: an option out of its range, or a parameter that is no matrix.
        RuntimeError: from `step`, a complex parameter.
    """

    rule = staticmethod(muon_rule)
    columns = ("momentum_buffer",)
    counts = False

    def __init__(
        self, params: Any, lr: Any = 1e-3, weight_decay: float = 0.1, momentum: float = 0.95, nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.7750, 2.0315), eps: float = 1e-7, ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:  # fmt: skip
        if isinstance(lr, Tensor):
            check_rate(lr)
        for name, value in (("Learning rate", lr), ("momentum", momentum), ("weight decay", weight_decay)):
            if not isinstance(value, Tensor) and not value >= 0.0:
                raise ArgumentValueError(f"{name} should be >= 0 but is: {value}")
        if adjust_lr_fn is not None and adjust_lr_fn not in _RATIOS:
            raise ArgumentValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        defaults = {
            "lr": lr, "weight_decay": weight_decay, "momentum": momentum, "nesterov": nesterov, "ns_coefficients": ns_coefficients,
            "eps": eps, "ns_steps": ns_steps, "adjust_lr_fn": adjust_lr_fn,
        }  # fmt: skip
        super().__init__(params, defaults)
        for p in (p for group in self.param_groups for p in group["params"]):
            if p.dim() != 2:
                raise ArgumentValueError(f"Muon only supports 2D parameters whereas we found a parameter with size: {p.size()}")

    @staticmethod
    def _plan(group: dict[str, Any]) -> Plan:
        if any(p.is_complex() for p in group.get("params", ()) if p.grad is not None):
            raise OpError("Muon does not support complex parameters")
        if group["ns_steps"] >= 100:
            raise ArgumentValueError(
                f"Number of steps must be less than 100 for computational efficiency, got {group['ns_steps']}"
            )
        if len(group["ns_coefficients"]) != 3:
            raise ArgumentValueError(f"Coefficients must be a tuple of exactly 3 values, got {len(group['ns_coefficients'])}")
        options = {
            "nesterov": group["nesterov"], "coefficients": tuple(group["ns_coefficients"]), "steps": group["ns_steps"], "eps": group["eps"],
            "ratio": group["adjust_lr_fn"] or "original",
        }  # fmt: skip
        return Plan(("momentum_buffer",), ("lr", "momentum", "weight_decay"), options)


def muon(
    params: list[Tensor], grads: list[Tensor], muon_momentum_bufs: list[Tensor], *, foreach: bool | None = None, lr: Any,
    weight_decay: float, momentum: float, nesterov: bool, ns_coefficients: tuple[float, float, float], ns_steps: int, eps: float,
    adjust_lr_fn: str | None, has_complex: bool,
) -> None:  # fmt: skip
    """One step of `Muon` for lists, in place: PyTorch's functional form, with the same options.

    Args:
        params, grads, muon_momentum_bufs: matrices and their averages, of equal lengths; what is on the tape is decided by grad mode.

    Raises:
        ValueError: 100 steps or more, or other than 3 coefficients.
        RuntimeError: a complex parameter, or one that is a leaf and requires grad in grad mode.
    """
    if has_complex or any(p.is_complex() for p in params):
        raise OpError("Muon does not support complex parameters")
    group = {
        "lr": lr, "weight_decay": weight_decay, "momentum": momentum, "nesterov": nesterov, "ns_coefficients": ns_coefficients,
        "ns_steps": ns_steps, "eps": eps, "adjust_lr_fn": adjust_lr_fn,
    }  # fmt: skip
    step_lists(muon_rule, Muon._plan(group), group, params, grads, {"momentum_buffer": muon_momentum_bufs})


Muon.__module__ = "funtorch.optim"  # how it is printed and pickled
