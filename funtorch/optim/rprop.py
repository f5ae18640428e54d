"""Rprop (Riedmiller and Braun, 1993): only the gradient's sign counts, each element has a step size of its own."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ..errors import ArgumentValueError
from ..tensor import Tensor
from .elementwise import elementwise, in_type_of
from .ruled import Plan, RuledOptimizer, check_rate, zeros_like


@elementwise
def rprop(param: Any, grad: Any, state: dict, h: dict, *, maximize: bool) -> tuple:
    """The step size grows where the sign is the last one, shrinks where it turned; there, the step is left out."""
    c = in_type_of(param)
    g = -grad if maximize else grad
    agreement = jnp.sign(g * state["prev"])
    factor = jnp.where(agreement > 0, c(h["etas1"]), jnp.where(agreement < 0, c(h["etas0"]), 1))
    size = jnp.clip(state["step_size"] * factor, c(h["step_sizes0"]), c(h["step_sizes1"]))
    g = jnp.where(agreement < 0, 0, g)
    return param - jnp.sign(g) * size, {"prev": g, "step_size": size}


class Rprop(RuledOptimizer):
    """Resilient propagation: steps of sizes that follow whether the gradient keeps its sign.

    Args:
        params: see `Optimizer`.
        lr: the first step size; a number or a Tensor of one element.
        etas: by what a step size shrinks, in (0, 1), and grows, more than 1.
        step_sizes: the least and the largest.
        maximize: ascend.
        foreach, capturable: accepted; a step is always one dispatch.
        differentiable: put the step on the tape.

    Raises:
        ValueError: an option out of its range.
    """

    rule = staticmethod(rprop)

    def __init__(
        self, params: Any, lr: Any = 1e-2, etas: tuple[float, float] = (0.5, 1.2), step_sizes: tuple[float, float] = (1e-6, 50), *,
        capturable: bool = False, foreach: bool | None = None, maximize: bool = False, differentiable: bool = False,
    ) -> None:  # fmt: skip
        check_rate(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ArgumentValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        defaults = {
            "lr": lr, "etas": etas, "step_sizes": step_sizes, "foreach": foreach, "maximize": maximize, "differentiable": differentiable,
            "capturable": capturable,
        }  # fmt: skip
        super().__init__(params, defaults)

    def _plan(self, group: dict[str, Any]) -> Plan:
        return Plan(("prev", "step_size"), ("etas0", "etas1", "step_sizes0", "step_sizes1"), {"maximize": group["maximize"]})

    def _first_state(self, param: Tensor, group: dict[str, Any]) -> dict[str, Tensor]:
        first = float(group["lr"])
        value = complex(first, first) if param.is_complex() else first
        return {"prev": zeros_like(param), "step_size": param.detach().new_full(tuple(param.shape), value)}
