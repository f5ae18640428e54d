"""Op: one pure function of arrays. Every derived form comes from it through JAX, is an Op again, and is kept."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .bounded import Home
from .compiler_options import Options, accepted
from .direct import Direct
from .gathered import Gathered
from .halves import rounded_once
from .state import state

Mask = tuple[bool, ...]


class _Differentiable(dict):
    """Whether values of a NumPy dtype have derivatives (floating point or complex), looked up once for each."""

    def __missing__(self, dtype: np.dtype) -> bool:
        found = self[dtype] = dtype.kind in "fc" or bool(jnp.issubdtype(dtype, jnp.inexact))
        return found


differentiable = _Differentiable()
is_differentiable = differentiable.__getitem__


def _conj(x: Any) -> Any:
    return jnp.conj(x) if jnp.iscomplexobj(x) else x


class Op:
    """A pure function ``fn(*arrays)`` of arrays to an array or a tuple of arrays, with its derived forms.

    ``name`` is what messages and ``grad_fn`` show. ``view`` marks an op whose result shares its only input's
    elements; ``inverse(base, value)`` then writes a value back, and ``layout(shape, strides, offset)`` gives the
    result's strides as PyTorch reports them. ``gathered`` and ``direct``: see the modules of these names; ``squared`` and
    ``squares``: see `core.squares`; ``options``: see `core.compiler_options`. ``compiled`` is for XLA what ``fn`` is, where another
    program suits it better than the host's interpreter; ``compiled_vjp(mask)`` gives `vjp` such a one, or None. Two Ops are equal
    only if they are one object.
    """

    __slots__ = (
        "fn",
        "name",
        "view",
        "programs",
        "traces",
        "recipes",
        "several",
        "inverse",
        "layout",
        "statics",
        "gathered",
        "direct",
        "squared",
        "squares",
        "options",
        "compiled",
        "compiled_vjp",
        "_suited",
        "_vjp",
        "_jvp",
        "_push",
        "_batched",
        "__weakref__",
    )

    def __init__(self, fn: Callable, name: str, *, view: bool = False) -> None:
        self.fn = fn
        self.name = name
        self.view = view
        self.inverse: Callable | None = None
        self.layout: Callable | None = None
        self.statics: dict[str, Any] = {}  # what a declared op was bound to, by parameter
        self.gathered: Gathered | None = None
        self.squared: Op | None = None  # where the op is a root of squares: what is below the root
        self.squares = 0  # 1: the op squares its argument; 2: it does if its two arguments are the same
        self.direct: Direct | None = None
        self.options: Options = ()  # the compiler's, also for what is derived from the op
        self.compiled: Callable | None = None
        self.compiled_vjp: Callable | None = None
        self._suited: Any = None
        self.several = False  # whether fn gives a tuple; known once a derivative form has been traced
        self.programs = Home()  # the engine's, by the arguments' shapes and dtypes
        self.recipes = Home()  # the tape's, by mask, shapes and dtypes
        self.traces: dict[tuple, tuple] = {}  # the last trace that was made to look at, and may be wanted to run
        self._vjp: dict[Mask, Op] = {}
        self._jvp: dict[Mask, Op] = {}
        self._push: dict[Mask, Op] = {}
        self._batched: dict[tuple, Op] = {}

    def __repr__(self) -> str:
        return f"<op {self.name}>"

    def new_kernel(self) -> Callable:
        """The function compiled by XLA, for shapes of one kind: its programs go when it goes."""
        return jax.jit(functools.partial(self.compiled or self.fn), compiler_options=accepted(self.options))

    def suited(self) -> Callable:
        """What XLA's programs are made of: ``compiled`` with the derivatives of ``fn``, or ``fn`` where that is all."""
        if self.compiled is None:
            return self.fn
        if self._suited is None:
            self._suited = jax.custom_jvp(self.compiled)
            self._suited.defjvp(functools.partial(jax.jvp, self.fn))
        return self._suited

    def trace(self, avals: tuple) -> tuple[Any, bool]:
        """The function's jaxpr for arguments of given shapes and dtypes, and whether it gives one array and no tuple."""
        specs = [jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in avals]
        # A function of its own: what JAX keeps of a trace hangs on the function, and would stay as long as this Op.
        closed, shape = jax.make_jaxpr(functools.partial(self.fn), return_shape=True)(*specs)
        return closed, not isinstance(shape, tuple)

    def vjp(self, mask: Mask) -> Op:
        """The Op ``(*inputs, *cotangents) -> gradients`` of the inputs marked in ``mask``.

        There is one cotangent for each differentiable output. Gradients follow PyTorch's convention for complex
        numbers, the conjugate of JAX's.
        """
        found = self._vjp.get(mask)
        if found is None:
            found = self._vjp[mask] = Op(rounded_once(vjp_function(self.fn, mask)), f"{self.name}_backward")
            found.direct = None if self.direct is None else self.direct.of_backward(mask)
            found.options = self.options
            found.compiled = None if self.compiled_vjp is None else self.compiled_vjp(mask)
        return found

    def set_vjp(self, mask: Mask, pull: Op) -> None:
        """Say what `vjp` gives for ``mask``, where JAX's own derivative of the function is not what is meant."""
        self._vjp[mask] = pull

    def jvp(self, mask: Mask) -> Op:
        """The Op ``(*inputs, *tangents of the marked inputs) -> (*outputs, *tangents of differentiable outputs)``."""
        found = self._jvp.get(mask)
        if found is None:
            found = self._jvp[mask] = Op(_jvp_function(self, mask), f"{self.name}_jvp")
            found.options = self.options
        return found

    def push(self, mask: Mask) -> Op:
        """Like `jvp`, with the tangents alone as outputs."""
        found = self._push.get(mask)
        if found is None:
            both = self.jvp(mask).fn

            def tangents(*args: Any) -> tuple:
                results = both(*args)
                return results[outputs_of(results, [r.dtype for r in results]) :]

            found = self._push[mask] = Op(tangents, f"{self.name}_push")
            found.options = self.options
        return found

    def batched(self, axes: tuple[int | None, ...]) -> Op:
        """The Op over a batch: input i is mapped over ``axes[i]`` (None: not mapped), each output over axis 0."""
        found = self._batched.get(axes)
        if found is None:
            found = self._batched[axes] = Op(_batched_function(self.fn, axes), self.name)
            found.options = self.options
            if self.squared is not None:
                found.squared = self.squared.batched(axes)
            found.squares = 0 if any(axes) else self.squares
        return found


def outputs_of(both: Any, dtypes: Any) -> int:
    """How many of ``(*outputs, *tangents of the differentiable ones)`` are outputs."""
    count = differentiable = 0
    while count + differentiable < len(both):
        differentiable += is_differentiable(dtypes[count])
        count += 1
    return count


def _split(mask: Mask, args: tuple) -> tuple[tuple, Callable]:
    """The marked arguments, and a function that puts others in their place."""
    where = [i for i, marked in enumerate(mask) if marked]

    def merge(marked: tuple) -> list:
        merged = list(args)
        for i, value in zip(where, marked, strict=True):
            merged[i] = value
        return merged

    return tuple(args[i] for i in where), merge


def _batched_function(fn: Callable, axes: tuple[int | None, ...]) -> Callable:
    mapped = jax.vmap(fn, in_axes=axes, out_axes=0)

    def lanes(*args: Any) -> Any:
        state.mapped += 1  # for ops that have a better form where they are mapped over (convolution on the CPU)
        try:
            return mapped(*args)
        finally:
            state.mapped -= 1

    return lanes


def vjp_function(fn: Callable, mask: Mask) -> Callable:
    """The pure function of `Op.vjp`."""

    def backward(*args: Any) -> tuple:
        inputs, cotangents = args[: len(mask)], args[len(mask) :]
        marked, merge = _split(mask, inputs)
        out, pull = jax.vjp(lambda *m: fn(*merge(m)), *marked)
        given = iter(cotangents)
        outs = out if isinstance(out, tuple) else (out,)
        full = tuple(
            _conj(next(given)).astype(o.dtype) if is_differentiable(o.dtype) else np.zeros(o.shape, jax.dtypes.float0)
            for o in outs
        )
        grads = pull(full if isinstance(out, tuple) else full[0])
        return tuple(map(_conj, grads))

    return backward


def _jvp_function(op: Op, mask: Mask) -> Callable:
    fn = op.fn

    def forward(*args: Any) -> tuple:
        primals, tangents = args[: len(mask)], args[len(mask) :]
        marked, merge = _split(mask, primals)
        out, out_dot = jax.jvp(lambda *m: fn(*merge(m)), marked, tuple(tangents))
        op.several = isinstance(out, tuple)
        outs = out if op.several else (out,)
        dots = out_dot if op.several else (out_dot,)
        return outs + tuple(d for o, d in zip(outs, dots, strict=True) if is_differentiable(o.dtype))

    return forward
