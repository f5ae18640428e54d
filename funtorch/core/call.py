"""call: how one op is applied to Tensors, whatever their payloads are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
from numpy import ndarray

from .engine import CONCRETE, moves, run, run_traced
from .foreign import PROCESSORS, is_foreign
from .handle import Handle, make, make_all, set_refresh
from .levels import WRAPPED, Level
from .meta import MetaArray, run_meta
from .op import Op
from .squares import remember_root, traced_square
from .state import state, watched
from .tape import record, record_again


def call(op: Op, args: Sequence[Any], recording: bool = True, ceiling: int | None = None) -> Any:
    """Apply ``op`` to Tensors (and raw arrays): a Tensor, or a tuple of Tensors.

    The highest level among the arguments handles the call; below all levels, concrete arrays go to the engine and
    JAX tracers run in place. Where grad mode is on and an argument requires grad, the result goes on the tape.
    ``recording=False`` keeps it off the tape of this level only. ``ceiling`` is the depth at which the call is made
    (the levels do this for the Tensors they wrap).
    """
    if not watched:
        return _unwatched(op, args, recording, ceiling)
    if (between := state.profiler or state.keeper) is not None:
        return between.call(call, op, args, recording, ceiling)
    return _general(op, args, recording, ceiling)


def _unwatched(op: Op, args: Sequence[Any], recording: bool, ceiling: int | None) -> Any:
    """`call` with nothing between it and NumPy's arrays, if these are what the arguments hold and the op stays on the host."""
    values, avals, marks = [], [], 0  # marks: which arguments require grad, a bit each
    for arg in args:
        if type(arg) is ndarray:
            value = arg
            marks += marks
        elif isinstance(arg, Handle):
            value = arg._payload if arg._source is None else Views.value(arg, op)
            if type(value) is not ndarray:
                return _general(op, args, recording, ceiling)
            marks += marks + arg._requires
        else:
            return _general(op, args, recording, ceiling)
        values.append(value)
        avals.append((value.shape, value.dtype))
    key = tuple(avals)
    slot = op.programs.get(key)
    if slot is None or slot.stays is None:
        return _general(op, args, recording, ceiling)
    slot.recent = True
    found = slot.stays(*values)
    result: Any = make(found[0]) if slot.single else make_all(found)
    if marks and recording and state.grad:
        record_again(slot.recipes, marks, op, args, values, key, result)
    if slot.single:
        if op.view:
            Views.attach(result, args[0], op)
        return result
    return tuple(result)


def _general(op: Op, args: Sequence[Any], recording: bool, ceiling: int | None) -> Any:
    if state.recorder is not None:  # first, since a recorder may put a value in a Tensor's place
        state.recorder.read([arg for arg in args if not is_foreign(arg)])
    values, avals = [], []
    top: Level | None = None
    needs, traced = False, False
    for arg in args:
        if isinstance(arg, Handle):
            if arg._source is not None:
                Views.refresh(arg)
            value = arg._payload
            if arg._requires:
                needs = True
        else:
            value = arg
        kind = type(value)
        if kind is not ndarray:
            if kind in WRAPPED:
                level = value.level
                level.check_alive(value)
                if top is None or level.depth > top.depth:
                    top = level
            elif kind not in CONCRETE:
                if kind in PROCESSORS:
                    return PROCESSORS[kind](op, args)
                traced = True
        values.append(value)
        avals.append((value.shape, value.dtype))
    key, ceiling = tuple(avals), len(state.levels) if ceiling is None else ceiling
    if needs and ceiling:
        top = _tape_level(args, top, ceiling)
    if top is not None:
        outs = top.process(op, args)
    elif traced and any([type(value) is MetaArray for value in values]):
        outs = run_meta(op, args, values)
    elif traced:
        outs = run_traced(*traced_square(op, args, values)) if op.squares else run_traced(op, values)
        # JAX may differentiate the trace itself
        if needs and not (state.grad and (recording or state.recorder is None or not state.recorder.cuts)):
            outs = jax.lax.stop_gradient(outs)
    else:
        before = moves.count
        outs = run(op, values, key)
        if moves.count != before:
            _keep_moved(args, values)
    results = [make(out, ceiling) for out in outs] if isinstance(outs, (tuple, list)) else make(outs, ceiling)
    if needs and recording and state.grad:
        record(op, args, values, key, results, top.depth if top is not None else 0)
    if traced and op.squared is not None:
        remember_root(results, op.squared, values)
    if op.view and not isinstance(results, list):
        Views.attach(results, args[0], op)
    return tuple(results) if isinstance(results, list) else results


def _keep_moved(args: Sequence[Any], values: list[Any]) -> None:
    """Let Tensors keep the arrays that a kernel wanted in place of their own."""
    for arg, value in zip(args, values, strict=True):
        if isinstance(arg, Handle) and type(arg._payload) is ndarray and type(value) is not ndarray:
            arg._payload = value


def _tape_level(args: Sequence[Any], top: Level | None, ceiling: int) -> Level | None:
    """The level that has to handle a call whose arguments are on tapes of several levels.

    A plain Tensor made inside a transform has its tape there; mixed with one that has its tape further out, or with
    payloads of a level further out, it's handled by its own level, where each has a place of its own.
    """
    depths = [min(a._level, ceiling) for a in args if isinstance(a, Handle) and a._requires]
    highest = max(depths)
    below = top.depth if top is not None else 0
    if highest > below and (below or min(depths) < highest):
        return state.levels[highest - 1]
    return top


class Views:
    """What views do at a call; `core.views`, which is made of calls, says it when it is imported."""

    refresh: Callable[[Handle], None]
    value: Callable[[Handle, Op], Any]
    attach: Callable[[Handle, Any, Op], None]


def set_views(refresh: Callable, value: Callable, attach: Callable) -> None:
    """Say how a view is brought up to date, by itself or for an op, and how a result is made one (called once, by ``views.py``)."""
    Views.refresh, Views.value, Views.attach = staticmethod(refresh), staticmethod(value), staticmethod(attach)
    set_refresh(refresh)
