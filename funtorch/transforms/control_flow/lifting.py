"""The lift: a Python function of Tensors as a pure function of arrays, with what it takes from outside as further inputs.

A function is traced until a run meets nothing new: outer Tensors that it reads or writes, generators that it draws from, checks
that it makes. The functions of one construct share what was met (`Met`), so that all of them have the same inputs and outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ...core.batching import outer_name
from ...core.engine import CONCRETE
from ...core.handle import Handle, make, value_of
from ...core.levels import WRAPPED
from ...core.op import is_differentiable
from ...core.recorder import draw
from ...core.segment import Nested, place
from ...core.state import state
from ...core.trees import Spec, flatten, unflatten
from ...core.variables import depends
from ...core.views import alias
from ...errors import OpError, TracedValueError, describe
from ...tensor import Tensor, host_array
from .sampling import WORDS, sampled, unpacked

ASKED = (
    "{}: {} of a Tensor of shape {} inside of its function: its value is not known while the program is being made. Use cond, "
    "torch.where or a loop of this kind, or decide outside."
)
FOREIGN = "{}: its function walks a graph that was recorded outside of it; compute the gradient outside, or all of it inside"
GRADIENT = "{}: its function accumulates a gradient in {}, a Tensor from outside; use torch.autograd.grad, and return the result"
ARGUMENT = "{}: its function changes its argument {} of shape {} in place; let it work on a clone, and return that"


class Met:
    """What the functions of a construct have met outside of them."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.captured: dict[int, Handle] = {}
        self.written: dict[int, Handle] = {}
        self.history: set[int] = set()  # of those written, which are on the tape after it
        self.sources: dict[int, Any] = {}
        self.checks: list[str] = []  # messages
        self.grown = False

    def inputs(self) -> list[Handle]:
        """The Tensors from outside, written ones first."""
        return [*self.written.values(), *(t for key, t in self.captured.items() if key not in self.written)]

    def add(self, where: dict[int, Any], thing: Any) -> bool:
        """Note a thing; whether it is new."""
        if id(thing) in where:
            return False
        where[id(thing)] = thing
        self.grown = True
        return True

    def requires(self, tensor: Handle) -> bool:
        """Whether derivatives are followed through a Tensor from outside."""
        return state.grad and (depends(tensor) or id(tensor) in self.history)


class Lifting(Nested):
    """Watches one run of a function on tracers."""

    def __init__(self, met: Met) -> None:
        super().__init__()
        self.met = met
        self.cuts = state.grad  # type: ignore[misc]
        self.held: dict[int, tuple[Handle, dict]] = {}
        self.keys: dict[int, Any] = {}
        self.count = 0
        self.passed: list[Any] = []  # one truth value for each check
        self.said: list[str] = []

    cuts: Any = True

    def __enter__(self) -> Any:
        self.levels, state.levels = state.levels, []
        return super().__enter__()

    def __exit__(self, *exc: object) -> None:
        super().__exit__(*exc)
        state.levels = self.levels
        for tensor, fields in self.held.values():
            tensor.__dict__.clear()
            tensor.__dict__.update(fields)

    def put(self, tensor: Handle, array: Any) -> None:
        """Let an outer Tensor have another value in this run."""
        requires = self.met.requires(tensor)
        self._hold(tensor)
        place(tensor, _leaf(array, requires))

    def _hold(self, tensor: Handle) -> None:
        if id(tensor) not in self.held:
            self.held[id(tensor)] = (tensor, dict(tensor.__dict__))

    def read(self, args: Sequence[Any]) -> None:
        for arg in args:
            if isinstance(arg, Handle) and id(arg) not in self.inside and id(arg) not in self.met.captured:
                self._meet(arg)

    def _meet(self, tensor: Handle) -> None:
        payload = value_of(tensor)
        self.met.add(self.met.captured, tensor)
        if type(payload) in WRAPPED:  # this run only finds out what there is: any value will do
            payload.level.check_alive(payload)
            self.put(tensor, np.ones(payload.shape, payload.dtype))

    def write(self, target: Handle) -> None:
        if self.is_outer(target):
            self.read((target,))
            self.met.add(self.met.written, target)
            self._hold(target)

    def write_grad(self, tensor: Handle) -> None:
        if self.is_outer(tensor):
            raise OpError(GRADIENT.format(self.met.name, outer_name(tensor)))

    clear_grad = write_grad

    def decision(self, tensor: Handle, asked: str) -> np.ndarray:
        if self.is_outer(tensor):
            with self._as_outside(tensor):
                return super().decision(tensor, asked)
        payload = value_of(tensor)
        if type(payload) not in CONCRETE and type(payload) not in WRAPPED:
            raise TracedValueError(ASKED.format(self.met.name, asked, list(payload.shape)))
        return host_array(payload, asked)

    @contextmanager
    def _as_outside(self, tensor: Handle) -> Iterator[None]:
        """A Tensor from outside is for a moment what it was: Python may decide on it, as the code outside may."""
        inside, state.levels = state.levels, self.levels
        now = dict(tensor.__dict__)
        if id(tensor) in self.held:
            tensor.__dict__.clear()
            tensor.__dict__.update(self.held[id(tensor)][1])
        try:
            yield
        finally:
            state.levels = inside
            tensor.__dict__.clear()
            tensor.__dict__.update(now)

    def draw(self, source: Any, thunk: Callable, signature: tuple) -> Any:
        self.met.add(self.met.sources, source)
        words = self.keys.get(id(source))
        key = jax.random.key(0) if words is None else unpacked(words)
        self.count += 1
        return sampled(jax.random.fold_in(key, self.count), signature)

    def walk(self, nodes: Sequence[Any]) -> None:
        if any(node.seq < self.start for node in nodes):
            raise OpError(FOREIGN.format(self.met.name))

    def check(self, passed: Handle, message: str) -> bool:
        """A check that the program makes, and that is looked at after it."""
        self.passed.append(value_of(passed))
        self.said.append(message)
        return True


class Body(NamedTuple):
    """A traced function: ``closed`` maps (arguments, inputs from outside, keys) to (Tensor results, written Tensors, checks)."""

    closed: Any
    leaves: list[Any]  # of the result: None for a Tensor, else what it is
    spec: Spec
    avals: list[Any]  # of the Tensors
    follows: list[bool]  # whether derivatives go through each of them

    def result(self, tensors: Sequence[Any]) -> Any:
        """The result with these Tensors in it."""
        given = iter(tensors)
        return unflatten(self.spec, [next(given) if leaf is None else leaf.value for leaf in self.leaves])


class Static(NamedTuple):
    """A part of a result that is no Tensor."""

    value: Any


def _leaf(array: Any, requires: bool) -> Any:
    found = make(array)
    return found.requires_grad_() if requires and is_differentiable(np.dtype(array.dtype)) else found


def _argument(array: Any, requires: bool) -> Any:
    """An argument with these values: on the tape, but no leaf of it, so that in place changes are not refused for that."""
    leaf = _leaf(array, requires)
    if not leaf._requires:
        return leaf
    found = alias(leaf, detached=False)
    found._base, found._chain = None, ()
    return found


def trace(met: Met, function: Callable, spec: Spec, avals: Sequence[Any], requires: Sequence[bool], convert: bool = False) -> Body:
    """Trace ``function(*args)`` with arguments of structure ``spec`` once; ``met`` may grow. ``convert``: numbers are Tensors."""
    found: dict[str, Any] = {}
    outer, sources, checks = met.inputs(), list(met.sources), len(met.checks)

    def run(*arrays: Any) -> list[Any]:
        given = arrays[: len(avals)]
        rest = arrays[len(avals) :]
        watch = Lifting(met)
        with watch:
            for tensor, array in zip(outer, rest, strict=False):
                watch.put(tensor, array)
            watch.keys = dict(zip(sources, rest[len(outer) :], strict=True))
            tensors = [_argument(a, r) for a, r in zip(given, requires, strict=True)]
            leaves, out_spec = flatten(function(*unflatten(spec, tensors)))
            for number, (tensor, array) in enumerate(zip(tensors, given, strict=True)):
                if tensor._version:
                    raise OpError(ARGUMENT.format(met.name, number, list(array.shape)))
            if convert:
                leaves = [_number(leaf) for leaf in leaves]
            outs = [leaf for leaf in leaves if isinstance(leaf, Handle)]
            watch.read(outs)
            written = list(met.written.values())
            found.update(
                leaves=[None if isinstance(leaf, Handle) else Static(leaf) for leaf in leaves],
                spec=out_spec,
                follows=[t.requires_grad for t in outs],
            )
            met.history |= {id(t) for t in written if t.requires_grad and not depends(watch.held[id(t)][0])}
            values = [_plain(value_of(t)) for t in (*outs, *written)]
        _agree_on_checks(met, watch.said)
        return [*values, *map(_plain, watch.passed)]

    words = jax.ShapeDtypeStruct((WORDS,), jnp.int64)
    specs = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in [*avals, *(t._payload for t in outer)]] + [words] * len(sources)
    closed = jax.make_jaxpr(run)(*specs)
    outs = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in closed.out_avals[: found["leaves"].count(None)]]
    return Body(closed, found["leaves"], found["spec"], outs, found["follows"])
