"""Primitives that move values about without computing: views where NumPy has one, else one copy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .table import Equation, Inline, rule


@rule("broadcast_in_dim", "broadcast_to", view=True)
def broadcast(eqn: Equation) -> Callable:
    # Mostly taken up by the preparation, which keeps a broadcast thin until someone needs it whole.
    shape, source = eqn.shape, eqn.inputs[0].shape
    dims = eqn.params.get("broadcast_dimensions", range(len(shape) - len(source), len(shape)))
    thin = [1] * len(shape)
    for axis, size in zip(dims, source, strict=True):
        thin[axis] = size
    return lambda x, *_: np.broadcast_to(x.reshape(thin), shape)


@rule("reshape", "squeeze", "expand_dims", view=True, keys=True)
def reshape(eqn: Equation) -> Inline:
    if eqn.name == "reshape" and eqn.params.get("dimensions") is not None:
        order = _with_words([int(a) for a in eqn.params["dimensions"]], eqn)
        return Inline("{0}.transpose({k[0]}).reshape({k[1]})", order, eqn.shape)
    return Inline("{0}.reshape({k[0]})", eqn.shape)


@rule("transpose", view=True, keys=True)
def transpose(eqn: Equation) -> Inline:
    return Inline("{0}.transpose({k[0]})", _with_words([int(a) for a in eqn.params["permutation"]], eqn))


def _with_words(order: list[int], eqn: Equation) -> tuple[int, ...]:
    """A permutation of axes; random keys have one more, for their words, which stays last."""
    return (*order, *range(len(order), len(eqn.inputs[0].shape)))


@rule("rev", view=True, keys=True)
def rev(eqn: Equation) -> Inline:
    axes = {int(a) for a in eqn.params["dimensions"]}
    return _index(tuple(slice(None, None, -1) if a in axes else slice(None) for a in range(len(eqn.shape))))


@rule("slice", view=True, keys=True)
def slice_(eqn: Equation) -> Inline:
    starts, limits = eqn.params["start_indices"], eqn.params["limit_indices"]
    strides = eqn.params["strides"] or (1,) * len(starts)
    return _index(tuple(slice(int(a), int(b), int(c)) for a, b, c in zip(starts, limits, strides, strict=True)))


def _index(index: tuple) -> Inline:
    return Inline("{0}[{k[0]}]", index)


@rule("split", view=True)
def split(eqn: Equation) -> Callable:
    axis, start, parts = int(eqn.params["axis"]), 0, []
    if len(eqn.outputs) == 1:
        return lambda x: x
    for size in eqn.params["sizes"]:
        parts.append((slice(None),) * axis + (slice(start, start + int(size)),))
        start += int(size)
    return lambda x: [x[part] for part in parts]


@rule("concatenate", keys=True)
def concatenate(eqn: Equation) -> Callable | Inline:
    axis = int(eqn.params["dimension"])
    listed = ", ".join(f"{{{i}}}" for i in range(len(eqn.inputs)))
    return Inline(f"{{k[0]}}(({listed},), {{k[1]}})", np.concatenate, axis)


@rule("tile")
def tile(eqn: Equation) -> Callable:
    reps = tuple(int(r) for r in eqn.params["reps"])
    return lambda x: np.tile(x, reps)


@rule("stack")
def stack(eqn: Equation) -> Callable:
    axis = int(eqn.params["axis"])
    return lambda *xs: np.stack(xs, axis)


@rule("unstack", view=True)
def unstack(eqn: Equation) -> Callable:
    axis = int(eqn.params["axis"])
    parts = [(slice(None),) * axis + (i,) for i in range(len(eqn.outputs))]
    return (lambda x: [x[part] for part in parts]) if len(parts) > 1 else (lambda x: x[parts[0]])


@rule("iota")
def iota(eqn: Equation) -> Callable:
    axis, shape, dtype = int(eqn.params["dimension"]), eqn.shape, eqn.dtype
    thin = [1] * len(shape)
    thin[axis] = shape[axis]
    return lambda *_: np.broadcast_to(np.arange(shape[axis]).astype(dtype).reshape(thin), shape)


@rule("pad")
def pad(eqn: Equation) -> Callable:
    config = [(int(low), int(high), int(inner)) for low, high, inner in eqn.params["padding_config"]]
    return padder(eqn.inputs[0].shape, config, eqn.dtype)


def padder(shape: tuple[int, ...], config: list[tuple[int, int, int]], dtype: np.dtype) -> Callable:
    """Pads by (low, high, interior) per axis; a negative low or high cuts off."""
    target, source, sizes = [], [], []
    for size, (low, high, interior) in zip(shape, config, strict=True):
        step = interior + 1
        length = low + max(0, (size - 1) * step + 1) + high
        first = 0 if low >= 0 else -(low // step)  # the first value whose place is not cut off
        last = min(size - 1, (length - 1 - low) // step) if length > 0 else -1
        count = max(0, last - first + 1)
        start = low + first * step
        source.append(slice(first, first + count))
        target.append(slice(start, start + (count - 1) * step + 1, step) if count else slice(0, 0))
        sizes.append(max(0, length))
    whole = all(s == slice(0, n) for s, n in zip(source, shape, strict=True))
    return _padding(tuple(target), None if whole else tuple(source), tuple(sizes), dtype)


def _padding(target: tuple, source: tuple | None, sizes: tuple[int, ...], dtype: np.dtype) -> Callable:

    def run(x, value):
        result = np.empty(sizes, dtype)
        result[...] = value
        result[target] = x if source is None else x[source]
        return result

    return run


@rule("broadcast as view", view=True)
def broadcast_as_view(eqn: Equation) -> Inline:
    return Inline("{k[0]}({0}, {k[1]})", np.broadcast_to, eqn.shape)


@rule("broadcast as copy")
def broadcast_as_copy(eqn: Equation) -> Callable:
    empty, shape, dtype = np.empty, eqn.shape, np.dtype(eqn.dtype)

    def run(x):
        result = empty(shape, dtype)
        result[...] = x
        return result

    return run
