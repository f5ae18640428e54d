"""The methods of Tensor that have to do with sparse layouts. What they do is loaded when one is first called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import registry

CONVERSIONS = (
    "_coalesced_", "_indices", "_nnz", "_values", "ccol_indices", "coalesce", "col_indices", "crow_indices", "dense_dim", "indices",
    "is_coalesced", "row_indices", "sparse_dim", "sparse_mask", "to_dense", "to_sparse", "to_sparse_coo", "to_sparse_csc",
    "to_sparse_csr", "values",
)  # fmt: skip
PLACES = ("ccol_indices", "col_indices", "crow_indices", "row_indices")  # of compressed layouts
PRODUCTS = ("hspmm", "smm", "sspaddmm")


def deferred(module: str, name: str) -> Callable:
    """The function ``funtorch.sparse.module.name``, imported when it is called."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        import importlib

        found = getattr(importlib.import_module(f"{__package__.rpartition('.')[0]}.sparse.{module}"), name)
        return found(self, *args, **kwargs)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"See `{module}.{name}` in ``funtorch.sparse``: for Tensors of sparse layouts."
    return method


for _module, _names in (("conversion", CONVERSIONS), ("products", PRODUCTS)):
    for _name in _names:
        registry.add_method(_name, deferred(_module, _name))
