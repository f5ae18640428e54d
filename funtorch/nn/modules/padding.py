"""Padding as layers: `nn.functional.pad` in each of its modes, in one to three dimensions."""

from __future__ import annotations

from typing import Any

from ...errors import ArgumentValueError
from .. import functional as F
from ..module import Module

# One name for each row of the table.
__all__ = [f"{mode}Pad{n}d" for mode in ("Circular", "Constant", "Reflection", "Replication", "Zero") for n in (1, 2, 3)]


class _PadNd(Module):
    """Pads the last dimensions of its input."""

    __constants__ = ["padding"]
    dims = 0
    mode = "constant"

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = tuple(padding) if hasattr(padding, "__iter__") else (padding,) * (2 * self.dims)

    def forward(self, input: Any) -> Any:
        """input (*, *space); z the same, each padded dimension larger by its two amounts."""
        return F.pad(input, self.padding, self.mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _ConstantPadNd(_PadNd):
    """Pads the last dimensions of its input with a value."""

    __constants__ = ["padding", "value"]

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Any) -> Any:
        """input (*, *space); z the same, each padded dimension larger by its two amounts."""
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class _ZeroPadNd(_ConstantPadNd):
    """Pads the last dimensions of its input with zeros."""

    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _CircularPadNd(_PadNd):
    """Pads the last dimensions of its input with elements of the other end."""

    def forward(self, input: Any) -> Any:
        """input (N, C, *space) or (C, *space); z the same, each padded dimension larger by its two amounts."""
        ranks = (self.dims + 1, self.dims + 2)
        if input.dim() not in ranks:
            raise ArgumentValueError(f"expected {ranks[0]}D or {ranks[1]}D input (got {input.dim()}D input)")
        return super().forward(input)


class _ReflectionPadNd(_PadNd):
    """Pads the last dimensions of its input with their mirror images."""


class _ReplicationPadNd(_PadNd):
    """Pads the last dimensions of its input with their end elements."""


_KINDS = {
    "Circular": (_CircularPadNd, "circular", "wrapped around"),
    "Constant": (_ConstantPadNd, "constant", "with a value"),
    "Reflection": (_ReflectionPadNd, "reflect", "mirrored at the end elements"),
    "Replication": (_ReplicationPadNd, "replicate", "with the end elements repeated"),
    "Zero": (_ZeroPadNd, "constant", "with zeros"),
}
_DOC = """The last {} dimension{} padded {}.

    Args:
        padding: one amount for all ends, or (last low, last high, last but one low, ...); negative ones cut.{}

    Raises:
        RuntimeError: amounts that the input can't fill.

    Example:
        >>> import funtorch
        >>> {}(2{})(funtorch.zeros(1, 1, {})).shape
        torch.Size([1, 1, {}])
    """


def _declare(kind: str, n: int) -> type:
    base, mode, how = _KINDS[kind]
    name, valued = f"{kind}Pad{n}d", base is _ConstantPadNd
    bases = (base, globals()[f"ConstantPad{n}d"]) if base is _ZeroPadNd else (base,)
    sizes = (", ".join([size] * n) for size in ("3", "7"))
    doc = _DOC.format(n, "s" * (n > 1), how, "\n        value: what to pad with." * valued, name, ", 0.5" * valued, *sizes)
    return type(name, bases, {"dims": n, "mode": mode, "__doc__": doc, "__module__": __name__})


for _kind in _KINDS:
    globals().update({f"{_kind}Pad{_n}d": _declare(_kind, _n) for _n in (1, 2, 3)})
