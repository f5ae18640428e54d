"""A program for many sizes of one dimension: arguments are filled up to a bucket, and what is filled up never shows.

The function is traced at several sizes. A dimension that differs between the traces is *padded*: its first entries are the
true ones. The rules say for each primitive that the rest stays apart, or is masked; a number that differs is a function of the size.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core import jaxpr_classes
from .padding_rules import Equation, Padded, Unpaddable, apply

if TYPE_CHECKING:
    from jax.extend.core import ClosedJaxpr, Jaxpr


class Sizes:
    """The sizes at which a function was traced, that of the program first, and what of shapes and numbers comes from them."""

    def __init__(self, *sizes: int) -> None:
        self.all = sizes

    def padded(self, *shapes: Sequence[int]) -> Padded | None:
        """The padded axis of a shape, from the shapes in all traces."""
        first, size = shapes[0], self.all[0]
        if len(set(map(len, shapes))) > 1:
            raise Unpaddable("the number of dimensions depends on the size")
        differing = [axis for axis in range(len(first)) if len({shape[axis] for shape in shapes}) > 1]
        if not differing:
            return None
        axis = differing[0]
        units, rest = divmod(first[axis], size)
        fits = all(shape[axis] == units * other for shape, other in zip(shapes, self.all, strict=True))
        if len(differing) > 1 or rest or not fits:
            raise Unpaddable(f"Tensors have the shapes {', '.join(map(str, map(list, shapes)))} at the sizes {list(self.all)}")
        return axis, units

    def number(self, *values: Any) -> Callable[[Any], Any] | None:
        """A number as a function of the size, from what it was in all traces; None if it does not depend on it."""
        if all(np.array_equal(values[0], v, equal_nan=np.asarray(v).dtype.kind in "fc") for v in values):
            return None
        if all(np.ndim(v) == 0 for v in values):
            found, size = list(map(float, values)), self.all[0]
            slope = round((found[1] - found[0]) / (self.all[1] - size))
            forms: tuple[Callable[[Any], Any], ...] = (
                lambda n: n * (found[0] / size),
                lambda n: (found[0] * size) / n,
                lambda n: n * slope + (found[0] - size * slope),
            )
            for form in forms:
                if all(math.isclose(form(n), v, rel_tol=1e-6) for n, v in zip(self.all, found, strict=True)):
                    return form
        raise Unpaddable(
            f"it computes with a number that depends on the size ({values[0]} at {self.all[0]}, {values[1]} at {self.all[1]})"
        )

    def constant(self, *values: Any) -> Any:
        """A constant of the program: one that grows with the size must begin as in a larger one."""
        place = self.padded(*map(np.shape, values))
        longest = np.asarray(max(values, key=np.size))
        for value in values:
            begin = longest if place is None else longest[(slice(None),) * place[0] + (slice(0, np.shape(value)[place[0]]),)]
            if not np.array_equal(begin, np.asarray(value)):
                raise Unpaddable("it holds a constant that depends on the size")
        return values[0]


def masked(traces: Sequence[ClosedJaxpr], sizes: Sizes) -> tuple[Callable, list[Padded | None]]:
    """The function ``(size, *padded arguments) -> padded results``, and where each result is padded. One trace for each size."""
    if len({(len(t.consts), len(t.jaxpr.outvars)) for t in traces}) > 1:
        raise Unpaddable("the function takes another path at another size")
    jaxprs, consts = [t.jaxpr for t in traces], list(zip(*(t.consts for t in traces), strict=True))
    places = [sizes.padded(*(v.aval.shape for v in outs)) for outs in zip(*(j.outvars for j in jaxprs), strict=True)]
    return lambda size, *arrays: _evaluate(jaxprs, consts, arrays, sizes, size), places


def _evaluate(jaxprs: Sequence[Jaxpr], consts: list, arrays: Sequence[Any], sizes: Sizes, size: Any) -> list[Any]:
    """Run the first of these jaxprs, which differ in the size alone."""
    first = jaxprs[0]
    env: dict[Any, Any] = dict(zip(first.invars, arrays, strict=True))
    env.update((var, sizes.constant(*values)) for var, values in zip(first.constvars, consts, strict=True))

    def read(atoms: tuple) -> Any:
        if not isinstance(atoms[0], jaxpr_classes.Literal):
            return env[atoms[0]]
        number = sizes.number(*(atom.val for atom in atoms))
        return atoms[0].val if number is None else jnp.asarray(number(size)).astype(atoms[0].val.dtype)

    if any([e.primitive for e in j.eqns] != [e.primitive for e in first.eqns] for j in jaxprs):
        raise Unpaddable("the function takes another path at another size")
    for eqns in zip(*(j.eqns for j in jaxprs), strict=True):
        given, made = ([*zip(*(getattr(e, kind) for e in eqns), strict=True)] for kind in ("invars", "outvars"))
        values = list(map(read, given))
        if eqns[0].primitive.name in INNER:
            results = _evaluate(*_inside(eqns), values, sizes, size)
        else:
            ins, outs = ([sizes.padded(*(v.aval.shape for v in atoms)) for atoms in each] for each in (given, made))
            results = apply(Equation(eqns[0], values, ins, outs, size))
        env.update(zip(eqns[0].outvars, results if isinstance(results, (list, tuple)) else [results], strict=True))
    return [read(atoms) for atoms in zip(*(j.outvars for j in jaxprs), strict=True)]


INNER = {"jit": "jaxpr", "pjit": "jaxpr", "custom_jvp_call": "call_jaxpr", "custom_vjp_call": "call_jaxpr", "closed_call": "call_jaxpr",
         "checkpoint": "jaxpr", "remat2": "jaxpr"}  # fmt: skip


def _inside(eqns: Sequence[Any]) -> tuple[list[Jaxpr], list]:
    """The jaxprs that equations call, and their constants."""
    inner = [eqn.params[INNER[eqn.primitive.name]] for eqn in eqns]
    if isinstance(inner[0], jaxpr_classes.ClosedJaxpr):
        return [each.jaxpr for each in inner], list(zip(*(each.consts for each in inner), strict=True))
    return inner, []


def filled(array: Any, axis: int, size: int) -> Any:
    """An array with zeros at its end along an axis, so that it has ``size`` entries there."""
    missing = size - array.shape[axis]
    if not missing:
        return array
    widths = [(0, missing if d == axis else 0) for d in range(len(array.shape))]
    return jnp.pad(array, widths) if isinstance(array, jax.Array) and jax.default_backend() != "cpu" else np.pad(array, widths)


def cut(array: Any, place: Padded, size: int) -> Any:
    """The true entries of a padded array."""
    axis, units = place
    index = (slice(None),) * axis + (slice(0, size * units),)
    return array[index] if jax.default_backend() != "cpu" else np.asarray(array)[index]
