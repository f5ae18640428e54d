"""Gradients of convolutions with respect to their input and their weight, as functions of the other and of the output's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..ops.creation import zeros
from ..tensor import Tensor
from ..transforms import vjp
from . import functional as F

__all__ = ["conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight", "conv3d_input", "conv3d_weight"]

INPUT = """The gradient of `functional.{0}` with respect to its input.

    Args:
        input_size: (N, C, {1}).
        weight: (O, C / groups, {2}).
        grad_output: of the convolution's size.
        stride, padding, dilation, groups: as for the convolution.

    Returns:
        (N, C, {1}).

    Raises:
        RuntimeError: the sizes don't fit.
    """
WEIGHT = """The gradient of `functional.{0}` with respect to its weight.

    Args:
        input: (N, C, {1}).
        weight_size: (O, C / groups, {2}).
        grad_output: of the convolution's size.
        stride, padding, dilation, groups: as for the convolution.

    Returns:
        (O, C / groups, {2}).

    Raises:
        RuntimeError: the sizes don't fit.
    """


def _of_input(conv: Any, sizes: str, kernel: str) -> Callable:
    def gradient(
        input_size: Sequence[int],
        weight: Tensor,
        grad_output: Tensor,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:
        start = zeros(tuple(input_size), dtype=grad_output.dtype, device=grad_output.device)
        return vjp(lambda x: conv(x, weight, None, stride, padding, dilation, groups), start)[1](grad_output)[0]

    gradient.__name__ = gradient.__qualname__ = f"{conv.__name__}_input"
    gradient.__doc__ = INPUT.format(conv.__name__, sizes, kernel)
    return gradient


def _of_weight(conv: Any, sizes: str, kernel: str) -> Callable:
    def gradient(
        input: Tensor,
        weight_size: Sequence[int],
        grad_output: Tensor,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
    ) -> Tensor:
        start = zeros(tuple(weight_size), dtype=grad_output.dtype, device=grad_output.device)
        return vjp(lambda weight: conv(input, weight, None, stride, padding, dilation, groups), start)[1](grad_output)[0]

    gradient.__name__ = gradient.__qualname__ = f"{conv.__name__}_weight"
    gradient.__doc__ = WEIGHT.format(conv.__name__, sizes, kernel)
    return gradient


conv1d_input, conv1d_weight = (make(F.conv1d, "L", "K") for make in (_of_input, _of_weight))
conv2d_input, conv2d_weight = (make(F.conv2d, "H, W", "KH, KW") for make in (_of_input, _of_weight))
conv3d_input, conv3d_weight = (make(F.conv3d, "D, H, W", "KD, KH, KW") for make in (_of_input, _of_weight))
