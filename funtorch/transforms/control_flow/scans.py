"""scan, map: a function for each slice of an input, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from ...core.batching import move_op
from ...core.call import call
from ...core.dims import wrap_dim
from ...core.handle import Handle, value_of
from ...core.state import state
from ...core.trees import Spec, flatten
from ...errors import OpError, describe
from .applying import Parts, apply, check_function, followed, kept
from .branches import check_leaves
from .lifting import OTHERS, Body, trace
from .meeting import Met
from .sampling import at_step


def scan(
    combine_fn: Callable, init: Any, xs: Any, dim: int = 0, reverse: bool = False, length: int | None = None
) -> tuple[Any, Any]:
    """A loop over the slices of ``xs`` along ``dim``: ``carry, y = combine_fn(carry, x)``, as one step of a program each.

    Args:
        combine_fn: gives the next carry, of the structure, shapes and dtypes of ``init``, and Tensors in nested containers. It
            may read and write Tensors from outside (modules with running statistics too), and draw random numbers.
        init: the first carry: Tensors in nested containers.
        xs: Tensors in nested containers, of the same size along ``dim``; None or empty, with a ``length``, for a plain loop.
        dim: the dimension of ``xs`` to go along, and of the stacked ``ys``.
        reverse: go from the last slice to the first; ``ys`` stand where their slices do.
        length: the number of steps, if ``xs`` has no Tensors.

    Returns:
        The last carry, and the ``y`` of all steps, stacked along ``dim``.

    Raises:
        RuntimeError: sizes along ``dim`` differ; the carry changes its structure, a shape or a dtype; combine_fn does not
            return a pair, or changes its arguments in place.
        TypeError: ``init`` or ``xs`` hold something else than Tensors.

    >>> import funtorch as torch
    >>> torch.func.scan(lambda total, x: (total + x, total), torch.tensor(0.0), torch.arange(4.0))
    (tensor(6.), tensor([0., 0., 1., 3.]))
    """
    check_function("scan", "combine_fn", combine_fn)
    carry, carry_spec = flatten(init)
    check_leaves("scan", "init", carry)
    columns, xs_spec = flatten(() if xs is None else xs)
    check_leaves("scan", "xs", columns)
    step = (lambda c, x: combine_fn(c, None)) if xs is None else combine_fn
    return scanned("scan", step, (carry, carry_spec), (columns, xs_spec), dim, reverse, length, combine_fn)


def map(f: Callable, xs: Any, *args: Any) -> Any:  # noqa: A001
    """``f(x, *args)`` for each slice ``x`` of ``xs`` along dimension 0, one after the other, and the results stacked.

    Args:
        f: a function to Tensors in nested containers.
        xs: Tensors in nested containers, of the same size along dimension 0.
        args: anything, the same for each slice.

    Raises:
        RuntimeError: sizes along dimension 0 differ, or as in `scan`. TypeError: ``xs`` holds something else than Tensors.

    >>> import funtorch as torch
    >>> torch.func.map(lambda x, y: x * y, torch.arange(3.0), torch.tensor(2.0))
    tensor([0., 2., 4.])
    """
    check_function("map", "f", f)
    columns, spec = flatten(xs)
    check_leaves("map", "xs", columns)
    if not columns:
        raise OpError("map(): expected xs to hold at least one Tensor")

    def step(carry: tuple, x: Any) -> tuple:
        return (), f(x, *args)

    return scanned("map", step, ([], flatten(())[1]), (columns, spec), 0, False, None, f)[1]


def scanned(
    name: str, step: Callable, init: tuple[list, Spec], xs: tuple[list, Spec], dim: int, reverse: bool, length: int | None,
    whose: Callable,
) -> tuple[Any, Any]:  # fmt: skip
    """`scan` with its arguments flattened, under the name of the function that is called; ``whose`` is the user's function."""
    (carry, carry_spec), (columns, xs_spec) = init, xs
    dims = [wrap_dim(dim, len(value_of(c).shape)) for c in columns]
    size = common_length(name, columns, dims, length)
    columns = [call(move_op(d, 0), (c,)) if d else c for c, d in zip(columns, dims, strict=True)]
    slices = [jax.ShapeDtypeStruct(a.shape[1:], a.dtype) for a in avals_of(columns)]
    spec = Spec(tuple, None, (carry_spec, xs_spec), carry_spec.count + xs_spec.count)
    avals, follows = [*avals_of(carry), *slices], followed(columns)
    met, (body,) = settled_loop(
        name,
        [whose],
        lambda met, requires: [trace(met, step, spec, avals, [*requires, *follows])],
        carry,
        lambda body: carry_checked(name, body, carry_spec, carry),
    )
    count = len(carry)

    def build(runners: list[Callable]) -> Callable:
        return lambda parts: _program(runners[0], parts, count, size, reverse, bool(met.checks))

    results = kept(apply(met, (count, size, reverse), [body], [*carry, *columns], build), body.follows)
    ys = [call(move_op(0, wrap_dim(dim, len(value_of(y).shape))), (y,)) if dim else y for y in results[count:]]
    return body.result([*results[:count], *ys])


def common_length(name: str, columns: Sequence[Any], dims: Sequence[int], length: int | None) -> int:
    """The size that all of ``columns`` have along their dimensions. Raises RuntimeError if they differ."""
    sizes = [value_of(c).shape[d : d + 1] for c, d in zip(columns, dims, strict=True)]
    if any(not size for size in sizes):
        raise OpError(f"{name}(): xs must have a dimension to go along, got a Tensor of shape []")
    found = {size[0] for size in sizes} | ({length} if length is not None else set())
    if not found:
        raise OpError(f"{name}(): xs holds no Tensor, so that the number of steps has to be given: length=...")
    if len(found) > 1:
        shapes = ", ".join(describe(value_of(c)) for c in columns)
        also = "" if length is None else f", length={length}"
        raise OpError(f"{name}(): all of xs must have the same size along the scanned dimension, got {shapes}{also}")
    return found.pop()


def avals_of(tensors: Sequence[Handle]) -> list[Any]:
    """What has the shapes and dtypes of Tensors."""
    return [value_of(t) for t in tensors]


def settled_loop(
    name: str, functions: Sequence[Callable], attempt: Callable[[Met, list[bool]], list[Body]], carry: Sequence[Any],
    check: Callable[[Body], None],
) -> tuple[Met, list[Body]]:  # fmt: skip
    """Trace a loop's ``functions``, until what the last one makes of the carry is on the tape only if the carry it begins with is.

    ``attempt(met, requires)`` traces them all, ``requires`` telling for each part of the carry whether derivatives go through it;
    ``check`` may raise.
    """
    met, begins = Met(name, functions), followed(carry)
    expected = met.flags if state.grad and len(met.flags) == len(begins) else begins
    requires = [b or e for b, e in zip(begins, expected, strict=True)]
    while True:
        now = requires
        *others, body = met.settled(lambda: attempt(met, now))  # noqa: B023
        check(body)
        requires = _followed_on(begins, body)
        if requires == now:
            met.remember(tuple(requires))
            return met, [*others, body]


def _followed_on(begins: Sequence[bool], body: Body) -> list[bool]:
    """Which parts of the carry derivatives go through in some step: at the beginning, or since others reach them in a step."""
    found = list(begins)
    while True:
        after = [
            f or any(i == OTHERS or i >= len(found) or found[i] for i in reached)
            for f, reached in zip(found, body.reaches, strict=False)
        ]
        if after == found:
            return found
        found = after


def carry_checked(name: str, body: Body, carry_spec: Spec, carry: Sequence[Any]) -> None:
    """Raise RuntimeError unless a body returns a pair whose first part is like the carry."""
    if body.spec.kind is not tuple or len(body.spec.children) != 2:
        raise OpError(f"{name}(): combine_fn must return a pair (carry, y), got {body.spec}")
    check_carry(name, body, body.spec.children[0], carry_spec, carry)
    for leaf in body.leaves[len(carry) :]:
        if leaf is not None and leaf.value is not None:
            raise OpError(f"{name}(): what each step gives must be Tensors or None, got {type(leaf.value).__name__}")


def check_carry(name: str, body: Body, found: Spec, carry_spec: Spec, carry: Sequence[Any]) -> None:
    """Raise RuntimeError unless the first results of a body have the carry's structure, shapes and dtypes."""
    if found != carry_spec or any(leaf is not None for leaf in body.leaves[: len(carry)]):
        raise OpError(f"{name}(): the carry must keep its structure, got {found} from one of {carry_spec}")
    for number, (before, after) in enumerate(zip(avals_of(carry), body.avals, strict=False)):
        if before.shape != after.shape or before.dtype != after.dtype:
            raise OpError(
                f"{name}(): the carry must keep its shapes and dtypes, got {describe(after)} from {describe(before)} in leaf "
                f"{number}. Cast what the function returns, or begin with a carry of that type."
            )


def _program(run: Callable, parts: Parts, count: int, size: int, reverse: bool, checked: bool) -> list[Any]:
    carry, columns = parts.own[:count], parts.own[count:]
    written = len(parts.written)

    def step(state: tuple, row: tuple) -> tuple:
        now, kept, failed = state
        number, xs = row
        keys = [at_step(k, number) for k in parts.keys]
        outs = run(parts.constants[0], *now, *xs, *kept, *parts.outer, *keys)
        ends = len(outs) - written - checked
        if checked:
            failed = jnp.where(failed == 0, outs[-1], failed)
        return (outs[:count], outs[ends : ends + written], failed), outs[count:ends]

    rows = (jnp.arange(size), columns)
    start = (list(carry), list(parts.written), jnp.int32(0))
    found: Any = jax.lax.scan(step, start, rows, length=size, reverse=reverse)
    (last, kept, failed), ys = found
    return [*last, *ys, *kept, *([failed] if checked else [])]
