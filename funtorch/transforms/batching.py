"""vmap: a function of one example, applied to a batch."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from ..core.batching import VmapLevel, at_front, move_op
from ..core.call import call
from ..core.handle import value_of
from ..core.levels import Batched, untaped
from ..core.op import Op
from ..core.state import state
from ..core.trees import broadcast_prefix, flatten, unflatten
from ..core.writing import write
from ..errors import ArgumentValueError
from ..tensor import Tensor
from .lane_loop import Lanes, in_turn

RANDOMNESS = ("error", "different", "same")


def vmap(
    func: Callable,
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
    buffers: str | None = None,
    mode: str = "batch",
) -> Callable:
    """Map ``func`` over a batch dimension of its arguments, all lanes at once.

    Args:
        func: a function of Tensors in nested containers; it sees each Tensor without the mapped dimension.
        in_dims: which dimension of each argument is mapped: an int, None (not mapped), or a structure of these like the
            arguments'.
        out_dims: where the mapped dimension goes in the results: an int or a structure of ints like the result's.
        randomness: "error" raises when ``func`` draws random numbers; "different" draws for each lane; "same" once for all.
        chunk_size: how many lanes to compute at a time (default: all).
        buffers: what a write of a mapped value to a Tensor from outside means: "mean" over the lanes, "stack" them,
            "discard" it; None raises.
        mode: "loop" calls ``func`` for each lane in turn, with plain Tensors: for functions that use ``.item()``, ``if``, or
            shapes that depend on values. What a lane writes outside, the next one sees.

    Returns:
        A function of the same arguments, whose results have one dimension more.

    Raises:
        ValueError: ``in_dims`` or ``out_dims`` don't fit, mapped sizes differ, or ``mode`` is none of these two, or "loop" with
            ``chunk_size`` or ``buffers``.
        RuntimeError: random numbers in mode "error", or a mapped value written outside without ``buffers``.

    >>> import funtorch as torch
    >>> torch.func.vmap(torch.dot)(torch.ones(2, 3), torch.ones(2, 3))
    tensor([3., 3.])
    """
    if randomness not in RANDOMNESS:
        raise ArgumentValueError(f"vmap: `randomness` must be one of {', '.join(RANDOMNESS)}, got {randomness!r}")
    if buffers not in (None, "mean", "stack", "discard"):
        raise ArgumentValueError(f"vmap: `buffers` must be None, 'mean', 'stack' or 'discard', got {buffers!r}")
    if chunk_size is not None and not (isinstance(chunk_size, int) and chunk_size > 0):
        raise ArgumentValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")
    if mode not in ("batch", "loop"):
        raise ArgumentValueError(f"vmap: `mode` must be 'batch' or 'loop', got {mode!r}")
    if mode == "loop" and (chunk_size is not None or buffers is not None):
        raise ArgumentValueError("vmap: chunk_size and buffers have no meaning with mode='loop', where lanes run one by one")

    @functools.wraps(func)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        leaves, spec, dims = _mapped_arguments(func, in_dims, args, kwargs)
        size = _batch_size(leaves, dims)
        if mode == "loop":
            return in_turn(func, leaves, spec, dims, out_dims, size, randomness)
        if chunk_size is None or chunk_size >= size:
            level = VmapLevel(size, randomness, buffers)
            return _run(func, level, leaves, spec, dims, out_dims)
        return _in_chunks(func, leaves, spec, dims, out_dims, size, chunk_size, (randomness, buffers))

    return mapped


def _mapped_arguments(func: Callable, in_dims: Any, args: tuple, kwargs: dict) -> tuple[list, Any, list]:
    """The leaves of the arguments, their structure, and the mapped dimension of each leaf (None: not mapped)."""
    name = getattr(func, "__name__", repr(func))
    if not isinstance(in_dims, (int, tuple, list)):
        raise ArgumentValueError(
            f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): expected `in_dims` to be int or a (potentially nested) tuple "
            f"matching the structure of inputs, got: {type(in_dims)}."
        )
    if not args and not kwargs:
        raise ArgumentValueError(
            f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over a function "
            "with no inputs."
        )
    leaves, spec = flatten((args, kwargs))
    prefix = tuple(in_dims) if isinstance(in_dims, list) else in_dims
    try:
        dims = broadcast_prefix(prefix, args)
    except ValueError as error:
        raise ArgumentValueError(
            f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): in_dims is not compatible with the structure of inputs: {error}"
        ) from None
    dims += [None] * (len(leaves) - len(dims))  # keyword arguments are not mapped, as in torch.func
    return leaves, spec, [_checked_dim(name, leaf, dim) for leaf, dim in zip(leaves, dims, strict=True)]


def _checked_dim(name: str, leaf: Any, dim: Any) -> int | None:
    if dim is None:
        return None
    if not isinstance(dim, int) or isinstance(dim, bool):
        raise ArgumentValueError(
            f"vmap({name}): Got in_dim={dim!r} for an input, but in_dim must be either an integer dimension or None."
        )
    if not isinstance(leaf, Tensor):
        raise ArgumentValueError(
            f"vmap({name}): Got in_dim={dim} for an input but the input is of type {type(leaf)}. We cannot vmap over non-Tensor "
            "arguments, please use None as the respective in_dim"
        )
    if leaf._foreign:
        raise ArgumentValueError(f"vmap({name}): sparse Tensors can't be mapped over: pass them with in_dims=None")
    ndim = len(value_of(leaf).shape)
    if not -ndim <= dim < ndim:
        raise ArgumentValueError(
            f"vmap({name}): Got in_dim={dim} for some input, but that input is a Tensor of dimensionality {ndim} so expected in_dim "
            f"to satisfy -{ndim} <= in_dim < {ndim}."
        )
    return dim % ndim


def _batch_size(leaves: list, dims: list) -> int:
    sizes = [leaf._payload.shape[dim] for leaf, dim in zip(leaves, dims, strict=True) if dim is not None]
    if not sizes:
        raise ArgumentValueError("vmap: no input is mapped over: at least one in_dim must be an integer")
    if len(set(sizes)) > 1:
        raise ArgumentValueError(
            f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sizes} for the mapped dimension"
        )
    return sizes[0]


def _run(func: Callable, level: VmapLevel, leaves: list, spec: Any, dims: list, out_dims: Any) -> Any:
    with level:
        wrapped = [leaf if dim is None else level.wrap(leaf, dim) for leaf, dim in zip(leaves, dims, strict=True)]
        args, kwargs = unflatten(spec, wrapped)
        result = func(*args, **kwargs)
        level.settle()
        _write_back(level, leaves, dims, wrapped)
        return _unwrapped(func, level, result, out_dims)


def _write_back(level: VmapLevel, leaves: list, dims: list, wrapped: list) -> None:
    """An argument changed in place inside has changed outside."""
    for leaf, dim, inside in zip(leaves, dims, wrapped, strict=True):
        if inside is not leaf and inside._writes:
            write(leaf, _outside(level, inside, dim))


def _unwrapped(func: Callable, level: VmapLevel, result: Any, out_dims: Any) -> Any:
    leaves, spec = flatten(result)
    name = getattr(func, "__name__", repr(func))
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise ArgumentValueError(f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(leaf)} as a return.")
    try:
        dims = broadcast_prefix(tuple(out_dims) if isinstance(out_dims, list) else out_dims, result)
    except ValueError as error:
        raise ArgumentValueError(
            f"vmap({name}, ..., out_dims={out_dims}): out_dims is not compatible with the structure of outputs: {error}"
        ) from None
    return unflatten(spec, [_outside(level, leaf, dim) for leaf, dim in zip(leaves, dims, strict=True)])


def _outside(level: VmapLevel, tensor: Tensor, dim: int | None) -> Any:
    if tensor._foreign:
        raise ArgumentValueError("vmap: a sparse Tensor can't be a result: return what to_dense() gives, or its values")
    payload = value_of(tensor)
    if type(payload) is not Batched or payload.level is not level:
        payload = Batched(level, tensor, None)
    if dim is None:
        if payload.axis is not None:
            raise ArgumentValueError("vmap: `out_dims` is None for a result that is mapped over")
        result = payload.inner
    else:
        ndim = len(payload.shape) + 1
        if not -ndim <= dim < ndim:
            raise IndexError(f"vmap: out_dim {dim} is out of range for a result of {ndim} dimensions")
        result = at_front(payload, level.size)
        if dim % ndim:
            result = call(move_op(0, dim % ndim), (result,), ceiling=level.depth - 1)
    return result if state.grad else untaped(result)


@functools.lru_cache(maxsize=1024)
def _slice(start: int, stop: int, dim: int) -> Op:
    import jax

    return Op(lambda x: jax.lax.slice_in_dim(x, start, stop, axis=dim), "narrow")


@functools.lru_cache(maxsize=None)
def _concatenate(dim: int) -> Op:
    import jax.numpy as jnp

    return Op(lambda *parts: jnp.concatenate(parts, axis=dim), "cat")


def _in_chunks(func: Callable, leaves: list, spec: Any, dims: list, out_dims: Any, size: int, chunk: int, options: tuple) -> Any:
    parts = []
    with Lanes("same") if options[0] == "same" else nullcontext() as lanes:
        for start in range(0, size, chunk):
            stop = min(start + chunk, size)
            some = [
                leaf if dim is None else call(_slice(start, stop, dim), (leaf,)) for leaf, dim in zip(leaves, dims, strict=True)
            ]
            if lanes is not None:
                lanes.begin()
            parts.append(flatten(_run(func, VmapLevel(stop - start, *options), some, spec, dims, out_dims)))
    out_spec = parts[0][1]
    out = broadcast_prefix(out_dims, unflatten(out_spec, parts[0][0]))
    joined = [
        pieces[0] if dim is None else call(_concatenate(dim % len(pieces[0]._payload.shape)), pieces)
        for dim, pieces in zip(out, zip(*(p[0] for p in parts), strict=True), strict=True)
    ]
    return unflatten(out_spec, joined)


def chunk_vmap(func: Callable, in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error", chunks: int = 2) -> Callable:
    """`vmap` in ``chunks`` pieces of equal size."""

    @functools.wraps(func)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        leaves, _, dims = _mapped_arguments(func, in_dims, args, kwargs)
        size = -(-_batch_size(leaves, dims) // chunks)
        return vmap(func, in_dims, out_dims, randomness, chunk_size=size)(*args, **kwargs)

    return mapped
