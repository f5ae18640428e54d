"""Views of a part of each dimension: the select, slice and unsqueeze of basic indexing, as one op.

A *step* says what happens to one dimension: ``NEW`` makes one, ``WHOLE`` keeps one, ``ONE`` takes an index and drops it,
``ANY`` does so with an index that may be negative, ``(length, stride)`` keeps that many elements. Where an index or a slice starts is an argument of the op, not part of
it: a loop over indices runs one program.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..core.call import call
from ..core.handle import Handle, make, value_of
from ..core.op import Op
from ..core.selected import choosing
from ..core.shared_memory import sharing
from ..core.views import At, attach, look
from .direct import shapes
from .kept import kept, place

MANY = 128  # results of one op
NEW, WHOLE, ONE, ANY = "new", "whole", "one", "any"
Step = Any  # one of the words above, or (length, stride)
Steps = tuple[Step, ...]
NAMES = {NEW: "unsqueeze", ONE: "select", ANY: "select", WHOLE: "alias"}


class Window:
    """What ``steps`` mean for a base of a given shape: ``sizes`` of the block they lie in, strides, the shown shape."""

    def __init__(self, steps: Steps, shape: tuple[int, ...]) -> None:
        sizes, strides, shown = [], [], []
        dims = iter(shape)
        for step in steps:
            if step is NEW or step == NEW:
                shown.append(1)
                continue
            size = next(dims)
            length, stride = ((size, 1) if step == WHOLE else (1, 1)) if isinstance(step, str) else step
            sizes.append((length - 1) * stride + 1 if length else 0)
            strides.append(stride)
            if step not in (ONE, ANY):
                shown.append(length)
        rest = list(dims)
        self.sizes = (*sizes, *rest)
        self.strides = (*strides, *[1] * len(rest))
        self.shown = (*shown, *rest)

    def starts(self, steps: Steps, places: Sequence[Any]) -> list[Any]:
        """Where the block begins along each dimension of the base."""
        given = iter(places)
        kind = jnp.result_type(*places) if places else np.int64
        zero = np.zeros((), kind)
        starts = [zero if step == WHOLE else next(given).astype(kind) for step in steps if step != NEW]
        return starts + [zero] * (len(self.sizes) - len(starts))

    def signs(self, steps: Steps) -> list[bool]:
        """For each dimension of the base, whether its start may be negative."""
        signs = [step == ANY for step in steps if step != NEW]
        return signs + [False] * (len(self.sizes) - len(signs))


def _show(x: Any, steps: Steps, places: Sequence[Any]) -> Any:
    window = Window(steps, x.shape)
    if window.sizes != x.shape:
        x = lax.dynamic_slice(x, window.starts(steps, places), window.sizes, allow_negative_indices=window.signs(steps))
    if any(stride > 1 for stride in window.strides):
        x = lax.slice(x, (0,) * x.ndim, x.shape, window.strides)
    return x.reshape(window.shown)


def _put(base: Any, value: Any, steps: Steps, places: Sequence[Any]) -> Any:
    """``base`` with ``value``, which is broadcast and converted, in the window."""
    window = Window(steps, base.shape)
    value = jnp.broadcast_to(value.astype(base.dtype), window.shown)
    value = value.reshape([-(-size // stride) for size, stride in zip(window.sizes, window.strides, strict=True)])
    if any(stride > 1 for stride in window.strides):
        block = base
        if window.sizes != base.shape:
            block = lax.dynamic_slice(
                base, window.starts(steps, places), window.sizes, allow_negative_indices=window.signs(steps)
            )
        steps_of_block = tuple(slice(None, None, stride) for stride in window.strides)
        value = choosing(lambda block, value: block.at[steps_of_block].set(value), block, value)
    if window.sizes == base.shape:
        return value
    starts, signs = window.starts(steps, places), window.signs(steps)
    return choosing(lambda x, y: lax.dynamic_update_slice(x, y, starts, allow_negative_indices=signs), base, value)


def _name(steps: Steps) -> str:
    changing = [step for step in steps if step != WHOLE]
    return NAMES.get(changing[-1], "slice") if changing else "alias"


_ops: dict[Steps, Op] = {}


def window_op(steps: Steps) -> Op:
    """The Op ``(base, *places) -> window``; its ``inverse(base, value, *places)`` writes one."""
    found = _ops.get(steps)
    if found is None:
        found = _ops[steps] = Op(lambda x, *places: _show(x, steps, places), _name(steps))
        found.inverse = lambda base, value, *places: _put(base, value, steps, places)
    return found


def _layout(steps: Steps, places: Sequence[Any]) -> Any:
    def layout(shape: tuple, strides: tuple, offset: int) -> tuple:
        sizes, steps_in, d = [], [], 0
        given = iter(places)
        for step in steps:
            if step == NEW:
                sizes.append(1)
                steps_in.append(shape[d] * strides[d] if d < len(shape) else 1)
                continue
            if step == WHOLE:
                sizes.append(shape[d])
                steps_in.append(strides[d])
            else:
                at = next(given)
                offset += int(at) * strides[d] if type(at) is np.ndarray else 0
                if step not in (ONE, ANY):
                    sizes.append(step[0])
                    steps_in.append(step[1] * strides[d])
            d += 1
        return (*sizes, *shape[d:]), (*steps_in, *strides[d:]), offset

    layout.places = places  # type: ignore[attr-defined]
    return layout


def link(steps: Steps, places: Sequence[Any]) -> At:
    """What leads from a base to its window: an entry of a view's chain."""
    held = tuple(make(value_of(p), p._birth) if isinstance(p, Handle) else p for p in places)
    return At(window_op(steps), held, _layout(steps, held))


def show(x: Any, steps: Steps, places: Sequence[Any]) -> Any:
    """The window of a Tensor, as a view. ``places`` are arrays or Tensors without dimensions, one for each start."""
    if x._source is not None and _numbers(places) and (seen := look(x, link(steps, places))) is not None:
        return seen
    result = call(window_op(steps), (x, *places))
    attach(result, x, link(steps, places))
    return result


def _numbers(places: Sequence[Any]) -> bool:
    """Whether all places are known numbers, which a layout can tell of."""
    return all([type(place) is np.ndarray for place in places])


def _several(name: str) -> Any:
    """An Op factory: several windows along one dimension at once, so that they share one place on the tape."""

    @kept(name, shapes.parts)
    def windows(dim: int, parts: tuple[tuple[int, int], ...], drop: bool) -> Any:
        def pure(x: Any) -> tuple:
            blocks = [lax.slice_in_dim(x, start, start + length, axis=dim) for start, length in parts]
            return tuple(lax.squeeze(b, (dim,)) for b in blocks) if drop else tuple(blocks)

        return pure

    return windows


_MAKERS = {name: _several(name) for name in ("unbind", "split", "split_with_sizes", "chunk", "tensor_split")}


def show_several(x: Any, name: str, dim: int, parts: tuple[tuple[int, int], ...], drop: bool = False) -> tuple:
    """Windows ``(start, length)`` along ``dim``, as views that are one op's results; ``drop`` leaves the dimension out."""
    if len(parts) > MANY:  # a program of that many slices takes long to make
        return tuple(_sibling(show(x, *_part(dim, *part, drop)), name) for part in parts)
    if not parts:
        return ()
    if x._source is not None and sharing(x) is not None:
        return tuple([_sibling(show(x, *_part(dim, *part, drop)), name) for part in parts])
    results = call(_MAKERS[name](dim, parts, drop), (x,))
    for result, part in zip(results, parts, strict=True):
        attach(result, x, link(*_part(dim, *part, drop)))
        _sibling(result, name)
    return results


def _part(dim: int, start: int, length: int, drop: bool) -> tuple[Steps, tuple]:
    return (WHOLE,) * dim + (ONE if drop else (length, 1),), (place(start),)


def _sibling(view: Any, name: str) -> Any:
    """``view``, marked as one of several views that an op of this name gave."""
    view._siblings = f"{''.join(part.capitalize() for part in name.split('_'))}Backward0"
    return view
