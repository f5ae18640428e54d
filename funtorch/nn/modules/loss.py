"""Layers of the losses. Each calls the function of `nn.functional` of its name with what it was made with."""

from __future__ import annotations

from typing import Any

from ...cautions import caution
from .. import functional as F
from .loss_base import _Loss, _WeightedLoss
from .margin_loss import (
    CosineEmbeddingLoss,
    HingeEmbeddingLoss,
    MarginRankingLoss,
    MultiLabelMarginLoss,
    MultiLabelSoftMarginLoss,
    MultiMarginLoss,
    SoftMarginLoss,
    TripletMarginLoss,
    TripletMarginWithDistanceLoss,
)

__all__ = [
    "BCELoss", "BCEWithLogitsLoss", "CTCLoss", "CosineEmbeddingLoss", "CrossEntropyLoss", "GaussianNLLLoss", "HingeEmbeddingLoss",
    "HuberLoss", "KLDivLoss", "L1Loss", "MSELoss", "MarginRankingLoss", "MultiLabelMarginLoss", "MultiLabelSoftMarginLoss",
    "MultiMarginLoss", "NLLLoss", "NLLLoss2d", "PoissonNLLLoss", "SmoothL1Loss", "SoftMarginLoss", "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]  # fmt: skip

OLD_NAME = "`NLLLoss2d` has been deprecated. Please use `NLLLoss` instead as a drop-in replacement."


class L1Loss(_Loss):
    """Absolute error |x - y| (see `nn.functional.l1_loss`)."""

    __constants__ = ["reduction"]

    def forward(self, input: Any, target: Any) -> Any:
        """input (*), target (*); z () or (*)."""
        return F.l1_loss(input, target, reduction=self.reduction)


class MSELoss(_Loss):
    """Squared error (x - y)^2 (see `nn.functional.mse_loss`).

    Args:
        reduction: "mean", "sum" or "none".

    Example:
        >>> import funtorch
        >>> MSELoss()(funtorch.zeros(2), funtorch.ones(2)).item()
        1.0
    """

    __constants__ = ["reduction"]

    def forward(self, input: Any, target: Any) -> Any:
        """input (*), target (*); z () or (*)."""
        return F.mse_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(_Loss):
    """Squared error below ``beta``, absolute error above (see `nn.functional.smooth_l1_loss`)."""

    __constants__ = ["reduction"]

    def __init__(self, size_average: Any = None, reduce: Any = None, reduction: str = "mean", beta: float = 1.0) -> None:
        super().__init__(size_average, reduce, reduction)
        self.beta = beta

    def forward(self, input: Any, target: Any) -> Any:
        """input (*), target (*); z () or (*)."""
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(_Loss):
    """Squared error up to ``delta``, absolute error above (see `nn.functional.huber_loss`)."""

    __constants__ = ["reduction", "delta"]

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        self.delta = delta

    def forward(self, input: Any, target: Any) -> Any:
        """input (*), target (*); z () or (*)."""
        return F.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


class NLLLoss(_WeightedLoss):
    """Negative log-likelihood of classes (see `nn.functional.nll_loss`)."""

    __constants__ = ["ignore_index", "reduction"]

    def __init__(
        self, weight: Any = None, size_average: Any = None, ignore_index: int = -100, reduce: Any = None, reduction: str = "mean"
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def forward(self, input: Any, target: Any) -> Any:
        """input (N, C, *), target (N, *) of int64; z () or (N, *)."""
        return F.nll_loss(input, target, weight=self.weight, ignore_index=self.ignore_index, reduction=self.reduction)


class NLLLoss2d(NLLLoss):
    """An old name of `NLLLoss`, with a warning."""

    def __init__(
        self, weight: Any = None, size_average: Any = None, ignore_index: int = -100, reduce: Any = None, reduction: str = "mean"
    ) -> None:
        caution(OLD_NAME, FutureWarning)
        super().__init__(weight, size_average, ignore_index, reduce, reduction)


class CrossEntropyLoss(_WeightedLoss):
    """Cross entropy of logits with classes or probabilities (see `nn.functional.cross_entropy`).

    Args:
        weight: (C): a factor for each class.
        ignore_index: a target that doesn't count.
        reduction: "mean", "sum" or "none".
        label_smoothing: in [0, 1], the share of the uniform distribution mixed into the target.

    Example:
        >>> import funtorch
        >>> round(CrossEntropyLoss()(funtorch.zeros(1, 2), funtorch.tensor([0])).item(), 4)
        0.6931
    """

    __constants__ = ["ignore_index", "reduction", "label_smoothing"]

    def __init__(
        self, weight: Any = None, size_average: Any = None, ignore_index: int = -100, reduce: Any = None, reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:  # fmt: skip
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing

    def forward(self, input: Any, target: Any) -> Any:
        """input (N, C, *), target (N, *) of int64 or (N, C, *) of floats; z () or (N, *)."""
        return F.cross_entropy(
            input, target, weight=self.weight, ignore_index=self.ignore_index, reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )  # fmt: skip


class PoissonNLLLoss(_Loss):
    """Negative log-likelihood of counts under Poisson's law (see `nn.functional.poisson_nll_loss`)."""

    __constants__ = ["log_input", "full", "eps", "reduction"]

    def __init__(
        self, log_input: bool = True, full: bool = False, size_average: Any = None, eps: float = 1e-8, reduce: Any = None,
        reduction: str = "mean",
    ) -> None:  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self.log_input = log_input
        self.full = full
        self.eps = eps

    def forward(self, log_input: Any, target: Any) -> Any:
        """log_input (*), target (*); z () or (*)."""
        return F.poisson_nll_loss(
            log_input, target, log_input=self.log_input, full=self.full, eps=self.eps, reduction=self.reduction
        )


class GaussianNLLLoss(_Loss):
    """Negative log-likelihood under a normal law (see `nn.functional.gaussian_nll_loss`)."""

    __constants__ = ["full", "eps", "reduction"]

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)
        self.full = full
        self.eps = eps

    def forward(self, input: Any, target: Any, var: Any) -> Any:
        """input (*), target (*), var (*) or with a last dimension of 1; z () or (*)."""
        return F.gaussian_nll_loss(input, target, var, full=self.full, eps=self.eps, reduction=self.reduction)


class KLDivLoss(_Loss):
    """Kullback-Leibler divergence (see `nn.functional.kl_div`)."""

    __constants__ = ["reduction"]

    def __init__(self, size_average: Any = None, reduce: Any = None, reduction: str = "mean", log_target: bool = False) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target

    def forward(self, input: Any, target: Any) -> Any:
        """input (*) of log-probabilities, target (*); z () or (*)."""
        return F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)


class BCELoss(_WeightedLoss):
    """Cross entropy of probabilities (see `nn.functional.binary_cross_entropy`)."""

    __constants__ = ["reduction"]

    def forward(self, input: Any, target: Any) -> Any:
        """input (*) in [0, 1], target (*); z () or (*)."""
        return F.binary_cross_entropy(input, target, weight=self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(_Loss):
    """Cross entropy of logits (see `nn.functional.binary_cross_entropy_with_logits`)."""

    def __init__(
        self, weight: Any = None, size_average: Any = None, reduce: Any = None, reduction: str = "mean", pos_weight: Any = None
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input: Any, target: Any) -> Any:
        """input (*), target (*) in [0, 1]; z () or (*)."""
        return F.binary_cross_entropy_with_logits(
            input, target, self.weight, pos_weight=self.pos_weight, reduction=self.reduction
        )


class CTCLoss(_Loss):
    """Connectionist temporal classification (see `nn.functional.ctc_loss`)."""

    __constants__ = ["blank", "reduction"]

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__(reduction=reduction)
        self.blank = blank
        self.zero_infinity = zero_infinity

    def forward(self, log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any) -> Any:
        """log_probs (T, N, C), targets (N, S) or (sum of lengths), lengths (N); z () or (N)."""
        return F.ctc_loss(log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction, self.zero_infinity)
