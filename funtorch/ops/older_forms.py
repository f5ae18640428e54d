"""In-place sums that also take PyTorch's older order of arguments, a number before the Tensors: ``x.add_(0.5, y)``."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from . import arithmetic, registry
from .assignment import overwrite

# name -> (function, its Tensors after the first, the keyword that the number means, further names)
FORMS = {
    "add_": (arithmetic.add, 1, "alpha", ()),
    "sub_": (arithmetic.sub, 1, "alpha", ("subtract_",)),
    "addcmul_": (arithmetic.addcmul, 2, "value", ()),
    "addcdiv_": (arithmetic.addcdiv, 2, "value", ()),
}
OLDER = (
    "This overload of {0} is deprecated: {0}(number, tensor, ...). Give the number as a keyword: {0}(tensor, ..., {1}=number)."
)


def _declare(name: str, function: Callable, tensors: int, keyword: str, further: tuple[str, ...]) -> None:
    newer = overwrite(function, name)

    def in_place(self: Any, *args: Any, **kwargs: Any) -> Any:
        if len(args) == tensors + 1:
            warnings.warn(OLDER.format(name, keyword), UserWarning, stacklevel=2)
            args, kwargs = args[1:], {keyword: args[0]}
        return newer(self, *args, **kwargs)

    in_place.__name__ = in_place.__qualname__ = name
    in_place.__doc__ = f"In-place form of ``{function.__name__}``; {name}(number, tensor, ...) is its older order of arguments."
    for each in (name, *further):
        registry.add("torch", each, in_place)
        registry.add_method(each, in_place)


for _name, _form in FORMS.items():
    _declare(_name, *_form)
