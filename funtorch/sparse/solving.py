"""Linear systems with a sparse matrix."""

from __future__ import annotations

from typing import Any

import jax
from jax.experimental.sparse import linalg

from ..core.call import call
from ..core.foreign import is_foreign
from ..errors import OpError
from ..ops.kept import kept
from .conversion import held


@kept("spsolve")
def _solved() -> Any:
    """(values, columns, beginnings, b (N)) -> x (N)."""

    def solve(values: Any, columns: Any, begins: Any, b: Any) -> Any:
        columns, begins = (x.astype("int32") for x in (columns, begins))
        if b.ndim == 1:
            return linalg.spsolve(values, columns, begins, b)
        return jax.lax.map(lambda column: linalg.spsolve(values, columns, begins, column), b.T).T

    return solve


def spsolve(input: Any, other: Any, *, left: bool = True) -> Any:
    """The solution of A x = b with a sparse A, by a direct method: SciPy's on the CPU, cuSOLVER's on a GPU.

    Args:
        input: A (N, N), in compressed row layout, of float32 or float64.
        other: b (N) or (N, K).
        left: must be True.

    Returns:
        x, of b's size. Gradients pass to A's values and to b.

    Raises:
        RuntimeError: another layout, sizes or types that don't fit, or ``left=False``.
    """
    if not is_foreign(input) or input.layout.name != "sparse_csr":
        raise OpError(f"spsolve: expected a matrix in layout torch.sparse_csr, got {input.layout!r}")
    if not left:
        raise OpError("spsolve: only left=True is there: for X A = B solve with A's transpose")
    if input.shape[0] != input.shape[1] or other.dim() not in (1, 2) or other.shape[0] != input.shape[0]:
        raise OpError(f"spsolve: expected sizes (N, N) and (N) or (N, K), got {list(input.shape)} and {list(other.shape)}")
    if input.dtype is not other.dtype or input.dtype.name not in ("float32", "float64"):
        raise OpError(f"spsolve: expected both of float32 or of float64, got {input.dtype} and {other.dtype}")
    found = held(input)
    return call(_solved(), (found.values, found.plain, found.compressed, other))
