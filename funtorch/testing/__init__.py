"""``funtorch.testing``: numbers compared with tolerances, and Tensors to test with."""

from .comparison import assert_allclose, assert_close
from .making import make_tensor

__all__ = ["assert_allclose", "assert_close", "make_tensor"]
