"""Intel's MKL: not used here; XLA and NumPy bring their own."""

from .unused import verbose  # noqa: F401

enabled = False
VERBOSE_OFF, VERBOSE_ON = 0, 1


def is_available() -> bool:
    """False."""
    return False
