"""Loops without a bound: forward derivatives of every order, and no gradient. One that is asked for raises, and says what to do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp

from ...core.handle import Handle, value_of
from ...core.levels import Batched, Dual
from ...core.op import Mask, Op
from ...core.state import state
from ...errors import OpError
from .watching import Lifting

NO_GRADIENT = (
    "a gradient is asked for of a loop whose number of steps is not known beforehand. Say while_loop(..., max_steps=N), which keeps "
    "what a gradient needs for up to N steps (or fori_loop with Python numbers, or scan); forward derivatives need no bound."
)


class Unbounded(Op):
    """An Op on the tape whose gradient nobody computes: `refusing` sees to it."""

    __slots__ = ()

    def vjp(self, mask: Mask) -> Op:
        found = self._vjp.get(mask)
        if found is None:
            found = self._vjp[mask] = Op(_zeros(mask), f"{self.name}_backward")
        return found

    def jvp(self, mask: Mask) -> Op:
        return self._like(self._jvp, mask, super().jvp)

    def push(self, mask: Mask) -> Op:
        return self._like(self._push, mask, super().push)

    def batched(self, axes: tuple[int | None, ...]) -> Op:
        return self._like(self._batched, axes, super().batched)

    def _like(self, forms: dict, key: Any, derive: Callable) -> Op:
        found = forms.get(key)
        if not isinstance(found, Unbounded):
            plain = derive(key)
            found = forms[key] = Unbounded(plain.fn, plain.name)
        return found


def _zeros(mask: Mask) -> Callable:
    def backward(*args: Any) -> tuple:
        return tuple(jnp.zeros(a.shape, a.dtype) for a, marked in zip(args, mask, strict=False) if marked)

    return backward


def refusing(results: Sequence[Any]) -> None:
    """Let the walk of a tape that comes to one of these Tensors raise RuntimeError, at each level."""
    for result in results:
        if result._requires:
            _tell_around()
        _refuse(result)


def _refuse(tensor: Handle) -> None:
    node: Any = tensor._node
    if tensor._requires and node is not None:
        node.prehooks = {} if node.prehooks is None else node.prehooks
        node.prehooks.setdefault(tensor._output, {})[-1] = _raise
    payload = value_of(tensor)
    if type(payload) is Batched:
        _refuse(payload.inner)
    elif type(payload) is Dual:
        _refuse(payload.primal)
        if payload.tangent is not None:
            _refuse(payload.tangent)


def _raise(gradient: Any) -> None:
    raise OpError(f"while_loop: {NO_GRADIENT}")


def _tell_around() -> None:
    """A loop or branch around this one has no gradient either."""
    recorder = state.recorder
    while recorder is not None:
        if isinstance(recorder, Lifting):
            recorder.met.unbounded = True
        recorder = recorder.before
