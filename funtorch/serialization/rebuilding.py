"""Tensors from storages, sizes and strides: the functions that PyTorch's files name (``torch._utils._rebuild_tensor_v2`` ...).

Tensors that show one storage share it here too: the first that shows all of it, in order, is an ordinary Tensor; the others
are views that lead to it (or to a flat Tensor that only they know). Arguments come from a file, so all of them are checked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import layouts
from ..autograd.modes import no_grad
from ..core.handle import Handle, make, value_of
from ..core.strides import contiguous_strides
from ..dtypes import dtype
from ..errors import MissingError, OpError
from ..nn.parameter import Buffer, Parameter
from ..ops import registry
from ..storage import TypedStorage, UntypedStorage, swapped
from ..tensor import Tensor
from . import sparse

NO_QUANTIZED = (
    "load(): the file holds a quantized Tensor, and funtorch has none. In PyTorch, save tensor.dequantize(), or "
    "tensor.int_repr() with its scale and zero point."
)
MOST_DIMS = 64  # NumPy's bound


class Allowance:
    """How many bytes views and copies may take in a load: a few bytes of a file could ask for any amount."""

    def __init__(self, nbytes: int) -> None:
        self.left = self.all = nbytes

    def take(self, nbytes: int) -> None:
        """Spend some. Raises RuntimeError if they are not left."""
        self.left -= nbytes
        if self.left < 0:
            raise OpError(
                f"load(): the views and copies in this file, such as expanded Tensors, take more than {self.all} bytes in all, far "
                "more than the file has. In PyTorch, save tensor.clone() of expanded Tensors."
            )


def _whole_numbers(values: Any, what: str) -> tuple[int, ...]:
    if not isinstance(values, (tuple, list)) or any(type(v) is not int or not 0 <= v < 2**62 for v in values):
        raise OpError(f"load(): a Tensor's {what} must be a tuple of numbers that are not negative")
    return tuple(values)


def _checked(size: Any, stride: Any, offset: Any, have: float) -> tuple[tuple[int, ...], tuple[int, ...], int]:
    size, stride = _whole_numbers(size, "size"), _whole_numbers(stride, "stride")
    (offset,) = _whole_numbers((offset,), "storage offset")
    if len(size) != len(stride) or len(size) > MOST_DIMS:
        raise OpError(f"load(): a Tensor of {len(size)} dimensions has {len(stride)} strides; at most {MOST_DIMS} are possible")
    last = offset + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
    if 0 not in size and last >= have:
        raise OpError(
            f"load(): sizes {list(size)}, strides {list(stride)} and storage offset {offset} reach to element {last} of a storage "
            f"that has {have}"
        )
    if math.prod(max(n, 1) for n in size) >= 2**60:
        raise OpError(f"load(): a Tensor of sizes {list(size)} is too large")
    return size, stride, offset


def _root_of(storage: UntypedStorage, kind: dtype) -> Any:
    """The Tensor that has the elements of a storage, as the given type."""
    root = storage._root
    if root.dtype is kind:
        return root
    held = value_of(root)
    if storage._fresh and type(held) is np.ndarray:  # not by an op: one would read all of a file that is mapped to memory
        typed = make(held.reshape(-1).view(np.uint8)[: held.nbytes // kind.itemsize * kind.itemsize].view(kind.numpy))
    else:
        flat = root if root.dim() == 1 else root.view(-1)
        typed = flat[: flat.nbytes // kind.itemsize * kind.itemsize // root.element_size()].view(kind)
    if storage._fresh:  # nothing shows it yet, so that it may as well be of that type from the start
        storage._root = typed = make(value_of(typed))
        if storage._swapped:
            typed._payload = make(swapped(np.array(typed._payload))).to(typed.device)._payload
    elif storage._swapped:
        raise OpError("load(): Tensors of two types share a storage, in the other order of bytes")
    return typed


def _part(flat: Any, size: tuple[int, ...], stride: tuple[int, ...], offset: int) -> Any:
    """A view of a flat Tensor: by slices and permutations where these do, which are cheaper than places one by one."""
    order = sorted(range(len(size)), key=lambda d: (-stride[d], d))
    across = tuple(size[d] for d in order)
    if 0 in size or tuple(stride[d] for d in order) != contiguous_strides(across):
        return flat.as_strided(size, stride, offset)
    count = math.prod(size)
    part = flat if count == flat.numel() else flat[offset : offset + count]
    return part.view(across).permute(tuple(order.index(d) for d in range(len(size))))


def rebuilt(storage: UntypedStorage, kind: dtype, size: Any, stride: Any, offset: Any) -> Any:
    """A Tensor without history that shows elements of a storage.

    Args:
        storage: what it shows.
        kind: the type of the elements.
        size, stride, offset: in elements.

    Raises:
        RuntimeError: they are no sizes, or reach beyond the storage.
    """
    if not isinstance(storage, UntypedStorage):
        raise OpError(f"load(): a Tensor is to be made of a {type(storage).__name__}, which is no storage")
    size, stride, offset = _checked(size, stride, offset, storage.nbytes() // kind.itemsize)
    if storage.device.type == "meta":
        return _rebuild_meta_tensor_no_storage(kind, size, stride, False)
    with no_grad():
        root = _root_of(storage, kind)
        fresh, storage._fresh = storage._fresh, False
        count = math.prod(size)
        if fresh and count == root.numel() and _is_dense(size, stride):
            storage._root = owner = make(value_of(root).reshape(size))
            return owner
        if storage._allowance is not None:
            storage._allowance.take(count * kind.itemsize)
        return _part(root if root.dim() == 1 else root.view(-1), size, stride, offset).detach()


def _is_dense(size: tuple[int, ...], stride: tuple[int, ...]) -> bool:
    return all(n == 1 or a == b for n, a, b in zip(size, stride, contiguous_strides(size), strict=True))


def _flagged(tensor: Any, requires_grad: Any) -> Any:
    return tensor.requires_grad_() if requires_grad else tensor


def _rebuild_tensor(storage: Any, storage_offset: int, size: Sequence[int], stride: Sequence[int]) -> Any:
    """A Tensor that shows elements of a typed storage."""
    if not isinstance(storage, TypedStorage):
        raise OpError(f"load(): a Tensor is to be made of a {type(storage).__name__}, which is no storage with a dtype")
    return rebuilt(storage, storage.dtype, size, stride, storage_offset)


def _rebuild_tensor_v2(
    storage: Any, storage_offset: int, size: Any, stride: Any, requires_grad: bool, backward_hooks: Any, metadata: Any = None
) -> Any:
    """The same, and whether it requires grad. Hooks are not kept in files."""
    return _flagged(_marked(_rebuild_tensor(storage, storage_offset, size, stride), metadata), requires_grad)


def _rebuild_tensor_v3(
    storage: Any,
    storage_offset: int,
    size: Any,
    stride: Any,
    requires_grad: bool,
    backward_hooks: Any,
    dtype: Any,
    metadata: Any = None,
) -> Any:
    """The same of a storage of bytes, for types that have no storage class."""
    return _flagged(_marked(rebuilt(storage, _dtype(dtype), size, stride, storage_offset), metadata), requires_grad)


def _marked(value: Any, marks: Any) -> Any:
    """What a Tensor shows of its storage's elements: with the marks "conj" and "neg" not themselves."""
    if marks is None:
        return value
    if not isinstance(marks, dict) or not marks.keys() <= {"conj", "neg"}:
        raise OpError(f"load(): a Tensor's marks are {marks!r:.80}; expected 'conj', 'neg' or none")
    shown = value.conj() if marks.get("conj") else value
    shown = registry.names("torch")["_neg_view"](shown) if marks.get("neg") else shown
    return value if shown is value else shown.detach()  # whose flags are its own, when it reads its storage again


def _dtype(kind: Any) -> dtype:
    if not isinstance(kind, dtype):
        raise OpError(f"load(): a Tensor's dtype is given as a {type(kind).__name__}")
    return kind


def _tensor(value: Any) -> Tensor:
    if not isinstance(value, Tensor):
        raise OpError(f"load(): a Tensor was expected, and a {type(value).__name__} is there")
    return value


def as_class(tensor: Any, cls: type) -> Any:
    """The Tensor itself, of another class from now on: so a Parameter still shares what it shared.

    Raises NotImplementedError for a sparse one.
    """
    if sparse.is_sparse(tensor):
        raise MissingError(
            f"load(): the file holds a sparse {cls.__name__}; funtorch has sparse Tensors, but no such {cls.__name__}s"
        )
    tensor.__class__ = cls
    return tensor


def _rebuild_parameter(data: Any, requires_grad: bool, backward_hooks: Any) -> Any:
    """A Parameter that shows what ``data`` shows."""
    return _flagged(as_class(_tensor(data), Parameter), requires_grad)


def _rebuild_parameter_with_state(data: Any, requires_grad: bool, backward_hooks: Any, state: Any) -> Any:
    """The same, with attributes of its own."""
    return set_attributes(_rebuild_parameter(data, requires_grad, backward_hooks), state)


def _rebuild_from_type_v2(func: Callable, new_type: type, args: tuple, state: Any) -> Any:
    """``func(*args)`` as a subclass of Tensor, with attributes of its own. Raises RuntimeError for other classes."""
    made = _tensor(func(*args))
    if not (isinstance(new_type, type) and issubclass(new_type, Tensor)):
        raise OpError(f"load(): a Tensor is to become a {new_type!r}, which is no class of Tensors")
    if new_type is not Tensor and type(made) is not new_type:
        as_class(made, new_type)
    attributes = state[0] if isinstance(state, tuple) and len(state) == 2 else state
    if isinstance(attributes, dict) and attributes.get("_is_buffer") is True:
        as_class(made, Buffer)
    return set_attributes(made, state)


def set_attributes(tensor: Any, state: Any) -> Any:
    """Give a Tensor the attributes of a dict, or of a pair of dicts. Raises RuntimeError for names that Tensors need themselves."""
    parts = state if isinstance(state, tuple) and len(state) == 2 else (state,)
    for part in parts:
        if part is None:
            continue
        if not isinstance(part, dict) or not all(isinstance(name, str) for name in part):
            raise OpError("load(): a Tensor's attributes must be a dict with names as keys")
        taken = [name for name in part if name not in ("persistent", "_is_buffer") and hasattr(Tensor, name)]
        if taken or any(name in Handle.__annotations__ for name in part):
            raise OpError(f"load(): a Tensor's attributes may not replace those of the class: {taken}")
        tensor.__dict__.update({name: value for name, value in part.items() if name != "_is_buffer"})
    return tensor


def _get_layout(name: str) -> Any:
    """The layout that prints as ``name``, such as "torch.strided"."""
    return layouts.by_name(name.removeprefix("torch."))


def _rebuild_sparse_tensor(layout: Any, data: Any) -> Any:
    """A sparse Tensor of its places, values and size. Raises NotImplementedError for layouts that funtorch has not."""
    return sparse.rebuilt(layout, data)


def _rebuild_meta_tensor_no_storage(dtype: Any, size: Any, stride: Any, requires_grad: bool) -> Any:
    """A Tensor without values."""
    kind = _dtype(dtype)
    size, stride, _ = _checked(size, stride, 0, math.inf)
    dense = _is_dense(size, stride)
    reach = 1 + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
    empty = registry.names("torch")["empty"](size if dense else max(reach, 0), dtype=kind, device="meta")
    return _flagged(empty if dense else empty.as_strided(size, stride).detach(), requires_grad)


def _rebuild_qtensor(*args: Any) -> Any:
    """Raises NotImplementedError: there are no quantized Tensors."""
    raise MissingError(NO_QUANTIZED)


def _rebuild_device_tensor_from_cpu_tensor(data: Any, dtype: Any, device: Any, requires_grad: bool) -> Any:
    """``data`` on an accelerator that gives no access to storages."""
    return _flagged(_tensor(data).to(_dtype(dtype)).to(device), requires_grad)


def _rebuild_device_tensor_from_numpy(data: Any, dtype: Any, device: Any, requires_grad: bool) -> Any:
    """The same of a NumPy array."""
    if not isinstance(data, np.ndarray):
        raise OpError(f"load(): a NumPy array was expected, and a {type(data).__name__} is there")
    return _rebuild_device_tensor_from_cpu_tensor(registry.names("torch")["tensor"](data), dtype, device, requires_grad)


# What `names` makes known as ``torch._utils.NAME``.
OF_UTILS = (
    _rebuild_tensor, _rebuild_tensor_v2, _rebuild_tensor_v3, _rebuild_parameter, _rebuild_parameter_with_state,
    _rebuild_sparse_tensor, _rebuild_meta_tensor_no_storage, _rebuild_qtensor, _rebuild_device_tensor_from_cpu_tensor,
    _rebuild_device_tensor_from_numpy,
)  # fmt: skip
