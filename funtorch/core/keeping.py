"""Keeping results of chosen ops from a first run, to be given again in a second one: what a checkpoint need not compute twice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .call import Views
from .engine import CONCRETE
from .handle import Handle, make, value_of
from .op import Op
from .state import state, watched
from .tape import record


class Keeper:
    """Sees each call of an op in a run. It keeps the results of those for which ``wanted(op, args)``, or gives those ``kept`` in their order.

    Values under a level or in a trace are computed again: there they are parts of something larger.
    """

    def __init__(self, wanted: Callable[[Op, Sequence[Any]], bool], kept: list[Any], again: bool) -> None:
        self.wanted = wanted
        self.kept = kept
        self.again = again

    def __enter__(self) -> Keeper:
        self.given = iter(self.kept)  # from the start: a run may be made again, or have failed midway
        self.before, state.keeper = state.keeper, self
        watched.append(None)
        return self

    def __exit__(self, *exc: object) -> None:
        watched.pop()
        state.keeper = self.before

    def call(self, call: Callable, op: Op, args: Sequence[Any], recording: bool, ceiling: int | None) -> Any:
        """The result of a call, computed or kept."""
        state.keeper = None
        try:
            values = [value_of(a) if isinstance(a, Handle) else a for a in args]
            plain = not state.levels and all([type(v) in CONCRETE for v in values])
            if not plain or not self.wanted(op, args):
                return call(op, args, recording, ceiling)
            if self.again and (payload := next(self.given, None)) is not None:
                return _given(op, args, values, payload, recording)
            result = call(op, args, recording, ceiling)
            if not self.again:
                self.kept.append(tuple(r._payload for r in result) if isinstance(result, tuple) else result._payload)
            return result
        finally:
            state.keeper = self


def _given(op: Op, args: Sequence[Any], values: list[Any], payload: Any, recording: bool) -> Any:
    """What `call` would return, with values that are known."""
    key = tuple([(v.shape, v.dtype) for v in values])
    results = [make(p) for p in payload] if isinstance(payload, tuple) else make(payload)
    if recording and state.grad and any([isinstance(a, Handle) and a._requires for a in args]):
        record(op, args, values, key, results, 0)
    if op.view and not isinstance(results, list):
        Views.attach(results, args[0], op)
    return tuple(results) if isinstance(results, list) else results
