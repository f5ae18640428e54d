"""associative_scan: all partial results of an associative function, combined as a tree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax

from ...core.batching import move_op
from ...core.call import call
from ...core.dims import wrap_dim
from ...core.handle import value_of
from ...core.trees import Spec, flatten
from ...errors import ArgumentValueError, OpError, describe
from .applying import Parts, apply, check_function, followed, kept
from .branches import check_leaves
from .lifting import Body, trace
from .meeting import Met
from .scans import avals_of, common_length


def associative_scan(combine_fn: Callable, xs: Any, dim: int, reverse: bool = False, combine_mode: str = "pointwise") -> Any:
    """All partial results of an associative function along ``dim``, in a number of steps that grows as the logarithm of the size.

    Args:
        combine_fn: an associative function of two slices of ``xs`` to one like them. It may read Tensors from outside.
        xs: Tensors in nested containers, of the same size along ``dim``.
        dim: the dimension to go along.
        reverse: from the end.
        combine_mode: "pointwise" or "generic", as in PyTorch; both do the same.

    Returns:
        Tensors like ``xs``; those at i combine all slices up to i.

    Raises:
        ValueError: another ``combine_mode``.
        RuntimeError: sizes along ``dim`` differ, or combine_fn's result is not like its arguments, writes Tensors from outside,
            or draws random numbers.
        TypeError: ``xs`` holds something else than Tensors.

    >>> import funtorch as torch
    >>> torch.func.associative_scan(torch.add, torch.arange(5.0), 0)
    tensor([ 0.,  1.,  3.,  6., 10.])
    """
    check_function("associative_scan", "combine_fn", combine_fn)
    if combine_mode not in ("pointwise", "generic"):
        raise ArgumentValueError(f"Combine_mode must either 'pointwise' or 'generic', but got {combine_mode}")
    columns, spec = flatten(xs)
    check_leaves("associative_scan", "xs", columns)
    if not columns:
        raise OpError("associative_scan(): expected xs to hold at least one Tensor")
    dims = [wrap_dim(dim, len(value_of(c).shape)) for c in columns]
    common_length("associative_scan", columns, dims, None)
    moved = [call(move_op(d, 0), (c,)) if d else c for c, d in zip(columns, dims, strict=True)]
    slices = [jax.ShapeDtypeStruct(a.shape[1:], a.dtype) for a in avals_of(moved)]
    both = Spec(tuple, None, (spec, spec), 2 * spec.count)
    met, requires = Met("associative_scan", [combine_fn]), followed(columns)
    body = met.settled(lambda: trace(met, combine_fn, both, slices * 2, requires * 2))
    _check_like_slices(met, body, spec, slices)
    results = apply(met, reverse, [body], moved, lambda runners: lambda parts: _tree(runners[0], parts, reverse))
    follows = [f or r for f, r in zip(body.follows, requires, strict=True)]
    back = [call(move_op(0, d), (r,)) if d else r for r, d in zip(kept(results, follows), dims, strict=True)]
    return body.result(back)


def _check_like_slices(met: Met, body: Body, spec: Spec, slices: Sequence[Any]) -> None:
    if met.written or met.sources or met.checks:
        raise OpError("associative_scan(): combine_fn must not write Tensors from outside, draw random numbers or make checks")
    if body.spec != spec or any(leaf is not None for leaf in body.leaves):
        raise OpError(f"associative_scan(): combine_fn must return the structure of its arguments, got {body.spec} for {spec}")
    for number, (before, after) in enumerate(zip(slices, body.avals, strict=True)):
        if before.shape != after.shape or before.dtype != after.dtype:
            raise OpError(
                f"associative_scan(): combine_fn must return what is like its arguments, got {describe(after)} for "
                f"{describe(before)} in leaf {number}"
            )


def _tree(run: Callable, parts: Parts, reverse: bool) -> list[Any]:
    def combine(a: list[Any], b: list[Any]) -> list[Any]:
        one = lambda a, b: run(parts.constants[0], *a, *b, *parts.outer)  # noqa: E731
        return jax.vmap(one)(a, b)

    return jax.lax.associative_scan(combine, list(parts.own), reverse=reverse)
