"""Convolutions and their transposes, in one to three dimensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..cautions import caution_once
from ..core.engine import host_possible
from ..errors import OpError
from .convolution_kernels import convolve, convolve_transposed
from .declare import Array, function, op
from .operands import in_float32, kind_of, refuse
from .sliding import Sizes, by, integers, reach, spread

NOT_A_LIST = (
    "expected {0} to be a single integer value or a list of {1} values to match the convolution dimensions, but got {0}={2}"
)
NAMES = {1: ("width",), 2: ("height", "width"), 3: ("depth", "height", "width")}
# How the message of a wrong type calls it.
TYPE_NAMES = {"float16": "c10::Half", "float32": "float", "float64": "double", "bfloat16": "c10::BFloat16", "int64": "long int"}


def _listed(name: str, value: int | Sequence[int], n: int, dims: int) -> Sizes:
    """A number for each dimension. Raises RuntimeError if they aren't as many as the weight has, TypeError for no integers."""
    values = spread(integers(f"conv{n}d(): argument '{name}'", value), n)
    if len(values) != dims:
        raise OpError(NOT_A_LIST.format(name, dims, list(values)))
    return values


def _rank(name: str, x: Array, n: int) -> None:
    if x.ndim not in (n + 1, n + 2):
        raise OpError(
            f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to {name}, but got input of size: {list(x.shape)}"
        )


def _positive(stride: Sizes, padding: Sizes, dilation: Sizes, groups: int, window: Sizes) -> None:
    if min(stride) <= 0:
        raise OpError("non-positive stride is not supported")
    if min(padding) < 0:
        raise OpError("negative padding is not supported")
    if min(dilation) <= 0:
        raise OpError(f"dilation should be greater than zero, but got {list(dilation)}")
    if groups <= 0:
        raise OpError("non-positive groups is not supported")
    if 0 in window:
        sides = " ".join(f"kernel_{name}: {k}" for name, k in zip(NAMES[len(window)], window, strict=True))
        raise OpError(f"kernel size should be greater than zero, but got {sides}")


def _one_type(name: str, x: Array, w: Array, bias: Array | None) -> None:
    refuse(f"slow_{name}_cpu", x, "b")
    if bias is not None and bias.dtype != x.dtype:
        kinds = [TYPE_NAMES.get(np.dtype(a.dtype).name, str(a.dtype)) for a in (x, bias)]
        raise OpError(f"Input type ({kinds[0]}) and bias type ({kinds[1]}) should be the same")
    if x.dtype != w.dtype:
        raise OpError(f"expected scalar type {kind_of(x)} but found {kind_of(w)}")


def _grouped(w: Array, groups: int) -> None:
    shape = list(w.shape)
    if shape[0] < groups:
        raise OpError(
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but got weight of size {shape} instead"
        )
    if shape[0] % groups:
        raise OpError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got weight of size [{shape}] instead"
        )


def _channels(given: str, w: Array, x: Array, expected: int) -> None:
    if x.shape[1] != expected:
        raise OpError(
            f"Given {given}, weight of size {list(w.shape)}, expected input{list(x.shape)} to have {expected} channels, "
            f"but got {x.shape[1]} channels instead"
        )


def _fitting_bias(given: str, w: Array, bias: Array | None, outputs: int) -> None:
    if bias is not None and bias.shape != (outputs,):
        raise OpError(
            f"Given {given}weight of size {list(w.shape)}, expected bias to be 1-dimensional with {outputs} elements, "
            f"but got bias of size {list(bias.shape)} instead"
        )


def _with_bias(z: Array, bias: Array | None, unbatched: bool) -> Array:
    if bias is not None:
        z = z + bias.reshape(-1, *[1] * (z.ndim - 2))
    return z[0] if unbatched else z


def _narrow(fn: Callable) -> Callable:
    """On the CPU halves are multiplied and added up in float32; accelerators do so by themselves."""
    return in_float32(fn) if host_possible() else fn


def _pads(padding: int | str | Sizes, n: int, stride: Sizes, dilation: Sizes, window: Sizes) -> tuple[tuple[int, int], ...]:
    if not isinstance(padding, str):
        return tuple((p, p) for p in _listed("padding", padding, n, len(window)))
    if padding == "valid":
        return ((0, 0),) * n
    if padding != "same":
        raise OpError(f"Invalid padding string: '{padding}'")
    if any(s != 1 for s in stride):
        raise OpError("padding='same' is not supported for strided convolutions")
    totals = [d * (k - 1) for d, k in zip(dilation, window, strict=True)]
    if any(t % 2 for t in totals):
        caution_once(
            "Using padding='same' with even kernel lengths and odd dilation pads one element more at the end than at the start."
        )
    return tuple((t // 2, t - t // 2) for t in totals)


def _convolution(
    name: str, n: int, x: Array, w: Array, bias: Array | None, stride: Any, padding: Any, dilation: Any, groups: int
) -> Array:
    _rank(name, x, n)
    unbatched = x.ndim == n + 1
    x = x[None] if unbatched else x
    window, dims = w.shape[2:], w.ndim - 2
    stride, dilation = _listed("stride", stride, n, dims), _listed("dilation", dilation, n, dims)
    pads = _pads(padding, n, stride, dilation, window)
    _positive(stride, tuple(low for low, _ in pads), dilation, groups, window)
    _grouped(w, groups)
    _channels(f"groups={groups}", w, x, w.shape[1] * groups)
    _fitting_bias("", w, bias, w.shape[0])
    have = [size + sum(p) for size, p in zip(x.shape[2:], pads, strict=True)]
    need = [reach(k, d) for k, d in zip(window, dilation, strict=True)]
    if any(a < b for a, b in zip(have, need, strict=True)):
        raise OpError(
            f"Calculated padded input size per channel: ({by(have)}). Kernel size: ({by(need)}). "
            "Kernel size can't be greater than actual input size"
        )
    _one_type(name, x, w, bias)
    return _narrow(lambda x, w, *b: _with_bias(convolve(x, w, stride, pads, dilation, groups), b[0] if b else None, unbatched))(
        x, w, *(() if bias is None else (bias,))
    )


def _transposed(
    name: str,
    n: int,
    x: Array,
    w: Array,
    bias: Array | None,
    stride: Any,
    padding: Any,
    output_padding: Any,
    groups: int,
    dilation: Any,
) -> Array:
    _rank(name, x, n)
    unbatched = x.ndim == n + 1
    x = x[None] if unbatched else x
    window, dims = w.shape[2:], w.ndim - 2
    stride, padding = _listed("stride", stride, n, dims), _listed("padding", padding, n, dims)
    dilation, extra = _listed("dilation", dilation, n, dims), _listed("output_padding", output_padding, n, dims)
    _positive(stride, padding, dilation, groups, window)
    if min(extra) < 0:
        raise OpError("negative output_padding is not supported")
    _grouped(w, groups)
    _channels("transposed=1", w, x, w.shape[0])
    _fitting_bias("transposed=1, ", w, bias, w.shape[1] * groups)
    _room(x, window, stride, padding, dilation, extra)
    _one_type(name, x, w, bias)
    pads = tuple((p, p) for p in padding)

    def run(x: Array, w: Array, *b: Array) -> Array:
        return _with_bias(convolve_transposed(x, w, stride, pads, dilation, groups, extra), b[0] if b else None, unbatched)

    return _narrow(run)(x, w, *(() if bias is None else (bias,)))


def _room(x: Array, window: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, extra: Sizes) -> None:
    if any(e >= s and e >= d for e, s, d in zip(extra, stride, dilation, strict=True)):
        parts = [("output_padding", extra), ("stride", stride), ("dilation", dilation)]
        sides = [f"{kind}_{name}: {v}" for kind, values in parts for name, v in zip(NAMES[len(window)], values, strict=True)]
        raise OpError(f"output padding must be smaller than either stride or dilation, but got {' '.join(sides)}")
    sizes = [
        (size - 1) * s - 2 * p + d * (k - 1) + e + 1
        for size, s, p, d, k, e in zip(x.shape[2:], stride, padding, dilation, window, extra, strict=True)
    ]
    if min(sizes) < 1:
        raise OpError(
            f"Given input size per channel: ({by(x.shape[2:])}). Calculated output size per channel: ({by(sizes)}). Output size is too small"
        )


_DOC = """{} over {} dimension{}.

    Args:
        input: {}, or without N; of floats, complex numbers or integers.
        weight: {}.
        bias: (O) or None.
        {}

    Returns:
        (N, O, *), of input's dtype.

    Raises:
        RuntimeError: sizes that don't fit, options out of range, or several dtypes.
    """


def _declare(n: int) -> Any:
    def conv(input: Array, weight: Array, bias: Array | None = None, stride=1, padding=0, dilation=1, groups=1):
        return _convolution(f"conv{n}d", n, input, weight, bias, stride, padding, dilation, groups)

    conv.__name__ = conv.__qualname__ = f"conv{n}d"
    conv.__doc__ = _DOC.format(
        "Cross-correlation", n, "s" * (n > 1), "(N, C, *)", "(O, C / groups, *window)",
        "stride, padding, dilation: numbers, or one for each dimension; padding also 'valid' or 'same'.",
    )  # fmt: skip
    return op(conv, alias=(f"nn.functional.conv{n}d",), method=False, out=False)


def _declare_transposed(n: int) -> Any:
    def conv(input: Array, weight: Array, bias: Array | None = None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
        name = f"conv_transpose{n}d"
        return _transposed(name, n, input, weight, bias, stride, padding, output_padding, groups, dilation)

    conv.__name__ = conv.__qualname__ = f"conv_transpose{n}d"
    conv.__doc__ = _DOC.format(
        "Transposed convolution, the gradient of a convolution with respect to its input,", n, "s" * (n > 1), "(N, C, *)",
        "(C, O / groups, *window)",
        "stride, padding, output_padding, dilation: numbers, or one for each dimension; output_padding is added at the far ends.",
    )  # fmt: skip
    return op(conv, name=f"conv_transpose{n}d", alias=(f"nn.functional.conv_transpose{n}d",), method=False, out=False)


conv1d, conv2d, conv3d = map(_declare, (1, 2, 3))
conv_transpose1d, conv_transpose2d, conv_transpose3d = map(_declare_transposed, (1, 2, 3))


@op(alias=("nn.functional.conv_tbc",), method=False, out=False)
def conv_tbc(input: Array, weight: Array, bias: Array, pad=0):
    """Convolution over time, the first dimension. input (T, B, C), weight (K, C, O), bias (O); z (T', B, O).

    Raises RuntimeError for other ranks or sizes.
    """
    for a, name, rank in ((input, "Input", 3), (weight, "Weight", 3), (bias, "Bias", 1)):
        if a.ndim != rank:
            raise OpError(f"conv_tbc: {name} must have {rank} dimensions, got {a.ndim}")
    x, w = jnp.moveaxis(input, 0, -1), jnp.transpose(weight, (2, 1, 0))
    return jnp.moveaxis(_convolution("conv_tbc", 1, x, w, bias, 1, pad, 1, 1), -1, 0)


@function()
def convolution(
    input: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
) -> Any:
    """A convolution, or a transposed one, in as many dimensions as the weight has beyond two. Raises RuntimeError as they do."""
    n = len(weight.shape) - 2
    if n not in (1, 2, 3):
        raise OpError(f"convolution: expected a weight with 3 to 5 dimensions, but got {list(weight.shape)}")
    if transposed:
        pull = (conv_transpose1d, conv_transpose2d, conv_transpose3d)[n - 1]
        return pull(input, weight, bias, stride, padding, output_padding, groups, dilation)
    return (conv1d, conv2d, conv3d)[n - 1](input, weight, bias, stride, padding, dilation, groups)
