"""SparseAdam: Adam (Kingma and Ba, 2015) whose averages move only where a sparse gradient has values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..autograd.modes import no_grad
from ..core.call import call
from ..core.foreign import is_foreign
from ..core.handle import in_place_allowed
from ..core.op import Op
from ..core.state import state as mode
from ..errors import ArgumentValueError, OpError
from ..tensor import Tensor
from .elementwise import mixed
from .optimizer import Optimizer
from .ruled import check_betas, check_rate, zeros_like

DENSE = "SparseAdam does not support dense gradients, please consider Adam instead"


def _moved(param: Any, average: Any, square: Any, grad: Any, rate: Any, part1: Any, part2: Any, eps: Any) -> tuple:
    """m += (1 - b1) (g - m); v += (1 - b2) (g^2 - v); p = p - rate m / (sqrt(v) + eps), of the rows in use alone."""
    rate, part1, part2, eps = (number.astype(param.dtype) for number in (rate, part1, part2, eps))
    m = mixed(average, grad, part1)
    v = mixed(square, grad * grad, part2)
    return param - rate * m / (jnp.sqrt(v) + eps), m, v


_MOVED = Op(_moved, "sparse_adam_step")


class SparseAdam(Optimizer):
    """Adam for sparse gradients, as ``nn.Embedding(sparse=True)`` gives them: rows without a gradient stay as they are.

    Args:
        params: see `Optimizer`.
        lr, betas, eps, maximize: see `Adam`.

    Raises:
        ValueError: an option out of its range, or a complex parameter.
        RuntimeError: (in ``step``) a gradient that is dense.
    """

    def __init__(
        self, params: Any, lr: Any = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8, maximize: bool = False
    ) -> None:  # fmt: skip
        check_rate(lr)
        if not isinstance(lr, Tensor) and not lr > 0.0:
            raise ArgumentValueError(f"Invalid learning rate: {lr}")
        if not eps > 0.0:
            raise ArgumentValueError(f"Invalid epsilon value: {eps}")
        check_betas(betas)
        given = list(params) if not isinstance(params, Tensor) else params
        super().__init__(given, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        held = [p for group in self.param_groups for p in group["params"]]
        for words, refused, what in (
            ("Sparse", is_foreign, "requires dense parameter tensors"),
            ("Complex", Tensor.is_complex, "does not support complex parameters"),
        ):
            places = [[i, j] for i, group in enumerate(self.param_groups) for j, p in enumerate(group["params"]) if refused(p)]
            if places and held:
                raise ArgumentValueError(f"{words} params at indices {places}: SparseAdam {what}")

    def step(self, closure: Callable | None = None) -> Any:
        """Change the rows that have a gradient. Raises RuntimeError if one is dense."""
        loss = self._closure_loss(closure)
        for group in self.param_groups:
            params = [p for p in group["params"] if p.grad is not None]
            if not all(is_foreign(p.grad) for p in params):
                raise OpError(DENSE)
            for p in params:
                self._move(p, group)
        return loss

    def _move(self, p: Tensor, group: dict[str, Any]) -> None:
        state = self.state[p]
        if not state:
            state.update({"step": 0, "exp_avg": zeros_like(p), "exp_avg_sq": zeros_like(p)})
        state["step"] += 1
        beta1, beta2 = group["betas"]
        with no_grad():
            sparse_adam(
                [p], [p.grad], [state["exp_avg"]], [state["exp_avg_sq"]], [state["step"]], eps=group["eps"], beta1=beta1, beta2=beta2,
                lr=group["lr"], maximize=group["maximize"],
            )  # fmt: skip


def sparse_adam(
    params: list[Tensor], grads: list[Tensor], exp_avgs: list[Tensor], exp_avg_sqs: list[Tensor], state_steps: list[int], *, eps: float,
    beta1: float, beta2: float, lr: Any, maximize: bool,
) -> None:  # fmt: skip
    """One step of `SparseAdam` for lists, in place: PyTorch's functional form, with the same options.

    Args:
        params, grads: of equal lengths; the gradients are sparse.
        exp_avgs, exp_avg_sqs: the states that `SparseAdam` keeps, dense.
        state_steps: the numbers of this step, which are not counted on.

    Raises:
        RuntimeError: a parameter that is a leaf and requires grad in grad mode.
    """
    for p, grad, average, square, count in zip(params, grads, exp_avgs, exp_avg_sqs, state_steps, strict=True):
        in_place_allowed(p, "sparse_adam", mode.grad)
        given = grad.coalesce()
        if not given._nnz():
            continue
        rate = float(lr) * (1 - beta2**count) ** 0.5 / (1 - beta1**count)
        held = given._payload
        values = -held.values if maximize else held.values
        numbers = [np.asarray(number, np.float64) for number in (rate, 1 - beta1, 1 - beta2, eps)]
        places = tuple(held.places.unbind(0))
        targets = (p, average, square)  # rows are read, moved and written: the rest of a large table isn't touched
        rows = [target[places] for target in targets]
        for target, new in zip(targets, call(_MOVED, (*rows, values, *numbers)), strict=True):
            target[places] = new


sparse_adam.__module__ = "funtorch.optim._functional"  # where PyTorch has it
