"""compile: an eager function as one XLA program, with the state that it reads and writes found by watching it."""

from __future__ import annotations

import functools
import threading
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import jax

from ..core.engine import CONCRETE
from ..core.handle import Handle, value_of
from ..core.recorder import Disagreement, Recording
from ..core.state import state
from ..core.trees import Spec, flatten, unflatten
from ..errors import ArgumentTypeError, FuntorchError, OpError
from .variants import GuardFailure, Variant
from .verifying import verified

MAX_VARIANTS = 8
MAX_RECORDINGS = 6
_lock = threading.RLock()
_all: list[Compiled] = []


class Entry:
    """What is known of a function for arguments of one structure: recordings, compiled variants, or why it stays eager."""

    __slots__ = ("signatures", "variants", "recordings", "eager")

    def __init__(self) -> None:
        self.signatures: dict[Any, list[weakref.ref]] = {}  # of the recordings so far, with their arguments
        self.variants: list[Variant] = []
        self.recordings = 0
        self.eager: str | None = None


class Compiled:
    """A compiled function. See `compile`."""

    def __init__(self, function: Callable, fullgraph: bool, verify: int = 0) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.fullgraph = fullgraph
        self.verify = verify  # how many compiled calls are still to be compared with eager ones
        self.entries: dict[Any, Entry] = {}
        self.counts = {"eager": 0, "compiled": 0, "guard_failures": 0}
        _all.append(self)

    def __get__(self, instance: Any, owner: type) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        # Inside a transform, a trace or another recording the function is simply part of it.
        if state.recorder is not None or state.levels or not settings.enabled:
            return self.function(*args, **kwargs)
        leaves, spec = _flat_arguments(args, kwargs)
        tensors = list({id(leaf): leaf for leaf in leaves if isinstance(leaf, Handle)}.values())
        if any([type(value_of(t)) not in CONCRETE for t in tensors]):
            return self.function(*args, **kwargs)
        with _lock:
            entry = self._entry(leaves, spec, tensors)
            for variant in entry.variants:
                if variant.applies(tensors):
                    try:
                        result = self._run(variant, tensors, args, kwargs)
                    except GuardFailure:
                        self.counts["guard_failures"] += 1
                        continue
                    self.counts["compiled"] += 1
                    return result
            self.counts["eager"] += 1
            if entry.eager is not None:
                return self.function(*args, **kwargs)
            return self._record(entry, leaves, spec, tensors)

    def _run(self, variant: Variant, tensors: list[Handle], args: tuple, kwargs: dict) -> Any:
        if self.verify <= 0:
            return variant(tensors)
        self.verify -= 1
        name = getattr(self.function, "__name__", "function")
        return verified(name, variant, tensors, lambda: self.function(*args, **kwargs))

    def _entry(self, leaves: list[Any], spec: Spec, tensors: list[Handle]) -> Entry:
        order = {id(t): i for i, t in enumerate(tensors)}
        described = tuple(
            (order[id(leaf)], leaf._payload.shape, leaf._payload.dtype, leaf._requires)
            if isinstance(leaf, Handle)
            else _static_key(leaf)
            for leaf in leaves
        )
        key = (spec, described, state.grad, state.inference)
        entry = self.entries.get(key)
        if entry is None:
            entry = self.entries[key] = Entry()
        return entry

    def _record(self, entry: Entry, leaves: list[Any], spec: Spec, tensors: list[Handle]) -> Any:
        args, kwargs = unflatten(spec, leaves)
        with Recording(tensors) as recording:
            result = self.function(*args, **kwargs)
        entry.recordings += 1
        outs, _ = flatten(result)
        del args, kwargs
        why = self._not_compilable(recording, outs)
        if why is None:
            signature = recording.signature()
            if signature in entry.signatures:
                self._trace(entry, recording, leaves, spec, tensors, entry.signatures[signature])
            else:
                entry.signatures[signature] = [weakref.ref(t) for t in tensors]
        limit = MAX_RECORDINGS + MAX_VARIANTS * 2
        if entry.eager is None and not entry.variants and entry.recordings >= MAX_RECORDINGS:
            self._stay_eager(entry, why or "no two calls took the same path")
        elif len(entry.variants) >= MAX_VARIANTS or entry.recordings >= limit:
            self._stay_eager(entry, why or f"it has taken {len(entry.variants)} compiled paths and still takes new ones")
        return result

    @staticmethod
    def _not_compilable(recording: Recording, outs: list[Any]) -> str | None:
        if recording.refused:
            return recording.refused
        if recording.escaped(outs):
            return "it keeps Tensors that it makes in Python objects outside of it"
        return None

    def _trace(
        self, entry: Entry, recording: Recording, leaves: list[Any], spec: Spec, tensors: list[Handle], earlier: list
    ) -> None:
        try:
            variant = Variant(self.function, recording, leaves, spec, tensors)
            variant.fixed = [(i, t) for i, (t, ref) in enumerate(zip(tensors, earlier, strict=True)) if ref() is t]
            entry.variants.append(variant)
        except (Disagreement, FuntorchError, jax.errors.JAXTypeError) as error:
            self._stay_eager(entry, str(error), error)

    def _stay_eager(self, entry: Entry, why: str, error: Exception | None = None) -> None:
        entry.eager = why
        name = getattr(self.function, "__name__", "function")
        if self.fullgraph:
            raise OpError(f"compile({name}, fullgraph=True): it can't be one program: {why}") from error
        warnings.warn(f"funtorch.compile({name}): for these arguments it stays eager: {why}", stacklevel=4)


_positional: dict[int, Spec] = {}  # the structure of so many Tensors as positional arguments


def _flat_arguments(args: tuple, kwargs: dict) -> tuple[list[Any], Spec]:
    """The leaves of a call's arguments and their structure."""
    if kwargs or not all([isinstance(a, Handle) for a in args]):
        return flatten((args, kwargs))
    spec = _positional.get(len(args))
    if spec is None:
        spec = _positional[len(args)] = flatten((args, kwargs))[1]
    return list(args), spec


def _static_key(leaf: Any) -> Any:
    try:
        hash(leaf)
    except TypeError:
        return (type(leaf), id(leaf))
    return (type(leaf), leaf)


class Settings:
    """Whether compiled functions run compiled on this process."""

    enabled = True


settings = Settings()


def compile(
    model: Any = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: Any = "xla",
    mode: str | None = None,
    options: dict | None = None,
    disable: bool = False,
    verify: int = 0,
) -> Any:
    """Turn an eager function into one XLA program: a forward pass, a loss with its gradients, a whole training step.

    State needs no mention. The first calls run eagerly and are watched: Tensors from outside that are read or written, their
    ``.grad``, random numbers, hyperparameters of optimisers, training flags of modules, and Python's decisions on values. When
    two calls agree, the function is traced once with these as inputs and outputs; the decisions become guards. A call whose
    guards fail has changed nothing: it runs eagerly, and its path becomes a program of its own when it comes back.

    Args:
        model: the function, or a Module.
        fullgraph: raise RuntimeError where the function can't be one program, instead of a warning and eager calls.
        dynamic, backend, mode, options: accepted as in PyTorch; XLA compiles for each shape.
        disable: return ``model`` as it is.
        verify: how many of the first compiled calls to run eagerly too, from the same state; RuntimeError where they differ.

    Raises:
        TypeError: ``model`` can't be called.

    >>> import funtorch as torch
    >>> double = torch.compile(lambda x: x + x)
    >>> double(torch.tensor(2.0))
    tensor(4.)
    """
    if model is None:
        return functools.partial(
            compile, fullgraph=fullgraph, dynamic=dynamic, backend=backend, mode=mode, options=options, disable=disable,
            verify=verify,
        )  # fmt: skip
    if not callable(model):
        raise ArgumentTypeError(f"compile(): expected a function or a Module, got {type(model).__name__}")
    if disable:
        return model
    from ..nn.module import Module

    if isinstance(model, Module):
        from ..nn.compiled_module import CompiledModule

        return CompiledModule(model, Compiled(model, fullgraph, verify))
    return model if isinstance(model, Compiled) else Compiled(model, fullgraph, verify)


def explain(function: Any) -> str:
    """How a compiled function has run: its argument structures, variants, guards, and why it stays eager where it does."""
    if not isinstance(function, Compiled):
        raise ArgumentTypeError(f"explain(): expected a compiled function, got {type(function).__name__}")
    name = getattr(function.function, "__name__", "function")
    lines = [f"{name}: {', '.join(f'{v} {k}' for k, v in function.counts.items())}"]
    for number, entry in enumerate(function.entries.values()):
        lines.append(f"  arguments {number}: recorded {entry.recordings} times, {len(entry.variants)} program(s)")
        lines += [f"    program {i}: {v.describe()}" for i, v in enumerate(entry.variants)]
        if entry.eager:
            lines.append(f"    stays eager: {entry.eager}")
    return "\n".join(lines)


def reset() -> None:
    """Forget all programs of all compiled functions."""
    for compiled in _all:
        compiled.entries.clear()
