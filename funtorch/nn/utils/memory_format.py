"""Weights of convolutions in another memory format."""

from __future__ import annotations

from typing import Any

from ..module import Module
from ..modules.conv import Conv2d, Conv3d, ConvTranspose2d, ConvTranspose3d

__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]


def convert_conv2d_weight_memory_format(module: Module, memory_format: Any) -> Module:
    """Has `Conv2d` and `ConvTranspose2d` layers keep their weights in a memory format.

    Args:
        module: such a layer, or any module with such layers below it.
        memory_format: as `Tensor.to` takes it; XLA chooses how arrays lie in memory, so the values are all that counts.

    Returns:
        The module.
    """
    return _converted(module, (Conv2d, ConvTranspose2d), memory_format)


def convert_conv3d_weight_memory_format(module: Module, memory_format: Any) -> Module:
    """As `convert_conv2d_weight_memory_format`, of `Conv3d` and `ConvTranspose3d` layers."""
    return _converted(module, (Conv3d, ConvTranspose3d), memory_format)


def _converted(module: Module, kinds: tuple[type, ...], memory_format: Any) -> Module:
    for layer in module.modules():
        if isinstance(layer, kinds):
            layer.weight.data = layer.weight.detach().clone(memory_format=memory_format)
    return module
