"""Direct forms of a linear layer and of rows of a table, and the gradients of what many calls of them share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.direct import MOST_ELEMENTS, TYPES, Avals, Direct, Form, small
from ...core.gathered import Gathered


def _fits(avals: Avals) -> bool:
    (x, _), (weight, _), *bias = avals
    if not small(avals) or len(x) not in (1, 2) or len(weight) != 2 or x[-1] != weight[1]:
        return False
    return all([shape == weight[:1] for shape, _ in bias])


def _rows(x: np.ndarray, weight: np.ndarray) -> tuple:
    return (x.dot(weight.T),)


def _shifted_rows(x: np.ndarray, weight: np.ndarray, bias: np.ndarray) -> tuple:
    z = x.dot(weight.T)
    z += bias
    return (z,)


def _shifted_row(x: np.ndarray, weight: np.ndarray, bias: np.ndarray) -> tuple:
    z = weight.dot(x)
    z += bias
    return (z,)


def _linear(avals: Avals) -> Form | None:
    if not _fits(avals):
        return None
    if len(avals) == 2:
        return Form(_rows)
    return Form(_shifted_rows if len(avals[0][0]) == 2 else _shifted_row)


def _linear_backward(mask: tuple[bool, ...], avals: Avals) -> Form | None:
    if not _fits(avals):
        return None
    rows = len(avals[0][0]) == 2
    for_x, for_weight, for_bias = (*mask, False)[:3]

    def run(x: Any, weight: Any, *rest: Any) -> tuple:
        g = rest[-1]
        grads = []
        if for_x:
            grads.append(g.dot(weight))
        if for_weight:
            grads.append(g.T.dot(x) if rows else g[:, None] * x)
        if for_bias:
            grads.append(np.add.reduce(g, 0) if rows else g)
        return tuple(grads)

    return Form(run, False, (for_weight, for_x, False)[: len(avals)])


def _each_layer(mask: tuple[bool, ...], saved: Sequence[Any], cotangents: Sequence[np.ndarray]) -> tuple:
    g = cotangents[0]
    return ([g.dot(saved[1])] if mask[0] else []), (saved[0], g)


def _all_layers(avals: Avals, needed: Sequence[Any]) -> tuple[np.ndarray, np.ndarray]:
    xs, gs = (np.array(each) for each in zip(*needed, strict=True))
    gs = gs.reshape(-1, gs.shape[-1])
    return gs.T.dot(xs.reshape(-1, xs.shape[-1])), gs.sum(0)


LINEAR_CALLS = Gathered((1, 2), _fits, _each_layer, _all_layers)
LINEAR = Direct(_linear, _linear_backward)


def _table_fits(avals: Avals) -> bool:
    (index, kind), (table, dtype) = avals
    if kind.kind != "i" or dtype not in TYPES or len(table) != 2 or table[0] * table[1] > MOST_ELEMENTS:
        return False
    return index == () or (len(index) == 1 and index[0] > 0)


def _embedding(avals: Avals) -> Form | None:
    # NumPy's rows are copies, but for a single one: that would be a view.
    return Form(lambda index, table: (table.take(index, 0),)) if _table_fits(avals) else None


def _embedding_backward(mask: tuple[bool, ...], avals: Avals) -> Form | None:
    if not _table_fits(avals):
        return None
    shape, dtype = avals[1]

    def run(index: Any, table: Any, g: Any) -> tuple:
        grad = np.zeros(shape, dtype)
        if index.ndim:
            np.add.at(grad, index, g)
        else:
            grad[index] = g
        return (grad,)

    return Form(run, False, (True, False), True)


def _each_lookup(mask: tuple[bool, ...], saved: Sequence[Any], cotangents: Sequence[np.ndarray]) -> tuple:
    return (), (saved[0], cotangents[0])


def _all_lookups(avals: Avals, needed: Sequence[Any]) -> tuple[np.ndarray]:
    total = np.zeros(*avals[1])
    indices, gs = zip(*needed, strict=True)
    np.add.at(total, np.array(indices), np.array(gs))
    return (total,)


LOOKUPS = Gathered((1,), lambda avals: True, _each_lookup, _all_lookups)
EMBEDDING = Direct(_embedding, _embedding_backward)
