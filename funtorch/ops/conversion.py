"""Other dtypes, other devices, copies: to, float, type, cpu, clone, contiguous."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax

from ..core.call import call
from ..core.engine import CONCRETE
from ..core.forked import refuse_xla
from ..core.handle import value_of
from ..core.meta import NO_DATA, is_meta
from ..core.op import Op
from ..core.strides import is_contiguous
from ..core.views import alias
from ..devices import device, jax_device
from ..devices import device as Device  # noqa: N812
from ..dtypes import PUBLIC, as_dtype, dtype
from ..errors import ArgumentTypeError, MissingError, OpError
from ..layouts import memory_format
from ..tensor import Tensor
from . import registry
from .across_meta import dropped
from .assignment import TYPE_NAMES, cast
from .declare import function

_CLONE = Op(lambda x: x, "clone")
_RANKS = {"channels_last": 4, "channels_last_3d": 5}


def check_format(name: str, x: Tensor, format: Any) -> None:
    """Raise TypeError for what is no memory format, and RuntimeError for one that is for Tensors of another rank."""
    if not isinstance(format, memory_format):
        raise ArgumentTypeError(f"{name}(): argument 'memory_format' must be torch.memory_format, not {type(format).__name__}")
    rank = _RANKS.get(format.name)
    if rank is not None and x.dim() != rank:
        raise OpError(f"required rank {rank} tensor to use {format.name} format")


@function(method=True)
def clone(input: Tensor, *, memory_format: Any = None) -> Tensor:
    """A copy, through which gradients pass.

    >>> torch.ones(2).clone()
    tensor([1., 1.])
    """
    if memory_format is not None:
        check_format("clone", input, memory_format)
    return call(_CLONE, (input,))


def contiguous(self: Tensor, memory_format: Any = None) -> Tensor:
    """``self`` if its elements lie densely in row-major order, else such a copy."""
    value_of(self)
    if memory_format is not None:
        check_format("contiguous", self, memory_format)
    return self if is_contiguous(self) else clone(self)


registry.add_method("contiguous", contiguous)


def _moved(x: Any, where: device, copy: bool) -> Any:
    """``x`` on another device; itself if it is there already or has no single place (traced, batched)."""
    if is_meta(x) or where.type == "meta":
        return _across_meta(x, where, copy)
    if type(value_of(x)) not in CONCRETE or where == x.device or (where.index is None and where.type == x.device.type):
        return clone(x) if copy else x
    target = jax_device(where)
    return call(_move_op(target), (x,))


def _across_meta(x: Tensor, where: device, copy: bool) -> Tensor:
    """To "meta", where the data are dropped. Raises NotImplementedError for the way back, RuntimeError for no such device."""
    if where.type != "meta":
        jax_device(where)
        raise MissingError(f"{NO_DATA} Please use torch.nn.Module.to_empty() instead of .to() when moving a module from meta.")
    if is_meta(x):
        return clone(x) if copy else x
    return dropped(x)


class _Move(Op):
    """A move to another device, which runs as it is: a compiled function stays on one device."""

    __slots__ = ()

    def new_kernel(self) -> Callable:
        return self.fn


def _move_op(target: Any) -> Op:
    refuse_xla(f"moving a Tensor to {target}")
    found = _moves.get(target)
    if found is None:
        found = _moves[target] = _Move(lambda x: jax.device_put(x, target), "to_copy")
    return found


_moves: dict[Any, Op] = {}


def _parse(args: tuple, where: Any, kind: Any) -> tuple[Any, Any]:
    """The device and the dtype that the arguments of ``to`` name; either may be None."""
    for arg in args:
        if isinstance(arg, Tensor):
            where, kind = arg.device, arg.dtype
        elif isinstance(arg, (str, device)) or (isinstance(arg, int) and not isinstance(arg, bool)):
            where = arg
        elif isinstance(arg, dtype) or isinstance(arg, type):
            kind = arg
        elif arg is not None and not isinstance(arg, bool):
            raise ArgumentTypeError(f"to() received an invalid combination of arguments - got {type(arg).__name__}")
    return None if where is None else device(where), None if kind is None else as_dtype(kind)


def to(
    self: Tensor, *args: Any, device: Any = None, dtype: Any = None, non_blocking: bool = False, copy: bool = False,
    memory_format: Any = None, other: Any = None,
) -> Tensor:  # fmt: skip
    """This Tensor in another dtype, on another device, or both; itself if nothing changes and no ``copy`` is asked for.

    Call it as ``to(dtype)``, ``to(device)``, ``to(device, dtype)`` or ``to(other)``.

    Raises:
        RuntimeError: if there is no such device, or the memory format is for Tensors of another rank.

    >>> torch.ones(1).to(torch.float64).dtype
    torch.float64
    """
    if other is not None:
        args = (other, *args)
    if memory_format is not None:
        check_format("to", self, memory_format)
    where, kind = _parse(args, device, dtype)
    flags = [a for a in args if isinstance(a, bool)]
    copy = copy or (len(flags) > 1 and flags[1])
    result = self
    if kind is not None:
        result = cast(result, kind)
    if where is not None:
        result = _moved(result, where, copy=False)
    return clone(self) if copy and result is self else result


registry.add_method("to", to)


_ATTRIBUTES = {
    "float": "float", "double": "double", "half": "half", "bfloat16": "bfloat16", "int": "int", "long": "long",
    "short": "short", "char": "int8", "byte": "uint8", "bool": "bool", "cfloat": "cfloat", "cdouble": "cdouble",
}  # fmt: skip


def _register_converters() -> None:
    for method, name in _ATTRIBUTES.items():
        kind = PUBLIC[name]
        registry.add_method(method, _named_cast(method, kind))


def _named_cast(method: str, kind: dtype) -> Any:
    def convert(self: Tensor, memory_format: Any = None) -> Tensor:
        if memory_format is not None:
            check_format(method, self, memory_format)
        return cast(self, kind)

    convert.__name__ = convert.__qualname__ = method
    convert.__doc__ = f"This Tensor as {kind!r}; itself if it has that dtype already."
    return convert


_register_converters()


def type_as(self: Tensor, other: Tensor) -> Tensor:
    """This Tensor in the dtype and on the device of ``other``."""
    return to(self, other)


_LEGACY = {f"torch.{name}Tensor": kind for kind, name in TYPE_NAMES.items()} | {
    "torch.Tensor": "float32",
    "torch.FloatTensor": "float32",
}


def type_(self: Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
    """The name of this Tensor's type, or, given one, this Tensor converted to it."""
    if dtype is None:
        where = "cuda." if self.is_cuda else "meta." if is_meta(self) else ""
        return f"torch.{where}{'sparse.' if self.is_sparse else ''}{TYPE_NAMES[self.dtype.name]}Tensor"
    if getattr(dtype, "is_cuda", False):  # torch.cuda.FloatTensor and its kin
        self = to(self, "cuda")
    dtype = getattr(dtype, "tensor_dtype", dtype)
    if isinstance(dtype, str):
        found = _LEGACY.get(dtype.replace("torch.cuda.", "torch.").replace("torch.sparse.", "torch."))
        if found is None:
            raise ArgumentTypeError(f"invalid type: '{dtype}'")
        if dtype.startswith("torch.cuda."):
            return cast(to(self, "cuda"), PUBLIC[found])
        dtype = PUBLIC[found]
    return cast(self, as_dtype(dtype))


def cpu(self: Tensor, memory_format: Any = None) -> Tensor:
    """This Tensor on the CPU; itself if it is there."""
    return _moved(self, device("cpu"), copy=False)


def cuda(self: Tensor, device: Any = None, non_blocking: bool = False, memory_format: Any = None) -> Tensor:
    """This Tensor on a GPU. Raises RuntimeError if there is none, or for a device of another kind."""
    chosen = Device("cuda" if device is None else device)
    if chosen.type not in ("cuda", "gpu"):
        raise OpError("Invalid device, must be cuda device")
    return to(self, chosen)


def xpu(self: Tensor, device: Any = None, non_blocking: bool = False, memory_format: Any = None) -> Tensor:
    """This Tensor on an XPU. Raises RuntimeError: JAX has none."""
    return to(self, "xpu" if device is None else device)


for _name, _method in (("type_as", type_as), ("type", type_), ("cpu", cpu), ("cuda", cuda), ("xpu", xpu)):
    registry.add_method(_name, _method)


def pin_memory(self: Tensor, device: Any = None) -> Tensor:
    """``self``: host memory is not pinned here, and copies to a device do not need it. Raises RuntimeError without data."""
    if is_meta(self):
        raise OpError(f"pin_memory(): cannot pin '{type_(self)}': only dense CPU tensors can be pinned")
    return self


def share_memory_(self: Tensor) -> Tensor:
    """``self``: arrays are immutable, and other processes get copies. Raises RuntimeError without data."""
    if is_meta(self):
        raise OpError("share_memory_(): only available on CPU, not for a Tensor without data (the device 'meta')")
    return self


def record_stream(self: Tensor, stream: Any) -> None:
    """Nothing: JAX keeps an array until all that reads it is done."""


def as_subclass(self: Tensor, cls: type) -> Any:
    """A Tensor of class ``cls`` with the same elements. Raises TypeError if it is not a class of Tensors."""
    if not (isinstance(cls, type) and issubclass(cls, Tensor)):
        raise ArgumentTypeError(f"as_subclass(): argument 'cls' must be a subclass of Tensor, got {cls!r}")
    seen = alias(self, detached=False)
    made = object.__new__(cls)
    made.__dict__.update(seen.__dict__)
    return made


for _plain in (pin_memory, share_memory_, record_stream, as_subclass):
    registry.add_method(_plain.__name__, _plain)
