"""The time that each op takes: `profile` notes it for all ops of a block, `record_function` gives parts of it names."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax

from ..core.handle import Handle
from ..core.op import Op
from ..core.state import state, watched
from .profiler_util import EventList, FunctionEvent, FunctionEventAvg

__all__ = ["EventList", "FunctionEvent", "Recording", "profile", "record_function"]


class Recording:
    """The events of a block of one thread, noted from `start` to `stop`. An op is waited for before its time is taken."""

    def __init__(self, record_shapes: bool = False) -> None:
        self.record_shapes = record_shapes
        self.events = EventList()
        self._open: list[FunctionEvent] = []
        self._began = time.perf_counter()
        self._before: Recording | None = None

    def start(self) -> None:
        """Begin to note this thread's ops."""
        self._before, state.profiler = state.profiler, self
        watched.append(None)

    def stop(self) -> None:
        """Note no more."""
        state.profiler = self._before
        watched.pop()
        while self._open:
            self.close()

    def open(self, name: str, shapes: list[list[int]] | None = None, annotation: bool = True) -> None:
        """An event begins, inside of those that have not ended."""
        event = FunctionEvent(name, self._now(), input_shapes=shapes or [], is_user_annotation=annotation)
        if self._open:
            self._open[-1].cpu_children.append(event)
        self._open.append(event)
        self.events.append(event)

    def close(self) -> None:
        """The event that began last ends."""
        self._open.pop().end = self._now()

    @contextlib.contextmanager
    def part(self, name: str) -> Iterator[None]:
        """A block as one event."""
        self.open(name, annotation=False)
        try:
            yield
        finally:
            self.close()

    def _now(self) -> float:
        return 1e6 * (time.perf_counter() - self._began)

    def call(self, call: Callable, op: Op, args: Sequence[Any], *how: Any) -> Any:
        """``call(op, args, *how)``, noted; what it calls in turn is part of it."""
        shapes = [list(_payload(arg).shape) for arg in args] if self.record_shapes else None
        self.open(op.name, shapes, annotation=False)
        state.profiler = None
        try:
            results = call(op, args, *how)
            for each in results if isinstance(results, tuple) else (results,):
                value = _payload(each)
                if isinstance(value, jax.Array) and not isinstance(value, jax.core.Tracer):
                    value.block_until_ready()
            return results
        finally:
            state.profiler = self
            self.close()


def _payload(value: Any) -> Any:
    return value._payload if isinstance(value, Handle) else value


class record_function(contextlib.ContextDecorator):  # noqa: N801
    """``with record_function("forward"): ...``, or as a decorator: the part has this name in a profile, JAX's too.

    Args:
        name: what the profile shows.
        args: more text for JAX's, if any.
    """

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name, self.args = name, args
        self.open: list[Any] = []

    def __enter__(self) -> record_function:
        annotation = jax.profiler.TraceAnnotation(self.name, **({} if self.args is None else {"args": self.args}))
        annotation.__enter__()
        recording = state.profiler
        if recording is not None:
            recording.open(self.name)
        self.open.append((annotation, recording))
        return self

    def __exit__(self, *exc: object) -> None:
        annotation, recording = self.open.pop()
        if recording is not None and recording is state.profiler:
            recording.close()
        annotation.__exit__(None, None, None)


class profile:  # noqa: N801
    """``with torch.autograd.profiler.profile() as p: ...``, then ``p.key_averages().table()``: the time of each op.

    Args:
        enabled: whether to note anything.
        record_shapes: whether to note the shapes of what goes in.
        use_cuda, use_device, with_flops, profile_memory, with_stack, with_modules, use_kineto, use_cpu: accepted, without effect.

    Differs from PyTorch: a backward pass that runs as one program is one op.
    """

    def __init__(
        self, enabled: bool = True, *, use_cuda: bool = False, use_device: str | None = None, record_shapes: bool = False,
        with_flops: bool = False, profile_memory: bool = False, with_stack: bool = False, with_modules: bool = False,
        use_kineto: bool = False, use_cpu: bool = True,
    ) -> None:  # fmt: skip
        self.enabled = enabled
        self._recording = Recording(record_shapes)

    def __enter__(self) -> profile:
        if self.enabled:
            self._recording.start()
        return self

    def __exit__(self, *exc: object) -> None:
        if self.enabled:
            self._recording.stop()

    @property
    def function_events(self) -> EventList:
        """Every event, in the order of their beginnings."""
        return self._recording.events

    def key_averages(self, group_by_input_shape: bool = False, group_by_stack_n: int = 0) -> EventList:
        """The events summed by name."""
        return self.function_events.key_averages(group_by_input_shape)

    def total_average(self) -> FunctionEventAvg:
        """All events together."""
        return self.function_events.total_average()

    def table(self, sort_by: str | None = None, row_limit: int = 100, header: str | None = None) -> str:
        """The events as a table; see `EventList.table`."""
        return self.function_events.table(sort_by, row_limit, header=header)

    def export_chrome_trace(self, path: str) -> None:
        """Write the events as a file for chrome://tracing and its like."""
        self.function_events.export_chrome_trace(path)

    @property
    def self_cpu_time_total(self) -> float:
        """The sum of the events' own times, in microseconds."""
        return self.function_events.self_cpu_time_total

    def __str__(self) -> str:
        return str(self.function_events)
