"""``ctx``: what a Function's ``forward`` hands to its ``backward``."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..core.engine import CONCRETE
from ..core.generators import default_generator
from ..core.handle import Handle, value_of
from ..core.op import is_differentiable
from ..core.python_node import applied
from ..core.recompute import Recomputed
from ..core.state import state
from ..core.tape import Packed, place_of
from ..core.trees import flatten_plain, unflatten
from ..core.variables import depends, frozen
from ..core.views import concrete
from ..errors import OpError


class FunctionCtx:
    """What ``forward`` hands to ``backward``: saved Tensors, and attributes of the user's choice."""

    def __init__(self) -> None:
        self._saved: tuple = ()
        self._saved_for_forward: tuple = ()
        self._dirty: tuple = ()
        self._not_differentiable: frozenset = frozenset()
        self.materialize_grads = True
        self.needs_input_grad: tuple[bool, ...] = ()

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep Tensors (or None) for ``backward``, which finds them in ``ctx.saved_tensors``."""
        for number, tensor in enumerate(tensors):
            if tensor is not None and not isinstance(tensor, Handle):
                raise TypeError(
                    f"save_for_backward can only save variables, but argument {number} is of type {type(tensor).__name__}"
                )
        self._saved = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Keep Tensors for ``jvp``."""
        for number, tensor in enumerate(tensors):
            if tensor is not None and not isinstance(tensor, Handle):
                raise TypeError(
                    f"save_for_forward can only save variables, but argument {number} is of type {type(tensor).__name__}"
                )
        self._saved_for_forward = tensors

    @property
    def saved_tensors(self) -> tuple:
        return tuple(t.unpacked() if type(t) is Packed else t for t in self._saved or self._saved_for_forward)

    saved_variables = saved_tensors

    def mark_dirty(self, *args: Any) -> None:
        """Say which inputs were changed in place."""
        self._dirty = args

    def mark_non_differentiable(self, *args: Any) -> None:
        """Say which outputs have no gradient."""
        self._not_differentiable = frozenset(map(id, args))

    def set_materialize_grads(self, value: bool) -> None:
        """Whether a cotangent that is absent comes as zeros (the default) or as None."""
        self.materialize_grads = bool(value)


_OWN = frozenset(FunctionCtx().__dict__)


class Kept:
    """The Tensors in a ``ctx``. An input or an output stands there with its history; a Tensor that ``forward`` made in between
    gets one, by running ``forward`` again, where a second derivative needs it. What comes out otherwise on another run
    (random numbers) is no function of the inputs, and stays as it is.
    """

    def __init__(self, body: Any) -> None:
        self.body = body
        self.inputs: Sequence[Any] = ()
        self.of_output: dict[int, int] = {}  # by place among the Tensors of ctx: the number of the output
        self.between: list[int] = []  # the places of those that are neither input nor output
        self.leaves: dict[int, tuple[Handle, Handle]] = {}  # leaves of the graph, and what they were, by what they were
        self.wholes: list[Whole] = []  # the user's attributes that are Tensors or hold some

    def find(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> list[int]:
        """Look through ``ctx``; the numbers of the outputs that are kept."""
        held, _ = _tensors(self.body.ctx)
        numbers = {id(out): k for k, out in enumerate(outputs)}
        ours = {id(t) for t in inputs}
        for place, tensor in enumerate(held):
            if not isinstance(tensor, Handle):
                continue
            if id(tensor) in numbers:
                self.of_output[place] = numbers[id(tensor)]
            elif id(tensor) not in ours and not tensor._foreign and is_differentiable(tensor._payload.dtype):
                self.between.append(place)
        self.inputs = inputs
        return sorted(set(self.of_output.values()))

    def freeze(self) -> None:
        """Keep what is in ``ctx`` as it is now, whatever is written later."""
        ctx = self.body.ctx
        held, spec = _tensors(ctx)
        kept = [frozen(t) if isinstance(t, Handle) else t for t in held]
        self.leaves = {id(now): (t, now) for t, now in zip(held, kept, strict=True) if _is_plain_leaf(t)}
        now = {id(t): k for t, k in zip(held, kept, strict=True) if isinstance(t, Handle)}
        outputs = {id(held[place]) for place in self.of_output}
        made = {id(held[place]) for place in self.between}
        found = [Whole(name, value, now, made) for name, value in ctx.__dict__.items() if name not in _OWN]
        self.wholes = [whole for whole in found if whole.pairs and not any(id(t) in outputs for t, _ in whole.pairs)]
        ctx._saved, attributes = unflatten(spec, kept)
        ctx.__dict__.update(attributes)
        if state.saved_hooks is not None:
            ctx._saved = tuple(t if t is None or place in self.of_output else Packed(t) for place, t in enumerate(ctx._saved))
        self.inputs = [frozen(t) for t in self.inputs] if self.between and not ctx._dirty else ()

    def _as_given(self, remade: bool) -> dict[str, Any]:
        """The attributes that are as they were, and so can be lent as the very objects that ``forward`` put there."""
        given = {whole.name: whole.given() for whole in self.wholes if not (remade and whole.made)}
        return {name: value for name, value in given.items() if value is not None}

    @contextlib.contextmanager
    def lent(self, application: Any) -> Iterator[None]:
        """Within: the Tensors of ``ctx`` have their histories, and a leaf that is as it was is itself: a Parameter, with its attributes."""
        ctx = self.body.ctx
        plain = not application.open and not state.levels and state.recorder is None
        leaves = self.leaves if plain else {}
        between = self.between if state.grad and any(map(depends, self.inputs)) else []
        wholes = self._as_given(bool(between)) if plain else {}
        if not between and not self.of_output and not application.open and not leaves and not wholes:
            yield
            return
        held, spec = _tensors(ctx)
        before = (ctx._saved, dict(ctx.__dict__))
        full = [_itself(*leaves[id(t)]) if id(t) in leaves else application.seen(t) if isinstance(t, Handle) else t for t in held]
        for place, number in self.of_output.items():
            full[place] = application.result(number)
        if between:
            made = [held[place] for place in between]
            inputs = [application.seen(t) for t in self.inputs]
            again = Recomputed(f"{self.body.name}Kept", self._again(made), inputs, [True] * len(made))
            for place, tensor in zip(between, applied(again, inputs, made), strict=True):
                full[place] = tensor
        ctx._saved, attributes = unflatten(spec, full)
        ctx.__dict__.update(attributes | wholes)
        try:
            yield
        finally:
            ctx._saved = before[0]
            ctx.__dict__.update({name: before[1][name] for name in attributes})

    def _again(self, made: list[Any]) -> Any:
        def run(inputs: list[Any]) -> list[Any]:
            ctx, rng = FunctionCtx(), default_generator.get_state()
            try:
                self.body.run(ctx, inputs)
            finally:
                default_generator.set_state(rng)
            held, _ = _tensors(ctx)
            if len(held) <= max(self.between):
                raise OpError(f"{self.body.name}: forward kept other Tensors on ctx when it ran again for a second derivative")
            return [new if _same(new, old) else old for new, old in zip([held[p] for p in self.between], made, strict=True)]

        return run


class Whole:
    """An attribute of ``ctx`` that is a Tensor or holds some: the object that ``forward`` put there."""

    def __init__(self, name: str, value: Any, now: dict[int, Handle], made: set[int]) -> None:
        self.name = name
        self.pairs: list[tuple[Any, Handle]] = []
        if isinstance(value, (Handle, list, tuple, dict)):
            held = [t for t in flatten_plain(value)[0] if isinstance(t, Handle)]
            self.pairs = [(t, now[id(t)]) for t in held]
            self.made = any(id(t) in made for t in held)  # whether forward made one of its Tensors
        self.value = value
        if isinstance(value, Handle):  # which only matters to who else has it
            self.value, self.pairs = None, [(weakref.ref(value), now[id(value)])]

    def given(self) -> Any:
        """The object, if none of its Tensors was written since, and they have their places on the tape; None otherwise."""
        if self.value is None:
            tensor, kept = self.pairs[0][0](), self.pairs[0][1]
            return tensor if tensor is not None and _as_it_was(tensor, kept) else None
        return self.value if all(_as_it_was(t, kept) for t, kept in self.pairs) else None


def _as_it_was(tensor: Handle, kept: Handle) -> bool:
    if value_of(tensor) is not kept._payload or tensor._requires != kept._requires:
        return False
    return not tensor._requires or place_of(tensor) == (kept._node, kept._output)


def _same(new: Any, old: Handle) -> bool:
    if not isinstance(new, Handle) or value_of(new).shape != value_of(old).shape:
        return False
    a, b = concrete(new), concrete(old)  # the engine's tiers may differ in the last bits
    return a is None or b is None or np.allclose(a, b, rtol=1e-4, atol=1e-6, equal_nan=True)


def _is_plain_leaf(value: Any) -> bool:
    return isinstance(value, Handle) and value._node is None and value._base is None and type(value._payload) in CONCRETE


def _itself(leaf: Handle, kept: Handle) -> Handle:
    """The leaf, unless it was written since."""
    return leaf if leaf._payload is kept._payload and leaf._requires == kept._requires else kept


def _tensors(ctx: FunctionCtx) -> tuple[list[Any], Any]:
    """What is saved and what is among the user's attributes: leaves and structure of ``(saved, attributes)``."""
    return flatten_plain((tuple(ctx._saved), {k: v for k, v in ctx.__dict__.items() if k not in _OWN}))
