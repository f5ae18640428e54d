"""Views: a Tensor that shares its base's elements. Writing through it writes the base; a stale one reads the base again.

Arrays are immutable, so sharing is by bookkeeping: a view keeps its base and the view ops that lead to it.
"""

from __future__ import annotations

import functools
import math
import weakref
from typing import Any, final

import jax
import jax.numpy as jnp
import numpy as np

from ..errors import OpError
from .batching import at_front
from .call import call, set_views
from .engine import CONCRETE
from .handle import Handle, make, value_of
from .levels import WRAPPED, Batched, Dual, constant
from .op import Op
from .state import state
from .tape import Node

_IDENTITY = Op(lambda x: x, "alias", view=True)
# Where JAX differentiates the trace itself, the values alone have to go on there too.
_DETACH = Op(jax.lax.stop_gradient, "detach", view=True)
# A value that requires no grad over all of a Tensor that does: it still requires grad, and the gradient of what it was is zero.
_OVER = Op(lambda x, value: value, "copy")
for _whole in (_IDENTITY, _DETACH):
    _whole.inverse = lambda base, value: value
    _whole.layout = lambda shape, strides, offset: (shape, strides, offset)


@final
class At:
    """A view op with the places that it shows. They are arguments, so that one program serves every index.

    ``op`` takes the base and ``places`` (its ``inverse`` the base, a value and ``places``) and isn't itself marked as
    a view; ``layout`` is as in `core.op.Op`.
    """

    __slots__ = ("op", "places", "layout")

    def __init__(self, op: Op, places: tuple, layout: Any) -> None:
        self.op = op
        self.places = places
        self.layout = layout


Link = Op | At  # what leads from a base to a view of it


def _through(link: Link, base: Handle, recording: bool) -> Any:
    """What ``link`` shows of ``base``, as a Tensor that isn't marked as a view."""
    op, places = (link.op, link.places) if type(link) is At else (link, ())
    value = call(op, (base, *places), recording=recording)
    value._base = None
    if op is _DETACH:
        value._payload = constant(value._payload)
    return value


def attach(result: Handle, source: Handle, op: Link) -> None:
    """Make ``result`` a view of ``source`` through ``op``."""
    if source._base is None or shares_values(source):
        result._base = source
        result._chain = (op,)
        result._seen = source._writes
    else:
        result._base = source._base
        result._chain = (*source._chain, op)
        result._seen = source._seen
        result._detached = source._detached
        result._siblings = source._siblings
    base = result._base
    note_view(base, result)
    if not state.grad and result._base._requires:
        result._detached = True
    if source._inference or result._inference:
        result._inference = source._inference


def note_view(base: Handle, view: Handle) -> None:
    """Remember that ``view`` shares the elements of ``base``."""
    views = base._views
    if views is None:
        base._views = [weakref.ref(view)]
        return
    if len(views) % 64 == 63:  # most of them are gone by then
        views[:] = [ref for ref in views if ref() is not None]
    views.append(weakref.ref(view))


def alias(source: Handle, detached: bool) -> Any:
    """A view of all of ``source``; ``detached``: of its values only, without history or tangent at any level."""
    if not detached:
        return call(_IDENTITY, (source,))
    result = call(_DETACH, (source,), recording=False)
    result._payload = constant(result._payload)
    result._detached = True
    return result


def shares_values(tensor: Handle) -> bool:
    """Whether a Tensor is another's `detach`: the elements are shared, but its history is its own, as is that of its views."""
    return bool(tensor._chain) and tensor._chain[-1] is _DETACH


def _coincide(chain: tuple[Link, ...]) -> bool:
    """Whether several places of such a view can be one element."""
    return any((link.op if type(link) is At else link).inverse is None for link in chain[:-1])


def version_root(handle: Handle) -> Handle:
    """The Tensor whose version a Tensor has: views count with their base."""
    while handle._base is not None and not handle._counts:
        handle = handle._base
    return handle


def refresh(view: Handle) -> None:
    """Bring a view up to date with its base."""
    base = view._base
    assert base is not None
    if base._base is not None:
        refresh(base)
    if view._seen == base._writes:
        return
    value = replay(view, view._chain)
    view._seen = base._writes
    if shares_values(view):
        view._payload = value._payload
        view._writes += 1
        if view._counts:
            view._uncounted += 1
    else:
        take(view, value)


def _share_with(former: Handle, target: Handle) -> None:
    """Make the views of ``target`` views of ``former``, which has its elements."""
    for ref in target._views or ():
        view = ref()
        if view is not None and view._base is target:
            refresh(view)
            view._base, view._seen = former, former._writes
    former._views, target._views = target._views, None


def reshape_data(target: Handle, seen: Handle, link: Link) -> None:
    """Make ``target``, which is no view, look as ``seen`` does, its view through ``link``; its views stay with its elements."""
    if any(ref() is not seen and ref() is not None for ref in target._views or ()):
        former = make(target._payload, target._birth)
        take(former, target)
        former._writes, former._uncounted = target._writes + 1, target._uncounted
        _share_with(former, target)
        target._base, target._chain, target._seen = former, (link,), former._writes
        note_view(former, target)
    seen._base = None
    take(target, seen)
    target._writes += 1


def replace_data(target: Handle, payload: Any) -> None:
    """Give ``target`` other elements; views of it stay with those that it had."""
    if target._views:
        _share_with(make(value_of(target), target._birth), target)
    target._payload = payload
    if type(target._node) is Node:
        target._node.overwritten = True
    target._base, target._chain = None, ()
    target._writes += 1
    target._uncounted += 1


def replay(view: Handle, chain: tuple[Link, ...]) -> Any:
    """What the view ops of ``chain`` give on the base as it is now."""
    value: Any = view._base
    for link in chain:
        value = _through(link, value, not view._detached)
    return value


def take(target: Handle, new: Handle) -> None:
    """Give ``target`` the payload and the place on the tape that ``new`` has; the gradient it retains is now the new value's."""
    if target._retains and new._node is not target._node:
        _move_retention(target, new)
    target._payload = new._payload
    target._requires = new._requires
    target._node = new._node
    target._output = new._output
    target._level = new._level


def _move_retention(target: Handle, new: Handle) -> None:
    before: Any = target._node
    after: Any = new._node
    if before is not None:
        (before.retained or {}).pop(target._output, None)
    if after is not None:
        after.retained = {} if after.retained is None else after.retained
        after.retained[new._output] = target


def write(target: Handle, new: Handle) -> None:
    """Give ``target`` the value of ``new`` in place; a view writes its base. Shapes and dtypes agree already.

    Without grad mode only the value changes, and ``target`` keeps its place on the tape.
    """
    base = target._base
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
            at = _through(each, at, False)
        return call(_PUT, (base, new, at))
    if len(chain) > 1:
        new = _written(_through(link, base, recording), chain[1:], new, recording)
    return call(scatter(op), (base, new, *places))


def _put_at(base: Any, value: Any, places: Any) -> Any:
    value = jnp.broadcast_to(value.astype(base.dtype), places.shape)
    return base.reshape(-1).at[places].set(value).reshape(base.shape)


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
        if type(target._node) is Node:
            target._node.overwritten = True
    target._writes += 1


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


def contiguous_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides, in elements, of a dense row-major array."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def layout(handle: Handle) -> tuple[tuple[int, ...], int]:
    """The strides and the storage offset that PyTorch reports, in elements."""
    base = handle._base
    if base is None:
        return contiguous_strides(handle._payload.shape), 0
    shape = tuple(base._payload.shape)
    strides, offset = layout(base)
    for op in handle._chain:
        if op.layout is None:
            shape, strides, offset = tuple(handle._payload.shape), contiguous_strides(handle._payload.shape), 0
        else:
            shape, strides, offset = op.layout(shape, strides, offset)
    return strides, offset


def memory_order(handle: Handle) -> tuple[int, ...] | None:
    """The dimensions of a view from the largest stride to the smallest, where that is not their own order."""
    if handle._base is None or state.levels:
        return None
    shape, strides = handle._payload.shape, layout(handle)[0]
    if 0 in strides:
        return None
    real = [d for d in range(len(shape)) if shape[d] != 1]
    order = sorted(real, key=lambda d: -strides[d])
    return None if order == real else (*(d for d in range(len(shape)) if shape[d] == 1), *order)


def is_contiguous(handle: Handle) -> bool:
    """Whether the elements lie densely in row-major order."""
    if handle._base is None:
        return True
    shape = handle._payload.shape
    if 0 in shape:
        return True
    dense = contiguous_strides(shape)
    return all(n == 1 or a == b for n, a, b in zip(shape, layout(handle)[0], dense, strict=True))


def concrete(handle: Handle) -> np.ndarray | None:
    """The values as a NumPy array, or None if they are traced or wrapped."""
    value = value_of(handle)
    return np.asarray(value) if type(value) in CONCRETE else None


set_views(refresh, attach)
