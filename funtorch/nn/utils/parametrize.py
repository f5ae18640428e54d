"""Parametrizations: a parameter or buffer that is computed, at each access, from what is trained in its stead.

A parametrized module gets a class of its own, in which the name is a property; what it is computed from, and the modules that
compute it, are in ``module.parametrizations[name]``.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator
from typing import Any

from ...autograd.modes import no_grad
from ...errors import ArgumentValueError, OpError
from ..module import Module
from ..modules.container import ModuleDict
from ..parameter import Parameter
from .parametrization_list import ParametrizationList, put, register, require_tensor, require_unchanged

__all__ = [
    "ParametrizationList", "cached", "is_parametrized", "register_parametrization", "remove_parametrizations",
    "transfer_parametrizations_and_params", "type_before_parametrizations",
]  # fmt: skip

ParametrizationList.__module__ = __name__  # its public address

NOT_SAVED = (
    "Serialization of parametrized modules is only supported through state_dict(). See:\n"
    "https://pytorch.org/tutorials/beginner/saving_loading_models.html"
    "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training"
)
INVERSE_CHANGES = (
    "The tensor returned by parametrization.right_inverse must have the same {0} as module.{1}, unless the `unsafe` flag is "
    "enabled.\nmodule.{1}.{0}: {2}\nreturned {0}: {3}"
)
NOT_LEFT = (
    "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a sequence of tensors."
)


class _Cache:
    """Values computed since the outermost `cached` began, by module and name."""

    depth = 0
    values: dict[tuple[int, str], Any] = {}


@contextlib.contextmanager
def cached() -> Iterator[None]:
    """Within this context each parametrized tensor is computed once, when it is first needed.

    >>> import funtorch
    >>> layer = funtorch.nn.utils.parametrizations.weight_norm(funtorch.nn.Linear(2, 2))
    >>> with cached():
    ...     layer.weight is layer.weight
    True
    """
    _Cache.depth += 1
    try:
        yield
    finally:
        _Cache.depth -= 1
        if not _Cache.depth:
            _Cache.values = {}


def _deepcopy(self: Any, memo: dict[int, Any]) -> Any:
    # Without it a copy would go through __getstate__, which refuses; and the copy's class must be its own.
    if id(self) in memo:
        return memo[id(self)]
    replica = object.__new__(type(self))
    memo[id(self)] = replica
    replica.__dict__.update(copy.deepcopy(self.__dict__, memo))
    return replica


def _getstate(self: Any) -> Any:
    raise OpError(NOT_SAVED)


def _inject_class(module: Module) -> None:
    cls = type(module)
    members: dict[str, Any] = {"__getstate__": _getstate, "__module__": cls.__module__}
    if not hasattr(cls, "__deepcopy__"):
        members["__deepcopy__"] = _deepcopy
    module.__class__ = type(f"Parametrized{cls.__name__}", (cls,), members)


def _inject_property(module: Module, name: str) -> None:
    def compute(self: Any) -> Any:
        if not _Cache.depth:
            return self.parametrizations[name]()
        key = (id(self), name)
        if key not in _Cache.values:
            _Cache.values[key] = self.parametrizations[name]()
        return _Cache.values[key]

    def assign(self: Any, value: Any) -> None:
        self.parametrizations[name].right_inverse(value)

    setattr(type(module), name, property(compute, assign))


def _check_next(module: Module, name: str, parametrization: Any) -> None:
    """Raise ValueError unless one more module keeps dtype and shape, there and back."""
    y = getattr(module, name)
    x = parametrization(y)
    require_tensor(x, "A parametrization must return a tensor. Got {}.")
    own, made = f"module.{name}", f"parametrization(module.{name})"
    require_unchanged(x, (y.dtype, y.shape), "the ", (f"{own}.dtype", f"{made}.dtype", f"{own}.shape", f"{made}.shape"))
    if not hasattr(parametrization, "right_inverse"):
        return
    try:
        z = parametrization.right_inverse(x)
    except NotImplementedError:
        return
    require_tensor(z, "parametrization.right_inverse must return a tensor. Got: {}")
    for kind in ("dtype", "shape"):
        was, is_now = getattr(y, kind), getattr(z, kind)
        if was != is_now:
            raise ArgumentValueError(INVERSE_CHANGES.format(kind, name, was, is_now))


def register_parametrization(module: Any, tensor_name: str, parametrization: Module, *, unsafe: bool = False) -> Any:
    """Let a module compute a parameter or buffer of another.

    Args:
        module: which has the parameter or buffer.
        tensor_name: its name.
        parametrization: called with what is trained (and, if it isn't the first, with what the one before gave). Its
            ``right_inverse``, if it has one, says what to train for a given value.
        unsafe: don't check that dtype and shape stay.

    Returns:
        The module, whose class is another now.

    Raises:
        ValueError: no such parameter or buffer, or results of other types, dtypes or shapes.

    Example:
        >>> import funtorch
        >>> class Symmetric(funtorch.nn.Module):
        ...     def forward(self, x):
        ...         return x.triu() + x.triu(1).T
        >>> layer = register_parametrization(funtorch.nn.Linear(3, 3), "weight", Symmetric())
        >>> bool((layer.weight == layer.weight.T).all())
        True
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        if not unsafe:
            _check_next(module, tensor_name, parametrization)
        found = module.parametrizations[tensor_name]
        found.append(parametrization)
        found.unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        # Made first: what can go wrong leaves the module as it was.
        made = ParametrizationList([parametrization], getattr(module, tensor_name), unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _inject_class(module)
            module.parametrizations = ModuleDict()
        _inject_property(module, tensor_name)
        module.parametrizations[tensor_name] = made
    else:
        raise ArgumentValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name '{tensor_name}'"
        )
    return module


def is_parametrized(module: Any, tensor_name: str | None = None) -> bool:
    """Whether a module has a parametrized tensor, or whether that of a name is."""
    found = module.__dict__.get("_modules", {}).get("parametrizations")
    if not isinstance(found, ModuleDict):
        return False
    return len(found) > 0 if tensor_name is None else tensor_name in found


def remove_parametrizations(module: Any, tensor_name: str, leave_parametrized: bool = True) -> Any:
    """Make a parametrized tensor an ordinary parameter or buffer again.

    Args:
        module: which has it.
        tensor_name: its name.
        leave_parametrized: whether it keeps the value that was computed, or gets back the original.

    Raises:
        ValueError: it isn't parametrized, or there is more than one original to get back.
    """
    if not is_parametrized(module, tensor_name):
        raise ArgumentValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    found = module.parametrizations[tensor_name]
    if not found.is_tensor and not leave_parametrized:
        raise ArgumentValueError(NOT_LEFT)
    if found.is_tensor:
        original = found.original
        if leave_parametrized:
            with no_grad():
                put(original, getattr(module, tensor_name))
    else:
        value = getattr(module, tensor_name)
        original = Parameter(value) if value.requires_grad else value
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    register(module, tensor_name, original)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Any) -> type:
    """The class that a module had before it was parametrized."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(from_module: Any, to_module: Any, tensor_name: str | None = None) -> Any:
    """Parametrize a module as another one, and let it share what is trained there.

    Args:
        from_module: the other one.
        to_module: which is changed.
        tensor_name: which tensor; None: all that are parametrized.

    Returns:
        ``to_module``.
    """
    if not is_parametrized(from_module):
        return to_module
    for name in list(from_module.parametrizations) if tensor_name is None else [tensor_name]:
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name)))
        source = from_module.parametrizations[name]
        for each in source:
            register_parametrization(to_module, name, each)
        for original in source._parameters | source._buffers:
            setattr(to_module.parametrizations[name], original, getattr(source, original))
    return to_module
