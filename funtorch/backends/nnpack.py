"""NNPACK: not used here; XLA and NumPy bring their own."""

from .unused import switch

enabled = False


def is_available() -> bool:
    """False."""
    return False


set_flags, flags = switch(globals())
