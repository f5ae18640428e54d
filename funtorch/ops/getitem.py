"""x[index] and x[index] = value."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from ..cautions import caution
from ..core.call import call
from ..core.handle import Handle, form_of, in_place_allowed, make, value_of
from ..core.state import state
from ..core.views import alias, attach
from ..core.writing import scatter, write
from ..dtypes import FROM_NUMPY
from ..errors import ArgumentTypeError, OpError
from ..tensor import Tensor
from .across_meta import beside
from .assignment import TYPE_NAMES, cast, check_overlap
from .broadcasting import expanded
from .filling import fill_value
from .host_writing import host_value, host_window, may_write, writable
from .indexing import BYTES, Index, parse
from .kept import place
from .picking import host_index, pick, put
from .windows import ONE, Window, link, show, window_op

_FIRST = (ONE,)


def getitem(self: Tensor, index: Any) -> Tensor:
    """The elements that ``index`` names: a view for numbers and slices, a copy for index Tensors, masks and lists."""
    shape = form_of(self).shape
    if type(index) is int and shape and -shape[0] <= index < shape[0]:
        return show(self, _FIRST, (place(index % shape[0]),))
    found = parse(shape, index)
    seen = self if found.trivial else show(self, found.steps, found.places)
    if any(p is not None for p in found.pickers):
        if any(p is not None and p._payload.dtype is BYTES for p in found.pickers):
            caution("indexing with dtype torch.uint8 is deprecated; use a dtype of torch.bool, or long() for positions.")
        return pick(seen, found.pickers)
    return alias(self, detached=False) if found.trivial else seen


def setitem(self: Tensor, index: Any, value: Any) -> None:
    """Write ``value`` to the elements that ``index`` names: broadcast, and converted where PyTorch converts.

    Raises NotImplementedError for a Tensor without data (the device "meta") if this one has them.
    """
    found = parse(tuple(form_of(self).shape), index)
    picked = any(p is not None for p in found.pickers)
    in_place_allowed(self, "__setitem__", state.grad)
    value = _value(self, value, picked)
    if _written_on_host(self, found, value, picked):
        return
    if picked:
        target = self if found.trivial else show(self, found.steps, found.places)
        check_overlap(target, "index_put_")
        write(target, put(target, found.pickers, value))
    else:
        _write_window(self, found, value)


def _written_on_host(self: Tensor, found: Index, value: Any, picked: bool) -> bool:
    """Write without a copy of what stays, where nobody can tell; whether it was done. Checks come before the write."""
    if not may_write(self, value, found.pickers):
        return False
    index: Any = ...
    if picked:
        index = host_index(Window(found.steps, self._payload.shape).shown, found.pickers, tuple(value.shape))
    elif value.shape:  # a number fits anywhere
        value = _fitted(self, found, value)
    value = host_value(value)
    host_window(writable(self), found.steps, found.places)[index] = value
    return True


def _value(self: Tensor, value: Any, picked: bool) -> Any:
    kind = FROM_NUMPY[np.dtype(self._payload.dtype)]
    if not isinstance(value, Handle):
        if isinstance(value, (int, float, complex, np.generic)):
            return fill_value(value, kind, "fill_")
        raise ArgumentTypeError(f"can't assign a {_type_name(value)} to a torch.{TYPE_NAMES[kind.name]}Tensor")
    have = FROM_NUMPY[np.dtype(value_of(value).dtype)]
    if picked and have is not kind and len(value._payload.shape):
        raise OpError(
            f"Index put requires the source and destination dtypes match, got {TYPE_NAMES[kind.name]} for the destination and "
            f"{TYPE_NAMES[have.name]} for the source."
        )
    return cast(beside(self, value), kind)


def _type_name(value: Any) -> str:
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


def _fitted(self: Tensor, found: Index, value: Any) -> Any:
    """``value`` without leading dimensions of size 1 that the window lacks. Raises RuntimeError if it does not broadcast."""
    shown = Window(found.steps, tuple(self._payload.shape)).shown
    have = tuple(value.shape)
    leading = next((d for d, n in enumerate(have) if n != 1), len(have))
    if leading and len(have) > len(shown):
        have = have[min(leading, len(have) - len(shown)) :]
        value = value.reshape(have)
    expanded(have, shown)
    return value


def _write_window(self: Tensor, found: Index, value: Any) -> None:
    value = _fitted(self, found, value)
    shown = Window(found.steps, tuple(self._payload.shape)).shown
    if self._base is None:
        new = call(scatter(window_op(found.steps)), (self, value, *found.places))
        write(self, new)
        return
    target = make(jax.ShapeDtypeStruct(shown, self._payload.dtype))  # a view that is only written, so never read
    attach(target, self, link(found.steps, found.places))
    check_overlap(target, "__setitem__")
    write(target, value if isinstance(value, Handle) else make(value))


for _name, _method in (("__getitem__", getitem), ("__setitem__", setitem)):
    setattr(Tensor, _name, _method)
