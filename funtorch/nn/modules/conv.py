"""Convolutions and transposed convolutions, in one to three dimensions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...errors import ArgumentValueError
from ...ops import registry
from .. import functional as F
from .. import init
from ..module import Module
from ..parameter import Parameter
from .utils import _reverse_repeat_tuple

__all__ = ["Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"]

_empty = registry.names("torch")["empty"]
PADDINGS = ("valid", "same")
PADDING_MODES = ("zeros", "reflect", "replicate", "circular")
OUT_OF_RANGE = "requested an output size of {}, but valid sizes range from {} to {} (for an input of {})"


def repeated(value: Any, n: int) -> tuple:
    """A sequence as a tuple; a number ``n`` times."""
    return tuple(value) if hasattr(value, "__iter__") else (value,) * n


def _check_options(module: Any, padding: Any) -> None:
    if module.groups <= 0:
        raise ArgumentValueError("groups must be a positive integer")
    for name in ("in_channels", "out_channels"):
        if getattr(module, name) % module.groups:
            raise ArgumentValueError(f"{name} must be divisible by groups")
    if isinstance(padding, str):
        if padding not in PADDINGS:
            raise ArgumentValueError(f"Invalid padding string {padding!r}, should be one of {{{str(PADDINGS)[1:-1]}}}")
        if padding == "same" and any(s != 1 for s in module.stride):
            raise ArgumentValueError("padding='same' is not supported for strided convolutions")
    if module.padding_mode not in PADDING_MODES:
        raise ArgumentValueError(
            f"padding_mode must be one of {{{str(PADDING_MODES)[1:-1]}}}, but got padding_mode='{module.padding_mode}'"
        )


class _ConvNd(Module):
    """What convolutions share: their options, a weight and a bias."""

    __constants__ = [
        "stride", "padding", "dilation", "groups", "padding_mode", "output_padding", "in_channels", "out_channels", "kernel_size",
    ]  # fmt: skip
    dims = 0  # of the windows
    bias: Any

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any, padding: Any, dilation: Any, transposed: bool,
        output_padding: Any, groups: int, bias: bool, padding_mode: str, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        n = self.dims
        self.in_channels, self.out_channels = in_channels, out_channels
        self.kernel_size = repeated(kernel_size, n)
        self.stride = repeated(stride, n)
        self.padding = padding if isinstance(padding, str) else repeated(padding, n)
        self.dilation = repeated(dilation, n)
        self.transposed = transposed
        self.output_padding = repeated(output_padding, n)
        self.groups = groups
        self.padding_mode = padding_mode
        _check_options(self, padding)
        self._reversed_padding_repeated_twice = self._pads()
        first, second = (in_channels, out_channels) if transposed else (out_channels, in_channels)
        self.weight = Parameter(_empty((first, second // groups, *self.kernel_size), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(_empty(out_channels, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def _pads(self) -> tuple[int, ...]:
        """The padding as `nn.functional.pad` takes it."""
        if not isinstance(self.padding, str):
            return _reverse_repeat_tuple(self.padding, 2)
        totals = [d * (k - 1) if self.padding == "same" else 0 for d, k in zip(self.dilation, self.kernel_size, strict=False)]
        return tuple(p for total in reversed(totals) for p in (total // 2, total - total // 2))

    def reset_parameters(self) -> None:
        """Draw new parameters, uniformly from [-1/sqrt(n), 1/sqrt(n)), where n is the number of elements a window sees."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            if fan_in:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        n = len(self.kernel_size)
        parts = [f"{self.in_channels}, {self.out_channels}", f"kernel_size={self.kernel_size}", f"stride={self.stride}"]
        usual = {"padding": (0,) * n, "dilation": (1,) * n, "output_padding": (0,) * n, "groups": 1}
        parts += [f"{name}={getattr(self, name)}" for name, value in usual.items() if getattr(self, name) != value]
        if self.bias is None:
            parts.append("bias=False")
        if self.padding_mode != "zeros":
            parts.append(f"padding_mode={self.padding_mode}")
        return ", ".join(parts)

    def __setstate__(self, saved: dict[str, Any]) -> None:
        super().__setstate__(saved)
        self.__dict__.setdefault("padding_mode", "zeros")


class _Conv(_ConvNd):
    """Cross-correlation of (N, C, *) with a window of weights: (N, O, *)."""

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1,
        groups: int = 1, bias: bool = True, padding_mode: str = "zeros", device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, False, 0, groups, bias, padding_mode, device, dtype
        )  # fmt: skip

    def _conv_forward(self, input: Any, weight: Any, bias: Any) -> Any:
        convolve = getattr(F, f"conv{self.dims}d")
        padding: Any = self.padding
        if self.padding_mode != "zeros":
            input, padding = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode), 0
        return convolve(input, weight, bias, self.stride, padding, self.dilation, self.groups)

    def forward(self, input: Any) -> Any:
        """input (N, C, *) or (C, *); z (N, O, *) or (O, *)."""
        return self._conv_forward(input, self.weight, self.bias)


class _ConvTransposeNd(_ConvNd):
    """The gradient of a convolution with respect to its input, as a layer: (N, C, *) to (N, O, *)."""

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
        groups: int = 1, bias: bool = True, dilation: Any = 1, padding_mode: str = "zeros", device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        if padding_mode != "zeros":
            raise ArgumentValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        if isinstance(padding, str):
            raise ArgumentValueError(f"{type(self).__name__}: padding must be numbers, got {padding!r}")
        super().__init__(
            in_channels, out_channels, kernel_size, stride, padding, dilation, True, output_padding, groups, bias, padding_mode,
            device, dtype,
        )  # fmt: skip

    def forward(self, input: Any, output_size: Sequence[int] | None = None) -> Any:
        """input (N, C, *) or (C, *); z (N, O, *) or (O, *), of ``output_size`` where several sizes are possible.

        Raises:
            ValueError: an ``output_size`` that is not among those possible.
        """
        extra = self._output_padding(
            input, output_size, self.stride, self.padding, self.kernel_size, self.dims, self.dilation
        )  # fmt: skip
        convolve = getattr(F, f"conv_transpose{self.dims}d")
        return convolve(input, self.weight, self.bias, self.stride, self.padding, extra, self.groups, self.dilation)

    def _output_padding(
        self, input: Any, output_size: Sequence[int] | None, stride: Sequence[int], padding: Any, kernel_size: Sequence[int],
        num_spatial_dims: int, dilation: Sequence[int] | None = None,
    ) -> Sequence[int]:  # fmt: skip
        """The output padding that gives the size wanted; the layer's own where none is."""
        if output_size is None:
            return self.output_padding
        n, rank, wanted = num_spatial_dims, input.dim(), list(output_size)
        without = rank - n
        if len(wanted) == without + n:
            wanted = wanted[without:]
        if len(wanted) != n:
            raise ArgumentValueError(
                f"ConvTranspose{n}D: for {rank}D input, output_size must have {n} or {without + n} elements (got {len(wanted)})"
            )
        space = input.shape[without:]
        options = zip(space, stride, padding, dilation or (1,) * n, kernel_size, strict=True)
        smallest = [(size - 1) * s - 2 * p + d * (k - 1) + 1 for size, s, p, d, k in options]
        largest = [size + s - 1 for size, s in zip(smallest, stride, strict=True)]
        if any(not low <= size <= high for size, low, high in zip(wanted, smallest, largest, strict=True)):
            raise ArgumentValueError(
                OUT_OF_RANGE.format(tuple(wanted), smallest, largest, input.shape[2:] if rank > n + 1 else space)
            )
        return tuple(size - low for size, low in zip(wanted, smallest, strict=True))


_DOC = """{} in {} dimension{}.

    Args:
        in_channels: C.
        out_channels: O.
        kernel_size: the window's size; this and stride, padding{}, dilation are numbers, or one for each dimension.
        padding: what is added at both ends{}.
        groups: into how many groups the channels are split; each sees its own.
        bias: whether there is a bias.
        padding_mode: {}.

    Attributes:
        weight: ({} / groups, *kernel_size).
        bias: (O). Both are drawn uniformly from [-1/sqrt(n), 1/sqrt(n)), where n is the number of elements a window sees.

    Raises:
        ValueError: channels that can't be split into the groups, or unknown options.
        RuntimeError: an input that doesn't fit.

    Example:
        >>> import funtorch
        >>> {}(2, 6, 3)(funtorch.zeros(1, 2, {})).shape
        torch.Size([1, 6, {}])
    """


def _document(cls: type, kind: str, n: int) -> None:
    sizes = [", ".join([size] * n) for size in ("8", "10" if kind != "Convolution" else "6")]
    if kind == "Convolution":
        words = (
            "",
            "; also 'valid' (nothing) and 'same' (so that the size stays)",
            "what is added: zeros, reflect, replicate or circular",
            "O, C",
        )
    else:
        words = (
            ", output_padding",
            " of what this is the transpose of; output_padding is added at the far ends",
            "zeros",
            "C, O",
        )
    cls.__doc__ = _DOC.format(kind, n, "s" * (n > 1), *words, cls.__name__, *sizes)


class Conv1d(_Conv):
    dims = 1


class Conv2d(_Conv):
    dims = 2


class Conv3d(_Conv):
    dims = 3


class ConvTranspose1d(_ConvTransposeNd):
    dims = 1


class ConvTranspose2d(_ConvTransposeNd):
    dims = 2


class ConvTranspose3d(_ConvTransposeNd):
    dims = 3


for _each in (Conv1d, Conv2d, Conv3d):
    _document(_each, "Convolution", _each.dims)
for _turned in (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d):
    _document(_turned, "Transposed convolution", _turned.dims)


_ConvTransposeMixin = _ConvTransposeNd  # its name before PyTorch 1.5
