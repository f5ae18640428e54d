"""Watching one run of a function on tracers, with other values in the places of Tensors from outside."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...core.batching import outer_name
from ...core.engine import CONCRETE
from ...core.handle import Handle, make, value_of
from ...core.host_values import host_array
from ...core.levels import WRAPPED, Dual, Level
from ...core.op import is_differentiable
from ...core.segment import Nested, place
from ...core.state import state
from ...core.tape import next_sequence
from ...core.views import alias
from ...errors import OpError, TracedValueError
from .custom import attach
from .meeting import Met
from .sampling import sampled, unpacked

ASKED = (
    "{}: {} of a Tensor of shape {} inside of its function: its value is not known while the program is being made. Use cond, "
    "torch.where or a loop of this kind, or decide outside."
)
FOREIGN = "{}: its function walks a graph that was recorded outside of it; compute the gradient outside, or all of it inside"
STEPPED = "{}: {} in its function, which Python runs once for all steps; do it outside"
GRADIENT = "{}: its function accumulates a gradient in {}, a Tensor from outside; use torch.autograd.grad, and return the result"


def leaf_of(array: Any, requires: bool) -> Any:
    """A Tensor with these values, on the tape if it ``requires`` that and can be."""
    found = make(array)
    return found.requires_grad_() if requires and is_differentiable(np.dtype(array.dtype)) else found


def argument_of(array: Any, requires: bool) -> Any:
    """An argument with these values: on the tape, but no leaf of it, so that in place changes are not refused for that."""
    leaf = leaf_of(array, requires)
    if not leaf._requires:
        return leaf
    found = alias(leaf, detached=False)
    found._base, found._source, found._chain = None, None, ()
    return found


def plain(array: Any) -> Any:
    """An array of a definite dtype (JAX lets Python numbers have a weaker one)."""
    return jax.lax.convert_element_type(array, array.dtype)


class Lifting(Nested):
    """Watches one run of a function on tracers."""

    cuts: Any = True
    keyed = True

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
        place(tensor, leaf_of(array, requires) if is_leaf else argument_of(array, requires))

    def _hold(self, tensor: Handle) -> None:
        if id(tensor) not in self.held:
            self.held[id(tensor)] = (tensor, dict(tensor.__dict__))

    def read(self, args: Sequence[Any]) -> None:
        for arg in args:
            if isinstance(arg, Handle) and id(arg) not in self.inside:
                self.met.used.add(id(arg))
                if id(arg) not in self.met.captured:
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
            return self.met.once((id(tensor), asked), lambda: self._decided_outside(tensor, asked))
        payload = value_of(tensor)
        if type(payload) not in CONCRETE and type(payload) not in WRAPPED:
            raise TracedValueError(ASKED.format(self.met.name, asked, list(payload.shape)))
        return host_array(payload, asked)

    def _decided_outside(self, tensor: Handle, asked: str) -> np.ndarray:
        with self._as_outside(tensor):
            return super().decision(tensor, asked)

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

    def number(self, container: Any, path: tuple) -> Any:
        ask = super().number
        return self.met.once((id(container), path), lambda: ask(container, path))

    def module_called(self, module: Any) -> None:
        if id(module) not in self.met.modules:
            self.met.modules[id(module)] = module
            super().module_called(module)

    def stepped(self, optimizer: Any) -> None:
        raise OpError(STEPPED.format(self.met.name, f"{type(optimizer).__name__} takes a step"))

    def effect(self, thunk: Callable, key: Any) -> None:
        raise OpError(STEPPED.format(self.met.name, "a schedule moves on"))

    def attach(self, body: Any, tensors: Sequence[Any], results: Sequence[Any]) -> None:
        attach(body, tensors, results)

    def check(self, passed: Any, error: type[Exception], message: str) -> bool:
        number = np.int32(self.met.number((error, message)))
        self.failed = jnp.where((self.failed == 0) & ~passed, number, self.failed)
        return True

    def close(self) -> None:
        """Tensors that were made inside, and live on in what Python objects keep, say so when they are used."""
        for reference in list(self.inside.values()):
            tensor = reference()
            if tensor is not None and type(tensor._payload) not in CONCRETE:
                shape, dtype = tensor._payload.shape, tensor._payload.dtype
                tensor._payload = Dual(Finished(self.met.name), make(np.zeros(shape, dtype)), None)

    def finish(self, outs: Sequence[Handle]) -> list[Any]:
        """The arrays of the results, of what was written, and of the checks."""
        self.read(outs)
        written = list(self.met.written.values())
        for tensor in written:
            if tensor._requires and id(tensor) in self.nodes and tensor._node is not self.nodes[id(tensor)]:
                self.met.add(self.met.history, tensor)
        arrays = [value_of(t) for t in (*outs, *written)]
        return [plain(a) for a in ([*arrays, self.failed] if self.met.checks else arrays)]


class Finished(Level):
    """The level of what was made inside a loop or branch and outlived it."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
