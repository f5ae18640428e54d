"""``funtorch.masked``: what the op files declare in that namespace, and Tensors with a mask of their own."""

from .masked_tensors import MaskedTensor, as_masked_tensor, is_masked_tensor, masked_tensor  # noqa: F401
from .ops import registry as _registry

globals().update(_registry.names("masked"))
__all__ = sorted([*_registry.names("masked"), "MaskedTensor", "as_masked_tensor", "is_masked_tensor", "masked_tensor"])
