"""``cond`` in PyTorch's place for it."""

from ..transforms.control_flow import cond

__all__ = ["cond"]
