"""Adafactor (Shazeer and Stern, 2018, algorithm 4): Adam's squares of a matrix kept as a row and a column, as PyTorch has it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from ..errors import ArgumentValueError, OpError
from ..tensor import Tensor
from .elementwise import exact, in_type_of, mixed
from .lists import check_steps, is_recorded, separately
from .ruled import RuledOptimizer, check_rate, zeros_like
from .update import apply_rule


@exact
def adafactor_rule(param: Any, grad: Any, state: dict, h: dict, *, decay: bool, maximize: bool, tiny: bool) -> tuple:
    """u = g / sqrt(v); p = p - max(eps2, rms(p)) min(lr, 1 / sqrt(t)) u / max(1, rms(u) / d)."""
    c = in_type_of(param)
    g = -grad if maximize else grad
    t = state["step"].astype(h["lr"].dtype)
    least = h["eps0"] if tiny else jnp.asarray(jnp.finfo(param.dtype).eps, h["lr"].dtype)
    size = _at_least(c(h["eps1"]), _root_mean_square(param)) * c(jnp.minimum(h["lr"], 1 / jnp.sqrt(t)))
    if decay:
        param = param * c(1 - h["lr"] * h["weight_decay"])
    squares, new = _squares(g, state, c(t ** h["beta2_decay"]), c(least))
    move = g / jnp.sqrt(jnp.maximum(squares, c(least * least)))
    return param - size / _at_least(1, _root_mean_square(move) / c(h["d"])) * move, new


def _root_mean_square(x: Any) -> Any:
    return jnp.sqrt(jnp.mean(x * x))


def _at_least(least: Any, x: Any) -> Any:
    """The larger one; ``least`` if x is no number, so that one bad element doesn't spoil the others, as in PyTorch."""
    return jnp.where(x > least, x, least)


def _squares(g: Any, state: dict, part: Any, least: Any) -> tuple[Any, dict]:
    """The average of squares, and what is kept of it."""
    if g.ndim < 2:
        new = {"variance": mixed(state["variance"], g * g, part)}
        return new["variance"], new
    row = mixed(state["row_var"], jnp.mean(g * g, -1, keepdims=True), part)
    column = mixed(state["col_var"], jnp.mean(g * g, -2, keepdims=True), part)
    return row @ column / jnp.maximum(jnp.mean(row, -2, keepdims=True), least), {"row_var": row, "col_var": column}


class Adafactor(RuledOptimizer):
    r"""Adafactor: steps by :math:`g / \sqrt{v}`, clipped, in proportion to the parameter; of :math:`v`, a matrix keeps two vectors.

    Args:
        params: see `Optimizer`.
        lr: the largest relative step size; a number or a Tensor of one element.
        beta2_decay: the squares' average moves by ``t ** beta2_decay`` at step t; 0 or less.
        eps: the least of squares (the dtype's epsilon if None), and the least size of a parameter.
        d: how large the root mean square of a step may be, at least 1.
        weight_decay: by what p shrinks, times ``lr``.
        foreach: accepted; a step is one dispatch for the matrices and one for the vectors.
        maximize: ascend.

    Raises:
        ValueError: an option out of its range.
        RuntimeError: from `step`, a complex parameter.
    """

    rule = staticmethod(adafactor_rule)
    columns = ("row_var", "col_var", "variance")

    def __init__(
        self, params: Any, lr: Any = 1e-2, beta2_decay: float = -0.8, eps: tuple[float | None, float] = (None, 1e-3), d: float = 1.0,
        weight_decay: float = 0.0, *, foreach: bool | None = None, maximize: bool = False,
    ) -> None:  # fmt: skip
        if isinstance(lr, Tensor):
            check_rate(lr)
        checks = (
            ("Learning rate should be >= 0", lr, isinstance(lr, Tensor) or lr >= 0.0), ("beta2_decay should be <= 0", beta2_decay, beta2_decay <= 0.0),
            ("epsilon1 should be >= 0", eps[0], eps[0] is None or eps[0] >= 0.0), ("epsilon2 should be >= 0", eps[1], eps[1] >= 0.0),
            ("Clipping threshold d should be >= 1", d, d >= 1.0), ("weight_decay should be >= 0", weight_decay, weight_decay >= 0.0),
        )  # fmt: skip
        for text, value, fine in checks:
            if not fine:
                raise ArgumentValueError(f"{text} but is: {value}")
        defaults = {
            "lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d, "weight_decay": weight_decay, "foreach": foreach, "maximize": maximize,
        }  # fmt: skip
        super().__init__(params, defaults)

    def step(self, closure: Any = None) -> Any:
        """Change the parameters by their gradients. Raises RuntimeError for a complex parameter."""
        loss = self._closure_loss(closure)
        for group in self.param_groups:
            params = [p for p in group["params"] if p.grad is not None]
            _refuse_complex(params)
            self._start([p for p in params if not self.state[p]], group)
            _move(group, params, [self.state[p] for p in params])
        return loss

    def _start(self, params: Any, group: dict[str, Any]) -> None:
        for matrices in (True, False):  # which are counted apart: they are moved by dispatches of their own
            super()._start([p for p in params if (p.dim() > 1) == matrices], group)

    def _init_group(self, group: dict[str, Any], params_with_grad: list, grads: list, *columns: list) -> Any:
        """Append to lists what the functional form takes: None where a parameter has no such state."""
        _refuse_complex([p for p in group["params"] if p.grad is not None])
        return super()._init_group(group, params_with_grad, grads, *columns)

    def _column(self, key: str, states: list[dict[str, Any]]) -> list[Any]:
        return [state.get(key) for state in states]

    def _first_state(self, param: Tensor, group: dict[str, Any]) -> dict[str, Tensor]:
        if param.dim() < 2:
            return {"variance": zeros_like(param)}
        shape = tuple(param.shape)
        new_zeros = param.detach().new_zeros
        return {"row_var": new_zeros((*shape[:-1], 1)), "col_var": new_zeros((*shape[:-2], 1, shape[-1]))}


def _refuse_complex(params: Sequence[Tensor]) -> None:
    if any(p.is_complex() for p in params):
        raise OpError("Adafactor does not support complex parameters")


def _move(
    group: dict[str, Any], params: Sequence[Tensor], states: Sequence[dict[str, Any]], grads: Any = None, recording: bool = False
) -> None:
    """A step for the matrices, and one for the others."""
    tiny, decay = group["eps"][0] is not None, group["weight_decay"] != 0
    numbers = ("lr", "beta2_decay", "eps1", "d", *(("eps0",) if tiny else ()), *(("weight_decay",) if decay else ()))
    options = {"decay": decay, "maximize": group["maximize"], "tiny": tiny}
    for keys in (("row_var", "col_var"), ("variance",)):
        some = [i for i, state in enumerate(states) if state.get(keys[0]) is not None]
        given = None if grads is None else [grads[i] for i in some]
        apply_rule(
            adafactor_rule, group, [params[i] for i in some], [states[i] for i in some], keys, numbers, options, recording, given
        )  # fmt: skip


def adafactor(
    params: list[Tensor], grads: list[Tensor], row_vars: list[Tensor | None], col_vars: list[Tensor | None],
    variances: list[Tensor | None], state_steps: list[Tensor], foreach: bool | None = None, grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None, has_complex: bool = False, *, d: float, lr: Any, beta2_decay: float, weight_decay: float,
    eps1: float | None, eps2: float, maximize: bool,
) -> None:  # fmt: skip
    """One step of `Adafactor` for lists, in place: PyTorch's functional form, with the same options.

    Args:
        params, grads: of equal lengths; what is on the tape is decided by grad mode.
        row_vars, col_vars, variances, state_steps: the states that `Adafactor` keeps; None where a parameter has none.

    Raises:
        RuntimeError: a step counter that is no Tensor, a complex parameter, or one that is a leaf and requires grad in grad mode.
    """
    _refuse_complex(params)
    check_steps(state_steps)
    group = {
        "lr": lr,
        "beta2_decay": beta2_decay,
        "eps": (eps1, eps2),
        "d": d,
        "weight_decay": weight_decay,
        "maximize": maximize,
    }
    states = [
        {"step": step, "row_var": row, "col_var": column, "variance": variance}
        for step, row, column, variance in zip(state_steps, row_vars, col_vars, variances, strict=True)
    ]
    recording = is_recorded(params, grads, row_vars, col_vars, variances, group.values())
    for part in separately(state_steps):
        _move(group, params[part], states[part], grads[part], recording)


Adafactor.__module__ = "funtorch.optim"  # how it is printed and pickled
