"""oneDNN: not used here; XLA and NumPy bring their own."""

from .unused import switch, verbose  # noqa: F401

enabled = False
VERBOSE_OFF, VERBOSE_ON, VERBOSE_ON_CREATION = 0, 1, 2


def is_available() -> bool:
    """False."""
    return False


set_flags, flags = switch(globals())
