"""Optimisers: one algorithm a file."""

from . import lr_scheduler
from .adam import Adam, AdamW
from .optax_bridge import from_optax
from .optimizer import Optimizer
from .sgd import SGD

__all__ = ["SGD", "Adam", "AdamW", "Optimizer", "from_optax", "lr_scheduler"]
