"""Modules made of modules: one after the other, in a list, in a dict."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from itertools import chain
from typing import TYPE_CHECKING, Any, Self

from ...cautions import caution
from ...errors import ArgumentTypeError, ArgumentValueError, OutOfBoundsError
from ..module import Module, indented
from .module import _addindent  # noqa: F401
from .pairs import named_values
from .parameter_container import ParameterDict, ParameterList

__all__ = ["Container", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]

OLD_CONTAINER = "`nn.Container` is deprecated. All that it does is now done by `nn.Module`. Subclass that instead."
NOT_A_MODULE = "module should be of type: {}"
NOT_ADDABLE = "add operator supports only objects of Sequential class, but {} is given."
NO_TIMES = "unsupported operand type(s) for *: {} and {}"
NOT_POSITIVE = "Non-positive multiplication factor {} for {}"
NOT_ITERABLE = "{} should be called with an iterable, but got {}"


class Container(Module):
    """An old class: a Module of the modules that are given by name, with a warning."""

    def __init__(self, **kwargs: Any) -> None:
        caution(OLD_CONTAINER, FutureWarning)
        super().__init__()
        for name, module in kwargs.items():
            self.add_module(name, module)


class _Row(Module):
    """What `Sequential` and `ModuleList` share: modules in a row, named by their places."""

    _modules: dict[str, Module]  # no place is kept free

    if TYPE_CHECKING:

        def __getitem__(self, idx: int | slice) -> Module: ...

    def _at(self, index: Any) -> str:
        """The name of the module at an index, which may be negative."""
        index = operator.index(index)
        if not -len(self) <= index < len(self):
            raise OutOfBoundsError(f"index {index} is out of range")
        return list(self._modules)[index]

    def _renumber(self, modules: Iterable[Module]) -> None:
        self._modules = {str(i): module for i, module in enumerate(modules)}

    def __setitem__(self, idx: int, module: Module) -> None:
        setattr(self, self._at(idx), module)

    def __delitem__(self, idx: int | slice) -> None:
        names = list(self._modules)[idx] if isinstance(idx, slice) else [self._at(idx)]
        for name in names:
            delattr(self, name)
        self._renumber(self._modules.values())

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def append(self, module: Module) -> Self:
        """Puts a module at the end; returns the container."""
        self.add_module(str(len(self)), module)
        return self

    def pop(self, key: int | slice) -> Module:
        """Takes out the module at an index, or a slice of them, and returns it."""
        found = self[key]
        del self[key]
        return found


class Sequential(_Row):
    """Modules one after the other, each called on the output of the one before.

    Args:
        args: the modules; or one OrderedDict of modules by name.

    Raises:
        TypeError: something that is no Module.

    Example:
        >>> import funtorch
        >>> net = Sequential(funtorch.nn.Linear(2, 3), funtorch.nn.ReLU())
        >>> net(funtorch.zeros(4, 2)).shape
        torch.Size([4, 3])
    """

    def __init__(self, *args: Module | OrderedDict[str, Module]) -> None:
        super().__init__()
        named: Iterable[tuple[Any, Any]] = (
            args[0].items() if len(args) == 1 and isinstance(args[0], OrderedDict) else enumerate(args)
        )
        for name, module in named:
            self.add_module(str(name), module)

    def forward(self, input: Any) -> Any:
        """Calls the modules in turn."""
        for module in self:
            input = module(input)
        return input

    def __getitem__(self, idx: int | slice) -> Module:
        if isinstance(idx, slice):
            return type(self)(OrderedDict(list(self._modules.items())[idx]))
        return self._modules[self._at(idx)]

    def insert(self, index: int, module: Module) -> Self:
        """Puts a module before an index; returns the container.

        Raises:
            AssertionError: `module` is no Module.
            IndexError: the index is out of range.
        """
        if not isinstance(module, Module):
            raise AssertionError(NOT_A_MODULE.format(Module))
        if not -len(self) <= index <= len(self):
            raise OutOfBoundsError(f"Index out of range: {index}")
        modules = list(self)
        modules.insert(index, module)
        self._renumber(modules)
        return self

    def extend(self, sequential: Iterable[Module]) -> Self:
        """Puts modules at the end; returns the container."""
        for module in list(sequential):
            self.append(module)
        return self

    def __add__(self, other: Sequential) -> Sequential:
        if not isinstance(other, Sequential):
            raise ArgumentValueError(NOT_ADDABLE.format(type(other)))
        return Sequential(*self, *other)

    def __iadd__(self, other: Sequential) -> Self:
        if not isinstance(other, Sequential):
            raise ArgumentValueError(NOT_ADDABLE.format(type(other)))
        return self.extend(other)

    def __mul__(self, other: int) -> Sequential:
        return Sequential(*list(self) * self._times(other))

    def __rmul__(self, other: int) -> Sequential:
        return self * other

    def __imul__(self, other: int) -> Self:
        return self.extend(list(self) * (self._times(other) - 1))

    def _times(self, factor: object) -> int:
        if not isinstance(factor, int):
            raise ArgumentTypeError(NO_TIMES.format(type(self), type(factor)))
        if factor <= 0:
            raise ArgumentValueError(NOT_POSITIVE.format(factor, type(self)))
        return factor


class ModuleList(_Row):
    """Modules in a list, to be called by hand.

    Args:
        modules: the modules; None: none yet.

    Raises:
        TypeError: `modules` is not iterable, or holds something that is no Module.

    Example:
        >>> import funtorch
        >>> layers = ModuleList(funtorch.nn.Linear(2, 2) for _ in range(3))
        >>> len(layers), len(list(layers.parameters()))
        (3, 6)
    """

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __getitem__(self, idx: int | slice) -> Module:
        if isinstance(idx, slice):
            return type(self)(list(self._modules.values())[idx])
        return self._modules[self._at(idx)]

    def __iadd__(self, modules: Iterable[Module]) -> Self:
        return self.extend(modules)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList(chain(self, other))

    def insert(self, index: int, module: Module) -> None:
        """Puts a module before an index, as `list.insert` does. Raises TypeError for what is no Module."""
        if module is not None and not isinstance(module, Module):
            raise ArgumentTypeError(f"{type(module).__name__} is not a Module subclass")
        modules = list(self)
        modules.insert(index, module)
        self._renumber(modules)

    def extend(self, modules: Iterable[Module]) -> Self:
        """Puts modules at the end; returns the list. Raises TypeError for what is not iterable."""
        if not isinstance(modules, Iterable):
            raise ArgumentTypeError(NOT_ITERABLE.format("ModuleList.extend", type(modules).__name__))
        for module in list(modules):
            self.append(module)
        return self

    def __repr__(self) -> str:
        # Neighbours that print alike are printed once, with their number.
        runs: list[list[Any]] = []
        for i, module in enumerate(self):
            text = repr(module)
            if runs and runs[-1][2] == text:
                runs[-1][1] = i
            else:
                runs.append([i, i, text])
        lines = [f"({a}): {indented(text)}" if a == b else f"({a}-{b}): {b - a + 1} x {indented(text)}" for a, b, text in runs]
        body = "".join(f"\n  {line}" for line in lines)
        return f"{self._get_name()}({body}\n)" if body else f"{self._get_name()}()"


class ModuleDict(Module):
    """Modules by name, in the order in which they were added.

    Args:
        modules: a mapping, or pairs of a name and a Module; None: none yet.

    Raises:
        TypeError: `modules` is neither, or holds something that is no Module.
        KeyError: a name that is no possible attribute: empty, with a dot, or taken.

    Example:
        >>> import funtorch
        >>> heads = ModuleDict({"mean": funtorch.nn.Linear(2, 1), "scale": funtorch.nn.Linear(2, 1)})
        >>> list(heads)
        ['mean', 'scale']
    """

    def __init__(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Module:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Takes out all modules."""
        self._modules.clear()

    def pop(self, key: str) -> Module:
        """Takes out the module of a name and returns it. Raises KeyError where there is none."""
        return self._modules.pop(key)

    def keys(self) -> KeysView[str]:
        """The names."""
        return self._modules.keys()

    def items(self) -> ItemsView[str, Module]:
        """The names and modules."""
        return self._modules.items()

    def values(self) -> ValuesView[Module]:
        """The modules."""
        return self._modules.values()

    def update(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]]) -> None:
        """Adds or replaces modules, given as a mapping or as pairs."""
        for name, module in named_values(modules, type(self).__name__):
            self[name] = module
