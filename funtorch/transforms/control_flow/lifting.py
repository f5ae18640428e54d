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
from ...core.segment import Nested, place
from ...core.state import state
from ...core.tape import next_sequence
from ...core.trees import Spec, flatten, unflatten
from ...core.variables import depends
from ...core.views import alias
from ...errors import OpError, TracedValueError
from ...tensor import host_array
from .custom import attach
from .sampling import WORDS, sampled, unpacked

MAX_RUNS = 16
ASKED = (
    "{}: {} of a Tensor of shape {} inside of its function: its value is not known while the program is being made. Use cond, "
    "torch.where or a loop of this kind, or decide outside."
)
FOREIGN = "{}: its function walks a graph that was recorded outside of it; compute the gradient outside, or all of it inside"
SHARED = "{}: its function writes {} in place, which shares elements with another Tensor that it takes from outside; pass it as an argument"
UNSETTLED = "{}: its function takes other Tensors from outside each time it is traced"
GRADIENT = "{}: its function accumulates a gradient in {}, a Tensor from outside; use torch.autograd.grad, and return the result"
ARGUMENT = "{}: its function changes its argument {} of shape {} in place; let it work on a clone, and return that"


class Met:
    """What the functions of a construct have met outside of them."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.captured: dict[int, Handle] = {}
        self.written: dict[int, Handle] = {}
        self.history: dict[int, Handle] = {}  # of those written, which are on the tape afterwards
        self.sources: dict[int, Any] = {}  # generators
        self.checks: dict[Any, int] = {}  # (class of the error, message), numbered from 1
        self.unbounded = False  # whether a loop without gradient is inside
        self.grown = False

    def inputs(self) -> list[Handle]:
        """The Tensors from outside, written ones first."""
        return [*self.written.values(), *(t for key, t in self.captured.items() if key not in self.written)]

    def add(self, where: dict[int, Any], thing: Any) -> None:
        """Note a thing."""
        if id(thing) not in where:
            where[id(thing)] = thing
            self.grown = True

    def requires(self, tensor: Handle) -> bool:
        """Whether derivatives are followed through a Tensor from outside."""
        return state.grad and (depends(tensor) or id(tensor) in self.history)

    def number(self, check: Any) -> int:
        """The number of a check."""
        if check not in self.checks:
            self.checks[check] = len(self.checks) + 1
            self.grown = True
        return self.checks[check]

    def settled(self, attempt: Callable[[], Any]) -> Any:
        """What ``attempt`` gives once it meets nothing new."""
        for _ in range(MAX_RUNS):
            self.grown = False
            try:
                found = attempt()
            except Exception:
                if not self.grown:  # otherwise values were stand-ins, and may be to blame
                    raise
                continue
            if not self.grown:
                self._check_written()
                return found
        raise OpError(UNSETTLED.format(self.name))

    def _check_written(self) -> None:
        roots = [id(_root(t)) for t in self.captured.values()]
        for tensor in self.written.values():
            if roots.count(id(_root(tensor))) > 1:
                raise OpError(SHARED.format(self.name, outer_name(tensor)))


def _root(tensor: Handle) -> Handle:
    while tensor._base is not None:
        tensor = tensor._base
    return tensor


class Lifting(Nested):
    """Watches one run of a function on tracers."""

    cuts: Any = True

    def __init__(self, met: Met) -> None:
        super().__init__()
        self.met = met
        self.cuts = state.grad
        self.start = next_sequence()
        self.held: dict[int, tuple[Handle, dict]] = {}
        self.nodes: dict[int, Any] = {}  # of Tensors that are written: what they came from before
        self.keys: dict[int, Any] = {}
        self.count = 0
        self.failed: Any = np.int32(0)  # the number of the first check that failed

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
        is_leaf = tensor._requires and tensor._node is None  # which may not be changed in place
        place(tensor, _leaf(array, requires) if is_leaf else _argument(array, requires))

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
            self.nodes.setdefault(id(target), target._node)

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

    def attach(self, body: Any, tensors: Sequence[Any], results: Sequence[Any]) -> None:
        attach(body, tensors, results)

    def check(self, passed: Any, error: type[Exception], message: str) -> bool:
        number = np.int32(self.met.number((error, message)))
        self.failed = jnp.where((self.failed == 0) & ~passed, number, self.failed)
        return True

    def finish(self, outs: Sequence[Handle]) -> list[Any]:
        """The arrays of the results, of what was written, and of the checks."""
        self.read(outs)
        written = list(self.met.written.values())
        for tensor in written:
            if tensor._requires and id(tensor) in self.nodes and tensor._node is not self.nodes[id(tensor)]:
                self.met.add(self.met.history, tensor)
        arrays = [value_of(t) for t in (*outs, *written)]
        return [_plain(a) for a in ([*arrays, self.failed] if self.met.checks else arrays)]


class Static(NamedTuple):
    """A part of a result that is no Tensor."""

    value: Any


class Body(NamedTuple):
    """A traced function: ``closed`` maps (arguments, inputs from outside, keys) to (Tensors of the result, written ones, checks)."""

    closed: Any
    leaves: list[Static | None]  # of the result: None for a Tensor
    spec: Spec
    avals: list[Any]  # of the Tensors
    follows: list[bool]  # whether derivatives go through each of them

    def result(self, tensors: Sequence[Any]) -> Any:
        """The result with these Tensors in it."""
        given = iter(tensors)
        return unflatten(self.spec, [next(given) if leaf is None else leaf.value for leaf in self.leaves])


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


def _plain(array: Any) -> Any:
    """An array of a definite dtype (JAX lets Python numbers have a weaker one)."""
    return jax.lax.convert_element_type(array, array.dtype)


def trace(met: Met, function: Callable, spec: Spec, avals: Sequence[Any], requires: Sequence[bool]) -> Body:
    """Trace ``function(*args)`` with arguments of structure ``spec`` once; ``met`` may grow."""
    found: dict[str, Any] = {}
    outer, sources = met.inputs(), list(met.sources)

    def run(*arrays: Any) -> list[Any]:
        given, rest = arrays[: len(avals)], arrays[len(avals) :]
        watch = Lifting(met)
        with watch:
            for tensor, array in zip(outer, rest, strict=False):
                watch.put(tensor, array)
            watch.keys = dict(zip(sources, rest[len(outer) :], strict=True))
            arguments = [_argument(a, r) for a, r in zip(given, requires, strict=True)]
            leaves, found["spec"] = flatten(function(*unflatten(spec, arguments)))
            for number, tensor in enumerate(arguments):
                if tensor._version:
                    raise OpError(ARGUMENT.format(met.name, number, list(avals[number].shape)))
            outs = [leaf for leaf in leaves if isinstance(leaf, Handle)]
            found["leaves"] = [None if isinstance(leaf, Handle) else Static(leaf) for leaf in leaves]
            results = watch.finish(outs)
            found["follows"] = [t._requires for t in outs]
        return results

    words = jax.ShapeDtypeStruct((WORDS,), jnp.int64)
    specs = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in (*avals, *map(value_of, outer))] + [words] * len(sources)
    try:
        closed = jax.make_jaxpr(run)(*specs)
    except Exception as error:  # the function's own: JAX's notes on it are of no use
        error.__notes__ = [note for note in getattr(error, "__notes__", []) if "JAX" not in note]
        raise
    outs = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in closed.out_avals[: found["leaves"].count(None)]]
    return Body(closed, found["leaves"], found["spec"], outs, found["follows"])
