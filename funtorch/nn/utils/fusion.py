"""Batch norm in evaluation mode, folded into the layer before it."""

from __future__ import annotations

import copy
from typing import Any

from ...ops import registry
from ..parameter import Parameter

__all__ = ["fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights"]

_torch = registry.names("torch")


def _check(layer: Any, bn: Any) -> None:
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("bn.running_mean and bn.running_var must not be None")


def _fused(layer: Any, bn: Any, fuse: Any, *more: Any) -> Any:
    made = copy.deepcopy(layer)
    given = (made.weight, made.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias)
    made.weight, made.bias = fuse(*given, *more)
    return made


def fuse_conv_bn_eval(conv: Any, bn: Any, transpose: bool = False) -> Any:
    """A convolution that does what a convolution and a batch norm after it do in evaluation mode.

    Args:
        conv: the convolution.
        bn: the batch norm, with running statistics.
        transpose: whether the convolution is a transposed one.

    Raises:
        AssertionError: in training mode, or without running statistics.
    """
    _check(conv, bn)
    return _fused(conv, bn, fuse_conv_bn_weights, transpose)


def fuse_conv_bn_weights(
    conv_w: Any, conv_b: Any, bn_rm: Any, bn_rv: Any, bn_eps: float, bn_w: Any, bn_b: Any, transpose: bool = False
) -> tuple[Parameter, Parameter]:
    """Weight w s and bias (b - mean) s + shift, s = scale / sqrt(var + eps), of the fused convolution.

    Args:
        conv_w: (O, C, *), or (C, O, *) with ``transpose``; conv_b: (O) or None.
        bn_rm, bn_rv: (O), mean and variance; bn_eps: their eps; bn_w, bn_b: (O) or None, scale and shift.
        transpose: whether the convolution is a transposed one.
    """
    kinds = conv_w.dtype, (conv_w if conv_b is None else conv_b).dtype
    conv_b = _torch["zeros_like"](bn_rm) if conv_b is None else conv_b
    bn_w = _torch["ones_like"](bn_rm) if bn_w is None else bn_w
    bn_b = _torch["zeros_like"](bn_rm) if bn_b is None else bn_b
    inverse = _torch["rsqrt"](bn_rv + bn_eps)
    shape = [1, -1] if transpose else [-1, 1]
    weight = conv_w * (bn_w * inverse).reshape(shape + [1] * (conv_w.dim() - 2))
    bias = (conv_b - bn_rm) * inverse * bn_w + bn_b
    return Parameter(weight.to(kinds[0]), conv_w.requires_grad), Parameter(bias.to(kinds[1]), conv_b.requires_grad)


def fuse_linear_bn_eval(linear: Any, bn: Any) -> Any:
    """A `Linear` that does what a Linear and a batch norm after it do in evaluation mode.

    Args:
        linear: the Linear.
        bn: the batch norm, with running statistics, of as many features or one.

    Raises:
        AssertionError: in training mode, without running statistics, or of another number of features.
    """
    if linear.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    if bn.num_features not in (linear.out_features, 1):
        raise AssertionError(
            "To fuse, linear.out_features == bn.num_features or bn.num_features == 1, got "
            f"linear.out_features={linear.out_features} and bn.num_features={bn.num_features}"
        )
    _check(linear, bn)
    return _fused(linear, bn, fuse_linear_bn_weights)


def fuse_linear_bn_weights(
    linear_w: Any, linear_b: Any, bn_rm: Any, bn_rv: Any, bn_eps: float, bn_w: Any, bn_b: Any
) -> tuple[Parameter, Parameter]:
    """Weight and bias of the fused Linear. linear_w (M, K), linear_b (M) or None, the others (M) or (1), as for convolutions."""
    kinds = linear_w.dtype, (linear_w if linear_b is None else linear_b).dtype
    linear_b = _torch["zeros_like"](bn_rm) if linear_b is None else linear_b
    scale = bn_w * _torch["rsqrt"](bn_rv + bn_eps)
    weight = linear_w * scale.unsqueeze(-1).to(kinds[0])
    bias = ((linear_b - bn_rm) * scale + bn_b).to(kinds[1])
    return Parameter(weight, linear_w.requires_grad), Parameter(bias, linear_b.requires_grad)
