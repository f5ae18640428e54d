"""Functions of ``torch.nn.functional``: the ops that the op files declare for this namespace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..ops import registry
from ..ops.scaled_products import ScalingType, SwizzleType  # noqa: F401
from ..overrides import has_torch_function, has_torch_function_unary, has_torch_function_variadic  # noqa: F401
from . import _reduction as _Reduction  # noqa: F401
from .copied_functions import (  # noqa: F401
    _canonical_mask,
    _get_softmax_dim,
    _in_projection,
    _in_projection_packed,
    _list_or_empty,
    _mha_shape_check,
    _none_or_dtype,
    _verify_batch_size,
)
from .modules.utils import _list_with_default, _pair, _single, _triple  # noqa: F401

_names = registry.names("nn.functional")
__all__ = sorted(_names)
globals().update(_names)

GRID_SAMPLE_INTERPOLATION_MODES = {"bilinear": 0, "nearest": 1, "bicubic": 2}
GRID_SAMPLE_PADDING_MODES = {"zeros": 0, "border": 1, "reflection": 2}


def assert_int_or_pair(arg: Any, arg_name: str, message: str) -> None:
    """Raises AssertionError with a message, which may name the argument in ``{}``, unless it is an int or has two items."""
    assert isinstance(arg, int) or len(arg) == 2, message.format(arg_name)


if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...
