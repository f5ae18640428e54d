"""``funtorch.types``: the unions that signatures name."""

from __future__ import annotations

import builtins as _builtins
import os as _os
from collections.abc import Sequence as _Sequence
from typing import IO as _IO
from typing import Any

from .devices import device as _device
from .dtypes import dtype as _dtype  # noqa: F401
from .layouts import layout as _layout  # noqa: F401
from .size import Size
from .storage import UntypedStorage as Storage
from .tensor import Tensor

__all__ = ["Device", "FileLike", "Number", "Size", "Storage", "Tensor"]

_int, _float, _bool, _complex, _str, _bytes = (
    getattr(_builtins, name) for name in ("int", "float", "bool", "complex", "str", "bytes")
)
_TensorOrTensors = Tensor | _Sequence[Tensor]
_TensorOrOptionalTensors = Tensor | _Sequence[Tensor | None]
_size = Size | list[int] | tuple[int, ...]
_symsize = Size | _Sequence[int]
Number = int | float | bool
_Number = (int, float, bool)
IntLikeType, FloatLikeType, BoolLikeType = int, float, bool
Device = _device | str | int | None
FileLike = str | _os.PathLike | _IO[bytes]
_dispatchkey: Any = str
