"""Options and sizes of pooling: how many windows there are, and PyTorch's complaints about what can't be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import OpError, OutOfBoundsError
from .declare import Array
from .sliding import Sizes, integers, reach

WORDS = {1: "one int", 2: "two ints", 3: "three ints"}
SIDES = {1: "W", 2: "HW", 3: "TWH"}


def option(name: str, label: str, value: Any, n: int, extra: str = "") -> Sizes:
    """A number for each of ``n`` dimensions. Raises RuntimeError if there are other than one or ``n``, TypeError for no integers."""
    values = integers(f"{name}(): argument '{label}'", value)
    if len(values) not in (1, n):
        raise OpError(f"{name}: {label} must either {extra}be a single int, or a tuple of {WORDS[n]}")
    return values * n if len(values) == 1 else values


@dataclass(frozen=True)
class Geometry:
    """Windows along each of the last dimensions."""

    window: Sizes
    stride: Sizes
    padding: Sizes
    dilation: Sizes
    counts: Sizes

    def pads(self, space: Sequence[int]) -> tuple[tuple[int, int], ...]:
        """What to add at both ends so that all windows fit; negative where the last elements are in none."""
        return tuple(
            (p, (c - 1) * s + reach(k, d) - n - p)
            for n, k, s, p, d, c in zip(space, self.window, self.stride, self.padding, self.dilation, self.counts, strict=True)
        )


def count(size: int, window: int, stride: int, padding: int, dilation: int, ceil_mode: bool) -> int:
    """How many windows there are along a dimension; none begins in the padding at the far end."""
    room = size + 2 * padding - reach(window, dilation)
    found = (room + (stride - 1 if ceil_mode else 0)) // stride + 1
    return found - 1 if ceil_mode and (found - 1) * stride >= size + padding else found


def _check_single(name: str, window: int, stride: int, padding: int, dilation: int) -> None:
    for label, value in (("kernel_size", window), ("stride", stride)):
        if value <= 0:
            raise OpError(f"{name}() {label} must be greater than zero, but got {value}")
    if padding < 0:
        raise OpError(f"{name}() padding must be non-negative, but got {padding}")
    if padding > reach(window, dilation) // 2:
        raise OpError(
            f"{name}() padding should be at most half of kernel size, but got padding={padding} and kernel_size={window}"
        )
    if dilation <= 0:
        raise OpError(f"{name}() dilation must be greater than zero, but got {dilation}")


def _check_several(window: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes) -> None:
    if 0 in stride:
        raise OpError("stride should not be zero")
    if min(window) <= 0:
        sides = " ".join(f"k{s}: {k}" for s, k in zip(SIDES[len(window)], window, strict=True))
        raise OpError(f"kernel size should be greater than zero, but got {sides}")
    if min(stride) < 0:
        sides = " ".join(f"d{s}: {k}" for s, k in zip(SIDES[len(window)], stride, strict=True))
        raise OpError(f"stride should be greater than zero, but got {sides}")
    if min(dilation) <= 0:
        sides = " ".join(f"dilation{s}: {d}" for s, d in zip(SIDES[len(window)], dilation, strict=True))
        raise OpError(f"dilation should be greater than zero, but got {sides}")
    for k, p, d in zip(window, padding, dilation, strict=True):
        if p < 0:
            raise OpError(f"pad must be non-negative, but got pad: {p}")
        if p > reach(k, d) // 2:
            raise OpError(
                f"pad should be at most half of effective kernel size, but got pad={p}, kernel_size={k} and dilation={d}"
            )


def check_rank(name: str, x: Array, n: int) -> None:
    """Raise PyTorch's error unless ``x`` is (C, *) or (N, C, *) with something in it."""
    if n == 1 and name.startswith("max") and (x.ndim not in (2, 3) or 0 in x.shape[-2:]):
        raise OpError(
            f"{name}: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but got:{list(x.shape)}"
        )
    if n == 1 and x.ndim not in (2, 3):
        raise OpError(
            f"Expected 2 to 3 dimensions, but got {x.ndim}-dimensional tensor for argument #1 'self' (while checking arguments for {name})"
        )
    if name == "avg_pool2d" and x.ndim < 3:
        raise OutOfBoundsError(f"Dimension out of range (expected to be in range of [{-x.ndim}, {x.ndim - 1}], but got -3)")
    if x.ndim not in (n + 1, n + 2):
        raise OpError(f"non-empty {n + 1}D or {n + 2}D (batch mode) tensor expected for input")
    if 0 in x.shape[x.ndim - n - 1 :]:
        raise OpError(
            f"Expected {n + 1}D or {n + 2}D (batch mode) tensor with optional 0 dim batch size for input, but got:{list(x.shape)}"
        )


def geometry(name: str, x: Array, n: int, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool) -> Geometry:
    """The windows of one pooling. Raises RuntimeError (IndexError for some ranks) for options or sizes that can't be."""
    if n == 1 and name.startswith("max") and isinstance(kernel, (tuple, list)) and len(kernel) != 1:
        raise OpError(f"{name}() kernel_size must be an int, list of ints or tuple of ints of size 1 but got size {len(kernel)}")
    window = option(name, "kernel_size", kernel, n)
    strides = window if stride is None or stride == () else option(name, "stride", stride, n, "be omitted, " if n > 1 else "")
    pads, dilations = option(name, "padding", padding, n), option(name, "dilation", dilation, n)
    if name == "max_pool1d":
        check_rank(name, x, n)
        _check_single(name, window[0], strides[0], pads[0], dilations[0])
    else:
        _check_several(window, strides, pads, dilations)
        check_rank(name, x, n)
    space = x.shape[x.ndim - n :]
    counts = tuple(count(*sizes, ceil_mode) for sizes in zip(space, window, strides, pads, dilations, strict=True))
    if min(counts) < 1:
        _refuse_small(name, x, n, window, counts)
    return Geometry(window, strides, pads, dilations, counts)


def _refuse_small(name: str, x: Array, n: int, window: Sizes, counts: Sizes) -> None:
    if name == "max_pool1d":
        raise OpError(f"max_pool1d() Invalid computed output size: {counts[0]}")
    if name == "avg_pool3d":
        image = " ".join(f"{s}: {v}" for s, v in zip("THW", x.shape[-3:], strict=True))
        kernel = " ".join(f"k{s}: {v}" for s, v in zip("THW", window, strict=True))
        raise OpError(f"input image ({image}) smaller than kernel size ({kernel})")
    channels = x.shape[-n - 1]
    shown = (channels, 1) if n == 1 else (channels,)  # PyTorch pools one dimension as two
    given, found = ("x".join(map(str, (*shown, *sizes))) for sizes in (x.shape[-n:], counts))
    raise OpError(f"Given input size: ({given}). Calculated output size: ({found}). Output size is too small")
