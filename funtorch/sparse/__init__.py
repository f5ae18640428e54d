"""``funtorch.sparse``: Tensors most of whose elements are zero, and what is computed with them."""

from ..ops.assignment import TYPE_NAMES as _TYPE_NAMES
from . import creation as _creation
from . import tensor as _tensor
from .invariants import check_sparse_tensor_invariants
from .products import addmm, mm, sampled_addmm
from .reductions import log_softmax, softmax, sum
from .spdiags import spdiags

__all__ = [
    "addmm",
    "check_sparse_tensor_invariants",
    "log_softmax",
    "mm",
    "sampled_addmm",
    "softmax",
    "spdiags",
    "spsolve",
    "sum",
]
SparseTensor = _tensor.SparseTensor


def __getattr__(name):
    if name == "spsolve":  # it loads JAX's own sparse arrays
        from .solving import spsolve

        return spsolve
    from ..dtypes import PUBLIC

    kind = next((d for d, word in _TYPE_NAMES.items() if name == f"{word}Tensor"), None)
    if kind is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _creation.legacy(PUBLIC[kind])
