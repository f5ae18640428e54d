"""Gradients of convolutions with respect to their input and their weight, as functions of the other and of the output's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ops import registry
from ..tensor import Tensor
from ..transforms import vjp
from . import functional as F

__all__ = ["conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight", "conv3d_input", "conv3d_weight"]

_zeros = registry.names("torch")["zeros"]


def _input(conv: Any, input_size: Sequence[int], weight: Tensor, grad_output: Tensor, options: tuple) -> Tensor:
    start = _zeros(tuple(input_size), dtype=grad_output.dtype, device=grad_output.device)
    return vjp(lambda x: conv(x, weight, None, *options), start)[1](grad_output)[0]


def _weight(conv: Any, input: Tensor, weight_size: Sequence[int], grad_output: Tensor, options: tuple) -> Tensor:
    start = _zeros(tuple(weight_size), dtype=grad_output.dtype, device=grad_output.device)
    return vjp(lambda weight: conv(input, weight, None, *options), start)[1](grad_output)[0]


def conv1d_input(
    input_size: Sequence[int],
    weight: Tensor,
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """The gradient of `functional.conv1d` with respect to its input, of the size ``input_size``.

    Args:
        input_size: (N, C, L).
        weight: (O, C / groups, K).
        grad_output: of the convolution's size.
        stride, padding, dilation, groups: as for the convolution.

    Returns:
        (N, C, L).

    Raises:
        RuntimeError: the sizes don't fit.
    """
    return _input(F.conv1d, input_size, weight, grad_output, (stride, padding, dilation, groups))


def conv1d_weight(
    input: Tensor,
    weight_size: Sequence[int],
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """The gradient of `functional.conv1d` with respect to its weight, of the size ``weight_size``. Raises as `conv1d_input` does."""
    return _weight(F.conv1d, input, weight_size, grad_output, (stride, padding, dilation, groups))


def conv2d_input(
    input_size: Sequence[int],
    weight: Tensor,
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """The gradient of `functional.conv2d` with respect to its input, of the size ``input_size``. Raises as `conv1d_input` does."""
    return _input(F.conv2d, input_size, weight, grad_output, (stride, padding, dilation, groups))


def conv2d_weight(
    input: Tensor,
    weight_size: Sequence[int],
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """The gradient of `functional.conv2d` with respect to its weight, of the size ``weight_size``. Raises as `conv1d_input` does."""
    return _weight(F.conv2d, input, weight_size, grad_output, (stride, padding, dilation, groups))


def conv3d_input(
    input_size: Sequence[int],
    weight: Tensor,
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """The gradient of `functional.conv3d` with respect to its input, of the size ``input_size``. Raises as `conv1d_input` does."""
    return _input(F.conv3d, input_size, weight, grad_output, (stride, padding, dilation, groups))


def conv3d_weight(
    input: Tensor,
    weight_size: Sequence[int],
    grad_output: Tensor,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """The gradient of `functional.conv3d` with respect to its weight, of the size ``weight_size``. Raises as `conv1d_input` does."""
    return _weight(F.conv3d, input, weight_size, grad_output, (stride, padding, dilation, groups))
