"""What the layers of the losses share."""

from __future__ import annotations

from typing import Any

from ...ops.loss_reduction import reduction_of
from ..module import Module


class _Loss(Module):
    """What the losses share: the reduction, with its old forms."""

    reduction: str

    def __init__(self, size_average: Any = None, reduce: Any = None, reduction: str = "mean") -> None:
        super().__init__()
        if size_average is not None or reduce is not None:
            reduction = reduction_of(reduction, size_average, reduce)
        self.reduction = reduction


class _WeightedLoss(_Loss):
    """A loss with a buffer ``weight``."""

    def __init__(self, weight: Any = None, size_average: Any = None, reduce: Any = None, reduction: str = "mean") -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
