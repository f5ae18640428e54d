"""Ops that the public functions of this package are written with: one Op for each set of static arguments."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.call import call
from ..core.op import Op
from ..core.views import look

KEPT = 4096


def kept(name: str, direct: Callable | None = None) -> Callable:
    """Make of ``fn(*statics) -> pure function`` a function ``(*statics) -> Op`` that gives the same Op each time.

    ``direct(*statics)`` gives its `core.direct.Direct`.
    """

    def decorate(fn: Callable) -> Callable:
        @functools.lru_cache(maxsize=KEPT, typed=True)
        @functools.wraps(fn)
        def bound(*statics: Any) -> Op:
            op = Op(fn(*statics), name)
            op.statics = {"kept": statics}
            op.direct = None if direct is None else direct(*statics)
            return op

        return bound

    return decorate


def viewing(
    name: str, inverse: Callable | None, layout: Callable, direct: Callable | None = None, retypes: bool = False
) -> Callable:
    """Make of ``fn(x, *statics)`` on arrays a function ``(tensor, *statics) -> view``.

    ``inverse(base, value, *statics)`` and ``layout(shape, strides, offset, *statics)`` are as in `core.op.Op`; without an
    ``inverse`` (where elements may coincide) values go to the flat places that the view shows. ``direct`` is as in `kept`.
    ``retypes``: whether the view may have another dtype.
    """

    def decorate(fn: Callable) -> Callable:
        @functools.lru_cache(maxsize=KEPT, typed=True)
        def bound(*statics: Any) -> Op:
            op = Op(lambda x: fn(x, *statics), name, view=True)
            if inverse is not None:
                op.inverse = lambda base, value: inverse(base, value, *statics)
            op.layout = lambda shape, strides, offset: layout(shape, strides, offset, *statics)
            op.direct = None if direct is None else direct(*statics)
            return op

        @functools.wraps(fn)
        def view(tensor: Any, *statics: Any) -> Any:
            op = bound(*statics)
            if retypes or tensor._source is None or (seen := look(tensor, op)) is None:
                return call(op, (tensor,))
            return seen

        return view

    return decorate


@functools.lru_cache(maxsize=KEPT)
def place(index: int) -> np.ndarray:
    """An index as an array that an Op takes."""
    array = np.array(index, np.int64)
    array.flags.writeable = False
    return array
