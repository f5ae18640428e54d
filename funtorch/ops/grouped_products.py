"""Products of several pairs of matrices at once, of which one side may be cut into groups of unequal size."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ..core.handle import form_of
from ..errors import OpError
from .declare import Array, op
from .operands import in_float32, kind_of

KINDS = ("Float", "BFloat16", "Half")
# By the ranks of the two sides: the product, where g counts the groups, and the side and axis that the offsets cut.
FORMS: dict[tuple[int, int], tuple[str, tuple[int, int] | None]] = {
    (3, 3): ("gmk,gkn->gmn", None),
    (2, 3): ("gmk,gkn->mn", (0, 0)),
    (3, 2): ("gmk,gkn->mn", (1, 1)),
    (2, 2): ("gmk,kn->gmn", (0, 1)),
}


def _cut(x: Array, axis: int, offs: Array) -> Array:
    """A matrix once for each group (G, *, *), 0 outside of the group's rows or columns."""
    places = jnp.arange(x.shape[axis])
    starts = jnp.pad(offs[:-1], (1, 0))
    inside = (starts[:, None] <= places) & (places < offs[:, None])  # (G, places)
    return jnp.where(jnp.expand_dims(inside, 2 - axis), x, 0)


def _check(mat_a: Any, mat_b: Any, offs: Any = None, bias: Any = None, out_dtype: Any = None) -> None:
    kinds = [kind_of(form_of(x)) for x in (mat_a, mat_b)]
    for name, x, kind in zip(("mat_a", "mat_b"), (mat_a, mat_b), kinds, strict=True):
        if kind not in KINDS:
            raise OpError(f"Expected {name} to be Float32, BFloat16 or Float16 matrix, got {kind}")
        if x.dim() not in (2, 3):
            raise OpError(f"{name} has to be 2 or 3d")
    if kinds[0] != kinds[1]:
        raise OpError(f"grouped_mm(): mat_a and mat_b must have one dtype, got {kinds[0]} and {kinds[1]}")
    if mat_a.shape[-1] != mat_b.shape[-2]:
        raise OpError("contraction dimension of mat_a and mat_b must match")
    if (offs is None) != (mat_a.dim() == mat_b.dim() == 3):
        raise OpError("Have to provide offsets if there is a 2d matrix, or no offset if both matrices are 3d")
    if bias is not None:
        raise OpError("Bias not supported yet")
    if out_dtype is not None and out_dtype is not mat_a.dtype:
        raise OpError("Grouped gemm output dtype must match `mat_a` dtype")
    _check_groups(mat_a, mat_b, offs)


def _check_groups(a: Any, b: Any, offs: Any) -> None:
    if offs is None:
        if a.shape[0] != b.shape[0]:
            raise OpError("batched dimension has to match")
        return
    if offs.dim() != 1:
        raise OpError("offs has to be 1D")
    if kind_of(form_of(offs)) != "Int":
        raise OpError("Offsets have to be int32")
    if any(x.dim() == 3 and x.shape[0] != offs.shape[0] for x in (a, b)):
        raise OpError("matrix batch sizes have to match")


@op(namespace="nn.functional", out=False, check=_check)
def grouped_mm(mat_a: Array, mat_b: Array, *, offs: Array | None = None, bias: Array | None = None, out_dtype=None):
    """Matrix products z_g = a_g b_g of G groups.

    Args:
        mat_a: (G, M, K), or (M, K): the groups' rows one after the other, or their columns if ``mat_b`` is (K, N) too.
        mat_b: (G, K, N), or (K, N): the groups' columns one after the other, or their rows.
        offs: (G) of int32, where each group ends, if one of the two is a matrix. What is beyond the last end counts for nothing.
        bias: None.
        out_dtype: None, or that of ``mat_a``.

    Returns:
        (G, M, N), or (M, N) where the rows of z or its columns are cut into groups.

    Raises:
        RuntimeError: other sizes, dtypes or offsets.

    >>> a, b = torch.ones(3, 2), torch.ones(2, 2, 1)
    >>> torch.nn.functional.grouped_mm(a, b, offs=torch.tensor([1, 3], dtype=torch.int32)).shape
    torch.Size([3, 1])
    """
    product, cut = FORMS[mat_a.ndim, mat_b.ndim]

    def multiplied(a: Array, b: Array) -> Array:
        sides = [a, b]
        if cut is not None and offs is not None:
            side, axis = cut
            sides[side] = _cut(sides[side], axis, offs)
        return jnp.einsum(product, *sides)

    return in_float32(multiplied)(mat_a, mat_b)
