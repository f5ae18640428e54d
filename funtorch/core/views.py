"""Views: a Tensor that shares its base's elements. Writing through it writes the base; a stale one reads the base again.

Arrays are immutable, so sharing is by bookkeeping: a view keeps its base and the view ops that lead to it.
"""

from __future__ import annotations

import weakref
from typing import Any, final

import jax
import numpy as np

from .call import call, set_views
from .engine import CONCRETE
from .forked import as_numpy
from .handle import Handle, make, value_of
from .levels import bottom, constant
from .op import Op
from .shared_memory import live, same_bytes, sharing, stand_in
from .state import state
from .strides import geometry, unchanged

_IDENTITY = Op(lambda x: x, "alias", view=True)
# Where JAX differentiates the trace itself, the values alone have to go on there too.
_DETACH = Op(jax.lax.stop_gradient, "detach", view=True)
_PICKING = frozenset({"index_select", "gather", "take"})
for _whole in (_IDENTITY, _DETACH):
    _whole.inverse = lambda base, value: value
    _whole.layout = unchanged


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


def through(link: Link, base: Handle, recording: bool) -> Any:
    """What ``link`` shows of ``base``, as a Tensor that isn't marked as a view."""
    op, places = (link.op, link.places) if type(link) is At else (link, ())
    value = call(op, (base, *places), recording=recording)
    value._base = value._source = None
    if op is _DETACH:
        value._payload = constant(value._payload)
    return value


def attach(result: Handle, source: Handle, op: Link) -> None:
    """Make ``result`` a view of ``source`` through ``op``."""
    if source._base is None or shares_values(source):
        result._base = result._source = source
        result._chain = (op,)
        result._seen = source._writes
    else:
        result._base = result._source = source._base
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
    op = _DETACH if detached else _IDENTITY
    if source._source is not None and (seen := look(source, op)) is not None:
        seen._detached = seen._detached or detached
        return seen
    if not detached:
        return call(_IDENTITY, (source,))
    result = call(_DETACH, (source,), recording=False)
    result._payload = constant(result._payload)
    result._detached = True
    return result


def shares_values(tensor: Handle) -> bool:
    """Whether a Tensor is another's `detach`: the elements are shared, but its history is its own, as is that of its views."""
    return bool(tensor._chain) and tensor._chain[-1] is _DETACH


def version_root(handle: Handle) -> Handle:
    """The Tensor whose version a Tensor has: views count with their base."""
    while handle._base is not None and not handle._counts:
        handle = handle._base
    return handle


def refresh(view: Handle) -> None:
    """Bring a Tensor up to date with its base, or with memory that it shares with NumPy."""
    base = view._base
    if base is None:
        if view._source is not None:  # sharing may have ended since the caller looked
            view._source.read(view)
        return
    if base._source is not None:
        if (shown := live(view)) is not None:
            _see(view, shown)
            return
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


def value_for(tensor: Handle, op: Op) -> Any:
    """The payload that an op reads; one that copies a few elements gets them as they lie in memory shared with NumPy."""
    form = tensor._payload
    # Whole numbers may be the index, which a node of the tape keeps: that has to be a copy.
    if op.name in _PICKING and len(form.shape) and form.dtype.kind != "i" and (elements := live(tensor)) is not None:
        return elements
    refresh(tensor)
    return tensor._payload


def _see(view: Handle, shown: np.ndarray) -> None:
    """Bring a view without history up to date with its own elements alone, which are ``shown`` in memory."""
    base: Any = view._base
    fresh = shown if shown.flags.c_contiguous else np.array(shown, order="C")
    if view._seen < 0 or type(view._payload) not in CONCRETE or not same_bytes(as_numpy(view._payload), fresh):
        view._payload = np.array(shown) if fresh is shown else fresh
        if shares_values(view):
            view._writes += 1
            if view._counts:
                view._uncounted += 1
    view._seen = base._writes


def look(source: Handle, link: Link) -> Any:
    """A view of a Tensor in memory shared with NumPy, whose elements are read when it is used; None if it has to be computed."""
    if source._source is None or sharing(source) is None or (found := geometry(source)) is None:
        return None
    assert link.layout is not None
    place = link.layout(*found)
    result = make(stand_in(place[0], source._payload.dtype))
    attach(result, source, link)
    result._seen, result._place = -1, (result._chain, place)
    return result


def replay(view: Handle, chain: tuple[Link, ...]) -> Any:
    """What the view ops of ``chain`` give on the base as it is now."""
    value: Any = view._base
    for link in chain:
        value = through(link, value, not view._detached)
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


def concrete(handle: Handle) -> np.ndarray | None:
    """The values as a NumPy array, or None if they are traced or wrapped."""
    value = value_of(handle)
    return np.asarray(value) if type(value) in CONCRETE else None


def of_all_lanes(handle: Handle) -> np.ndarray | None:
    """The values below ``vmap`` and ``jvp``, of all lanes, wherever their dimension is; None if they are traced.

    For checks that look at each element by itself: what is wrong in one lane is wrong.
    """
    return concrete(bottom(handle))


set_views(refresh, value_for, attach)
