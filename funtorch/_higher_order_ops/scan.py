"""``scan`` in PyTorch's place for it."""

from ..transforms.control_flow import scan

__all__ = ["scan"]
