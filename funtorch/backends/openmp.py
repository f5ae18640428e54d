"""OpenMP: not used here; XLA and NumPy bring their own."""

enabled = False


def is_available() -> bool:
    """False."""
    return False
