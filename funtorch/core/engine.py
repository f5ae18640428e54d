"""The engine: only it runs an Op on concrete arrays, on the host with NumPy or as a kernel compiled by XLA."""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jaxlib.xla_client import ArrayImpl

from ..errors import ArgumentValueError, FuntorchError, OpError, describe
from . import background, forked, tiers
from .bounded import Bounded, limit_from
from .direct import Form
from .disk_cache import use_disk_cache
from .jax_logs import keep_to_warnings
from .memory import keep_freed_memory
from .op import Op
from .quiet import quiet_context
from .state import state

jax.config.update("jax_enable_x64", True)
# Run CPU kernels in the calling thread: handing each to another thread costs more (30 to 100 us) than most of them take.
jax.config.update("jax_cpu_enable_async_dispatch", False)
use_disk_cache()
keep_freed_memory()
keep_to_warnings()

# The class of JAX's arrays, from jaxlib: asking an array for it would start JAX's backend (and claim a GPU) at import.
CONCRETE = frozenset({np.ndarray, ArrayImpl})


@functools.lru_cache(maxsize=None)
def host_possible() -> bool:
    """Whether ops run on the CPU, where NumPy can run them."""
    return forked.process.forked or jax.default_backend() == "cpu"


def mode_in_force() -> str:
    """The mode in which ops run: "kernel" on a GPU or TPU, "host" in a forked child, whatever `set_engine` said."""
    if forked.process.forked:
        return "host"
    return settings.mode if host_possible() else "kernel"


# How ops run for the shapes they have met, over all ops: a host program takes some 10 kB, a kernel some 100.
programs = Bounded(limit_from("FUNTORCH_PROGRAMS", 8192))


def known_mode(mode: str, where: str) -> str:
    """``mode``, if it is one of the engine's. Raises ValueError otherwise."""
    if mode not in tiers.MODES:
        raise ArgumentValueError(f"{where}: expected one of {', '.join(map(repr, tiers.MODES))}, got {mode!r}")
    return mode


class Settings:
    """The mode chosen by `set_engine`; at first by the environment variable FUNTORCH_ENGINE."""

    mode = known_mode(os.environ.get("FUNTORCH_ENGINE") or "auto", "FUNTORCH_ENGINE")


settings = Settings()


class Moves:
    """How many arguments of kernels were NumPy arrays large enough to be worth moving once and for all."""

    count = 0


moves = Moves()
MOVED_BYTES = 1 << 19  # moving one takes some 20 microseconds, about what copying half a megabyte does


def _move(values: list[Any]) -> None:
    """Replace large NumPy arrays in ``values`` by JAX's, for whoever holds them to keep: a kernel copies NumPy's each time."""
    for i, value in enumerate(values):
        if type(value) is np.ndarray and value.nbytes >= MOVED_BYTES:
            values[i] = jax.device_put(value)
            moves.count += 1


class Slot:
    """How one Op runs for arguments of given shapes and dtypes: so many calls on the host, and then as a kernel.

    ``stays`` is the host program of one that never gets a kernel.
    """

    __slots__ = ("host", "left", "early", "single", "kernel", "task", "stays", "recipes", "recent")

    def __init__(self, host: Callable | None, left: float, single: bool) -> None:
        self.host = host
        self.left = left  # calls that still run on the host
        self.early = left // 2 if left < math.inf else -1  # calls left when the kernel is begun, on another thread
        self.single = single
        self.kernel: Any = None  # once it has been asked for
        self.task: background.Task | None = None
        self.stays = host if left == math.inf else None
        self.recipes: dict[int, Any] = {}  # the tape's, by which arguments require grad
        self.recent = True


def run(op: Op, values: list[Any], key: tuple | None = None) -> Any:
    """Run ``op`` on concrete arrays: an array or a tuple of arrays. ``key``: their shapes and dtypes.

    A kernel's large NumPy arguments are replaced in ``values`` by JAX's arrays (`moves` counts them).

    Raises what the op's own checks raise; an error of JAX's becomes RuntimeError with the op and its arguments.
    """
    if key is None:
        key = tuple([(v.shape, v.dtype) for v in values])
    slot = op.programs.get(key)
    try:
        if slot is None:
            slot = _new_slot(op, key)
        slot.recent = True
        if slot.left > 0 and slot.host is not None:
            slot.left -= 1
            if slot.left == slot.early:
                slot.kernel = op.new_kernel()
                slot.task = background.start(functools.partial(slot.kernel, *values))
            results = slot.host(*[v if type(v) is np.ndarray else forked.as_numpy(v) for v in values])
            return results[0] if slot.single else results
        if slot.task is not None:
            slot.task.finish()
            slot.task = slot.host = None
        elif slot.kernel is None:
            slot.kernel = op.new_kernel()
        if host_possible():
            _move(values)
        return slot.kernel(*values)
    except FuntorchError:
        raise
    except (TypeError, ValueError, ZeroDivisionError) as error:
        raise explained(op, values, error) from error


def _new_slot(op: Op, key: tuple) -> Slot:
    mode = mode_in_force()
    if mode == "kernel":
        slot = Slot(None, 0, False)
    elif op.direct is not None and (form := op.direct.forward(key)) is not None:
        slot = Slot(_quiet(form), math.inf, form.single)
    else:
        from .host import prepare  # a few dozen files that code on an accelerator never needs

        closed, single = op.traces.pop(key, None) or op.trace(key)
        left = math.inf if mode == "host" else tiers.patience(closed.jaxpr)
        slot = Slot(prepare(closed).run if left else None, left, single)
        if closed.jaxpr.effects:
            slot.early = -1  # begun early a kernel runs once more than it is called, and what it prints would come twice
    programs.add(op.programs, key, slot)
    return slot


def _quiet(form: Form) -> Callable:
    """The function of a direct form as a host program: it gives a tuple, and NumPy does not warn."""
    run = form.run
    if form.bare:
        return lambda *args: (quiet_context().run(run, *args),)
    return lambda *args: quiet_context().run(run, *args)


def set_engine(mode: str) -> Engine:
    """Choose how ops run: "auto" by `core.tiers`' rules, "host" with NumPy only, "kernel" with XLA only.

    It takes effect at once; used in a ``with`` statement, until its end. Raises ValueError for another mode.

    >>> import funtorch as torch
    >>> with torch.set_engine("host"):
    ...     torch.ones(2) + 1
    tensor([2., 2.])
    """
    known_mode(mode, "set_engine()")
    if mode == "host" and not host_possible():
        raise ArgumentValueError(
            f"set_engine({mode!r}): the host tier runs on a CPU only, and JAX's default here is {jax.default_backend()}"
        )
    return Engine(mode)


class Engine:
    """A mode that is in force; as a context manager it gives the one before back."""

    def __init__(self, mode: str) -> None:
        self.before = settings.mode
        _switch(mode)

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *exc: object) -> None:
        _switch(self.before)


def _switch(mode: str) -> None:
    if mode != settings.mode:
        programs.clear()
    settings.mode = mode


def stay_on_host() -> None:
    """Run everything with NumPy from now on: this process was forked (see `core.forked`). Host programs are kept."""
    forked.process.forked = True
    host_possible.cache_clear()
    settings.mode = "host"
    for home, key, slot in programs.entries():
        if slot.host is None:
            home.pop(key, None)  # another thread may have queued it twice
        else:
            slot.left, slot.early = math.inf, -1


def run_traced(op: Op, values: Sequence[Any]) -> Any:
    """Run ``op`` in place on JAX tracers, as part of whatever traces them."""
    # Ops use methods of JAX's arrays; what is made inside of a traced function, and does not depend on its arguments, is NumPy's.
    arrays = [jax.numpy.asarray(v) if type(v) is np.ndarray else v for v in values]
    fn = op.suited() if state.recorder is not None and state.recorder.suited else op.fn
    try:
        return fn(*arrays)
    except FuntorchError:
        raise
    except (TypeError, ValueError, ZeroDivisionError) as error:
        if isinstance(error, jax.errors.JAXTypeError):
            raise
        raise explained(op, values, error) from error


def explained(op: Op, values: Sequence[Any], error: Exception) -> OpError:
    """JAX's complaint about ``op``, as a RuntimeError that shows the arguments."""
    return OpError(f"{op.name}({', '.join(map(describe, values))}): {error}")
