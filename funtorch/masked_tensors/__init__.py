"""Tensors of which some elements are masked out: what `funtorch.masked` has beside its functions."""

from .tensor import MaskedTensor, as_masked_tensor, is_masked_tensor, masked_tensor

__all__ = ["MaskedTensor", "as_masked_tensor", "is_masked_tensor", "masked_tensor"]
