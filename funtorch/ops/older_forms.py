"""PyTorch's older order of arguments: numbers before or among the Tensors, as in ``torch.addmm(beta, x, alpha, a, b)``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..cautions import caution_once
from ..core.handle import Handle
from ..errors import ArgumentTypeError

OLDER = "This overload of {0} is deprecated: give the numbers as keywords: {0}(tensors, {1})."


def older_order(function: Callable, keywords: Sequence[str], args: tuple, named: dict[str, Any]) -> Any:
    """Call ``function`` with the numbers among ``args`` as ``keywords``: the first of them, or all.

    Raises TypeError if it takes fewer Tensors, or if there is no number.
    """
    tensors = [x for x in args if isinstance(x, Handle)]
    numbers = [x for x in args if not isinstance(x, Handle)]
    allowed = function.__code__.co_argcount
    if len(tensors) != allowed or not 0 < len(numbers) <= len(keywords):
        raise ArgumentTypeError(f"{function.__name__}() takes {allowed} positional arguments but {len(args)} were given")
    text = OLDER.format(function.__name__, ", ".join(f"{key}=number" for key in keywords))
    caution_once(text, key="older order of arguments")
    return function(*tensors, **(named | dict(zip(keywords, numbers, strict=False))))
