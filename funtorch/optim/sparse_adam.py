"""SparseAdam: Adam for sparse gradients, which funtorch has not: so every gradient here is one that PyTorch refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import ArgumentValueError, OpError
from ..tensor import Tensor
from .optimizer import Optimizer
from .ruled import check_betas, check_rate

DENSE = "SparseAdam does not support dense gradients, please consider Adam instead"


class SparseAdam(Optimizer):
    """Adam for sparse gradients. There are no sparse Tensors here, so `step` raises RuntimeError where a gradient is there.

    Args:
        params: see `Optimizer`.
        lr, betas, eps, maximize: see `Adam`.

    Raises:
        ValueError: an option out of its range, or a complex parameter.
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
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        places = [[i, j] for i, group in enumerate(self.param_groups) for j, p in enumerate(group["params"]) if p.is_complex()]
        if places:
            raise ArgumentValueError(f"Complex params at indices {places}: SparseAdam does not support complex parameters")

    def step(self, closure: Callable | None = None) -> Any:
        """Raises RuntimeError if a parameter has a gradient: it is dense."""
        loss = self._closure_loss(closure)
        if any(p.grad is not None for group in self.param_groups for p in group["params"]):
            raise OpError(DENSE)
        return loss
