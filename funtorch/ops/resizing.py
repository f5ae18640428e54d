"""Methods that change what a Tensor itself is: resize_, resize_as_, squeeze_, unsqueeze_, transpose_, t_, set_."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp

from ..cautions import caution
from ..core.call import call
from ..core.handle import value_of
from ..core.state import state
from ..core.views import take, version_root
from ..core.writing import note_change, reshape_data
from ..errors import OpError
from ..tensor import Tensor
from . import registry
from .declare import function
from .kept import kept
from .permuting import swapaxes, t, transpose
from .reshaping import sizes_of
from .squeezing import squeeze, unsqueeze
from .strided import as_strided


@kept("resize")
def _resized(sizes: tuple[int, ...]) -> Any:
    count = math.prod(sizes)

    def pure(x: Any) -> Any:
        flat = x.reshape(-1)[:count]
        return jnp.concatenate([flat, jnp.zeros(count - flat.size, x.dtype)]).reshape(sizes)

    return pure


@function(name="resize_", method=True)
def resize_(self: Tensor, *sizes: Any, memory_format: Any = None) -> Tensor:
    """Give this Tensor another shape, keeping its elements in order; new ones are zero.

    Raises:
        RuntimeError: if it requires grad, is a view, or would outgrow memory that it shares with NumPy.
    """
    wanted = sizes_of(sizes, "resize_")
    if self.requires_grad:
        raise OpError("cannot resize variables that require grad")
    if wanted == tuple(self.shape):
        return self
    if self._base is not None:
        raise OpError(f"resize_(): a view of shape {list(self.shape)} can't be resized to {list(wanted)}; clone it first")
    resized = call(_resized(wanted), (self,))
    if self._source is not None and math.prod(wanted) > self.numel():
        raise OpError("Trying to resize storage that is not resizable: NumPy shares it")
    note_change(self)
    self._source = None
    self._payload = resized._payload
    self._writes += 1
    return self


def resize(self: Tensor, *sizes: Any) -> Tensor:
    """Deprecated in PyTorch: `view`. Raises RuntimeError if the number of elements differs."""
    caution("non-inplace resize is deprecated")
    return _reshaped(self, sizes_of(sizes, "resize"))


def _reshaped(self: Tensor, wanted: tuple[int, ...]) -> Tensor:
    if math.prod(wanted) != self.numel():
        raise OpError(
            f"requested resize to {list(wanted)}, but the given tensor has a size of {list(self.shape)}. resize can only "
            "change the shape of a given tensor, while preserving the number of elements."
        )
    return self.view(wanted)


def resize_as(self: Tensor, tensor: Tensor) -> Tensor:
    """Deprecated in PyTorch: `resize` to the shape of another Tensor. Raises RuntimeError as it does."""
    caution("non-inplace resize_as is deprecated")
    return _reshaped(self, tuple(tensor.shape))


registry.add_method("resize", resize)
registry.add_method("resize_as", resize_as)


@function(name="resize_as_", method=True)
def resize_as_(self: Tensor, the_template: Tensor, memory_format: Any = None) -> Tensor:
    """`resize_` to the shape of another Tensor."""
    return resize_(self, tuple(the_template.shape))


def _in_place(view: Callable, name: str) -> Callable:
    """The in-place form of a view op: this Tensor becomes the view of what it was."""

    def change(self: Tensor, *args: Any, **named: Any) -> Tensor:
        leaf = self.requires_grad and self._node is None
        if leaf and self._base is None and state.grad:
            raise OpError(f"{name}(): a leaf Variable that requires grad is being used in an in-place operation.")
        before, state.grad = state.grad, not leaf  # the history goes on without grad mode too
        try:
            seen = view(self, *args, **named)
        finally:
            state.grad = before
        note_change(self)
        if leaf:
            seen._requires, seen._level = True, self._level
        if self._base is None:
            reshape_data(self, seen, seen._chain[-1])
            return self
        root = version_root(self)
        root._writes += 1
        self._chain, self._siblings, self._seen = seen._chain, seen._siblings, self._base._writes
        take(self, seen)
        return self

    change.__name__ = change.__qualname__ = name
    change.__doc__ = f"In-place form of ``{view.__name__}``: changes the shape of this Tensor."
    return change


for _view in (squeeze, unsqueeze, t, transpose, as_strided):
    registry.add_method(f"{_view.__name__}_", _in_place(_view, f"{_view.__name__}_"))
registry.add("torch", "as_strided_", registry.methods["as_strided_"])
registry.add_method("swapaxes_", _in_place(swapaxes, "swapaxes_"))
registry.add_method("swapdims_", _in_place(transpose, "swapdims_"))


def set_(self: Tensor, source: Tensor) -> Tensor:
    """Make this Tensor a view of all of ``source``. Raises RuntimeError if it requires grad."""
    if self.requires_grad:
        raise OpError("set_(): a Tensor that requires grad can't be given other elements")
    seen = source.detach()
    value_of(seen)
    note_change(self)
    self._base = self._source = seen._base
    self._chain, self._seen, self._detached = seen._chain, seen._seen, True
    take(self, seen)
    self._writes += 1
    self._counts = True
    return self


registry.add_method("set_", set_)
