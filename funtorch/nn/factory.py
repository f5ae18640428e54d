"""The arguments with which layers make their Tensors."""

from __future__ import annotations

from typing import Any

from ..errors import ArgumentTypeError

__all__ = ["factory_kwargs"]

NAMES = ("device", "dtype", "memory_format")


def factory_kwargs(kwargs: dict[str, Any] | None) -> dict[str, Any]:
    """The keywords for making Tensors that stand among others' keywords, by themselves or within ``factory_kwargs``.

    Args:
        kwargs: ``device``, ``dtype``, ``memory_format``, and a dict ``factory_kwargs`` of the same; None: none.

    Returns:
        All of them in one dict.

    Raises:
        TypeError: another keyword, or one that is given twice.

    Example:
        >>> factory_kwargs({"device": "cpu", "factory_kwargs": {"dtype": None}})
        {'dtype': None, 'device': 'cpu'}
    """
    if kwargs is None:
        return {}
    unknown = kwargs.keys() - {*NAMES, "factory_kwargs"}
    if unknown:
        raise ArgumentTypeError(f"unexpected kwargs {unknown}")
    made = dict(kwargs.get("factory_kwargs", {}))
    for name in NAMES:
        if name in kwargs:
            if name in made:
                raise ArgumentTypeError(f"{name} specified twice, in **kwargs and in factory_kwargs")
            made[name] = kwargs[name]
    return made
