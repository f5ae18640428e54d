"""A compiled function: which of its programs a call is for, and what happens where there is none yet."""

from __future__ import annotations

import functools
import threading
import warnings
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from ..core.engine import CONCRETE
from ..core.handle import form_of, value_of
from ..core.recorder import Recording
from ..core.state import state
from ..core.trees import flatten
from ..core.watcher import Disagreement
from ..errors import FuntorchError, OpError
from .arguments import Arguments, difference, modes
from .buckets import Padding, padding_of
from .code_names import inspected
from .counting import counters, log_compile
from .entries import Entry, foreign_draws, settings, user_level
from .masking import Unpaddable
from .outcomes import is_one
from .pieces import on_pieces, put_together, taken_apart
from .surroundings import Surroundings, surroundings_of
from .tracing import Trace
from .variants import GuardFailure, Variant
from .verifying import verified

_lock = threading.RLock()
_all: weakref.WeakSet[Compiled] = weakref.WeakSet()


class Compiled:
    """A compiled function. See `compile`."""

    def __init__(self, function: Callable, fullgraph: bool, verify: int = 0, dynamic: bool = False) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.fullgraph = fullgraph
        self.verify = verify  # how many compiled calls are still to be compared with eager ones
        self.dynamic = dynamic
        self.name = getattr(function, "__qualname__", None) or type(function).__name__
        self.entries: OrderedDict[Any, Entry] = OrderedDict()
        self.families: dict[Any, list[tuple]] = {}  # the keys of entries that differ in values that are no Tensors alone
        self.counts = {"eager": 0, "compiled": 0, "guard_failures": 0, "programs": 0}
        self.warned: set[str] = set()
        self.pieces: Compiled | None = None  # the same for calls with sparse Tensors
        _all.add(self)

    def __get__(self, instance: Any, owner: type) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self) -> str:
        return f"<compiled {self.name}>"

    def forget(self) -> None:
        """Let go of all programs."""
        self.entries.clear()
        self.families.clear()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        # Inside a transform, a trace or another recording the function is simply part of it.
        if state.recorder is not None or state.levels or not settings.enabled:
            return self.function(*args, **kwargs)
        call = Arguments(args, kwargs)
        for i, t in enumerate(call.tensors):
            if t._foreign:
                return self._in_pieces(args, kwargs)
            if t._source is not None:
                (value_of if i < call.given else form_of)(t)
            if type(t._payload) not in CONCRETE or t._hooks:
                return self.function(*args, **kwargs)
        with _lock:
            padding = padding_of(call) if self.dynamic else None
            entry = self._entry(call, padding)
            if entry is not None and entry.eager is None or (entry is not None and entry.variants):
                done, result = self._compiled(entry, call, padding)
                if done:
                    return result
        self.counts["eager"] += 1
        counters["eager calls"] += 1
        return self.function(*args, **kwargs)

    def _in_pieces(self, args: tuple, kwargs: dict) -> Any:
        """A call with sparse Tensors among the arguments."""
        if self.pieces is None:
            self.pieces = Compiled(functools.wraps(self.function)(on_pieces(self.function)), self.fullgraph, self.verify)
            self.pieces.counts, self.pieces.entries = self.counts, self.entries
        args, kwargs = taken_apart((args, kwargs))
        return put_together(self.pieces(*args, **kwargs))

    def _compiled(self, entry: Entry, call: Arguments, padding: Padding | None) -> tuple[bool, Any]:
        """Run the first program that applies; without one, record. (whether it was run, result)"""
        causes: list[tuple[str, bool]] = []
        for number, variant in enumerate(entry.variants):
            why, failed = variant.obstacle(call.tensors), False
            if why is None:
                try:
                    result = self._run(variant, call)
                except GuardFailure as failure:
                    self.counts["guard_failures"] += 1
                    counters["guard failures"] += 1
                    why, failed = str(failure), True
                else:
                    self.counts["compiled"] += 1
                    counters["compiled calls"] += 1
                    entry.misses = 0
                    entry.uses += 1
                    if number:
                        entry.variants.insert(0, entry.variants.pop(number))
                    return True, result
            causes.append((why, failed))
        if entry.eager is not None:
            return False, None
        self.counts["eager"] += 1
        counters["eager calls"] += 1
        return True, self._record(entry, call, causes, padding)

    def _run(self, variant: Variant, call: Arguments) -> Any:
        if self.verify <= 0:
            return variant(call.tensors)
        self.verify -= 1
        return verified(self.name, variant, call.tensors, lambda: self.function(*call.args, **call.kwargs))

    # Structures of arguments

    def _entry(self, call: Arguments, padding: Padding | None) -> Entry | None:
        key = call.key(padding)
        entry = self.entries.get(key)
        return entry if entry is not None else self._new_entry(key)

    def _new_entry(self, key: tuple) -> Entry | None:
        siblings = self.families.setdefault((key[0], key[1], key[3]), [])
        cause = "it had two calls that agreed"
        if self.entries:
            cause = difference(next(reversed(self.entries)), key)
        if len(siblings) >= settings.variants:
            if any(self.entries[sibling].uses < settings.worthwhile for sibling in siblings):
                self._warn(
                    "values", f"calls with new values of it stay eager, after {len(siblings)}: {cause}. Pass a Tensor instead"
                )
                return None
            self._drop(siblings[0])
        if len(self.entries) >= settings.structures:
            self._warn("structures", f"it was called with {len(self.entries)} structures of arguments: {cause}")
            self._drop(next(iter(self.entries)))
        siblings.append(key)
        entry = self.entries[key] = Entry(key, cause)
        return entry

    def _drop(self, key: tuple) -> None:
        """Forget a structure of arguments."""
        del self.entries[key]
        self.families[key[0], key[1], key[3]].remove(key)

    def _warn(self, kind: str, text: str) -> None:
        """Warn once of each kind."""
        if kind not in self.warned:
            self.warned.add(kind)
            warnings.warn(f"funtorch.compile({self.name}): {text}", stacklevel=user_level())

    # Recording

    def _record(self, entry: Entry, call: Arguments, causes: list[tuple[str, bool]], padding: Padding | None) -> Any:
        before, seeds = modes(), foreign_draws()
        with Recording(call.tensors) as recording:
            result = self.function(*call.args, **call.kwargs)
        entry.recordings += 1
        entry.misses += 1
        outs, _ = flatten(result, is_leaf=is_one)
        why = self._not_compilable(recording, outs, call, before)
        if why is None and foreign_draws() != seeds:
            why = "it draws from the random numbers of Python or NumPy, which a program can't"
        del outs
        if why is None and padding is not None and recording.draws:
            self._not_dynamic(entry, "it draws random numbers, and there would be more of them")
        elif why is None:
            self._agree(entry, recording, call, causes, padding)
        else:
            entry.reason = why
        if entry.eager is None:
            self._check_limits(entry, causes)
        return result

    @staticmethod
    def _not_compilable(recording: Recording, outs: list[Any], call: Arguments, before: tuple) -> str | None:
        if recording.refused:
            return recording.refused
        if not call.unchanged():
            return "it changes a list or dict that is its argument"
        if recording.escaped(outs):
            return "it keeps Tensors that it makes in Python objects outside of it"
        if modes() != before:
            return "it leaves a mode (grad, autocast, default dtype) changed"
        return None

    def _agree(self, entry: Entry, recording: Recording, call: Arguments, causes: list, padding: Padding | None) -> None:
        """Trace what was recorded, if an earlier recording was the same; otherwise keep it for a later one."""
        signature = recording.signature()
        earlier = entry.signatures.get(signature)
        changed = None if earlier is None else earlier[1].changed()
        if earlier is not None and changed is None and padding is None:
            changed = recording.differing_constant(earlier[2])
        if earlier is not None and changed is None:
            self._trace(entry, recording, call, *earlier[:2], causes, padding)
            return
        entry.reason = "no two calls took the same path" if changed is None else f"{changed} is another at each call"
        inputs: dict[int, set] = {}
        for container, path in recording.numbers:
            inputs.setdefault(id(container), set()).add(path[0])
        surroundings = surroundings_of(
            self.function, call.rest(), recording.modules.values(), recording.optimizers.values(),
            recording.cells.values(), {k: frozenset(v) for k, v in inputs.items()},
        )  # fmt: skip
        entry.signatures[signature] = ([weakref.ref(t) for t in call.tensors], surroundings, recording.constants)
        if len(entry.signatures) > 2 * settings.variants:
            entry.signatures.popitem(last=False)

    def _trace(
        self, entry: Entry, recording: Recording, call: Arguments, refs: list, surroundings: Surroundings, causes: list,
        padding: Padding | None,
    ) -> None:  # fmt: skip
        if len(entry.variants) >= settings.variants and any(failed for _, failed in causes):
            self._stay_eager(entry, f"it has taken {len(entry.variants)} compiled paths and still takes new ones: {causes[0][0]}")
            return
        try:
            counters["traces"] += 1
            trace = Trace(self.function, recording, call, padding)
            changed = surroundings.changed()
            if changed is not None:
                raise Disagreement(f"it changes {changed}, which is no Tensor")
            variant = Variant(trace, surroundings, refs)
        except Unpaddable as error:
            self._not_dynamic(entry, str(error))
            return
        except Exception as error:  # whatever it was, the call itself was good
            if surroundings.changed() is not None:
                surroundings.restore()
            text = str(error) if isinstance(error, FuntorchError) else f"{type(error).__name__}: {error}"
            self._stay_eager(entry, text, error)
            return
        variant.cause = causes[0][0] if causes else entry.cause
        del entry.variants[settings.variants - 1 :]
        entry.variants.insert(0, variant)
        self.counts["programs"] += 1
        log_compile(self._where(), self.counts["programs"], variant.cause)

    def _not_dynamic(self, entry: Entry, why: str) -> None:
        self.dynamic = False
        self._drop(entry.key)
        self._warn("dynamic", f"dynamic=True: it compiles for each size, since {why}")

    def _where(self) -> str:
        code = getattr(inspected(self.function), "__code__", None)
        return self.name if code is None else f"{self.name} ({code.co_filename}:{code.co_firstlineno})"

    def _check_limits(self, entry: Entry, causes: list[tuple[str, bool]]) -> None:
        limit = settings.recordings + (2 * settings.variants if entry.variants else 0)
        if entry.misses >= limit:
            cause = entry.reason or "no two calls took the same path"
            self._stay_eager(entry, cause + (f" ({causes[0][0]})" if causes else ""))

    def _stay_eager(self, entry: Entry, why: str, error: Exception | None = None) -> None:
        entry.eager = why
        entry.signatures.clear()
        if self.fullgraph:
            raise OpError(f"compile({self.name}, fullgraph=True): it can't be one program: {why}") from error
        warnings.warn(f"funtorch.compile({self.name}): for these arguments it stays eager: {why}", stacklevel=user_level())


def every_compiled() -> list[Compiled]:
    """All compiled functions."""
    return list(_all)
