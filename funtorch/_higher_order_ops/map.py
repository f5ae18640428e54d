"""``map`` in PyTorch's place for it."""

from ..transforms.control_flow import map

__all__ = ["map"]
