"""scatter and its kinds: the operand is copied, and updates combined with it at their slices' :class:`Places`."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np

from .indexing import Places
from .table import Equation, is_narrow_float, rule

SCATTERS: dict[str, np.ufunc | None] = {
    "scatter": None,
    "scatter-add": np.add,
    "scatter-sub": np.subtract,
    "scatter-mul": np.multiply,
    "scatter-min": np.minimum,
    "scatter-max": np.maximum,
}


@rule(*SCATTERS)
def scatter(eqn: Equation) -> Callable | None:
    jaxpr, ufunc = eqn.params["update_jaxpr"], SCATTERS[eqn.name]
    if ufunc is None and jaxpr is not None and jaxpr.eqns:
        return None  # lax.scatter_apply: some function of the element
    if 0 in eqn.inputs[2].shape or 0 in eqn.shape:
        return lambda x, i, u: x
    d, operand = eqn.params["dimension_numbers"], eqn.shape
    numbers = {
        "map": d.scatter_dims_to_operand_dims,
        "batching": d.operand_batching_dims,
        "indices_batching": d.scatter_indices_batching_dims,
        "collapsed": d.inserted_window_dims,
    }
    dropped = {int(a) for a in (*d.inserted_window_dims, *d.operand_batching_dims)}
    windows = [int(a) for a in d.update_window_dims]
    by_axis = dict(zip((a for a in range(len(operand)) if a not in dropped), windows, strict=True))
    sizes = tuple(1 if a in dropped else eqn.inputs[2].shape[by_axis[a]] for a in range(len(operand)))
    places = Places(operand, eqn.inputs[1].shape, sizes, numbers, eqn.params["mode"])
    batch = [a for a in range(len(eqn.inputs[2].shape)) if a not in windows]
    order = (*batch, *(by_axis[a] for a in (*places.partial, *places.whole)))
    write = _writer(ufunc, places, bool(eqn.params["unique_indices"]), np.dtype(eqn.dtype))
    constant = None if eqn.known[1] is None else places.index(eqn.known[1])

    def run(x, i, u):
        x, u = np.array(x, order="C"), u.transpose(order)
        seen, index = x.transpose(places.order), places.index(i) if constant is None else constant
        within = None if places.mode == "CLIP" else places.inside(i)
        if within is not None:  # a slice that lies outside, if only in part, is dropped
            chosen = np.broadcast_to(within[places.tail], u.shape[: u.ndim - len(places.whole)])
            index = tuple(np.broadcast_to(a, chosen.shape)[chosen] for a in index)
            u = u[chosen]
        write(seen, index, u)
        return x

    return run


ROWS_FROM = 32  # updates from which sorting beats writing one by one


def _writer(ufunc: np.ufunc | None, places: Places, unique: bool, dtype: np.dtype) -> Callable:
    if ufunc is None:

        def write(x, index, u):
            x[index] = u

    elif unique or not places.batch:

        def write(x, index, u):
            x[index] = ufunc(x[index], u)

    elif ufunc is np.subtract:
        add = _writer(np.add, places, unique, dtype)

        def write(x, index, u):
            add(x, index, np.negative(u))

    else:
        width = prod(places.inner)
        by_rows = width >= 4 and not is_narrow_float(dtype)  # sums of narrow floats are rounded after each, as XLA does

        def write(x, index, u):
            if by_rows and prod(u.shape) >= ROWS_FROM * width:
                _write_rows(ufunc, x, index, u)
            else:
                ufunc.at(x, index, u)

    return write


def _write_rows(ufunc: np.ufunc, x: np.ndarray, index: tuple, u: np.ndarray) -> None:
    """Combines the updates of each row, found by sorting, and writes each row once."""
    leading = x.shape[: len(index)]
    flat = np.ravel_multi_index(np.broadcast_arrays(*index), leading).ravel()
    order = flat.argsort(kind="stable")
    flat = flat[order]
    firsts = np.flatnonzero(np.concatenate(([True], flat[1:] != flat[:-1])))
    rows = np.broadcast_to(u, (*u.shape[: u.ndim - (x.ndim - len(index))], *x.shape[len(index) :]))
    rows = rows.reshape(len(order), *x.shape[len(index) :])[order]
    where = np.unravel_index(flat[firsts], leading)
    x[where] = ufunc(x[where], ufunc.reduceat(rows, firsts, axis=0))
