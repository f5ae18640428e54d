"""Rprop (Riedmiller and Braun, 1993): only the gradient's sign counts, each element has a step size of its own."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ..errors import ArgumentValueError
from ..tensor import Tensor
from .elementwise import elementwise, in_type_of
from .lists import step_lists
from .ruled import Plan, RuledOptimizer, check_rate, on_tape, zeros_like


@elementwise
def rprop_rule(param: Any, grad: Any, state: dict, h: dict, *, maximize: bool) -> tuple:
    """The step size grows where the sign is the last one, shrinks where it turned; there, the step is left out."""
    c = in_type_of(param)
    g = -grad if maximize else grad
    agreement = g * state["prev"]
    factor = jnp.where(agreement > 0, c(h["etas1"]), jnp.where(agreement < 0, c(h["etas0"]), 1))
    size = jnp.clip(state["step_size"] * factor, c(h["step_sizes0"]), c(h["step_sizes1"]))
    g = jnp.where(agreement < 0, 0, g)
    return param - jnp.where(jnp.isnan(g), 0, jnp.sign(g)) * size, {"prev": g, "step_size": size}


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

    rule = staticmethod(rprop_rule)
    columns = ("prev", "step_size")

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

    @staticmethod
    def _plan(group: dict[str, Any]) -> Plan:
        # The rule needs no lr, which a schedule may change all the same.
        numbers = ("lr", "etas0", "etas1", "step_sizes0", "step_sizes1")
        return Plan(("prev", "step_size"), numbers, {"maximize": group["maximize"]})

    def _first_state(self, param: Tensor, group: dict[str, Any]) -> dict[str, Tensor]:
        lr, one = group["lr"], 1 + 1j if param.is_complex() else 1
        if isinstance(lr, Tensor):
            size = (param.detach().new_full(tuple(param.shape), one) * on_tape(lr, group).reshape(())).to(dtype=param.dtype)
        else:
            size = param.detach().new_full(tuple(param.shape), float(lr) * one)
        return {"prev": zeros_like(param), "step_size": size}


def rprop(
    params: list[Tensor], grads: list[Tensor], prevs: list[Tensor], step_sizes: list[Tensor], state_steps: list[Tensor],
    foreach: bool | None = None, capturable: bool = False, maximize: bool = False, differentiable: bool = False, has_complex: bool = False,
    *, step_size_min: float, step_size_max: float, etaminus: float, etaplus: float,
) -> None:  # fmt: skip
    """One step of `Rprop` for lists, in place: PyTorch's functional form, with the same options.

    Args:
        params, grads: of equal lengths; what is on the tape is decided by grad mode.
        prevs, step_sizes, state_steps: the states that `Rprop` keeps, a Tensor for each parameter.

    Raises:
        RuntimeError: a step counter that is no Tensor, or a parameter that is a leaf and requires grad in grad mode.
    """
    group = {"lr": 0.0, "etas": (etaminus, etaplus), "step_sizes": (step_size_min, step_size_max), "maximize": maximize}
    columns = {"prev": prevs, "step_size": step_sizes}
    step_lists(rprop_rule, Rprop._plan(group), group, params, grads, columns, state_steps)
