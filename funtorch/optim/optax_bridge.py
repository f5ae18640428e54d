"""An optax transformation as an optimiser in PyTorch's style."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from ..core.call import call
from ..core.op import Op
from ..core.state import state as mode
from ..core.writing import write
from ..tensor import Tensor
from .optimizer import Optimizer


class FromOptax(Optimizer):
    """See `from_optax`."""

    def __init__(self, params: Any, transformation: Any) -> None:
        super().__init__(params, {})
        self.transformation = transformation
        self.held: list[Tensor] = []
        self.treedef: Any = None
        self.op: Any = None  # an Op from the first step on
        self.moving: tuple[int, ...] = ()

    def _start(self, params: list[Tensor]) -> None:
        leaves, self.treedef = jax.tree_util.tree_flatten(
            self.transformation.init([jax.numpy.asarray(p._payload) for p in params])
        )
        self.held = [Tensor._of_numpy(np.asarray(leaf)) for leaf in leaves]
        self.moving = tuple(id(p) for p in params)
        count, treedef, update = len(params), self.treedef, self.transformation.update

        def step(*arrays: Any) -> tuple:
            given, grads, held = list(arrays[:count]), list(arrays[count : 2 * count]), arrays[2 * count :]
            changes, new = update(grads, jax.tree_util.tree_unflatten(treedef, held), given)
            moved = [p + c.astype(p.dtype) for p, c in zip(given, changes, strict=True)]
            return (*moved, *jax.tree_util.tree_leaves(new))

        self.op = Op(step, "optax_step")

    def step(self, closure: Callable | None = None) -> Any:
        """Change the parameters by what the transformation makes of their gradients. Raises ValueError if other ones moved before."""
        loss = self._closure_loss(closure)
        params = [p for group in self.param_groups for p in group["params"] if p.grad is not None]
        if self.op is None:
            self._start(params)
        if tuple(id(p) for p in params) != self.moving:
            raise ValueError("from_optax(): the parameters that have gradients must be the same at each step")
        results = call(self.op, [*params, *(p.grad for p in params), *self.held], recording=False)
        before, mode.grad = mode.grad, False
        try:
            for target, new in zip([*params, *self.held], results, strict=True):
                write(target, new)
        finally:
            mode.grad = before
        return loss


def from_optax(transformation: Any, params: Any = None) -> Any:
    """An optax transformation as an optimiser: ``from_optax(optax.adam(1e-3), model.parameters())``.

    Without ``params``: a function of them.

    >>> import optax, funtorch as torch
    >>> p = torch.tensor([1.0], requires_grad=True)
    >>> optimizer = torch.optim.from_optax(optax.sgd(0.1), [p])
    >>> (p * p).backward()
    >>> optimizer.step()
    >>> p
    tensor([0.8000], requires_grad=True)
    """
    if params is None:
        return lambda given: FromOptax(given, transformation)
    return FromOptax(params, transformation)
