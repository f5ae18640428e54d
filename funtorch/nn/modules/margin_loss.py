"""Layers of the losses that compare distances and scores."""

from __future__ import annotations

from typing import Any

from ...errors import ArgumentValueError
from .. import functional as F
from .distance import PairwiseDistance
from .loss_base import _Loss, _WeightedLoss

__all__ = [
    "CosineEmbeddingLoss", "HingeEmbeddingLoss", "MarginRankingLoss", "MultiLabelMarginLoss", "MultiLabelSoftMarginLoss",
    "MultiMarginLoss", "SoftMarginLoss", "TripletMarginLoss", "TripletMarginWithDistanceLoss",
]  # fmt: skip


class HingeEmbeddingLoss(_Loss):
    """x for y = 1, max(0, margin - x) for y = -1 (see `nn.functional.hinge_embedding_loss`)."""

    __constants__ = ["margin", "reduction"]

    def __init__(self, margin: float = 1.0, size_average: Any = None, reduce: Any = None, reduction: str = "mean") -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input: Any, target: Any) -> Any:
        """input (*), target (*); z () or (*)."""
        return F.hinge_embedding_loss(input, target, margin=self.margin, reduction=self.reduction)


class MultiLabelMarginLoss(_Loss):
    """Margins of the target's classes over all others (see `nn.functional.multilabel_margin_loss`)."""

    __constants__ = ["reduction"]

    def forward(self, input: Any, target: Any) -> Any:
        """input (N, C), target (N, C) of int64; z () or (N)."""
        return F.multilabel_margin_loss(input, target, reduction=self.reduction)


class SoftMarginLoss(_Loss):
    """log(1 + e^(-y x)) (see `nn.functional.soft_margin_loss`)."""

    __constants__ = ["reduction"]

    def forward(self, input: Any, target: Any) -> Any:
        """input (*), target (*) of 1 and -1; z () or (*)."""
        return F.soft_margin_loss(input, target, reduction=self.reduction)


class MultiLabelSoftMarginLoss(_WeightedLoss):
    """Cross entropy of logits, averaged over classes (see `nn.functional.multilabel_soft_margin_loss`)."""

    __constants__ = ["reduction"]

    def forward(self, input: Any, target: Any) -> Any:
        """input (N, C), target (N, C) in [0, 1]; z () or (N)."""
        return F.multilabel_soft_margin_loss(input, target, weight=self.weight, reduction=self.reduction)


class CosineEmbeddingLoss(_Loss):
    """1 - cos(x1, x2) for y = 1, max(0, cos(x1, x2) - margin) for y = -1 (see `nn.functional.cosine_embedding_loss`)."""

    __constants__ = ["margin", "reduction"]

    def __init__(self, margin: float = 0.0, size_average: Any = None, reduce: Any = None, reduction: str = "mean") -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input1: Any, input2: Any, target: Any) -> Any:
        """input1 (N, D), input2 (N, D), target (N); z () or (N)."""
        return F.cosine_embedding_loss(input1, input2, target, margin=self.margin, reduction=self.reduction)


class MarginRankingLoss(_Loss):
    """max(0, -y (x1 - x2) + margin) (see `nn.functional.margin_ranking_loss`)."""

    __constants__ = ["margin", "reduction"]

    def __init__(self, margin: float = 0.0, size_average: Any = None, reduce: Any = None, reduction: str = "mean") -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input1: Any, input2: Any, target: Any) -> Any:
        """input1 (N), input2 (N), target (N); z () or (N)."""
        return F.margin_ranking_loss(input1, input2, target, margin=self.margin, reduction=self.reduction)


class MultiMarginLoss(_WeightedLoss):
    """Margins of the target's class over all others (see `nn.functional.multi_margin_loss`).

    Raises:
        ValueError: p is not 1 or 2, or a weight that is no vector.
    """

    __constants__ = ["p", "margin", "reduction"]

    def __init__(
        self, p: int = 1, margin: float = 1.0, weight: Any = None, size_average: Any = None, reduce: Any = None,
        reduction: str = "mean",
    ) -> None:  # fmt: skip
        super().__init__(weight, size_average, reduce, reduction)
        if p not in (1, 2):
            raise ArgumentValueError("only p == 1 and p == 2 supported")
        if weight is not None and weight.dim() != 1:
            raise ArgumentValueError(f"weight must be 1-D, got {weight.dim()}-D")
        self.p = p
        self.margin = margin

    def forward(self, input: Any, target: Any) -> Any:
        """input (N, C), target (N) of int64; z () or (N)."""
        return F.multi_margin_loss(input, target, p=self.p, margin=self.margin, weight=self.weight, reduction=self.reduction)


class TripletMarginLoss(_Loss):
    """max(0, d(a, p) - d(a, n) + margin) (see `nn.functional.triplet_margin_loss`).

    Raises:
        ValueError: margin <= 0.
    """

    __constants__ = ["margin", "p", "eps", "swap", "reduction"]

    def __init__(
        self, margin: float = 1.0, p: float = 2.0, eps: float = 1e-6, swap: bool = False, size_average: Any = None,
        reduce: Any = None, reduction: str = "mean",
    ) -> None:  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        if margin <= 0:
            raise ArgumentValueError(f"TripletMarginLoss: expected margin to be greater than 0, got {margin} instead")
        self.margin = margin
        self.p = p
        self.eps = eps
        self.swap = swap

    def forward(self, anchor: Any, positive: Any, negative: Any) -> Any:
        """anchor (N, D), positive (N, D), negative (N, D); z () or (N)."""
        return F.triplet_margin_loss(
            anchor, positive, negative, margin=self.margin, p=self.p, eps=self.eps, swap=self.swap, reduction=self.reduction
        )


class TripletMarginWithDistanceLoss(_Loss):
    """`TripletMarginLoss` with a distance of one's own (see `nn.functional.triplet_margin_with_distance_loss`).

    Raises:
        ValueError: margin <= 0.
    """

    __constants__ = ["margin", "swap", "reduction"]

    def __init__(
        self, *, distance_function: Any = None, margin: float = 1.0, swap: bool = False, reduction: str = "mean"
    ) -> None:
        super().__init__(reduction=reduction)
        if margin <= 0:
            raise ArgumentValueError(f"TripletMarginWithDistanceLoss: expected margin to be greater than 0, got {margin} instead")
        self.distance_function = PairwiseDistance() if distance_function is None else distance_function
        self.margin = margin
        self.swap = swap

    def forward(self, anchor: Any, positive: Any, negative: Any) -> Any:
        """anchor (N, D), positive (N, D), negative (N, D); z () or (N)."""
        return F.triplet_margin_with_distance_loss(
            anchor, positive, negative, distance_function=self.distance_function, margin=self.margin, swap=self.swap,
            reduction=self.reduction,
        )  # fmt: skip
