"""What all ways of making a Tensor share: where it goes, of what size, into which ``out``.

On the CPU new Tensors are NumPy arrays: nothing is compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from ..core.engine import host_possible
from ..core.forked import refuse_xla
from ..core.handle import make
from ..core.meta import MetaArray, is_meta
from ..devices import CPU, defaults, jax_device
from ..devices import device as Device
from ..errors import ArgumentTypeError, OpError
from ..tensor import Tensor
from .across_meta import dropped
from .assignment import into


def get_default_device() -> Device:
    """The device on which new Tensors are made."""
    return defaults[-1]


def set_default_device(where: Any) -> None:
    """Make new Tensors on ``where`` (None: the CPU). Raises RuntimeError if it isn't there."""
    chosen = CPU if where is None else Device(where)
    if chosen.type != "meta":
        jax_device(chosen)
    defaults[0] = chosen


def place(array: np.ndarray, where: Any, requires_grad: bool = False) -> Tensor:
    """A new leaf with these values on a device."""
    chosen = defaults[-1] if where is None else Device(where)
    if chosen.type == "meta":
        return without_data(array.shape, array.dtype, requires_grad)
    if chosen.type == "cpu" and host_possible():
        return Tensor._of_numpy(array, requires_grad)
    refuse_xla(f"a Tensor on {chosen}")
    return Tensor._of_numpy(jax.device_put(array, jax_device(chosen)), requires_grad)


def place_made(
    values: Callable[[], np.ndarray], shape: tuple[int, ...], dtype: Any, where: Any, requires_grad: bool = False
) -> Tensor:
    """`place` of what ``values()`` gives, which isn't called for the device "meta": its shape may fit no memory."""
    if on_meta(where):
        return without_data(shape, dtype, requires_grad)
    return place(values(), where, requires_grad)


def without_data(shape: tuple[int, ...], dtype: Any, requires_grad: bool = False) -> Tensor:
    """A new leaf on the device "meta"."""
    made: Tensor = make(MetaArray(shape, dtype))
    return made.requires_grad_() if requires_grad else made


def on_meta(where: Any) -> bool:
    """Whether a Tensor made on a device (None: the default one) has no data."""
    return (defaults[-1] if where is None else Device(where)).type == "meta"


def size_of(sizes: tuple, name: str, named: Any = None) -> tuple[int, ...]:
    """A size given as several ints, as one sequence, or by name. Raises RuntimeError for a negative one, TypeError for none."""
    if named is not None:
        if sizes:
            raise ArgumentTypeError(f"{name}() got multiple values for argument 'size'")
        sizes = (named,)
    elif not sizes:
        raise ArgumentTypeError(f'{name}() missing 1 required positional arguments: "size"')
    if len(sizes) == 1 and not isinstance(sizes[0], (int, np.integer, Tensor)):
        sizes = tuple(sizes[0])
    found = []
    for size in sizes:
        value = size.item() if isinstance(size, Tensor) else size
        if isinstance(value, (float, str)) or value is None:
            raise ArgumentTypeError(
                f"{name}(): argument 'size' must be tuple of ints, but found element of type {type(value).__name__}"
            )
        if value < 0:
            raise OpError(f"{name}(): trying to create tensor with negative dimension {value}: {list(sizes)}")
        found.append(int(value))
    return tuple(found)


def check_out_device(out: Tensor, where: Any) -> None:
    """Raise RuntimeError if ``out`` has no data and the device asked for (None: that of ``out``) has, or the other way round."""
    asked = None if where is None else Device(where).type
    if asked is not None and (asked == "meta") != is_meta(out):
        raise OpError(f"device type {asked} does not match device type of out parameter ({out.device.type})")


def to_out(out: Any, result: Tensor, where: Any = None) -> Tensor:
    """What was made, or ``out`` with its values where that is given.

    Raises RuntimeError if ``out`` has no data and the device that was asked for (``where``) has, or the other way round.
    """
    if out is None:
        return result
    if isinstance(out, Tensor):
        check_out_device(out, where)
        result = dropped(result) if is_meta(out) else result
    return into(out, result, "factory")
