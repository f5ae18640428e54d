"""jit: the bare form of compile, for pure functions, by JAX's rules. Nothing is watched, and nothing outside may change."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core.call import call
from ..core.engine import CONCRETE, ArrayImpl, Slot, programs
from ..core.handle import Handle, make, value_of
from ..core.host_values import host_array
from ..core.op import Op
from ..core.state import state
from ..core.trees import Spec, flatten, unflatten
from ..core.watcher import Watcher, look_up
from ..errors import ArgumentTypeError, ArgumentValueError, OpError
from .arguments import modes
from .code_names import is_module

WRITES = "jit({}): it changes {}, which is not its own: return the new value, or use compile"
DRAWS = "jit({}): it draws random numbers, which would be the same at each call: pass them as an argument, or use compile"
NO_HASH = "jit({}): the static argument {!r} is a {}, which can't be hashed: programs are found by it"
NO_ARRAY = "jit({}): {} {!r} is a {}, which is no Tensor: {}"
UNSHARED = 3  # references to a payload that only its Tensor holds: its own, that of the list of values, getrefcount's argument


def jit(
    fun: Callable | None = None,
    *,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Iterable[str] = (),
    donate_argnums: int | Sequence[int] = (),
) -> Any:
    """Make of a pure function of Tensors a program for each shape and dtype; it can be differentiated and mapped like an op.

    As with ``jax.jit``, the function runs once for each program: Tensors from outside are constants of it, Python's numbers among
    the arguments are Tensors in it, ``if`` and ``.item()`` can't look at values. `funtorch.compile` has none of these limits.

    Args:
        fun: a function of containers of Tensors and numbers, to containers of Tensors.
        static_argnums: positions of arguments that are constants of a program; their values must be hashable.
        static_argnames: names of such arguments.
        donate_argnums: positions of arguments whose memory results may take; they can't be used afterwards.

    Returns:
        A function of the same arguments.

    Raises:
        TypeError: ``fun`` can't be called; at a call, an argument that is not static or a result is no Tensor or number.
        ValueError: at a call, a static argument that can't be hashed.
        RuntimeError: at a call, the function changes a Tensor from outside, or draws random numbers.

    >>> import funtorch as torch
    >>> double = torch.transforms.jit(lambda x: 2 * x)
    >>> double(torch.ones(2))
    tensor([2., 2.])
    """
    if fun is None:
        return functools.partial(
            jit, static_argnums=static_argnums, static_argnames=static_argnames, donate_argnums=donate_argnums
        )
    if not callable(fun):
        raise ArgumentTypeError(f"jit(): expected a function, got {type(fun).__name__}")
    return Jitted(fun, _tuple(static_argnums), _tuple(static_argnames), _tuple(donate_argnums))


class Jitted:
    """A function as programs. See `jit`."""

    def __init__(self, fun: Callable, static: tuple[int, ...], names: tuple[str, ...], donated: tuple[int, ...]) -> None:
        functools.update_wrapper(self, fun)
        self.fun = fun
        self.name = getattr(fun, "__name__", type(fun).__name__)
        positions = _positions(fun)
        self.static = {*static, *(positions[n] for n in names if n in positions)}
        self.names = {*names, *(n for n, i in positions.items() if i in self.static)}
        self.donated = frozenset(donated)
        self.forms: dict[Any, Form] = {}

    def __get__(self, instance: Any, owner: type) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if state.recorder is not None:  # who watches wants to see what is inside
            return self.fun(*args, **kwargs)
        static = {i % max(len(args), 1) if i < 0 else i for i in self.static}
        fixed: dict[Any, Any] = {i: a for i, a in enumerate(args) if i in static}
        fixed |= {k: v for k, v in kwargs.items() if k in self.names}
        moving = ([a for i, a in enumerate(args) if i not in static], {k: v for k, v in kwargs.items() if k not in self.names})
        leaves, spec = flatten(moving, is_leaf=is_module)
        tensors = [self._tensor(leaf, "the argument", "name it in static_argnums or static_argnames") for leaf in leaves]
        form = self._form(spec, fixed, len(args))
        counts = [flatten(a, is_leaf=is_module)[1].count for a in moving[0]]
        numbers = [i for i in range(len(args)) if i not in static]
        given = [n in self.donated for n, count in zip(numbers, counts, strict=True) for _ in range(count)]
        return form(tensors, tuple(i for i, donated in enumerate(given) if donated))

    def _tensor(self, leaf: Any, what: str, instead: str) -> Any:
        if isinstance(leaf, Handle):
            return leaf
        if isinstance(leaf, (bool, int, float, complex, np.ndarray, np.generic, jax.Array)):
            return make(leaf if isinstance(leaf, jax.Array) else np.asarray(leaf))
        raise ArgumentTypeError(NO_ARRAY.format(self.name, what, leaf, type(leaf).__name__, instead))

    def _form(self, spec: Spec, fixed: dict[Any, Any], count: int) -> Form:
        for key, value in fixed.items():
            try:
                hash(value)
            except TypeError:
                raise ArgumentValueError(NO_HASH.format(self.name, key, type(value).__name__)) from None
        key = (spec, tuple((k, type(v), v) for k, v in fixed.items()), count, modes())
        form = self.forms.get(key)
        if form is None:
            form = self.forms[key] = Form(self, spec, fixed, count)
        return form


class Form:
    """A function for arguments of one structure and with certain static values: an Op."""

    def __init__(self, jitted: Jitted, spec: Spec, fixed: dict[Any, Any], count: int) -> None:
        self.jitted = jitted
        self.spec = spec
        self.fixed = fixed
        self.count = count
        self.results: dict[Any, Spec] = {}  # the structure of the results, by shapes and dtypes
        self.op = Op(self._pure, f"jit_{jitted.name}")
        self.donating: dict[tuple[int, ...], Callable] = {}

    def _pure(self, *arrays: Any) -> tuple:
        """The function on arrays, with nothing around it."""
        moving, named = unflatten(self.spec, [make(a) for a in arrays])
        given = iter(moving)
        args = [self.fixed[i] if i in self.fixed else next(given) for i in range(self.count)]
        kwargs = named | {k: v for k, v in self.fixed.items() if isinstance(k, str)}
        levels, state.levels = state.levels, []
        try:
            with Pure(self.jitted.name) as watcher:
                for t in flatten((moving, named))[0]:
                    watcher.made(t)
                result = self.jitted.fun(*args, **kwargs)
        finally:
            state.levels = levels
        leaves, spec = flatten(result)
        self.results[_avals(arrays)] = spec
        outs = [self.jitted._tensor(leaf, "the result", "return Tensors only") for leaf in leaves]
        return tuple(jnp.asarray(value_of(o)) for o in outs)

    def __call__(self, tensors: list[Any], donated: tuple[int, ...]) -> Any:
        values = [value_of(t) for t in tensors]
        avals = _avals(values)
        plain = all([type(v) in CONCRETE for v in values])
        if plain and donated and not (state.grad and any(t._requires for t in tensors)):
            outs: Any = [make(v) for v in self._donating(donated)(*_unshared(values, donated))]
        else:
            if plain and avals not in self.op.programs:  # a program from the first call on
                programs.add(self.op.programs, avals, Slot(None, 0, False))
            outs = call(self.op, tensors)
        return unflatten(self.results[avals], outs)

    def _donating(self, donated: tuple[int, ...]) -> Callable:
        if donated not in self.donating:
            self.donating[donated] = jax.jit(lambda *arrays: self._pure(*arrays), donate_argnums=donated)
        return self.donating[donated]


class Pure(Watcher):
    """Watches a function that may only compute."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def _refused(self, what: str) -> OpError:
        return OpError(WRITES.format(self.name, what))

    def read(self, args: Sequence[Any]) -> None:
        """Tensors from outside are constants."""

    read_grad = module_called = walk = refuse = read  # type: ignore[assignment]  # these change nothing

    def write(self, target: Handle) -> None:
        if self.is_outer(target):
            raise self._refused(f"a Tensor of shape {list(target._payload.shape)}")

    def write_grad(self, tensor: Handle) -> None:
        if self.is_outer(tensor):
            raise self._refused(f"the gradient of a Tensor of shape {list(tensor._payload.shape)}")

    clear_grad = write_grad

    def decision(self, tensor: Handle, asked: str) -> np.ndarray:
        return host_array(value_of(tensor), asked)

    def draw(self, source: Any, thunk: Callable, signature: tuple) -> Any:
        raise OpError(DRAWS.format(self.name))

    def number(self, container: Any, path: tuple) -> Any:
        return look_up(container, path)

    def stepped(self, optimizer: Any) -> None:
        raise self._refused(f"the parameters of {type(optimizer).__name__}")

    def effect(self, thunk: Callable, key: Any) -> None:
        raise self._refused("a schedule")


def _unshared(values: list[Any], donated: tuple[int, ...]) -> list[Any]:
    """The values, those copied that are donated though others hold them too."""
    counts = list(map(sys.getrefcount, values))
    for i in donated:
        if counts[i] > UNSHARED + 1 and type(values[i]) is ArrayImpl:  # one more: the caller's list
            values[i] = jnp.array(values[i], copy=True)
    return values


def _avals(values: Iterable[Any]) -> tuple:
    return tuple([(v.shape, v.dtype) for v in values])


def _tuple(value: Any) -> tuple:
    return (value,) if isinstance(value, (int, str)) else tuple(value)


def _positions(fun: Callable) -> dict[str, int]:
    """The positions of parameters by name; none where the signature is not known."""
    try:
        found = inspect.signature(fun).parameters.values()
    except (TypeError, ValueError):
        return {}
    return {p.name: i for i, p in enumerate(found) if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)}
