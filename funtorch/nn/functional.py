"""Functions of ``torch.nn.functional``: the ops that the op files declare for this namespace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..ops import registry

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
