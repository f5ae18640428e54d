"""PyTorch's address of `AdamW`, which is `Adam` with an option."""

from .adam import AdamW

__all__ = ["AdamW"]

AdamW.__module__ = __name__  # how it is printed and pickled
