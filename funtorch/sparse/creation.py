"""Sparse Tensors made from places and values."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..cautions import caution_once
from ..core.meta import NO_DATA, is_meta
from ..core.views import alias, concrete
from ..dtypes import as_dtype, dtype
from ..errors import ArgumentTypeError, MissingError, OpError, TracedValueError
from ..layouts import layout, sparse_csc, sparse_csr
from ..ops.assignment import cast
from ..ops.given_data import tensor as new_tensor
from ..tensor import Tensor
from .conversion import ROWS, indices_of
from .invariants import checked
from .structure import Compressed, Coo
from .tensor import SparseTensor

OUTSIDE = "size is inconsistent with indices: for dim {}, size is {} but found index {}"
NEGATIVE = "found negative index {} for dim {}"


def _index_tensor(given: Any, name: str, device: Any) -> Tensor:
    tensor = given if isinstance(given, Tensor) else new_tensor(np.asarray(given), device=device)
    if tensor.dtype.category > dtypes.INTEGER and tensor.numel():
        tensor = cast(tensor.detach(), dtypes.int64)  # PyTorch cuts floats too
    if tensor.dtype not in (dtypes.int64, dtypes.int32):
        tensor = cast(tensor, dtypes.int64)
    return tensor.to(device) if device is not None else tensor


def _value_tensor(given: Any, kind: dtype | None, device: Any) -> Tensor:
    if not isinstance(given, Tensor):
        return new_tensor(given, dtype=kind, device=device)
    made = given if kind is None else cast(given, as_dtype(kind))
    made = made if device is None else made.to(device)
    return alias(made, detached=False)


def _finished(structure: Any, requires_grad: bool) -> SparseTensor:
    if requires_grad:
        structure = structure.with_values(structure.values.detach().requires_grad_())
    return SparseTensor.of(structure)


def _check_inside(places: Tensor, shape: tuple, name: str) -> None:
    """Raise RuntimeError for a place outside of the size (where the places are known)."""
    found = concrete(places)
    if found is None or not found.size:
        return
    low, high = found.min(1), found.max(1)
    for dim, size in enumerate(shape[: len(low)]):
        if low[dim] < 0:
            raise OpError(f"{name}: {NEGATIVE.format(low[dim], dim)}")
        if high[dim] >= size:
            raise OpError(f"{name}: {OUTSIDE.format(dim, size, high[dim])}")


def _size_of(indices: Tensor, values: Tensor) -> tuple[int, ...]:
    found = concrete(indices)
    if is_meta(indices):
        raise MissingError(f"sparse_coo_tensor(): {NO_DATA}")
    if found is None:
        raise TracedValueError("sparse_coo_tensor(): the size depends on indices that are traced or batched: give size")
    if found.size and found.min() < 0:
        raise OpError(f"sparse_coo_tensor: {NEGATIVE.format(found.min(), int(found.min(1).argmin()))}")
    sizes = found.max(1) + 1 if found.shape[1] else np.zeros(found.shape[0], np.int64)
    return (*map(int, sizes), *values.shape[1:])


def empty_coo(size: Any, kind: Any = None, requires_grad: bool = False, device: Any = None) -> SparseTensor:
    """A Tensor of zeros, without a single value."""
    shape = tuple(int(n) for n in size)
    values = new_tensor(np.zeros(0, as_dtype(kind or dtypes.default()).numpy), device=device)
    return _finished(Coo(indices_of(np.zeros((len(shape), 0))), values, shape, True), requires_grad)


def sparse_coo_tensor(
    indices: Any, values: Any = None, size: Any = None, *, dtype: Any = None, device: Any = None, pin_memory: bool = False,
    requires_grad: bool = False, check_invariants: bool | None = None, is_coalesced: bool | None = None,
) -> Any:  # fmt: skip
    """A sparse Tensor in coordinate layout; gradients pass to ``values``.

    Args:
        indices: (S, nnz) of integers; or the size alone, for a Tensor of zeros.
        values: (nnz, *), or one number for all.
        size: S sizes, then those of a value; by default the smallest in which the indices lie.
        dtype, device, requires_grad: as in `tensor`.
        check_invariants: False leaves out the check that the indices lie inside of ``size``; None: as
            `sparse.check_sparse_tensor_invariants` has it.
        is_coalesced: say that the indices are sorted and different.

    Raises:
        RuntimeError: sizes that don't fit, or an index outside of ``size``. (PyTorch checks that on request only.)

    >>> import funtorch as torch
    >>> torch.sparse_coo_tensor([[0, 1]], [1.0, 2.0], (3,)).to_dense()
    tensor([1., 2., 0.])
    """
    if values is None:
        return empty_coo(indices if size is None else size, dtype, requires_grad, device)
    places, held = _index_tensor(indices, "sparse_coo_tensor", device), _value_tensor(values, dtype, device)
    if places.dim() != 2:
        raise OpError(f"indices must be sparse_dim x nnz, but got: {list(places.shape)}")
    places = cast(places, dtypes.int64)
    if held.dim() == 0:
        held = held.expand(places.shape[1])
    if held.shape[0] != places.shape[1]:
        raise OpError(
            f"indices and values must have same nnz, but got nnz from indices: {places.shape[1]}, nnz from values: {held.shape[0]}"
        )
    shape = _size_of(places, held) if size is None else tuple(int(n) for n in size)
    dims, dense = places.shape[0], held.dim() - 1
    if len(shape) != dims + dense:
        raise OpError(
            f"'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {len(shape)}, sparse_dim = {dims}, "
            f"dense_dim = {dense}"
        )
    if tuple(held.shape[1:]) != shape[dims:]:
        raise OpError(f"values has incorrect size, expected {[held.shape[0], *shape[dims:]]}, got {list(held.shape)}")
    if checked(check_invariants):
        _check_inside(places, shape, "sparse_coo_tensor")
    return _finished(Coo(places, held, shape, bool(is_coalesced)), requires_grad)


def _compressed_size(which: int, begins: Tensor, plain: Tensor) -> tuple[int, int]:
    found = concrete(plain)
    if is_meta(plain):
        raise MissingError(f"sparse_csr_tensor(): {NO_DATA}")
    if found is None:
        raise TracedValueError("sparse_csr_tensor(): the size depends on indices that are traced or batched: give size")
    other = int(found.max()) + 1 if found.size else 0
    lines = begins.shape[0] - 1
    return (other, lines) if which else (lines, other)


def _check_compressed(name: str, which: int, begins: Tensor, plain: Tensor, values: Tensor, shape: tuple) -> None:
    first, second = ("ccol", "row") if which else ("crow", "col")
    if begins.dim() != 1 or plain.dim() != 1 or values.dim() != 1:
        raise MissingError(f"{name}: batches, and values with dimensions of their own, are not there")
    if len(shape) != 2:
        raise OpError(f"{name}: size must have 2 numbers, got {list(shape)}")
    if begins.dtype is not plain.dtype:
        raise OpError(f"{first}_indices and {second}_indices must have the same dtype, got {begins.dtype} and {plain.dtype}")
    if begins.shape[0] != shape[which] + 1:
        raise OpError(
            f"{first}_indices.shape[-1] must be equal to n{first[1:]}s + 1 = {shape[which] + 1}, but got {begins.shape[0]}"
        )
    if plain.shape[0] != values.shape[0]:
        raise OpError(
            f"{second}_indices and values must have the same number of elements, got {plain.shape[0]} and {values.shape[0]}"
        )


def _check_rising(which: int, begins: Tensor, plain: Tensor, shape: tuple) -> None:
    """Raise RuntimeError for indices that are no rows one after another, inside of the size (where they are known)."""
    first, second = ("ccol", "row") if which else ("crow", "col")
    ends, others = concrete(begins), concrete(plain)
    if ends is None or others is None:
        return
    if ends[0] != 0 or ends[-1] != others.size or (np.diff(ends) < 0).any():
        raise OpError(f"`{first}_indices` must rise from 0 to nnz = {others.size}, got {ends.tolist()[:8]}")
    if others.size and (others.min() < 0 or others.max() >= shape[1 - which]):
        raise OpError(f"`0 <= {second}_indices < {shape[1 - which]}` is not satisfied.")


def _compressed_form(kind: layout, name: str, first: str, second: str) -> Any:
    which = ROWS[kind]

    def make(
        begins: Any, plain: Any, values: Any, size: Any = None, *, dtype: Any = None, device: Any = None,
        pin_memory: bool = False, requires_grad: bool = False, check_invariants: bool | None = None,
    ) -> Any:  # fmt: skip
        ends, others = _index_tensor(begins, name, device), _index_tensor(plain, name, device)
        held = _value_tensor(values, dtype, device)
        shape = _compressed_size(which, ends, others) if size is None else tuple(int(n) for n in size)
        _check_compressed(name, which, ends, others, held, shape)
        if checked(check_invariants):
            _check_rising(which, ends, others, shape)
        return _finished(Compressed(kind, ends, others, held, shape), requires_grad)

    def public(*args: Any, **kwargs: Any) -> Any:
        for place, word in enumerate((first, second)):
            if word in kwargs:
                args = (*args[:place], kwargs.pop(word), *args[place:])
        return make(*args, **kwargs)

    public.__name__ = public.__qualname__ = name
    public.__doc__ = f"""A sparse matrix in compressed layout; gradients pass to ``values``.

    Args:
        {first}: where each {"column" if which else "row"} begins among the values, and their number at the end.
        {second}: the other index of each value, (nnz).
        values: (nnz).
        size: two numbers; by default the smallest in which the indices lie.
        dtype, device, requires_grad: as in `tensor`.

    Raises:
        RuntimeError: parts that don't fit each other.
    """
    return public


sparse_csr_tensor = _compressed_form(sparse_csr, "sparse_csr_tensor", "crow_indices", "col_indices")
sparse_csc_tensor = _compressed_form(sparse_csc, "sparse_csc_tensor", "ccol_indices", "row_indices")


def sparse_compressed_tensor(
    compressed_indices: Any, plain_indices: Any, values: Any, size: Any = None, *, dtype: Any = None, layout: Any = None,
    device: Any = None, pin_memory: bool = False, requires_grad: bool = False, check_invariants: bool | None = None,
) -> Any:  # fmt: skip
    """`sparse_csr_tensor` or `sparse_csc_tensor`, by ``layout``. Raises RuntimeError for another one."""
    made = {sparse_csr: sparse_csr_tensor, sparse_csc: sparse_csc_tensor}.get(layout)
    if made is None:
        raise MissingError(f"sparse_compressed_tensor: layout {layout!r} is not there")
    return made(compressed_indices, plain_indices, values, size, dtype=dtype, device=device, requires_grad=requires_grad)


def blocks(name: str) -> Any:
    """The function called ``name``, which raises: layouts of blocks are not there."""

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise MissingError(f"{name}: layouts of blocks are not there; sparse_csr_tensor and sparse_csc_tensor are")

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = "Raises RuntimeError: layouts of blocks are not there."
    return refuse


sparse_bsr_tensor, sparse_bsc_tensor = blocks("sparse_bsr_tensor"), blocks("sparse_bsc_tensor")


def zeros_like(input: Any, dtype: Any, requires_grad: bool, name: str) -> Any:
    """A sparse Tensor of zeros of the size, dtype and layout of another. Raises RuntimeError for anything but zeros."""
    if name not in ("zeros_like", "empty_like"):
        raise MissingError(f"Could not run 'aten::fill_' with arguments from the 'SparseCPU' backend: {name} of a sparse Tensor")
    return zeros(input.shape, input.dtype if dtype is None else dtype, input.layout, requires_grad, input.device)


def zeros(size: Any, dtype: Any, kind: layout, requires_grad: bool, device: Any) -> Any:
    """A sparse Tensor of zeros in a layout. Raises RuntimeError for one of blocks."""
    made = empty_coo(size, dtype, device=device)
    made = made if kind is made.layout else made.to_sparse(layout=kind)
    return made.requires_grad_() if requires_grad else made


OLDER = "torch.sparse.SparseTensor({0}, *, device=) is deprecated. Please use torch.sparse_coo_tensor({0}, dtype=, device=)."


def legacy(kind: dtype) -> Any:
    """`torch.sparse.FloatTensor` and its kin: ``(indices, values, size)``, or sizes, or nothing."""

    def make(*args: Any) -> Any:
        given = (
            "indices, values, shape" if len(args) > 2 else "indices, values" if args and isinstance(args[0], Tensor) else "shape"
        )
        caution_once(OLDER.format(given), key=f"sparse types of {given}")
        if len(args) >= 2 and isinstance(args[0], Tensor):
            return sparse_coo_tensor(*args, dtype=kind)
        sizes = args[0] if len(args) == 1 and not isinstance(args[0], int) else args
        if not all(isinstance(n, int) for n in sizes):
            raise ArgumentTypeError(f"sparse Tensors of {kind!r} are made from indices, values and a size, got {args}")
        return empty_coo(sizes or (0,), kind)

    make.tensor_dtype = kind  # type: ignore[attr-defined]  # what `Tensor.type` converts to
    make.__doc__ = f"A sparse Tensor of {kind!r} from indices, values and a size."
    return make
