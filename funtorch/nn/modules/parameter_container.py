"""Parameters in a list and in a dict, as Modules. Other values may stand among them."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Self

from ...errors import ArgumentTypeError, OpError, OutOfBoundsError
from ...tensor import Tensor
from ..module import Module
from ..module_members import type_name
from ..parameter import Parameter
from .pairs import named_values

__all__ = ["ParameterDict", "ParameterList"]

NOT_CALLED = "{} should not be called."
NOT_A_LIST = "{} should be called with an iterable, but got {}"
NOT_A_STRING = "Index given to ParameterDict cannot be used as a key as it is not a string (type is '{}')."


class ParameterList(Module):
    """Parameters in a list.

    Args:
        values: the values; Tensors become Parameters, anything else is kept as it is. None: none yet.

    Raises:
        TypeError: `values` is not iterable.

    Example:
        >>> import funtorch
        >>> ParameterList([funtorch.zeros(2, 3), funtorch.ones(3)])
        ParameterList(
            (0): Parameter containing: [torch.float32 of size 2x3]
            (1): Parameter containing: [torch.float32 of size 3]
        )
    """

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def forward(self, *args: Any) -> Any:
        """Raises RuntimeError: there is nothing to compute."""
        raise OpError(NOT_CALLED.format("ParameterList"))

    def _at(self, index: Any) -> str:
        index = operator.index(index)
        if not -len(self) <= index < len(self):
            raise OutOfBoundsError(f"index {index} is out of range")
        return str(index % len(self))

    def __getitem__(self, idx: int | slice) -> Any:
        if isinstance(idx, slice):
            return type(self)(list(self)[idx])
        return getattr(self, self._at(idx))

    def __setitem__(self, idx: int, param: Any) -> None:
        setattr(self, self._at(idx), as_parameter(param))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter([getattr(self, str(i)) for i in range(len(self))])

    def __iadd__(self, parameters: Iterable[Any]) -> Self:
        return self.extend(parameters)

    def append(self, value: Any) -> Self:
        """Puts a value at the end; returns the list."""
        setattr(self, str(len(self)), as_parameter(value))
        self._size += 1
        return self

    def extend(self, values: Iterable[Any]) -> Self:
        """Puts values at the end; returns the list. Raises TypeError for what is no iterable, or a Tensor."""
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise ArgumentTypeError(NOT_A_LIST.format("ParameterList.extend", type(values).__name__))
        for value in list(values):
            self.append(value)
        return self

    def extra_repr(self) -> str:
        """One line for each value."""
        return "\n".join(f"  ({i}): {summary(value, str(getattr(value, 'dtype', '')))}" for i, value in enumerate(self))


class ParameterDict(Module):
    """Parameters by name, in the order in which they were added; those of a plain dict sorted by name.

    Args:
        parameters: a mapping or pairs; Tensors become Parameters, anything else is kept as it is.

    Raises:
        TypeError: `parameters` is neither, or a name no string.
        KeyError: a name that is no possible attribute: empty, with a dot, or taken.

    Example:
        >>> import funtorch
        >>> ParameterDict({"scale": funtorch.ones(2)})
        ParameterDict(  (scale): Parameter containing: [torch.FloatTensor of size 2])
    """

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def forward(self, *args: Any) -> Any:
        """Raises RuntimeError: there is nothing to compute."""
        raise OpError(NOT_CALLED.format("ParameterDict"))

    def __getitem__(self, key: str) -> Any:
        _require_string(key)
        if key not in self._keys:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{key}'")
        return getattr(self, key)

    def __setitem__(self, key: str, value: Any) -> None:
        _require_string(key)
        value = as_parameter(value)
        if not isinstance(value, Parameter) and key not in self._keys and hasattr(self, key):
            raise KeyError(f"attribute '{key}' already exists")
        setattr(self, key, value)
        self._keys[key] = None

    def __delitem__(self, key: str) -> None:
        _require_string(key)
        del self._keys[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(list(self._keys))

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def copy(self) -> ParameterDict:
        """A new dict of the same values."""
        return ParameterDict(OrderedDict(self.items()))

    def clear(self) -> None:
        """Takes out all values."""
        for key in list(self._keys):
            del self[key]

    def setdefault(self, key: str, default: Any = None) -> Any:
        """The value of a name, after adding it with `default` if there is none."""
        if key not in self:
            self[key] = default
        return self[key]

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a name, or `default` if there is none."""
        return self[key] if key in self else default

    def pop(self, key: str) -> Any:
        """Takes out the value of a name and returns it. Raises AttributeError where there is none."""
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, Any]:
        """Takes out the name and value added last. Raises KeyError where the dict is empty."""
        if not self._keys:
            raise KeyError("popitem(): dictionary is empty")
        key = next(reversed(self))
        return key, self.pop(key)

    def keys(self) -> Iterable[str]:
        """The names."""
        return self._keys.keys()

    def items(self) -> Iterable[tuple[str, Any]]:
        """The names and values."""
        return [(key, self[key]) for key in self._keys]

    def values(self) -> Iterable[Any]:
        """The values."""
        return [self[key] for key in self._keys]

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """A new dict of these names, all with the same value."""
        return ParameterDict((key, default) for key in keys)

    def update(self, parameters: Any) -> None:
        """Adds or replaces values, given as a mapping or as pairs; those of a plain dict sorted by name."""
        found = named_values(parameters, type(self).__name__)
        if isinstance(parameters, Mapping) and not isinstance(parameters, OrderedDict):
            found.sort(key=operator.itemgetter(0))
        for key, value in found:
            self[key] = value

    def __or__(self, other: Any) -> ParameterDict:
        both = self.copy()
        both.update(other)
        return both

    def __ror__(self, other: Any) -> Any:
        both = other.copy()
        both.update(self)
        return both

    def __ior__(self, other: Any) -> Self:
        self.update(other)
        return self

    def extra_repr(self) -> str:
        """One line for each value."""
        return "\n".join(f"  ({key}): {summary(value, type_name(value))}" for key, value in self.items())


def as_parameter(value: Any) -> Any:
    """A Tensor as a Parameter; anything else as it is."""
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value


def summary(value: Any, type_: str) -> str:
    """A value in one line: what it is, its type, its sizes."""
    if not isinstance(value, Tensor):
        return f"Object of type: {type(value).__name__}"
    kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
    place = f" ({'GPU' if value.device.type == 'cuda' else value.device.type} {value.device.index})"
    sizes = "x".join(str(size) for size in value.shape)
    return f"{kind} containing: [{type_} of size {sizes}{'' if value.device.type in ('cpu', 'meta') else place}]"


def _require_string(key: object) -> None:
    if not isinstance(key, str):
        raise ArgumentTypeError(NOT_A_STRING.format(type(key).__name__))
