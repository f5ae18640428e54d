"""How sparse Tensors print: their parts, then size, number of values and layout."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes, printing
from ..core.views import concrete


def _part(name: str, tensor: Any) -> str:
    """One of the Tensors that it holds; an empty one with its size alone."""
    value = concrete(tensor)
    start = f"{name}="
    if value is None:
        return f"{start}{tensor.detach()!r}"
    if not value.size:
        return f"{start}tensor([], size={tuple(value.shape)})"
    body = printing.tensor_text(
        np.asarray(value), dtype_name="torch.int64", default_dtype_name="torch.int64", prefix="tensor", indent=7 + len(start)
    )
    return start + body


def described(sparse: Any) -> str:
    """The text that PyTorch shows for a sparse Tensor."""
    held = sparse._payload
    if held.layout.name == "sparse_coo":
        parts = [_part("indices", held.indices), _part("values", held.values)]
    else:
        first, second = ("crow", "col") if held.layout.name == "sparse_csr" else ("ccol", "row")
        parts = [_part(f"{first}_indices", held.compressed), _part(f"{second}_indices", held.plain)]
        parts.append(_part("values", held.values))
    text = "tensor(" + (",\n" + " " * 7).join(parts)
    tail = [f"size={tuple(held.shape)}", f"nnz={held.nnz}"]
    dtype = sparse.dtype
    if dtype not in (dtypes.default(), dtypes.default().to_complex(), dtypes.int64, dtypes.bool_):
        tail.append(f"dtype={dtype!r}")
    tail.append(f"layout={held.layout!r}")
    if sparse.grad_fn is not None:
        tail.append(f"grad_fn=<{sparse.grad_fn.name()}>")
    elif sparse.requires_grad:
        tail.append("requires_grad=True")
    return _joined(text, tail, isinstance_coo=held.layout.name == "sparse_coo")


def _joined(text: str, tail: list[str], isinstance_coo: bool) -> str:
    if isinstance_coo:
        return printing._with_tail(f"{text},\n       {tail[0]}", tail[1:], 7)
    return printing._with_tail(text, tail, 7)
