"""Older functions that set and ask autocast, one for each kind of device: ``is_autocast_cpu_enabled()`` and the like. They warn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..cautions import caution
from . import settings

KINDS = {"cpu": "cpu", "gpu": "cuda", "xla": "xla", "ipu": "ipu"}
# What a name begins and ends with, the function that takes the kind as an argument, and its other argument.
FORMS: dict[tuple[str, str], tuple[Callable, str]] = {
    ("is_autocast", "enabled"): (settings.is_autocast_enabled, ""),
    ("set_autocast", "enabled"): (settings.set_autocast_enabled, "enabled"),
    ("get_autocast", "dtype"): (settings.get_autocast_dtype, ""),
    ("set_autocast", "dtype"): (settings.set_autocast_dtype, "dtype"),
}


def _older(name: str, now: Callable, kind: str, argument: str) -> Callable:
    instead = f"torch.{now.__name__}({kind!r}{argument and ', '}{argument})"
    text = f"torch.{name}({argument}) is deprecated. Please use {instead} instead."

    def asks() -> Any:
        caution(text, DeprecationWarning)
        return now(kind)

    def sets(value: Any) -> None:
        caution(text, DeprecationWarning)
        now(kind, value)

    made = sets if argument else asks
    made.__name__ = made.__qualname__ = name
    made.__doc__ = f"``{instead}``. Deprecated: it warns."
    return made


for (_first, _last), (_now, _argument) in FORMS.items():
    for _word, _kind in KINDS.items():
        if (_word, _last) != ("gpu", "enabled"):
            _name = f"{_first}_{_word}_{_last}"
            globals()[_name] = _older(_name, _now, _kind, _argument)
