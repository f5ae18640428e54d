"""``funtorch.sparse``: Tensors most of whose elements are zero, and what is computed with them."""

from ..ops.assignment import TYPE_NAMES as _TYPE_NAMES
from . import creation as _creation
from . import tensor as _tensor
from .products import addmm, mm, sampled_addmm
from .reductions import log_softmax, softmax, sum
from .spdiags import spdiags

__all__ = ["addmm", "log_softmax", "mm", "sampled_addmm", "softmax", "spdiags", "sum"]
SparseTensor = _tensor.SparseTensor


def __getattr__(name):
    from ..dtypes import PUBLIC

    kind = next((d for d, word in _TYPE_NAMES.items() if name == f"{word}Tensor"), None)
    if kind is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _creation.legacy(PUBLIC[kind])
