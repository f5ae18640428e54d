"""Padding as layers: `nn.functional.pad` in each of its modes, in one to three dimensions."""

from __future__ import annotations

from typing import Any

from .. import functional as F
from ..module import Module

# One name for each row of the table.
__all__ = [f"{mode}Pad{n}d" for mode in ("Circular", "Constant", "Reflection", "Replication", "Zero") for n in (1, 2, 3)]


class _Pad(Module):
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


class _ConstantPad(_Pad):
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


class _ZeroPad(_Pad):
    """Pads the last dimensions of its input with zeros."""

    def __init__(self, padding: Any) -> None:
        super().__init__(padding)
        self.value = 0.0  # PyTorch has it, and reads it in a module that it loads


_KINDS = {
    "Circular": (_Pad, "circular", "wrapped around"),
    "Constant": (_ConstantPad, "constant", "with a value"),
    "Reflection": (_Pad, "reflect", "mirrored at the end elements"),
    "Replication": (_Pad, "replicate", "with the end elements repeated"),
    "Zero": (_ZeroPad, "constant", "with zeros"),
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
    name, valued = f"{kind}Pad{n}d", base is _ConstantPad
    sizes = (", ".join([size] * n) for size in ("3", "7"))
    doc = _DOC.format(n, "s" * (n > 1), how, "\n        value: what to pad with." * valued, name, ", 0.5" * valued, *sizes)
    return type(name, (base,), {"dims": n, "mode": mode, "__doc__": doc, "__module__": __name__})


globals().update({f"{kind}Pad{n}d": _declare(kind, n) for kind in _KINDS for n in (1, 2, 3)})
