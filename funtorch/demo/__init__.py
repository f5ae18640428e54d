"""``funtorch demo``: training, compilation, per-sample gradients, meta-learning and Hessians on real handwritten digits."""

from .main import PARTS, run

__all__ = ["PARTS", "run"]
