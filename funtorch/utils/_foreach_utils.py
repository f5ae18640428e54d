"""What optimisers that were copied from PyTorch's sources and changed ask before they call ``torch._foreach_*``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..tensor import Tensor

TensorListList = list[list[Any]]
Grouped = dict[tuple[Any, Any], tuple[TensorListList, list[int]]]
_foreach_supported_types = [Tensor]  # a subclass of PyTorch's own Parameter is one of these too


def _get_foreach_kernels_supported_devices() -> list[str]:
    """The kinds of devices on which PyTorch has kernels for lists."""
    return ["cuda", "xpu", "mtia", "privateuseone"]


def _get_fused_kernels_supported_devices() -> list[str]:
    """The kinds of devices on which PyTorch has fused optimisers."""
    return ["mps", "cuda", "xpu", "hpu", "cpu", "mtia", "privateuseone"]


def _device_has_foreach_support(device: Any) -> bool:
    """Whether ``torch._foreach_*`` runs on a device: on the CPU it does, too."""
    return device.type in ("cpu", *_get_foreach_kernels_supported_devices())


def _has_foreach_support(tensors: Sequence[Any], device: Any) -> bool:
    """Whether ``torch._foreach_*`` takes these Tensors on that device; None stands for one that is not there."""
    return _device_has_foreach_support(device) and all(each is None or isinstance(each, Tensor) for each in tensors)


def _group_tensors_by_device_and_dtype(tensorlistlist: TensorListList, with_indices: bool = False) -> Grouped:
    """The lists, parted by device and dtype of the first one's Tensors, and the places in which they stood."""
    grouped: Grouped = {}
    for number, first in enumerate(tensorlistlist[0]):
        key = (first.device, first.dtype)
        parts, places = grouped.setdefault(key, ([[] for _ in tensorlistlist], []))
        for part, each in zip(parts, tensorlistlist, strict=True):
            part.extend(each[number : number + 1])
        if with_indices:
            places.append(number)
    return grouped
