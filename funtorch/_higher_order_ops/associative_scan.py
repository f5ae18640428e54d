"""``associative_scan`` in PyTorch's place for it."""

from ..transforms.control_flow import associative_scan

__all__ = ["associative_scan"]
