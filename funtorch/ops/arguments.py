"""Arguments of public functions: what is taken for a Tensor, a number or a static value, and the errors for all else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.handle import Handle
from ..core.promotion import NUMBERS
from ..dtypes import as_dtype, dtype
from ..errors import ArgumentTypeError, OpError
from ..tensor import Tensor

ATOMS = frozenset({int, float, bool, complex, str, type(None), dtype, bytes, type(Ellipsis)})


def static(value: Any) -> Any:
    """A static argument in hashable form: lists become tuples, 0-dim Tensors and NumPy scalars Python numbers."""
    kind = type(value)
    if kind in ATOMS:
        return value
    if isinstance(value, (list, tuple)):
        return tuple(static(v) for v in value)
    if isinstance(value, Handle):
        return value.item() if not value._payload.shape else tuple(value.tolist())
    if isinstance(value, np.generic):
        return value.item()
    return as_dtype(value) if value is float or value is int or value is bool or value is complex else value


def tensor_argument(value: Any, name: str, parameter: str, position: int) -> Any:
    """What to do with an argument that is not a Tensor but should be: raise TypeError as PyTorch does."""
    raise ArgumentTypeError(f"{name}(): argument '{parameter}' (position {position}) must be Tensor, not {type(value).__name__}")


def operand_argument(value: Any, name: str, parameter: str, position: int) -> Any:
    """A Python number, a NumPy scalar or array as an operand; TypeError for anything else."""
    if type(value) in NUMBERS or isinstance(value, NUMBERS):
        return value
    if isinstance(value, (np.generic, np.ndarray)):
        return value.item() if value.ndim == 0 else Tensor._of_numpy(np.array(value))
    raise ArgumentTypeError(
        f"{name}(): argument '{parameter}' (position {position}) must be Tensor or a number, not {type(value).__name__}"
    )


def sequence_argument(value: Any, name: str, parameter: str, position: int) -> tuple:
    """A sequence of Tensors as a tuple; TypeError for anything else."""
    if isinstance(value, (list, tuple)) and all([isinstance(v, Handle) for v in value]):
        return tuple(value)
    found = type(value).__name__
    if isinstance(value, (list, tuple)):
        at = next(i for i, v in enumerate(value) if not isinstance(v, Handle))
        found = f"{found} with a {type(value[at]).__name__} at {at}"
    raise ArgumentTypeError(f"{name}(): argument '{parameter}' (position {position}) must be tuple of Tensors, not {found}")


def flag_argument(value: Any, name: str) -> bool:
    """``keepdim`` as a bool; TypeError for a number, which would be a second dimension by mistake."""
    if isinstance(value, np.bool_):
        return bool(value)
    raise ArgumentTypeError(f"{name}(): argument 'keepdim' must be bool, not {type(value).__name__}")


def missing_argument(name: str, parameter: str) -> None:
    """Raise TypeError for a required argument that was not given."""
    raise ArgumentTypeError(f"{name}() missing 1 required positional arguments: {parameter!r}")


def check_broadcast(name: str, shapes: Sequence[tuple[int, ...]]) -> None:
    """Raise PyTorch's RuntimeError for shapes that can't be broadcast together."""
    result: tuple[int, ...] = shapes[0]
    for shape in shapes[1:]:
        long, short = (result, shape) if len(result) >= len(shape) else (shape, result)
        padded = (1,) * (len(long) - len(short)) + tuple(short)
        for dim, (a, b) in enumerate(zip(long, padded, strict=True)):
            if a != b and 1 not in (a, b):
                left, right = (a, b) if long is result else (b, a)
                raise OpError(
                    f"{name}(): The size of tensor a ({left}) must match the size of tensor b ({right}) at non-singleton dimension {dim}"
                )
        result = tuple(b if a == 1 else a for a, b in zip(long, padded, strict=True))
