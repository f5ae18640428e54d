"""Products of sparse matrices with dense and with sparse ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.call import call
from ..core.foreign import is_foreign
from ..errors import MissingError, OpError
from . import kernels
from .conversion import coalesced, flat, held, indices_of, known_places, unflat
from .structure import Compressed, Coo
from .tensor import SparseTensor


def _check(a: Any, b: Any, name: str) -> None:
    if a.dim() != 2 or b.dim() != 2:
        raise OpError(f"{name}: Expected 2D matrices, got {a.dim()}D and {b.dim()}D tensors")
    if a.shape[1] != b.shape[0]:
        raise OpError(
            f"{name}: mat1 and mat2 shapes cannot be multiplied ({a.shape[0]}x{a.shape[1]} and {b.shape[0]}x{b.shape[1]})"
        )
    if a.dtype is not b.dtype:
        raise OpError(f"{name}: expected m1 and m2 to have the same dtype, but got: {a.dtype} != {b.dtype}")
    for each in (a, b):
        if is_foreign(each) and held(each).sparse_dim != 2:
            raise MissingError(f"{name}: a sparse matrix with {held(each).sparse_dim} sparse dimension is not there")


def matrix_product(a: Any, b: Any, name: str = "mm") -> Any:
    """The product of two matrices of which one or both are sparse: dense, and sparse if both are."""
    _check(a, b, name)
    if not is_foreign(b):
        found = held(a)
        return call(kernels.product(found.shape[0]), (found.places, found.values, b))
    if is_foreign(a):
        return _sparse_product(held(a), held(b))
    found = held(b)
    return call(kernels.product(found.shape[1], 1), (found.places, found.values, a.t())).t()


def _sparse_product(a: Any, b: Any) -> Any:
    kind, a, b = a.layout, coalesced(a), coalesced(b)
    left, right = known_places(a, "mm"), known_places(b, "mm")
    if isinstance(b, Compressed):  # a column after another: by rows
        order = np.argsort(right[0], kind="stable")
    else:
        order = np.arange(right.shape[1])
    rows = right[0][order]
    begin, end = np.searchsorted(rows, left[1]), np.searchsorted(rows, left[1], "right")
    counts = end - begin
    first = np.repeat(np.arange(left.shape[1]), counts)
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    second = order[np.repeat(begin, counts) + within]
    shape = (a.shape[0], b.shape[1])
    numbers = flat(np.stack([left[0][first], right[1][second]]), shape)
    unique, group = np.unique(numbers, return_inverse=True)
    values = call(kernels.pair_product(len(unique)), (a.values, b.values, first, second, group.reshape(-1)))
    made = SparseTensor.of(Coo(indices_of(unflat(unique, shape)), values, shape, True))
    return made.to_sparse(layout=kind) if kind is not made.layout else made


def mm(sparse: Any, dense: Any, reduce: str | None = None) -> Any:
    """The product of a sparse matrix and a matrix.

    Args:
        sparse: (N, K), sparse; dense: (K, M), dense or sparse.
        reduce: how the terms of an element are put together, for a matrix in compressed row layout: "sum", "mean", "amax",
            "amin". An element without terms is 0.

    Returns:
        (N, M), sparse if both are.

    Raises:
        RuntimeError: other ranks, sizes or types, or nothing sparse.

    >>> import funtorch as torch
    >>> torch.sparse.mm(torch.eye(2).to_sparse(), torch.ones(2, 2))
    tensor([[1., 1.],
            [1., 1.]])
    """
    if reduce is not None:
        from .reduced import reduced_product

        return reduced_product(sparse, dense, reduce)
    if not is_foreign(sparse) and not is_foreign(dense):
        raise OpError("sparse.mm: expected at least one sparse matrix, got two strided ones")
    return matrix_product(sparse, dense, "sparse.mm")


def addmm(mat: Any, mat1: Any, mat2: Any, *, beta: Any = 1.0, alpha: Any = 1.0) -> Any:
    """beta mat + alpha (mat1 mat2), where mat1 may be sparse. mat (N, M), mat1 (N, K), mat2 (K, M)."""
    found = matrix_product(mat1, mat2, "addmm") if is_foreign(mat1) or is_foreign(mat2) else mat1 @ mat2
    scaled = found if alpha == 1 else found * alpha
    if beta == 0:
        return scaled
    kept = mat if beta == 1 else mat * beta
    return kept + scaled


def vector_product(a: Any, v: Any) -> Any:
    """A sparse matrix times a vector."""
    if v.dim() != 1:
        raise OpError(f"mv: vector expected, got {v.dim()}D")
    return matrix_product(a, v.unsqueeze(1), "mv").squeeze(1)


def batch_product(a: Any, b: Any) -> Any:
    """Sparse matrices (B, N, K) times dense ones (B, K, M)."""
    if not is_foreign(a) or is_foreign(b):
        raise MissingError("bmm: of the two batches the first may be sparse, the second not")
    if a.dim() != 3 or b.dim() != 3 or a.shape[0] != b.shape[0] or a.shape[2] != b.shape[1]:
        raise OpError(f"bmm: expected sizes (B, N, K) and (B, K, M), got {list(a.shape)} and {list(b.shape)}")
    if a.dtype is not b.dtype:
        raise OpError(f"bmm: expected both to have the same dtype, but got: {a.dtype} != {b.dtype}")
    found = held(a)
    if found.sparse_dim != 3:
        raise MissingError(f"bmm: a sparse Tensor with {found.sparse_dim} sparse dimensions is not there")
    return call(kernels.batch_product(a.shape[1]), (found.places, found.values, b))


def matmul(a: Any, b: Any) -> Any:
    """`torch.matmul` where one or both are sparse."""
    if b.dim() == 1 and a.dim() == 2:
        return vector_product(a, b)
    if a.dim() == 1 and b.dim() == 2 and not is_foreign(a):
        return matrix_product(a.unsqueeze(0), b, "matmul").squeeze(0)
    if a.dim() == 3 and b.dim() == 3:
        return batch_product(a, b)
    if a.dim() != 2 or b.dim() != 2:
        raise MissingError(f"matmul: sparse Tensors of {a.dim()} and {b.dim()} dimensions are not there")
    return matrix_product(a, b, "matmul")


def spmm(mat1: Any, mat2: Any) -> Any:
    """The product of two matrices, sparse or dense. mat1 (N, K), mat2 (K, M)."""
    return mat1.mm(mat2)


def smm(input: Any, mat: Any) -> Any:
    """The product of a sparse matrix (N, K) and a dense one (K, M), as a sparse Tensor with dense rows' elements as places."""
    return matrix_product(input, mat, "smm").to_sparse()


def hspmm(mat1: Any, mat2: Any) -> Any:
    """The product of a sparse matrix (N, K) and a dense one (K, M): a sparse Tensor whose values are its rows that aren't empty."""
    found = coalesced(held(mat1))
    rows = np.unique(known_places(found, "hspmm")[0])
    product = matrix_product(mat1, mat2, "hspmm")
    values = call(kernels.taken(), (product, rows))
    return SparseTensor.of(Coo(indices_of(rows[None]), values, tuple(product.shape), True))


hsmm = hspmm


def dsmm(mat1: Any, mat2: Any) -> Any:
    """The product of a sparse matrix (N, K) and a dense one (K, M): dense, (N, M)."""
    return mm(mat1, mat2)


def sspaddmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """beta input + alpha (mat1 mat2) with input and mat1 sparse, mat2 dense; the sum is sparse."""
    return input * beta + smm(mat1, mat2) * alpha


def sampled_addmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1.0, alpha: Any = 1.0, out: Any = None) -> Any:
    """beta input + alpha (mat1 mat2) at the places of ``input``.

    Args:
        input: (N, M), in compressed row layout.
        mat1: (N, K); mat2: (K, M).
        out: a sparse Tensor for the result.

    Returns:
        (N, M), sparse with the places of ``input``.

    Raises:
        RuntimeError: sizes that don't fit, or another layout.
    """
    if not is_foreign(input):
        raise MissingError(f"sampled_addmm: Expected self to have sparse csr layout, but got {input.layout!r}")
    for name, each in (("mat1", mat1), ("mat2", mat2)):
        if is_foreign(each):
            raise OpError(f"sampled_addmm: Expected {name} to have strided layout, but got {each.layout!r}")
        if each.dim() < 2:
            raise OpError(f"sampled_addmm: Expected {name} to be a matrix, got {each.dim()}-D tensor")
    if mat1.shape[1] != mat2.shape[0]:
        raise OpError(
            f"sampled_addmm: mat1 and mat2 shapes cannot be multiplied ({mat1.shape[0]}x{mat1.shape[1]} and {mat2.shape[0]}x{mat2.shape[1]})"
        )
    for dim, each in enumerate((mat1, mat2)):
        if input.shape[dim] != each.shape[dim]:
            raise OpError(
                f"sampled_addmm: self.shape[{dim}] must match mat{dim + 1}.shape[{dim}], got {input.shape} and {each.shape}"
            )
    found = held(input)
    values = call(kernels.sampled(alpha, beta), (found.places, found.values, mat1, mat2))
    made = SparseTensor.of(found.with_values(values))
    if out is None:
        return made
    out._payload = made._payload
    return out
