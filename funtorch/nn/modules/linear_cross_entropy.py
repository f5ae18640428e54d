"""Layer of the cross entropy of a linear function."""

from __future__ import annotations

import math
from typing import Any

from ...errors import OpError
from .. import functional as F
from .linear import Linear
from .loss_base import _WeightedLoss

__all__ = ["LinearCrossEntropyLoss"]


class LinearCrossEntropyLoss(_WeightedLoss):
    """Cross entropy of the logits W x + b (see `nn.functional.linear_cross_entropy`).

    Args:
        in_features: K.
        num_classes: C.
        out_features: further sizes of the logits (N, C, *).
        bias: whether there is b.
        reduction: "mean", "sum" or "none".
        weight: (C): a factor for each class.
        ignore_index: a target that doesn't count.
        label_smoothing: in [0, 1], the share of the uniform distribution mixed into the target.
        options: has no effect.

    Attributes:
        linear: the Linear that holds W and b.

    Raises:
        RuntimeError: a weight of another size, or a ``label_smoothing`` outside [0, 1].
    """

    __constants__ = ["num_classes", "out_features", "reduction", "ignore_index", "label_smoothing"]

    def __init__(
        self, in_features: int, num_classes: int, *, out_features: tuple[int, ...] = (), bias: bool = False, device: Any = None,
        dtype: Any = None, reduction: str = "mean", weight: Any = None, ignore_index: int | None = None,
        label_smoothing: float = 0.0, options: Any = None,
    ) -> None:  # fmt: skip
        if weight is not None and tuple(weight.shape) != (num_classes,):
            raise OpError(f"expected weight shape to be {(num_classes,)}, got {tuple(weight.shape)}")
        if not 0 <= label_smoothing <= 1:
            raise OpError(f"expected label_smoothing to be in range [0, 1], got {label_smoothing}")
        super().__init__(weight, reduction=reduction)
        self.num_classes = num_classes
        self.out_features = out_features
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing
        self.linear = Linear(in_features, math.prod(out_features) * num_classes, bias=bias, device=device, dtype=dtype)
        self.options = options

    def forward(self, input: Any, target: Any) -> Any:
        """input (N, K), target: classes (N, *) or probabilities (N, C, *); z () or (N, *)."""
        sizes = (self.num_classes, *self.out_features)
        bias = self.linear.bias
        return F.linear_cross_entropy(
            input, self.linear.weight.reshape(*sizes, self.linear.in_features), target,
            linear_bias=None if bias is None else bias.reshape(sizes), weight=self.weight, reduction=self.reduction,
            ignore_index=self.ignore_index, label_smoothing=self.label_smoothing, options=self.options,
        )  # fmt: skip

    def extra_repr(self) -> str:
        shown = {"in_features": self.linear.in_features, "num_classes": self.num_classes, "out_features": self.out_features}
        shown |= {"bias": self.linear.bias is not None, "reduction": self.reduction, "ignore_index": self.ignore_index}
        shown |= {"label_smoothing": self.label_smoothing, "options": self.options}
        return ", ".join(f"{name}={value}" for name, value in shown.items())
