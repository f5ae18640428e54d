"""Writing through views: a Tensor that is written is given another value, a view's base one with the new elements in their places.

Arrays are immutable, so that in place is by bookkeeping: see `views`.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..errors import OpError
from .batching import at_front
from .call import call
from .engine import CONCRETE
from .forked import as_numpy
from .handle import Handle, make, note_written, value_of
from .levels import WRAPPED, Batched, Dual, constant
from .op import Op
from .selected import choosing
from .shared_memory import sharing, window
from .state import state
from .tape import Node
from .views import At, Link, note_view, refresh, shares_values, take, through, version_root

# A value that requires no grad over all of a Tensor that does: it still requires grad, and the gradient of what it was is zero.
_OVER = Op(lambda x, value: value, "copy")


def write(target: Handle, new: Handle) -> None:
    """Give ``target`` the value of ``new`` in place; a view writes its base. Shapes and dtypes agree already.

    Without grad mode only the value changes, and ``target`` keeps its place on the tape.
    """
    base = target._base
    if base is not None and base._source is not None and _written_there(target, new):
        return
    if base is None:
        if state.grad and target._node is not None and not new._requires:
            new = call(_OVER, (target, new))
        _put(target, new, history=state.grad)
        return
    if shares_values(target):  # of all of the base, or of a part: `x[1:].detach()`
        value = make(constant(new._payload), new._birth)
        write_values(base, _written(base, target._chain[:-1], value, False))
        if target._counts:
            version_root(base)._uncounted += 1
        _put(target, new, history=state.grad)
        target._seen = base._writes
        return
    if target._detached and state.grad and new._requires:
        raise OpError(
            "A view was created in no_grad mode and is being modified inplace with grad mode enabled. Make the view with grad "
            "mode enabled, or do the modification in no_grad mode too."
        )
    if target._siblings is not None and state.grad and not target._detached and (new._requires or base._requires):
        raise OpError(
            f"Output 0 of {target._siblings} is a view and is being modified inplace. This view is the output of a "
            "function that returns multiple views. Such functions do not allow the output views to be modified inplace. "
            "You should replace the inplace operation by an out-of-place one."
        )
    if shares_values(base) and not (state.grad and (new._requires or base._requires)) and _coincide(base._chain):
        # Of such a base's elements only those that were written may go on to where they come from.
        origin: Any = base._base
        value = make(constant(new._payload), new._birth)
        write_values(origin, _written(origin, (*base._chain[:-1], *target._chain), value, False))
        if base._counts:
            base._uncounted -= 1
            version_root(origin)._uncounted += 1
        refresh(base)
        refresh(target)
        return
    new = _written(base, target._chain, new, not target._detached)
    if target._detached:
        _write_without_grad(base, new)
    else:
        write(base, new)


def _coincide(chain: tuple[Link, ...]) -> bool:
    """Whether several places of such a view can be one element."""
    return any((link.op if type(link) is At else link).inverse is None for link in chain[:-1])


def _written_there(target: Handle, new: Handle) -> bool:
    """Write a view's elements to memory shared with NumPy, where no more than that is to be done; whether it was."""
    value: Any = value_of(new)
    if (state.grad and new._requires) or type(value) not in CONCRETE or (found := sharing(target)) is None:
        return False
    root, memory = found
    shown = window(target, memory)
    if shown is None or not shown.flags.writeable:
        return False
    np.copyto(shown, as_numpy(value))
    memory.noted(root)
    counted = version_root(target)
    if counted is not root:
        root._uncounted += 1
        counted._writes += 1
    return True


def write_values(target: Handle, new: Handle) -> None:
    """Give ``target`` the value of ``new``, and leave its history and its tangents as they are."""
    value = make(_with_values(value_of(target), constant(new._payload), True), new._birth)
    _write_without_grad(target, value)


def _write_without_grad(target: Handle, new: Handle) -> None:
    before, state.grad = state.grad, False
    try:
        write(target, new)
    finally:
        state.grad = before


def _with_values(old: Any, new: Any, tangents: bool) -> Any:
    """The payload ``new`` with the places on the tape that ``old`` has at the levels below, and with its ``tangents``."""
    if type(old) not in WRAPPED:
        return new
    level = old.level
    same = type(new) in WRAPPED and new.level is level
    if not same and type(new) in WRAPPED and new.level.depth > level.depth:
        return new
    if type(old) is Dual:
        primal, tangent = (new.primal, new.tangent) if same else (make(new), None)
        return Dual(level, _in_place_of(old.primal, primal, tangents), old.tangent if tangents else tangent)
    if not _has_history(old.inner):
        return new
    lanes = new if same else Batched(level, make(new), None)
    if lanes.axis == old.axis:
        return Batched(level, _in_place_of(old.inner, lanes.inner, tangents), old.axis)
    front = at_front(old, level.size)
    return Batched(level, _in_place_of(front, at_front(lanes, level.size), tangents), 0)


def _has_history(inner: Handle) -> bool:
    return inner._requires or type(value_of(inner)) in WRAPPED


def _in_place_of(old: Handle, new: Handle, tangents: bool) -> Handle:
    if not _has_history(old):
        return new
    found: Any = make(_with_values(value_of(old), value_of(new), tangents), new._birth)
    found._requires, found._node, found._output, found._level = old._requires, old._node, old._output, old._level
    return found


def _written(base: Any, chain: tuple[Link, ...], new: Any, recording: bool) -> Any:
    """``base`` with ``new`` where ``chain`` leads."""
    if not chain:
        return new
    link = chain[0]
    op, places = (link.op, link.places) if type(link) is At else (link, ())
    if op.inverse is None:  # its elements may coincide, so that only the places tell which of them were written
        shape = tuple(base._payload.shape)
        at: Any = make(np.arange(math.prod(shape)).reshape(shape))
        for each in chain:
            at = through(each, at, False)
        return call(_PUT, (base, new, at))
    if len(chain) > 1:
        new = _written(through(link, base, recording), chain[1:], new, recording)
    return call(scatter(op), (base, new, *places))


def _put_at(base: Any, value: Any, places: Any) -> Any:
    value = jnp.broadcast_to(value.astype(base.dtype), places.shape)
    return choosing(lambda x, y: x.at[places].set(y), base.reshape(-1), value).reshape(base.shape)


_PUT = Op(_put_at, "view_scatter")


def _put(target: Handle, new: Handle, history: bool) -> None:
    payload = new._payload
    if type(payload) in WRAPPED and target._birth < payload.level.depth:
        _check_outer(target, new)
    note_change(target)
    if history:
        take(target, new)
    else:
        target._payload = _with_values(target._payload, payload, False)
        if isinstance(target._node, Node):
            target._node.overwritten = True
    target._writes += 1
    note_written(target)


def note_change(target: Handle) -> None:
    """Tell the recorder and the open transforms that ``target`` is about to change."""
    if state.recorder is not None:
        state.recorder.write(target)
    if state.levels:
        state.levels[-1].keep(target)


def _check_outer(target: Handle, new: Handle) -> None:
    held = target._payload
    level = new._payload.level
    if type(held) in WRAPPED and held.level is level:
        return
    level.write_outer(target, new)


@functools.lru_cache(maxsize=4096)
def scatter(op: Op) -> Op:
    """The Op ``(base, value, *places) -> base with the elements that the view op shows replaced by value``."""
    assert op.inverse is not None
    return Op(op.inverse, f"{op.name}_scatter")


def reshape_data(target: Handle, seen: Handle, link: Link) -> None:
    """Make ``target``, which is no view, look as ``seen`` does, its view through ``link``; its views stay with its elements."""
    if target._source is not None or any(ref() is not seen and ref() is not None for ref in target._views or ()):
        former = _successor(target)
        take(former, target)
        former._writes, former._uncounted = target._writes + 1, target._uncounted
        _share_with(former, target)
        target._base = target._source = former
        target._chain, target._seen = (link,), former._writes
        note_view(former, target)
    seen._base = seen._source = None
    take(target, seen)
    target._writes += 1


def _share_with(former: Handle, target: Handle) -> None:
    """Make the views of ``target`` views of ``former``, which has its elements."""
    for ref in target._views or ():
        view = ref()
        if view is not None and view._base is target:
            refresh(view)
            view._base = view._source = former
            view._seen = former._writes
    former._views, target._views = target._views, None


def _successor(target: Handle) -> Any:
    """A Tensor with the elements of ``target``, and what it shares with NumPy."""
    former = make(value_of(target), target._birth)
    if target._base is None and target._source is not None:
        former._source, target._source = target._source, None
    return former


def replace_data(target: Handle, payload: Any) -> None:
    """Give ``target`` other elements; views of it stay with those that it had."""
    if target._views:
        _share_with(_successor(target), target)
    target._payload = payload
    if isinstance(target._node, Node):
        target._node.overwritten = True
    target._base, target._source, target._chain = None, None, ()
    target._writes += 1
    target._uncounted += 1
