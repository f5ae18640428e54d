"""The Tensor types of PyTorch's early days: ``torch.FloatTensor`` and its kin make Tensors, and tell them apart."""

from __future__ import annotations

import copyreg
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import dtypes
from .cautions import caution_once
from .devices import devices_of
from .dtypes import PUBLIC
from .errors import ArgumentTypeError
from .layouts import strided
from .ops.assignment import TYPE_NAMES
from .ops.given_data import tensor as new_tensor
from .ops.placing import set_default_device
from .storage import TypedStorage
from .tensor import Tensor

_OLD = "torch.set_default_tensor_type() is deprecated; use torch.set_default_dtype() and torch.set_default_device()"


class TensorType(type):
    """A dtype and a kind of device. Called, it makes a Tensor of them; ``isinstance`` asks whether a Tensor has them.

    ``torch.FloatTensor(2, 3)`` is of that shape (and zero; PyTorch leaves it as it is), ``torch.FloatTensor([1, 2])`` has these values.
    """

    dtype: Any
    tensor_dtype: Any  # the same, under a name that no other class has
    is_cuda: bool

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, Tensor) and value.dtype is cls.dtype and value.is_cuda == cls.is_cuda and not value.is_meta

    def __call__(cls, *args: Any, device: Any = None) -> Any:
        if cls.is_cuda and not devices_of("gpu"):
            raise ArgumentTypeError(f"type {cls.__module__}.{cls.__name__} not available: there is no GPU")
        return _made(cls, args, device if device is not None else ("cuda" if cls.is_cuda else "cpu"))

    def __repr__(cls) -> str:
        return f"<class '{cls.__module__}.{cls.__name__}'>"


def _made(cls: TensorType, args: tuple, device: Any) -> Tensor:
    only = args[0] if len(args) == 1 else None
    if isinstance(only, Tensor):
        if only.dtype is not cls.dtype:
            raise ArgumentTypeError(f"{cls.__name__}(): expected a Tensor of {cls.dtype!r}, got one of {only.dtype!r}")
        return only.detach()
    if isinstance(only, TypedStorage) and only.dtype is cls.dtype:
        return only._root.detach().view(-1)
    if all(isinstance(a, int) and not isinstance(a, bool) for a in args):
        return new_tensor(np.zeros(args or (0,), cls.dtype.numpy), device=device)
    if type(only) is not tuple and isinstance(only, tuple):  # torch.Size
        return new_tensor(np.zeros(only, cls.dtype.numpy), device=device)
    if isinstance(only, (Sequence, np.ndarray)) and not isinstance(only, (str, bytes)):
        return _of_values(cls, only, device)
    raise ArgumentTypeError(
        f"{cls.__name__}(): expected sizes, a sequence of values, or a Tensor, got {', '.join(type(a).__name__ for a in args)}"
    )


def _of_values(cls: TensorType, values: Any, device: Any) -> Tensor:
    made = new_tensor(values, device="cpu")  # whatever the default is
    return made.to(dtype=cls.dtype, device=device)


def _types(module: str, is_cuda: bool) -> dict[str, TensorType]:
    made = {}
    for name, word in TYPE_NAMES.items():
        members = {
            "dtype": PUBLIC[name],
            "tensor_dtype": PUBLIC[name],
            "is_cuda": is_cuda,
            "is_sparse": False,
            "layout": strided,
        }
        made[f"{word}Tensor"] = TensorType(
            f"{word}Tensor", (), {**members, "__module__": module, "__doc__": f"Tensors of {name}."}
        )
    return made


CPU_TYPES = _types("torch", False)
CUDA_TYPES = _types("torch.cuda", True)


def _named(name: str, is_cuda: bool) -> TensorType:
    return (CUDA_TYPES if is_cuda else CPU_TYPES)[name]


# They say that they are of "torch", where a pickle would look for them.
copyreg.pickle(TensorType, lambda kind: (_named, (kind.__name__, kind.is_cuda)))  # type: ignore[arg-type, return-value]


def set_default_tensor_type(t: Any, /) -> None:
    """Make the dtype of a type such as ``torch.DoubleTensor`` or ``"torch.DoubleTensor"`` the default, and its device.

    Raises:
        TypeError: what is no such type, or one that is not floating point.
    """
    known = {f"{kind.__module__}.{kind.__name__}": kind for kinds in (CPU_TYPES, CUDA_TYPES) for kind in kinds.values()}
    known["torch.Tensor"] = CPU_TYPES["FloatTensor"]
    kind = known.get(t) if isinstance(t, str) else CPU_TYPES["FloatTensor"] if t is Tensor else t
    if not isinstance(kind, TensorType):
        raise ArgumentTypeError(f"invalid type object: only floating-point types are supported as the default type, got {t!r}")
    if not kind.dtype.is_floating_point:
        raise ArgumentTypeError(f"only floating-point types are supported as the default type, got {t!r}")
    if kind.is_cuda and not devices_of("gpu"):
        raise ArgumentTypeError(f"type torch.cuda.{kind.__name__} not available: there is no GPU")
    caution_once(_OLD)
    set_default_device("cuda" if kind.is_cuda else "cpu")
    dtypes.set_default(kind.dtype)
