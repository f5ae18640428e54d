"""``funtorch.profiler``: the time that each op takes, noted by a schedule of steps, as tables and traces.

`jax.profiler.trace` says more of what happens on a chip.
"""

from __future__ import annotations

import enum
import os
import socket
import time
from collections.abc import Callable, Iterable
from typing import Any

from .autograd.profiler import Recording, record_function
from .autograd.profiler_util import EventList
from .devices import devices_of
from .errors import ArgumentValueError

__all__ = [
    "ProfilerAction", "ProfilerActivity", "kineto_available", "profile", "record_function", "schedule", "supported_activities",
    "tensorboard_trace_handler",
]  # fmt: skip


class ProfilerActivity(enum.Enum):
    """What may be noted. All is noted on the host, once the device has done it."""

    CPU = 0
    XPU = 1
    CUDA = 2
    HPU = 3
    MTIA = 4
    PrivateUse1 = 5


class ProfilerAction(enum.Enum):
    """What to do in a step."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


def supported_activities() -> set[ProfilerActivity]:
    """CPU, and CUDA where JAX sees a GPU."""
    return {ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if devices_of("gpu") else [])}


def kineto_available() -> bool:
    """False: it's PyTorch's own library."""
    return False


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0, skip_first_wait: int = 0
) -> Callable[[int], ProfilerAction]:
    """What to do in each step: nothing ``skip_first`` times; then, again and again, wait, warm up, and record.

    Args:
        wait, warmup, active: the steps of a cycle, at least one of them active.
        repeat: how many cycles; 0 for no end.
        skip_first: steps before the first cycle.
        skip_first_wait: whether the first cycle begins without waiting; 0 or 1.

    Returns:
        The function of a step's number.

    Raises:
        ValueError: a negative number, or no active step.
    """
    if min(wait, warmup, repeat, skip_first) < 0 or active <= 0:
        raise ArgumentValueError(
            f"schedule(wait={wait}, warmup={warmup}, active={active}, repeat={repeat}, skip_first={skip_first}): none may be "
            "negative, and active not 0"
        )
    cycle = wait + warmup + active

    def action(step: int) -> ProfilerAction:
        step -= skip_first
        if step < 0:
            return ProfilerAction.NONE
        step += wait if skip_first_wait else 0
        number, place = divmod(step, cycle)
        if (repeat and number >= repeat) or place < wait:
            return ProfilerAction.NONE
        if place < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD_AND_SAVE if place == cycle - 1 else ProfilerAction.RECORD

    return action


def _always(step: int) -> ProfilerAction:
    return ProfilerAction.RECORD


def tensorboard_trace_handler(dir_name: str, worker_name: str | None = None, use_gzip: bool = False) -> Callable[[profile], None]:
    """A handler that writes each trace to a file of its own in a folder, for `profile`'s ``on_trace_ready``.

    Args:
        dir_name: the folder, made if it is not there.
        worker_name: the beginning of the files' names; the machine and the process unless given.
        use_gzip: accepted, without effect.
    """
    name = worker_name or f"{socket.gethostname()}_{os.getpid()}"

    def handle(prof: profile) -> None:
        os.makedirs(dir_name, exist_ok=True)
        prof.export_chrome_trace(os.path.join(dir_name, f"{name}.{time.time_ns()}.pt.trace.json"))

    return handle


class profile:  # noqa: N801
    """``with torch.profiler.profile() as prof: ...``, then ``prof.key_averages().table()``: the time of each op.

    Args:
        activities: accepted, without effect: all is noted.
        schedule: what to do in each step, of which `step` marks the ends; everything is noted unless given.
        on_trace_ready: called with this when a cycle has ended.
        record_shapes: whether to note the shapes of what goes in.
        profile_memory, with_stack, with_flops, with_modules, experimental_config, execution_trace_observer, acc_events, use_cuda:
            accepted, without effect.

    Differs from PyTorch: a backward pass that runs as one program is one op; ops of other threads are not noted.

    Example:
        >>> with torch.profiler.profile() as prof:
        ...     y = torch.ones(2) + 1
        >>> [(entry.key, entry.count) for entry in prof.key_averages() if entry.key == "add"]
        [('add', 1)]
    """

    def __init__(
        self,
        *,
        activities: Iterable[ProfilerActivity] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[profile], Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        experimental_config: Any = None,
        execution_trace_observer: Any = None,
        acc_events: bool = False,
        use_cuda: bool | None = None,
    ) -> None:
        self.activities = set(activities) if activities is not None else supported_activities()
        self.schedule = schedule or _always
        self.on_trace_ready, self.record_shapes = on_trace_ready, record_shapes
        self.step_num = 0
        self.current_action = self.schedule(0)
        self._recording = Recording(record_shapes)
        self._running = False

    def start(self) -> None:
        """Begin with step 0."""
        self._follow()

    def _follow(self) -> None:
        """Record, or don't, as the current action says."""
        wanted = self.current_action in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)
        if wanted and not self._running:
            self._recording = Recording(self.record_shapes)
            self._recording.start()
        elif self._running and not wanted:
            self._recording.stop()
        self._running = wanted

    def _ready(self) -> None:
        """A trace is whole: hand it on."""
        if self._running:
            self._recording.stop()
            self._running = False
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def step(self) -> None:
        """A step has ended, and the next one begins."""
        if self.current_action is ProfilerAction.RECORD_AND_SAVE:
            self._ready()
        self.step_num += 1
        self.current_action = self.schedule(self.step_num)
        self._follow()

    def stop(self) -> None:
        """Note no more, and hand on what was noted since the last trace."""
        if self._running:
            self._ready()

    def __enter__(self) -> profile:
        self.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.stop()

    def events(self) -> EventList:
        """Every event of the last trace, in the order of their beginnings."""
        return self._recording.events

    def key_averages(self, group_by_input_shape: bool = False, group_by_stack_n: int = 0) -> EventList:
        """The events of the last trace summed by name; see `EventList.table`."""
        return self.events().key_averages(group_by_input_shape)

    def export_chrome_trace(self, path: str) -> None:
        """Write the last trace as a file for chrome://tracing and its like."""
        self.events().export_chrome_trace(path)
