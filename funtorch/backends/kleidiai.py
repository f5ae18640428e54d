"""KleidiAI: not used here; XLA and NumPy bring their own."""


def is_available() -> bool:
    """False."""
    return False
