"""What to prune: elements or channels, at random or the smallest, or what a mask says."""

from __future__ import annotations

import numbers
from typing import Any

from ...errors import ArgumentTypeError, ArgumentValueError, OutOfBoundsError
from ...ops import registry
from .pruning_base import BasePruningMethod

__all__ = ["CustomFromMask", "Identity", "L1Unstructured", "LnStructured", "RandomStructured", "RandomUnstructured"]

_torch = registry.names("torch")


def _checked_amount(amount: Any) -> Any:
    if not isinstance(amount, numbers.Real):
        raise ArgumentTypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if (isinstance(amount, numbers.Integral) and amount < 0) or (
        not isinstance(amount, numbers.Integral) and not 0.0 <= float(amount) <= 1.0
    ):
        raise ArgumentValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")
    return amount


def _count(amount: Any, size: int) -> int:
    """How many of ``size`` units are pruned: a number of them, or a share."""
    count = int(amount) if isinstance(amount, numbers.Integral) else round(amount * size)
    if count > size:
        raise ArgumentValueError(f"amount={count} should be smaller than the number of parameters to prune={size}")
    return count


def _structured_size(t: Any, dim: int) -> int:
    if t.dim() <= 1:
        raise ArgumentValueError(
            "Structured pruning can only be applied to multidimensional tensors. Found tensor of shape "
            f"{t.shape} with {t.dim()} dims"
        )
    if dim >= t.dim():
        raise OutOfBoundsError(f"Invalid index {dim} for tensor of size {t.shape}")
    return t.shape[dim]


def _without(mask: Any, indices: Any) -> Any:
    """A mask with zeros at flat indices."""
    return mask.detach().reshape(-1).index_fill(0, indices, 0).reshape(mask.shape)


def _along(t: Any, dim: int, kept: Any, mask: Any) -> Any:
    """The mask so far, 0 in the channels that aren't among ``kept`` (bools)."""
    shape = [1] * t.dim()
    shape[dim] = -1
    return kept.to(t.dtype).reshape(shape) * mask.detach().to(dtype=t.dtype)


class Identity(BasePruningMethod):
    """Prunes nothing: the mask is all ones."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask so far."""
        return default_mask


class RandomUnstructured(BasePruningMethod):
    """Prunes elements at random.

    Args:
        amount: how many, or a share in [0, 1] as a float.
    """

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount: Any) -> None:
        self.amount = _checked_amount(amount)

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask so far, with more zeros."""
        count = _count(self.amount, t.nelement())
        if count == 0:
            return default_mask.detach().clone()
        return _without(default_mask, _torch["rand_like"](t.detach()).reshape(-1).topk(count).indices)


class L1Unstructured(BasePruningMethod):
    """Prunes the elements of least absolute value.

    Args:
        amount: how many, or a share in [0, 1] as a float.
    """

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount: Any) -> None:
        self.amount = _checked_amount(amount)

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask so far, with more zeros."""
        count = _count(self.amount, t.nelement())
        if count == 0:
            return default_mask.detach().clone()
        return _without(default_mask, t.detach().abs().reshape(-1).topk(count, largest=False).indices)


class RandomStructured(BasePruningMethod):
    """Prunes channels at random.

    Args:
        amount: how many, or a share in [0, 1] as a float.
        dim: along which the channels lie.
    """

    PRUNING_TYPE = "structured"

    def __init__(self, amount: Any, dim: int = -1) -> None:
        self.amount = _checked_amount(amount)
        self.dim = dim

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask so far, with more channels of zeros."""
        size = _structured_size(t, self.dim)
        count = _count(self.amount, size)
        if count == 0:
            return default_mask
        draws = _torch["rand"](size)
        return _along(t, self.dim, draws > draws.kthvalue(count).values, default_mask)


class LnStructured(BasePruningMethod):
    """Prunes the channels of least norm.

    Args:
        amount: how many, or a share in [0, 1] as a float.
        n: the norm's order.
        dim: along which the channels lie.
    """

    PRUNING_TYPE = "structured"

    def __init__(self, amount: Any, n: Any, dim: int = -1) -> None:
        self.amount = _checked_amount(amount)
        self.n = n
        self.dim = dim

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask so far, with more channels of zeros."""
        size = _structured_size(t, self.dim)
        count = _count(self.amount, size)
        if count == 0:
            return default_mask
        others = [d for d in range(t.dim()) if d != self.dim % t.dim()]
        best = _torch["norm"](t.detach(), p=self.n, dim=others).topk(size - count).indices
        kept = _torch["zeros"](size, dtype=t.dtype).index_fill(0, best, 1)
        return _along(t, self.dim, kept, default_mask)


class CustomFromMask(BasePruningMethod):
    """Prunes what a mask says.

    Args:
        mask: zeros and ones, of the parameter's shape.
    """

    PRUNING_TYPE = "global"

    def __init__(self, mask: Any) -> None:
        self.mask = mask

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask so far times the mask. Raises AssertionError for another shape."""
        if default_mask.shape != self.mask.shape:
            raise AssertionError(f"default_mask shape {default_mask.shape} must match self.mask shape {self.mask.shape}")
        return default_mask * self.mask.to(dtype=default_mask.dtype)
