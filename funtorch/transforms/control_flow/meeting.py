"""What the functions of a loop or branch meet outside of them. They share it, so that all have the same inputs and outputs."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

from ...core.batching import outer_name
from ...core.handle import Handle
from ...core.levels import WRAPPED, inner_of
from ...core.state import state
from ...core.variables import depends
from ...errors import OpError

MAX_RUNS = 16
SHARED = "{}: its function writes {} in place, which shares elements with another Tensor that it takes from outside; pass it as an argument"
UNSETTLED = "{}: its function takes other Tensors from outside each time it is traced"


class Met:
    """What ``functions``, those of a construct, have met outside of them. What they met last time is expected again."""

    def __init__(self, name: str, functions: Sequence[Callable]) -> None:
        self.name = name
        self.codes = [f.__code__ for f in functions if hasattr(f, "__code__")]
        self.captured: dict[int, Handle] = {id(t): t for code in self.codes for t in _remembered(code)}
        self.flags: tuple[bool, ...] = next((_memory[code][1] for code in self.codes if code in _memory), ())  # of a loop's carry
        self.used: set[int] = set()  # of those captured, which the last runs read
        self.written: dict[int, Handle] = {}
        self.history: dict[int, Handle] = {}  # of those written, which are on the tape afterwards
        self.sources: dict[int, Any] = {}  # generators
        self.checks: dict[Any, int] = {}  # (class of the error, message), numbered from 1
        self.modules: dict[int, Any] = {}
        self.answers: list[tuple[Any, Any]] = []  # to what the functions asked of Python's values outside
        self.asked = 0
        self.unbounded = False  # whether a loop without gradient is inside
        self.grown = False

    def inputs(self) -> list[Handle]:
        """The Tensors from outside, written ones first."""
        return [*self.written.values(), *(t for key, t in self.captured.items() if key not in self.written)]

    def add(self, where: dict[int, Any], thing: Any) -> None:
        """Note a thing."""
        if id(thing) not in where:
            where[id(thing)] = thing
            self.grown = True

    def requires(self, tensor: Handle) -> bool:
        """Whether derivatives are followed through a Tensor from outside."""
        return state.grad and (depends(tensor) or id(tensor) in self.history)

    def number(self, check: Any) -> int:
        """The number of a check."""
        if check not in self.checks:
            self.checks[check] = len(self.checks) + 1
            self.grown = True
        return self.checks[check]

    def once(self, question: Any, ask: Callable[[], Any]) -> Any:
        """What ``ask()`` gives. A function that is traced again gets the same answers, and nobody outside is asked twice."""
        if self.asked == len(self.answers) or self.answers[self.asked][0] != question:
            self.answers[self.asked :] = [(question, ask())]
        self.asked += 1
        return self.answers[self.asked - 1][1]

    def settled(self, attempt: Callable[[], Any]) -> Any:
        """What ``attempt`` gives once it meets nothing new."""
        for _ in range(MAX_RUNS):
            self.grown, self.asked, self.used = False, 0, set()
            try:
                found = attempt()
            except Exception:
                if not self.grown:  # otherwise values were stand-ins, and may be to blame
                    raise
                continue
            if len(self.used) < len(self.captured):
                self.captured = {key: t for key, t in self.captured.items() if key in self.used}
            elif not self.grown:
                self._check_written()
                self.remember()
                return found
        raise OpError(UNSETTLED.format(self.name))

    def remember(self, flags: tuple[bool, ...] = ()) -> None:
        """Expect the same next time. ``flags``: for each part of a loop's carry, whether derivatives go through it."""
        for code in self.codes:
            _memory[code] = ([weakref.ref(t) for t in self.captured.values()], flags)

    def _check_written(self) -> None:
        roots = [id(_root(t)) for t in self.captured.values()]
        for tensor in self.written.values():
            if roots.count(id(_root(tensor))) > 1:
                raise OpError(SHARED.format(self.name, outer_name(tensor)))


# By a function's code, the Tensors from outside that it read last, and a loop's flags.
_memory: weakref.WeakKeyDictionary[Any, tuple[list[weakref.ref], tuple[bool, ...]]] = weakref.WeakKeyDictionary()


def _remembered(code: Any) -> list[Handle]:
    found = [ref() for ref in _memory.get(code, ([], ()))[0]]
    return [t for t in found if t is not None and _is_alive(t)]


def _is_alive(tensor: Handle) -> bool:
    payload = tensor._payload
    return type(payload) not in WRAPPED or payload.level.alive and _is_alive(inner_of(payload))


def _root(tensor: Handle) -> Handle:
    while tensor._base is not None:
        tensor = tensor._base
    return tensor
