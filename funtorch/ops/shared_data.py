"""Tensors in memory that others have: NumPy's arrays, buffers, what speaks DLPack. A write to one side shows on the other."""

from __future__ import annotations

import array
import os
from typing import Any

import jax
import numpy as np

from .. import dtypes
from ..cautions import caution_once
from ..core.engine import host_possible
from ..core.shared_memory import share
from ..core.strides import inverse
from ..devices import defaults
from ..devices import device as Device
from ..dtypes import FROM_NUMPY, as_dtype
from ..errors import ArgumentTypeError, ArgumentValueError, OpError
from ..tensor import Tensor
from .declare import function
from .given_data import tensor
from .permuting import permute
from .strided import as_strided

SUPPORTED = "float64, float32, float16, complex64, complex128, int64, int32, int16, int8, uint64, uint32, uint16, uint8, and bool"
BUFFERS = (bytes, bytearray, memoryview, array.array)
ON_CPU = 1  # DLPack's number of the kind of device


def _warn_read_only(what: str) -> None:
    """Say once for each kind of memory that a Tensor can't write to its memory."""
    caution_once(
        f"The given {what} is not writable: a Tensor that is written takes memory of its own, and the {what} does not see it. "
        "Copy it first, or make it writable. This is said once."
    )


def _check(source: np.ndarray) -> None:
    """Raise PyTorch's errors for an array in whose memory no Tensor can lie."""
    if not source.dtype.isnative:
        raise ArgumentValueError(
            "given numpy array has byte order different from the native byte order. Conversion between byte orders is currently "
            "not supported."
        )
    if source.dtype not in FROM_NUMPY:
        raise ArgumentTypeError(
            f"can't convert np.ndarray of type numpy.{source.dtype.type.__name__}. The only supported types are: {SUPPORTED}."
        )
    for stride in source.strides:
        if stride < 0:
            raise ArgumentValueError(
                "At least one stride in the given numpy array is negative, and tensors with negative strides are not currently "
                "supported. (You can probably work around this by making a copy of your array with array.copy().)"
            )
        if stride % source.itemsize:
            raise ArgumentValueError(
                "given numpy array strides not a multiple of the element byte size. Copy the numpy array to reallocate the memory."
            )


@function()
def from_numpy(ndarray: np.ndarray) -> Tensor:
    """A Tensor in the memory of a NumPy array: what is written to one shows in the other.

    Differs from PyTorch: a Tensor in read-only memory takes memory of its own when it is written.

    Args:
        ndarray: (*), of a dtype that Tensors have, with strides that are no less than 0.

    Returns:
        (*), with the array's dtype and strides.

    Raises:
        TypeError: it is no array, or one of another type.
        ValueError: it has negative strides, or the other order of bytes.

    >>> import numpy as np
    >>> a = np.zeros(2)
    >>> x = torch.from_numpy(a)
    >>> a[0] = 1
    >>> x
    tensor([1., 0.], dtype=torch.float64)
    """
    if not isinstance(ndarray, np.ndarray):
        raise ArgumentTypeError(f"expected np.ndarray (got {type(ndarray).__name__})")
    _check(ndarray)
    if not ndarray.flags.writeable:
        _warn_read_only("NumPy array")
    return _in_memory_of(np.asarray(ndarray))


def _in_memory_of(source: np.ndarray) -> Any:
    """A Tensor that shows an array: of its own if that is dense, else a part of one that covers it, or is in another order."""
    if source.flags.c_contiguous:
        return share(source)
    order = sorted(range(source.ndim), key=lambda d: -source.strides[d])
    turned = source.transpose(order)
    if turned.flags.c_contiguous:
        return permute(share(turned), *inverse(order)).detach()
    strides = [step // source.itemsize for step in source.strides]
    span = 1 + sum((n - 1) * step for n, step in zip(source.shape, strides, strict=True))
    covering = np.lib.stride_tricks.as_strided(source, (span,), (source.itemsize,), writeable=source.flags.writeable)
    return as_strided(share(covering), source.shape, strides, 0).detach()


def _here(where: Any) -> bool:
    """Whether a Tensor on this device (None: the default one) can lie in NumPy's memory."""
    chosen = defaults[-1] if where is None else Device(where)
    return chosen.type == "cpu" and host_possible()


@function()
def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """``data`` as a Tensor: itself if it is one of that dtype and device, in the memory of a NumPy array that is; else a copy.

    Raises as `tensor` and `from_numpy` do.

    >>> import numpy as np
    >>> a = np.zeros(2, np.float32)
    >>> torch.as_tensor(a).add_(1)
    tensor([1., 1.])
    >>> a
    array([1., 1.], dtype=float32)
    """
    if isinstance(data, Tensor):
        return data.to(device=device, dtype=dtype) if (dtype is not None or device is not None) else data
    if isinstance(data, np.ndarray) and _here(device):
        _check(data)
        if dtype is None or as_dtype(dtype) is FROM_NUMPY[data.dtype]:
            return from_numpy(data)
    return tensor(data, dtype=dtype, device=device)


@function()
def asarray(
    obj: Any, *, dtype: Any = None, device: Any = None, copy: bool | None = None, requires_grad: bool | None = None
) -> Tensor:
    """``obj`` as a Tensor, in its memory where it can be.

    Args:
        obj: a Tensor, a NumPy array, a buffer, what speaks DLPack, or numbers and sequences of them.
        copy: True: always a copy; False: never one; None: one where it has to be.
        requires_grad: whether the result does; None: as a Tensor does.

    Raises:
        ValueError: ``copy=False``, and it can't be in the same memory.

    >>> import numpy as np
    >>> a = np.zeros(2)
    >>> torch.asarray(a)[0] = 1.0
    >>> a
    array([1., 0.])
    """
    made = _aliased(obj, dtype)
    if made is None:
        if copy is False:
            raise ArgumentValueError("can't alias arbitrary sequence into a tensor.")
        made = tensor(obj, dtype=dtype, device=device)
    else:
        found = made.to(device=device, dtype=dtype) if dtype is not None or device is not None else made
        if copy is False and found is not made:
            if found.dtype is not made.dtype:
                raise ArgumentValueError(f"can't alias tensor with dtype '{made.dtype}' into dtype '{found.dtype}'.")
            raise ArgumentValueError(f"can't alias tensor from device '{made.device}' to '{found.device}'.")
        made = found.clone() if copy and found is made else found
    if requires_grad is None:
        return made
    if not made.is_leaf and not requires_grad:
        return made.detach()
    return made if made.requires_grad == requires_grad else made.requires_grad_(requires_grad)


def _aliased(obj: Any, dtype: Any) -> Any:
    """A Tensor in the memory of ``obj``, or itself; None for numbers, sequences and what JAX has."""
    if isinstance(obj, Tensor):
        return obj
    if isinstance(obj, np.ndarray):
        return from_numpy(obj)
    if isinstance(obj, BUFFERS):
        return frombuffer(obj, dtype=dtypes.default() if dtype is None else dtype)
    if hasattr(obj, "__dlpack__") and not isinstance(obj, (jax.Array, np.generic)) and not hasattr(obj, "__jax_array__"):
        return from_dlpack(obj)
    return None


@function()
def from_dlpack(ext_tensor: Any) -> Tensor:
    """A Tensor in the memory of anything that speaks DLPack. JAX's arrays, and those on accelerators, are never written.

    >>> import numpy as np
    >>> a = np.zeros(2)
    >>> torch.from_dlpack(a)[0] = 1.0
    >>> a
    array([1., 0.])
    """
    if isinstance(ext_tensor, Tensor):
        return ext_tensor.detach()
    if isinstance(ext_tensor, np.ndarray):
        return from_numpy(ext_tensor)
    if hasattr(ext_tensor, "__dlpack_device__") and not isinstance(ext_tensor, jax.Array) and host_possible():
        if int(ext_tensor.__dlpack_device__()[0]) == ON_CPU:
            try:
                return _in_memory_of(np.from_dlpack(ext_tensor))
            except (BufferError, RuntimeError):
                pass  # a type that NumPy doesn't have: bfloat16
    return Tensor._of_numpy(jax.dlpack.from_dlpack(ext_tensor))


@function()
def frombuffer(buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False) -> Tensor:
    """A one-dimensional Tensor in the memory of a buffer.

    Args:
        buffer: bytes, or what gives them. If it is read-only, a Tensor that is written takes memory of its own.
        count: how many elements; negative: as many as there are.
        offset: from which byte.

    Raises:
        ValueError: the buffer is empty, shorter than asked for, or does not divide into elements.

    >>> torch.frombuffer(bytearray(4), dtype=torch.int16)
    tensor([0, 0], dtype=torch.int16)
    """
    kind, size = as_dtype(dtype), memoryview(buffer).nbytes
    width = kind.itemsize
    if not size or not count:
        raise ArgumentValueError(f"both buffer length ({size}) and count ({count}) must not be 0")
    if not 0 <= offset < size:
        raise ArgumentValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length ({size} bytes) minus 1"
        )
    if count < 0 and (size - offset) % width:
        raise ArgumentValueError(
            f"buffer length ({size - offset} bytes) after offset ({offset} bytes) must be a multiple of element size ({width})"
        )
    if count > 0 and count * width > size - offset:
        raise ArgumentValueError(
            f"requested buffer length ({count} * {width} bytes) after offset ({offset} bytes) must not be greater than actual "
            f"buffer length ({size} bytes)"
        )
    found = np.frombuffer(buffer, kind.numpy, count, offset)
    if not found.flags.writeable:
        _warn_read_only("buffer")
    made = share(found)
    return made.requires_grad_() if requires_grad else made


@function()
def from_file(
    filename: str, shared: bool | None = None, size: int = 0, *, dtype: Any = None, layout: Any = None, device: Any = None,
    pin_memory: bool = False, requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """A Tensor of the numbers in a file, which stay there.

    Args:
        filename: the file.
        shared: whether what is written to the Tensor is written to the file, which is made, or made longer, if need be.
        size: how many numbers, from the beginning.
        dtype: their type; the default dtype unless given.
        device: must be the CPU.

    Returns:
        (size).

    Raises:
        RuntimeError: there is no such file, or it is too short, where it isn't ``shared``.
    """
    kind = as_dtype(dtype or dtypes.default())
    need = size * kind.itemsize
    path = os.fspath(filename)
    if shared:
        with open(path, "ab") as file:
            if file.tell() < need:
                file.truncate(need)
    elif not os.path.exists(path) or os.path.getsize(path) < need:
        found = f"has {os.path.getsize(path)} bytes" if os.path.exists(path) else "is not there"
        raise OpError(f"from_file(): {size} numbers of {kind!r} take {need} bytes, and {path!r} {found}")
    memory = np.memmap(path, np.uint8, "r+" if shared else "c", shape=(need,)) if need else np.empty(0, np.uint8)
    made = as_tensor(np.asarray(memory).view(kind.numpy), device=device)
    made._memory = memory  # as long as somebody refers to it, writes go there
    return made.requires_grad_() if requires_grad else made
