"""Sample inputs of a database entry, a few of many, and one sample as either Side sees it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from parity.candidate import Side
from parity.convert import Crossing
from parity.lookup import counterpart


def spread(items: Iterable[Any], count: int) -> list[Any]:
    """The first, the last, and others evenly spaced between them: ``count`` in all, or all if fewer."""
    items = list(items)
    if len(items) <= count:
        return items
    if count == 1:
        return items[:1]
    return [items[round(i * (len(items) - 1) / (count - 1))] for i in range(count)]


def draw(info: Any, dtype: torch.dtype, requires_grad: bool) -> list[Any]:
    """All of the entry's sample inputs, the same ones in each run."""
    seed_all()
    return list(info.sample_inputs("cpu", dtype, requires_grad=requires_grad))


def draw_errors(info: Any, count: int) -> list[Any]:
    """A spread of the entry's inputs that must raise."""
    seed_all()
    return spread(info.error_inputs("cpu"), count)


def seed_all() -> None:
    """Seeds every generator that a sample function may use."""
    torch.manual_seed(0)
    np.random.seed(0)
    random.seed(0)


@dataclass
class Call:
    """One sample on one Side: ``function(*args, **kwargs)``, and the tensors among the arguments."""

    side: Side
    function: Callable
    args: list[Any]
    kwargs: dict[str, Any]
    process: Callable = field(default=lambda out: out)

    def __call__(self) -> Any:
        return self.function(*self.args, **self.kwargs)

    def tensors(self) -> list[Any]:
        """The distinct tensors among the arguments, in order."""
        found: dict[int, Any] = {}
        _collect(self.side, [self.args, self.kwargs], found)
        return list(found.values())

    def with_tensors(self, replacements: list[Any]) -> Call:
        """The same call with other tensors in the places of `tensors()`."""
        table = {id(old): new for old, new in zip(self.tensors(), replacements, strict=True)}
        args, kwargs = _replace(self.side, [self.args, self.kwargs], table)
        return Call(self.side, self.function, args, kwargs, self.process)


def prepare(sample: Any, function: Callable | None, side: Side, cross: Crossing | None = None) -> Call:
    """Takes the sample's values to the Side, as a Call of ``function`` there."""
    cross = cross or Crossing(side)
    args = [cross(value) for value in (sample.input, *sample.args)]
    kwargs = {key: cross(value) for key, value in sample.kwargs.items()}
    return Call(side, function, args, kwargs, counterpart(sample.output_process_fn_grad, side))


def _collect(side: Side, value: Any, found: dict[int, Any]) -> None:
    if side.is_tensor(value):
        found.setdefault(id(value), value)
    elif isinstance(value, dict):
        _collect(side, list(value.values()), found)
    elif isinstance(value, (tuple, list)):
        for item in value:
            _collect(side, item, found)


def _replace(side: Side, value: Any, table: dict[int, Any]) -> Any:
    if side.is_tensor(value):
        return table[id(value)]
    if isinstance(value, dict):
        return {key: _replace(side, item, table) for key, item in value.items()}
    if type(value) in (tuple, list):
        return type(value)(_replace(side, item, table) for item in value)
    return value


def result_tensors(side: Side, result: Any) -> list[Any]:
    """The tensors in a result, in order."""
    found: dict[int, Any] = {}
    _collect(side, result, found)
    return list(found.values())
