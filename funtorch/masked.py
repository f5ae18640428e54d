"""``funtorch.masked``: what the op files declare in that namespace."""

from .ops import registry as _registry

globals().update(_registry.names("masked"))
__all__ = sorted(_registry.names("masked"))
