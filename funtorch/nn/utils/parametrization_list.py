"""The modules that compute a parametrized tensor, and what they compute it from."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

from ...autograd.modes import no_grad
from ...errors import ArgumentValueError, OpError
from ...tensor import Tensor
from ..module import Module
from ..modules.container import ModuleList
from ..parameter import Parameter

__all__ = ["ParametrizationList"]

CHANGES = (
    "Registering a parametrization may not change the {0} of the tensor, unless {1}`unsafe` flag is enabled.\n{2}: {3}\n{4}: {5}"
)
ONE_CHANGES = (
    "When `right_inverse` outputs one tensor, it may not change the {0}.\noriginal.{0}: {1}\nright_inverse(original).{0}: {2}"
)
BAD_INVERSE = "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got {}"


def register(module: Module, name: str, tensor: Any) -> None:
    """Make a Tensor a parameter or a buffer, as it is one or not."""
    (module.register_parameter if isinstance(tensor, Parameter) else module.register_buffer)(name, tensor)


def put(held: Any, new: Any) -> None:
    """Give a Tensor that is kept (an optimiser may know it) other values."""
    held.data = new.detach()


def require_tensor(value: Any, text: str) -> None:
    """Raise ValueError for something else; ``text`` has a place for its type."""
    if not isinstance(value, Tensor):
        raise ArgumentValueError(text.format(type(value).__name__))


def require_unchanged(new: Any, old: tuple[Any, Any], the: str, names: tuple[str, str, str, str]) -> None:
    """Raise ValueError unless ``new`` has the dtype and shape ``old``; ``names`` are what the message calls them."""
    for kind, was, is_now, (first, second) in (("dtype", old[0], new.dtype, names[:2]), ("shape", old[1], new.shape, names[2:])):
        if was != is_now:
            raise ArgumentValueError(CHANGES.format(kind, the, first, was, second, is_now))


class ParametrizationList(ModuleList):
    """The modules that compute a tensor, one after the other, and what they compute it from: ``original``, or ``original0``, ...

    Args:
        modules: at least one.
        original: the tensor as it is before.
        unsafe: allow them to change dtype and shape.

    Raises:
        ValueError: no modules, or results of other types, dtypes or shapes.
    """

    def __init__(self, modules: Sequence[Module], original: Any, unsafe: bool = False) -> None:
        if len(modules) == 0:
            raise ArgumentValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        before = original.dtype, original.shape
        new = self._inverted(original)
        if not isinstance(new, (Tensor, Sequence)):
            raise ArgumentValueError(BAD_INVERSE.format(type(new).__name__))
        self.is_tensor = isinstance(new, Tensor)
        self.ntensors = 1 if self.is_tensor else len(new)
        if isinstance(new, Tensor):
            for kind in ("dtype", "device"):
                was, is_now = getattr(original, kind), getattr(new, kind)
                if was != is_now:
                    raise ArgumentValueError(ONE_CHANGES.format(kind, was, is_now))
            put(original, new)
            register(self, "original", original)
        else:
            self._register_several(original, new)
        if not unsafe:
            z = self()
            require_tensor(z, "A parametrization must return a tensor. Got {}.")
            names = ("unparametrized dtype", "parametrized dtype", "unparametrized shape", "parametrized shape")
            require_unchanged(z, before, "", names)

    def _inverted(self, original: Any) -> Any:
        """What the modules compute ``original`` from; one without an inverse is taken for the identity."""
        new = original
        with no_grad():
            for module in reversed(self):
                if hasattr(module, "right_inverse"):
                    with contextlib.suppress(NotImplementedError):
                        new = module.right_inverse(new)
        return new

    def _register_several(self, original: Any, new: Sequence[Any]) -> None:
        for number, each in enumerate(new):
            if not isinstance(each, Tensor):
                raise ArgumentValueError(BAD_INVERSE.format(f"element {number} of the sequence with type {type(each).__name__}."))
            made = Parameter(each, original.requires_grad) if isinstance(original, Parameter) else each
            made.requires_grad_(original.requires_grad)
            register(self, f"original{number}", made)

    def right_inverse(self, value: Any) -> None:
        """Set what is trained so that the result becomes ``value``.

        Raises:
            RuntimeError: a module without right_inverse. ValueError: one that gives another type, dtype or number of tensors.
        """
        with no_grad():
            for module in reversed(self):
                if not hasattr(module, "right_inverse"):
                    raise OpError(f"parametrization {type(module).__name__} does not implement right_inverse.")
                value = module.right_inverse(value)
            if self.is_tensor:
                require_tensor(value, "`right_inverse` should return a tensor. Got {}")
                self._put(value, "original", "The tensor returned by `right_inverse`")
                return
            if not isinstance(value, Sequence):
                raise ArgumentValueError(f"'right_inverse' must return a sequence of tensors. Got {type(value).__name__}.")
            if len(value) != self.ntensors:
                raise ArgumentValueError(
                    f"'right_inverse' must return a sequence of tensors of length {self.ntensors}. Got a sequence of length {len(value)}."
                )
            for number, each in enumerate(value):
                require_tensor(each, f"'right_inverse' must return a sequence of tensors. Got element {number} of type {{}}.")
                self._put(each, f"original{number}", f"Tensor {number} returned by `right_inverse`")

    def _put(self, value: Any, name: str, what: str) -> None:
        held = getattr(self, name)
        if value.dtype != held.dtype:
            raise ArgumentValueError(f"{what} has dtype {value.dtype} while `{name}` has dtype {held.dtype}")
        put(held, value)

    def forward(self) -> Any:
        """The tensor."""
        modules = list(self._modules.values())
        names = ("original",) if self.is_tensor else tuple(f"original{i}" for i in range(self.ntensors))
        x = modules[0](*(getattr(self, name) for name in names))
        for module in modules[1:]:
            x = module(x)
        return x
