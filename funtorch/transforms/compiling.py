"""compile: an eager function as one XLA program, with the state that it reads and writes found by watching it."""

from __future__ import annotations

import functools
import inspect
from collections import Counter
from typing import Any

from ..errors import ArgumentTypeError, ArgumentValueError, OpError
from .compiled import Compiled, every_compiled
from .programs import forget

MODES = (None, "default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs")


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
    guards fail has changed nothing: it runs eagerly, and its path becomes a program of its own when it comes back. An exception
    that ``model`` raises leaves what it leaves in eager code. What Python prints or appends happens in eager calls only, and once
    more in the trace. `funtorch.compiler.explain` tells what became of it; with ``FUNTORCH_LOGS=recompiles`` in the environment
    each compilation prints a line that says what had changed, and where.

    Args:
        model: the function, or a Module.
        fullgraph: raise RuntimeError where the function can't be one program, instead of a warning and eager calls.
        dynamic: True pads the dimensions that `funtorch.compiler.mark_dynamic` marked (the first, where none is) to powers of
            two, so that many sizes share a program; where padding would show in the results, a warning says why it can't.
        mode: "default", "reduce-overhead" or one of the "max-autotune" modes; XLA has one way for all of them.
        backend, options: accepted as in PyTorch; it is always XLA.
        disable: return ``model`` as it is.
        verify: how many of the first compiled calls to run eagerly too, from the same state; RuntimeError where they differ.

    Raises:
        TypeError: ``model`` can't be called.
        ValueError: ``mode`` is another word.
        RuntimeError: both ``mode`` and ``options`` are given.

    >>> import funtorch as torch
    >>> double = torch.compile(lambda x: x + x)
    >>> double(torch.tensor(2.0))
    tensor(4.)
    """
    if mode not in MODES:
        raise ArgumentValueError(f"compile(): unrecognized mode={mode!r}, should be one of {', '.join(map(str, MODES[1:]))}")
    if mode is not None and options is not None:
        raise OpError("compile(): either mode or options can be specified, but both can't be specified at the same time")
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

        return CompiledModule(model, Compiled(model, fullgraph, verify, bool(dynamic)))
    if isinstance(model, Compiled):
        return model
    return Compiled(model, fullgraph, verify, bool(dynamic))


def compiled_of(function: Any, who: str) -> Compiled:
    """The `Compiled` behind what `compile` returned. Raises TypeError for anything else."""
    own = getattr(function, "__dict__", {})
    static = inspect.getattr_static(function, "_compiled_call", None)
    found = static or own.get("_compiled_call") or own.get("_compiled_call_impl")
    found = function if found is None else found
    if isinstance(found, functools.partial) and isinstance(found.func, Compiled):
        found = found.func
    if not isinstance(found, Compiled):
        raise ArgumentTypeError(f"{who}(): expected a compiled function, got {type(function).__name__}")
    return found


def explain(function: Any) -> str:
    """How a compiled function has run: its argument structures, variants, guards, and why it stays eager where it does.

    Raises TypeError for a function that isn't compiled.
    """
    compiled = compiled_of(function, "explain")
    lines = [f"{compiled.name}: {', '.join(f'{v} {k}' for k, v in compiled.counts.items())}"]
    for number, entry in enumerate(compiled.entries.values()):
        lines.append(f"  arguments {number}: recorded {entry.recordings} times, {len(entry.variants)} program(s)")
        for i, variant in enumerate(entry.variants):
            lines.append(f"    program {i}: {variant.describe()}; made because {variant.cause}")
            guards = Counter(f"{asked} at {place}" for asked, _, place in variant.guards)
            lines += [f"      guard: {what}" + f", {times} times" * (times > 1) for what, times in guards.items()]
        if entry.eager:
            lines.append(f"    stays eager: {entry.eager}")
        elif entry.reason and not entry.variants:
            lines.append(f"    not a program yet: {entry.reason}")
    return "\n".join(lines)


def reset() -> None:
    """Forget all programs of all compiled functions."""
    for compiled in every_compiled():
        compiled.forget()
    forget()
