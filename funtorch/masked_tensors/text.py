"""How masked Tensors print: their elements, and ``--`` for those that are masked out."""

from __future__ import annotations

import numpy as np

HIDDEN, WIDTH = "--", 8


def _element(value: object) -> str:
    return f"{value:8.4f}" if isinstance(value, float) else str(value)


def _row(values: np.ndarray, mask: np.ndarray) -> str:
    texts = [_element(v) for v in values.tolist()]
    width = max([len(t) if shown else WIDTH for t, shown in zip(texts, mask, strict=True)], default=0)
    return "[" + ", ".join(t if shown else HIDDEN.rjust(width) for t, shown in zip(texts, mask, strict=True)) + "]"


def _nested(values: np.ndarray, mask: np.ndarray) -> str:
    if values.ndim == 1:
        return _row(values, mask)
    parts = [_nested(v, m) for v, m in zip(values, mask, strict=True)]
    return "[\n" + ",\n".join(_indented(part) for part in parts) + "\n]"


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.split("\n"))


def described(values: np.ndarray, mask: np.ndarray) -> str:
    """The text that PyTorch shows for a masked Tensor."""
    if values.ndim == 0:
        return f"MaskedTensor({_element(values.item()) if mask else HIDDEN}, {bool(mask)})"
    return f"MaskedTensor(\n{_indented(_nested(values, mask))}\n)"
