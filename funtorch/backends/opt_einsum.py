"""The order of an einsum's products: JAX finds it with opt_einsum."""

enabled = True
strategy = "auto"


def is_available() -> bool:
    """True: JAX depends on it."""
    return True
