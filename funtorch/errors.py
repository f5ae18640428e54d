"""The tree of funtorch's exceptions: each is also the builtin that PyTorch raises in that place."""

from __future__ import annotations

import pickle

__all__ = [
    "FuntorchError",
    "ArgumentTypeError",
    "ArgumentValueError",
    "OutOfBoundsError",
    "MissingError",
    "NoBufferError",
    "NoChipError",
    "NotAFileError",
    "OpError",
    "LinAlgError",
    "EscapedTensorError",
    "TracedValueError",
    "UnpicklableError",
    "describe",
]


class FuntorchError(Exception):
    """Base of every exception that funtorch itself raises."""


class OpError(FuntorchError, RuntimeError):
    """An operation was given shapes, dtypes or a state it can't work with."""


class NoChipError(OpError, AssertionError):
    """There is no such device: the RuntimeError or AssertionError that PyTorch raises then, by how it was built."""


class ArgumentTypeError(FuntorchError, TypeError):
    """An argument is of the wrong Python type."""


class NotAFileError(ArgumentTypeError, AttributeError):
    """An argument is neither a path nor a file: the AttributeError that PyTorch raises, and the TypeError that it is."""


class ArgumentValueError(FuntorchError, ValueError):
    """An argument has a value outside what is allowed."""


class OutOfBoundsError(FuntorchError, IndexError):
    """A dimension or an index is out of range."""


class MissingError(FuntorchError, NotImplementedError):
    """Something PyTorch has and funtorch does not have yet."""


class UnpicklableError(FuntorchError, pickle.PicklingError, AttributeError):
    """A class or function without an address, such as one made in a function, can't be written to a file."""


class NoBufferError(FuntorchError, BufferError):
    """A Tensor's elements can't be handed to another library."""


class LinAlgError(FuntorchError, RuntimeError):
    """A matrix can't be inverted or factored: it is singular, not positive-definite, or not finite."""


class EscapedTensorError(OpError):
    """A Tensor is used after the transform that made it has returned."""


class TracedValueError(OpError):
    """A Python value was asked of a Tensor that has none: it is traced, or batched by ``vmap``."""


_SHORT = {"float": "f", "bfloat": "bf", "int": "i", "uint": "u", "complex": "c", "bool": "bool"}


def describe(value: object) -> str:
    """Write an array as messages show it: ``f32[2,5]``.

    >>> import numpy as np
    >>> describe(np.zeros((2, 5), np.float32))
    'f32[2,5]'
    """
    dtype, shape = getattr(value, "dtype", None), getattr(value, "shape", None)
    if dtype is None or shape is None:
        return repr(value)
    name = getattr(dtype, "name", str(dtype))
    kind = name.rstrip("0123456789")
    return f"{_SHORT.get(kind, kind)}{name[len(kind) :]}[{','.join(map(str, shape))}]"
