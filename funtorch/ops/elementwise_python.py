"""A Python function on each element, in place: apply_, map_, map2_. For small Tensors; nothing is recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.meta import is_meta
from ..errors import OpError
from ..tensor import Tensor
from . import registry
from .filling import copy_


def _write_host(self: Tensor, values: Any) -> Tensor:
    return copy_(self, Tensor._of_numpy(np.asarray(values, self._payload.dtype).reshape(tuple(self.shape))))


def apply_(self: Tensor, callable: Callable) -> Tensor:
    """Replace each element by what a Python function gives for it: slow, and not recorded."""
    if is_meta(self):
        return self
    return _write_host(self, [callable(v) for v in self.detach().numpy().reshape(-1).tolist()])


def map_(self: Tensor, tensor: Tensor, callable: Callable) -> Tensor:
    """Replace each element by ``callable(element, other element)``. Raises RuntimeError if the shapes differ."""
    if tuple(self.shape) != tuple(tensor.shape):
        raise OpError(f"map_(): sizes {list(self.shape)} and {list(tensor.shape)} do not match")
    if is_meta(self):
        return self
    pairs = zip(*(x.detach().numpy().reshape(-1).tolist() for x in (self, tensor)), strict=True)
    return _write_host(self, [callable(a, b) for a, b in pairs])


def map2_(self: Tensor, x: Tensor, y: Tensor, callable: Callable) -> Tensor:
    """Replace each element by ``callable(element, x's element, y's)``. Raises RuntimeError if the shapes differ."""
    if not tuple(self.shape) == tuple(x.shape) == tuple(y.shape):
        raise OpError(f"map2_(): sizes {list(self.shape)}, {list(x.shape)} and {list(y.shape)} do not match")
    if is_meta(self):
        return self
    triples = zip(*(t.detach().numpy().reshape(-1).tolist() for t in (self, x, y)), strict=True)
    return _write_host(self, [callable(*each) for each in triples])


registry.add_method("apply_", apply_)
registry.add_method("map_", map_)
registry.add_method("map2_", map2_)
