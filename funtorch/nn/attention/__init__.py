"""``funtorch.nn.attention``: which kernel attention runs on, masks that are known by a name, and attention with a function of one's own."""

from .backends import WARN_FOR_UNFUSED_KERNELS, SDPBackend, sdpa_kernel

__all__ = ["SDPBackend", "WARN_FOR_UNFUSED_KERNELS", "sdpa_kernel"]
