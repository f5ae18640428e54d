"""Payloads that stand for several arrays (sparse Tensors): what handles an op that one of them comes to.

Such a payload has a ``shape``, a ``dtype``, and ``values``: the Tensor whose place on the tape is that of the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .handle import Handle

PROCESSORS: dict[type, Callable[[Any, Sequence[Any]], Any]] = {}  # by type of payload: (op, arguments) -> result


def is_foreign(tensor: Any) -> bool:
    """Whether a Tensor stands for several arrays."""
    return isinstance(tensor, Handle) and tensor._foreign


def followed(tensor: Any) -> Any:
    """The Tensor that is on the tape in the place of ``tensor``: mostly itself."""
    return tensor._payload.values if is_foreign(tensor) else tensor
