"""The recorder: what a call of a function reads, writes, draws and decides, beyond its arguments.

A *cell* is a Tensor from outside: its value, or its ``.grad``. A `Recording` watches an eager call; `retracing` runs the same
function once more on JAX tracers, with the cells of a recording as inputs and outputs and its decisions as constants.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import handle as handles
from .engine import CONCRETE
from .handle import Handle
from .host_values import host_array
from .levels import WRAPPED
from .tape import next_sequence
from .watcher import Unwatched, Watcher, look_up, single_value, user_place


class Recording(Watcher):
    """Watches an eager call."""

    def __init__(self, arguments: Sequence[Handle]) -> None:
        super().__init__()
        self.arguments = {id(a): number for number, a in enumerate(arguments)}
        self.kept = list(arguments)
        # What arguments and cells were when they were first met.
        self.first: dict[int, dict] = {id(a): _fields(a) for a in arguments}
        self.used: set[int] = set()  # the arguments that were read or written
        self.cells: dict[int, Handle] = {}
        self.written: dict[int, Handle] = {}
        self.grads: dict[int, tuple[Handle, bool]] = {}  # Tensors whose .grad was looked at first, and whether there was one
        self.written_grads: dict[int, Handle] = {}
        self.draws: list[tuple[Any, Callable, tuple]] = []
        self.numbers: list[tuple[Any, tuple]] = []
        self.effects: list[tuple[Callable, Any]] = []
        self.decisions: list[tuple[str, np.ndarray, str]] = []  # what was asked, the value, the file and line
        self.constants: list[tuple[Any, str]] = []  # numbers of Python's that ops took, and the file and line
        self.free: set[float] = set()  # hyperparameters, which may change
        self.modules: dict[int, Any] = {}
        self.modes: list[tuple[int, bool]] = []  # the calls of modules, each with its training flag
        self.optimizers: dict[int, Any] = {}
        self.start = next_sequence()
        self.refused: str | None = None  # why this call can't be a program

    def read(self, args: Sequence[Any]) -> None:
        """An op is about to read its arguments."""
        for arg in args:
            if isinstance(arg, Handle):
                if id(arg) not in self.inside:
                    self._cell(arg)
            elif isinstance(arg, np.ndarray) and arg.size == 1 and arg.dtype.kind in "fc":
                self.constants.append((arg.item(), user_place()))

    def _cell(self, tensor: Handle) -> None:
        key = id(tensor)
        if key in self.arguments:
            self.used.add(key)
        elif key not in self.cells and type(tensor._payload) in CONCRETE:
            self.cells[key] = tensor
            self.first[key] = _fields(tensor)
            if tensor._base is not None and self.is_outer(tensor._base):
                self._cell(tensor._base)

    def write(self, target: Handle) -> None:
        """A Tensor is about to be written in place."""
        if self.is_outer(target):
            self.written[id(target)] = target
            self._cell(target)

    def read_grad(self, tensor: Handle) -> None:
        """Someone looks at ``tensor.grad``."""
        key = id(tensor)
        if self.is_outer(tensor) and key not in self.grads and key not in self.written_grads:
            self.grads[key] = (tensor, tensor._grad is not None)
            self._forget(tensor._grad)

    def _forget(self, grad: Handle | None) -> None:
        """A gradient is reached through the Tensor it belongs to: it is not a cell of its own."""
        if grad is not None:
            self.inside[id(grad)] = weakref.ref(grad)

    def write_grad(self, tensor: Handle) -> None:
        """``tensor.grad`` is about to be set or added to."""
        if self.is_outer(tensor):
            self.read_grad(tensor)  # whether there is one decides what adding to it means
            self.written_grads[id(tensor)] = tensor

    def clear_grad(self, tensor: Handle) -> None:
        """``tensor.grad`` is set, whatever it was."""
        if self.is_outer(tensor):
            self.written_grads[id(tensor)] = tensor

    def decision(self, tensor: Handle, asked: str) -> np.ndarray:
        """Python looks at a value."""
        self.read((tensor,))
        value = host_array(handles.value_of(tensor), asked)
        if type(single_value(tensor)) not in WRAPPED:
            self.decisions.append((asked, value, user_place()))
        return value

    def draw(self, source: Any, thunk: Callable, signature: tuple) -> Any:
        """Random numbers are drawn from the generator ``source`` by ``thunk()``."""
        self.draws.append((source, thunk, signature))
        return thunk()

    def refuse(self, why: str) -> None:
        """Something happens that no program can do."""
        self.refused = self.refused or why

    def walk(self, nodes: Sequence[Any]) -> None:
        """A graph is walked: one that was there before holds values that can't be inputs."""
        if any(node.seq < self.start for node in nodes):
            self.refuse("it walks a graph that was recorded outside of it")

    def number(self, container: Any, path: tuple) -> Any:
        """A hyperparameter is read, which may change between calls."""
        if self.effects:
            self.refuse("it reads a hyperparameter after a schedule has changed it")
        self.numbers.append((container, path))
        value = look_up(container, path)
        if isinstance(value, (int, float)):
            self.free.add(value)
        return value

    def effect(self, thunk: Callable, key: Any) -> None:
        """Python state changes in a way that is the same at each call: a program's call does it again at its end."""
        self.effects.append((thunk, key))
        with Unwatched(self):
            thunk()

    def module_called(self, module: Any) -> None:
        """A module runs, in its present mode."""
        self.modules[id(module)] = module
        self.modes.append((id(module), module.training))

    def stepped(self, optimizer: Any) -> None:
        """An optimiser takes a step."""
        self.optimizers[id(optimizer)] = optimizer

    def _known_as(self, key: int) -> Any:
        return ("argument", self.arguments[key]) if key in self.arguments else key

    def signature(self) -> tuple:
        """What two recordings must agree in before the function is traced."""
        # Another call has other arguments: these are known by their number.
        return (
            tuple(self.cells),
            tuple(map(self._known_as, self.written)),
            tuple((self._known_as(k), there) for k, (_, there) in self.grads.items()),
            tuple(map(self._known_as, self.written_grads)),
            tuple((id(g), s) for g, _, s in self.draws),
            tuple((id(c), k) for c, k in self.numbers),
            tuple((asked, v.dtype, v.shape, v.tobytes()) for asked, v, _ in self.decisions),
            tuple(key for _, key in self.effects),
            tuple(self.modes),
        )

    def differing_constant(self, earlier: list[tuple[Any, str]]) -> str | None:
        """Where a number of Python's is another than in an earlier recording's ``constants``; hyperparameters may be."""
        for (now, place), (was, _) in zip(self.constants, earlier, strict=False):
            if now != was and now == now and now not in self.free:
                return f"a number at {place} ({was!r}, then {now!r})"
        return None

    def escaped(self, outputs: Sequence[Any]) -> bool:
        """Whether Tensors made inside are still alive that are neither results nor values of cells."""
        grads = [*(t._grad for t in self.written_grads.values()), *(t._grad for t, _ in self.grads.values())]
        known = {id(o) for out in (*outputs, *grads) for o in _with_bases(out)}
        if not self._alive(known):
            return False
        gc.collect()  # hooks and retained gradients make cycles, which go away by themselves
        return self._alive(known)

    def _alive(self, known: set[int]) -> bool:
        return any(key not in known and _still_held(ref()) for key, ref in list(self.inside.items()))


def _fields(tensor: Handle) -> dict:
    """What a Tensor is, apart from its gradient."""
    fields = dict(tensor.__dict__)
    fields.pop("_grad", None)
    return fields


def _with_bases(value: Any) -> list[Any]:
    """A result, the Tensors that it is a view of, and those that say where in them."""
    found = [value]
    while isinstance(found[-1], Handle) and found[-1]._base is not None:
        found.append(found[-1]._base)
    links = [link for each in found if isinstance(each, Handle) for link in each._chain]
    return found + [place for link in links for place in getattr(link, "places", ())]


def _still_held(tensor: Handle | None) -> bool:
    return tensor is not None and not tensor._kept
