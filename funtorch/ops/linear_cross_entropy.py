"""Cross entropy of a linear function of the input."""

from __future__ import annotations

from typing import Any

from ..errors import OpError
from .class_loss import cross_entropy
from .contraction import tensordot
from .declare import function
from .linear import linear


@function("nn.functional")
def linear_cross_entropy(
    input: Any, linear_weight: Any, target: Any, *, linear_bias: Any = None, weight: Any = None, reduction: str = "mean",
    ignore_index: int | None = None, label_smoothing: float = 0.0, options: Any = None,
) -> Any:  # fmt: skip
    """`cross_entropy` of the logits W x + b.

    Args:
        input: (N, K) or (K).
        linear_weight: (C, *, K).
        target: as in `cross_entropy`, for logits (N, C, *).
        linear_bias: (C, *).
        weight, reduction, ignore_index, label_smoothing: as in `cross_entropy`; an ``ignore_index`` of None is -100.
        options: how PyTorch saves memory. Differs from PyTorch: no effect, the logits are computed as a whole.

    Raises:
        RuntimeError: sizes or types that don't fit.
    """
    if input.dim() not in (1, 2):
        raise OpError(f"expected input with dimensionality 1 or 2, got {input.dim()}")
    if linear_weight.dim() > 2 and input.dim() == 1:
        raise OpError(
            f"K-dimensional loss defined by linear_weight shape {tuple(linear_weight.shape)} requires batched input, (N, "
            f"{linear_weight.shape[-1]}), got unbatched input with shape {tuple(input.shape)}"
        )
    if linear_weight.dim() <= 2:
        logits = linear(input, linear_weight, linear_bias)
    else:
        logits = tensordot(input, linear_weight, ([-1], [-1]))  # (N, C, *)
        logits = logits if linear_bias is None else logits + linear_bias
    ignored = -100 if ignore_index is None else ignore_index
    return cross_entropy(logits, target, weight, ignore_index=ignored, reduction=reduction, label_smoothing=label_smoothing)
