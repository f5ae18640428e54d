"""SparseTensor: a Tensor most of whose elements are zero. Its place on the tape, and its gradient, are those of its values."""

from __future__ import annotations

import copy
from typing import Any, final

import jax
import numpy as np

from ..composite_tensor import CompositeTensor
from ..core.foreign import PROCESSORS
from ..core.handle import in_place_allowed
from ..core.state import state
from ..errors import ArgumentTypeError, MissingError, OpError
from ..layouts import by_name, sparse_coo
from ..tensor import Tensor
from . import text
from .structure import Compressed, Coo

NO_NUMPY = "can't convert Sparse layout tensor to numpy. Use Tensor.to_dense() first."
UNCOALESCED = "Cannot get {} on an uncoalesced tensor, please call .coalesce() first"
NO_MASK = "Mismatch in layout: a gradient of {} of a sparse Tensor must have its size {}, got {}"


@final
class SparseTensor(CompositeTensor):
    """A Tensor in a sparse layout; `sparse_coo_tensor`, `sparse_csr_tensor` and ``to_sparse()`` make them.

    Operations that have no meaning on it raise RuntimeError: it is never made dense unasked.
    """

    layout = property(lambda self: self._payload.layout)
    is_sparse = property(lambda self: self._payload.layout is sparse_coo)
    is_sparse_csr = property(lambda self: self._payload.layout.name == "sparse_csr")

    def aligned(self, given: Any) -> Any:
        """The elements of ``given``, dense or sparse, at this Tensor's places."""
        from .conversion import elements_at

        if not isinstance(given, Tensor):
            raise ArgumentTypeError(f"gradients can be either Tensors or None, but got {type(given).__name__}")
        if given.shape != self.shape:
            raise OpError(NO_MASK.format(tuple(self.shape), list(self.shape), list(given.shape)))
        return elements_at(given, self._payload)

    def _host(self, asked: str) -> np.ndarray:
        raise ArgumentTypeError(NO_NUMPY)

    def copy_(self, src: Any, non_blocking: bool = False) -> Any:
        """Take the places and values of another sparse Tensor of the same size. Raises RuntimeError for anything else."""
        if not isinstance(src, SparseTensor) or src.shape != self.shape:
            raise OpError(
                f"copy_() between dense and sparse Tensors, or of another size, is not implemented! Found {src.layout!r}"
            )
        in_place_allowed(self, "copy_", state.grad)
        new = src.to(self.dtype)._payload
        self._payload = new.with_values(new.values.clone())
        return self

    def zero_(self) -> Any:
        """Drop all values."""
        from .creation import zeros

        held = self._payload
        values = held.values.detach()[:0]
        if isinstance(held, Coo):
            self._payload = Coo(held.indices[:, :0], values, held.shape, True)
        else:
            self._payload = zeros(held.shape, self.dtype, held.layout, False, self.device)._payload
        return self

    def item(self) -> Any:
        if self.numel() != 1:
            raise OpError(f"a Tensor with {self.numel()} elements cannot be converted to Scalar")
        return self.to_dense().item()

    def stride(self, dim: int | None = None) -> Any:
        raise MissingError("Cannot access strides of a sparse Tensor: it has none")

    def is_contiguous(self, memory_format: Any = None) -> bool:
        return False

    def data_ptr(self) -> int:
        raise OpError("Cannot access data pointer of Tensor that doesn't have storage")

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
        return text.described(self)

    def __getitem__(self, index: Any) -> Any:
        from .selection import getitem

        return getitem(self, index)

    def select(self, dim: int, index: int) -> Any:
        """The slice ``index`` along ``dim``."""
        from .selection import select

        return select(self, dim, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        raise ArgumentTypeError("Cannot assign to a sparse tensor")

    def __iter__(self) -> Any:
        return iter([self[i] for i in range(len(self))])

    def __deepcopy__(self, memo: dict) -> Any:
        if id(self) not in memo:
            memo[id(self)] = SparseTensor.of(self._payload.with_tensors(lambda t: copy.deepcopy(t, memo)))
        return memo[id(self)]

    def __copy__(self) -> Any:
        return SparseTensor.of(self._payload)

    def __reduce_ex__(self, protocol: Any) -> tuple:
        held = self._payload
        if isinstance(held, Coo):
            return _coo_again, (held.indices.detach(), held.values.detach(), held.shape, held.coalesced, self.requires_grad)
        parts = (held.compressed.detach(), held.plain.detach(), held.values.detach())
        return _compressed_again, (held.layout.name, *parts, held.shape, self.requires_grad)

    def to(self, *args: Any, device: Any = None, dtype: Any = None, non_blocking: bool = False, copy: bool = False,
           memory_format: Any = None, other: Any = None) -> Any:  # fmt: skip
        """This Tensor in another dtype, on another device, or both."""
        from ..ops.conversion import _parse

        where, kind = _parse((*args, other) if other is not None else args, device, dtype)
        values = self._payload.values.to(where, kind, copy=copy)
        if values is self._payload.values:
            return self
        moved = self._payload if where is None else self._payload.with_tensors(lambda t: t.to(where))
        return SparseTensor.of(moved.with_values(values))

    def cpu(self, memory_format: Any = None) -> Any:
        return self.to("cpu")

    def cuda(self, device: Any = None, non_blocking: bool = False, memory_format: Any = None) -> Any:
        return self.to("cuda" if device is None else device)


def _coo_again(indices: Any, values: Any, shape: tuple, coalesced: bool, requires_grad: bool) -> SparseTensor:
    return SparseTensor.of(Coo(indices, values, shape, coalesced)).requires_grad_(requires_grad)


def _compressed_again(name: str, compressed: Any, plain: Any, values: Any, shape: tuple, requires_grad: bool) -> SparseTensor:
    return SparseTensor.of(Compressed(by_name(name), compressed, plain, values, shape)).requires_grad_(requires_grad)


def _process(op: Any, args: Any) -> Any:
    from .rules import process

    return process(op, args)


def _flatten(tensor: Any) -> tuple:
    held = tensor._payload
    if isinstance(held, Coo):
        return (held.indices, held.values), (held.layout, held.shape, held.coalesced)
    return (held.compressed, held.plain, held.values), (held.layout, held.shape)


def _unflatten(aux: tuple, children: tuple) -> Any:
    if len(children) == 2:
        return SparseTensor.of(Coo(*children, *aux[1:]))
    compressed, plain, values = children
    return SparseTensor.of(Compressed(aux[0], compressed, plain, values, aux[1]))


jax.tree_util.register_pytree_node(SparseTensor, _flatten, _unflatten)
PROCESSORS.update({Coo: _process, Compressed: _process})
