"""Pooling as layers: the largest element, mean or power mean of windows."""

from __future__ import annotations

from typing import Any

from .. import functional as F
from ..module import Module
from .conv import repeated

KINDS = ("AdaptiveAvgPool", "AdaptiveMaxPool", "AvgPool", "LPPool", "MaxPool", "MaxUnpool")
__all__ = [f"{kind}{n}d" for kind in KINDS for n in (1, 2, 3)]  # noqa: PLE0605 - one name for each row of the table


def _listed(module: Any, names: str) -> str:
    return ", ".join(f"{name}={getattr(module, name)}" for name in names.split())


class _MaxPoolNd(Module):
    """The largest element of each window."""

    __constants__ = ["kernel_size", "stride", "padding", "dilation", "return_indices", "ceil_mode"]
    dims = 0

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def forward(self, input: Any) -> Any:
        """input (N, C, *) or (C, *); z the same with fewer places, with return_indices a pair of values and places."""
        pool = getattr(F, f"max_pool{self.dims}d")
        return pool(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            ceil_mode=self.ceil_mode,
            return_indices=self.return_indices,
        )

    def extra_repr(self) -> str:
        return _listed(self, "kernel_size stride padding dilation ceil_mode")


class _MaxUnpoolNd(Module):
    """Puts the elements that a max pooling took back in their places, zeros elsewhere."""

    dims = 0

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size = repeated(kernel_size, self.dims)
        self.stride = repeated(kernel_size if stride is None else stride, self.dims)
        self.padding = repeated(padding, self.dims)

    def forward(self, input: Any, indices: Any, output_size: Any = None) -> Any:
        """input (N, C, *) or (C, *), indices the same shape; z of ``output_size``, or of the size that the options imply."""
        unpool = getattr(F, f"max_unpool{self.dims}d")
        return unpool(input, indices, self.kernel_size, self.stride, self.padding, output_size)

    def extra_repr(self) -> str:
        return _listed(self, "kernel_size stride padding")


class _AvgPoolNd(Module):
    """The mean of each window."""

    def extra_repr(self) -> str:
        return _listed(self, "kernel_size stride padding")


class _AvgPoolWide(_AvgPoolNd):
    """The mean of each window, in more than one dimension: the divisor may be chosen."""

    __constants__ = ["kernel_size", "stride", "padding", "ceil_mode", "count_include_pad", "divisor_override"]
    dims = 0

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input: Any) -> Any:
        """input (N, C, *) or (C, *); z the same with fewer places."""
        pool = getattr(F, f"avg_pool{self.dims}d")
        return pool(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad, self.divisor_override
        )


class AvgPool1d(_AvgPoolNd):
    """The mean of each window, in one dimension.

    Args:
        kernel_size, stride, padding: numbers; the stride is kernel_size unless given.
        ceil_mode: round the number of windows up.
        count_include_pad: whether the zeros of the padding count.

    Raises:
        RuntimeError: windows larger than the input.

    Example:
        >>> import funtorch
        >>> AvgPool1d(2)(funtorch.tensor([[1.0, 2.0, 3.0, 4.0]]))
        tensor([[1.5000, 3.5000]])
    """

    __constants__ = ["kernel_size", "stride", "padding", "ceil_mode", "count_include_pad"]

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False, count_include_pad: bool = True
    ) -> None:
        super().__init__()
        self.kernel_size = repeated(kernel_size, 1)
        self.stride = repeated(kernel_size if stride is None else stride, 1)
        self.padding = repeated(padding, 1)
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def forward(self, input: Any) -> Any:
        """input (N, C, L) or (C, L); z the same with fewer places."""
        return F.avg_pool1d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)


class _LPPoolNd(Module):
    """(sum x^p)^(1/p) over each window."""

    __constants__ = ["norm_type", "kernel_size", "stride", "ceil_mode"]
    dims = 0

    def __init__(self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> None:
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def forward(self, input: Any) -> Any:
        """input (N, C, *) or (C, *); z the same with fewer places."""
        pool = getattr(F, f"lp_pool{self.dims}d")
        return pool(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)

    def extra_repr(self) -> str:
        return _listed(self, "norm_type kernel_size stride ceil_mode")


class _AdaptiveAvgPoolNd(Module):
    """Means of windows that share the input evenly."""

    __constants__ = ["output_size"]
    dims = 0

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Any) -> Any:
        """input (N, C, *) or (C, *); z the same with ``output_size`` in place of *."""
        return getattr(F, f"adaptive_avg_pool{self.dims}d")(input, self.output_size)

    def extra_repr(self) -> str:
        return _listed(self, "output_size")


class _AdaptiveMaxPoolNd(Module):
    """Largest elements of windows that share the input evenly."""

    __constants__ = ["output_size", "return_indices"]
    dims = 0

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size = output_size
        self.return_indices = return_indices

    def forward(self, input: Any) -> Any:
        """input (N, C, *) or (C, *); z the same with ``output_size`` in place of *, with return_indices a pair."""
        return getattr(F, f"adaptive_max_pool{self.dims}d")(input, self.output_size, self.return_indices)

    def extra_repr(self) -> str:
        return _listed(self, "output_size")


_WINDOW = "kernel_size, stride, padding: numbers, or one for each dimension; the stride is kernel_size unless given."
_KINDS: dict[str, tuple[type, str, str, str]] = {
    "MaxPool": (_MaxPoolNd, "The largest element of each window", _WINDOW + "\n        dilation: the step between a window's elements.\n"
                "        return_indices: also give where the elements are.\n        ceil_mode: round the number of windows up.", "2"),
    "AvgPool": (_AvgPoolWide, "The mean of each window", _WINDOW + "\n        ceil_mode: round the number of windows up.\n"
                "        count_include_pad: whether the zeros of the padding count.\n        divisor_override: what to divide sums by instead.", "2"),
    "LPPool": (_LPPoolNd, "(sum x^p)^(1/p) over each window", "norm_type: p.\n        kernel_size, stride: numbers, or one for each dimension.\n"
               "        ceil_mode: round the number of windows up.", "2, 2"),
    "AdaptiveAvgPool": (_AdaptiveAvgPoolNd, "Means of windows that share the input evenly",
                        "output_size: a number, or one for each dimension; None keeps the input's.", "2"),
    "AdaptiveMaxPool": (_AdaptiveMaxPoolNd, "Largest elements of windows that share the input evenly",
                        "output_size: a number, or one for each dimension; None keeps the input's.\n"
                        "        return_indices: also give where the elements are.", "2"),
    "MaxUnpool": (_MaxUnpoolNd, "Elements that a max pooling took, in their places, zeros elsewhere", _WINDOW, "2"),
}  # fmt: skip
_DOC = """{}, in {} dimension{}.

    Args:
        {}

    Raises:
        RuntimeError: options out of range, or an input that doesn't fit them.
{}    """
_EXAMPLE = """
    Example:
        >>> import funtorch
        >>> {}({})(funtorch.zeros(1, 3, {})).shape
        torch.Size([1, 3, {}])
"""


def _declare(kind: str, n: int) -> type:
    base, does, options, arguments = _KINDS[kind]
    name = f"{kind}{n}d"
    sizes = (", ".join([size] * n) for size in ("4", "2"))
    example = "" if kind == "MaxUnpool" else _EXAMPLE.format(name, arguments, *sizes)
    doc = _DOC.format(does, n, "s" * (n > 1), options, example)
    return type(name, (base,), {"dims": n, "__doc__": doc, "__module__": __name__})


globals().update({f"{kind}{n}d": _declare(kind, n) for kind in _KINDS for n in (1, 2, 3) if f"{kind}{n}d" != "AvgPool1d"})
