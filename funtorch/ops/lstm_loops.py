"""The LSTM forward and backward in loops that write their results where they are kept: for XLA, which does so in place.

What a scan gives is copied there from elsewhere. At T 128, N 32, H 128 that is a twelfth of the time of the way forward.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp

from .quick_tanh import quick_tanh
from .recurrence import ROWS, Array, Inputs, kept, lstm_gates, lstm_state, running_of
from .recurrence_slopes import lstm_slopes, rows_of, states_before


def forward(reverse: bool, given: Inputs) -> tuple[Array, ...]:
    """The LSTM's `recurrence.states`."""
    steps, running = len(given.x), running_of(given)
    joined, sums_of = _sums(given)
    first = joined.shape[1] - given.h.shape[1]  # where h begins
    # Of one constant they would be one array, and copied. Each element is written over.
    hs, *rest = [jnp.full((steps, *a.shape), k, a.dtype) for k, a in enumerate((given.h, *[given.c] * 5))]

    def body(k: Array, state: tuple) -> tuple:
        joined, c, hs, before, gates = state
        at, put = _places(steps - 1 - k if reverse else k)
        joined, sums = sums_of(joined, at)
        gates = list(map(put, gates, lstm_gates(sums, quick_tanh)))
        new_h, new_c = lstm_state(list(map(at, gates)), c, given, quick_tanh)
        if running is not None:
            new_h, new_c = kept(at(running), new_h, joined[:, first:]), kept(at(running), new_c, c)
        hs = put(hs, new_h)
        return jax.lax.dynamic_update_slice(joined, at(hs), (0, first)), new_c, hs, put(before, c), gates

    joined, c, hs, before, gates = jax.lax.fori_loop(0, steps, body, (joined, given.c, hs, rest[0], rest[1:]))
    return joined[:, first:], hs, c, before, *gates


def _sums(given: Inputs) -> tuple[Array, Callable]:
    """The first h, and what gives the gates' sums of a step from it: of many sequences with x before it, for one product."""
    by_step = len(given.h) >= ROWS
    weights = [given.w_ih.T, given.w_hh.T] if by_step else [given.w_hh.T]
    # Turned once and not at each step; the barrier keeps XLA from moving that into the loop again.
    turned = jax.lax.optimization_barrier(jnp.concatenate(weights))
    known = None if by_step else given.sums()

    def sums_of(joined: Array, at: Callable) -> tuple[Array, Array]:
        if by_step:
            joined = jax.lax.dynamic_update_slice(joined, at(given.x), (0, 0))
        sums = joined @ turned if known is None else at(known) + joined @ turned
        return joined, sums if given.b is None else sums + given.b

    return jnp.concatenate([given.x[0], given.h], -1) if by_step else given.h, sums_of


def _places(t: Array) -> tuple[Callable, Callable]:
    """What reads step t of an array (T, *), and what writes it."""
    at = functools.partial(jax.lax.dynamic_index_in_dim, index=t, keepdims=False)
    return at, functools.partial(jax.lax.dynamic_update_index_in_dim, index=t, axis=0)


def backward(reverse: bool, given: Inputs, known: tuple[Array, ...], dots: tuple[Array, Array, Array]) -> Inputs:
    """The gradients of x, h, c, W_ih, W_hh and b, of an LSTM without projection and lengths.

    ``known`` are its `states`, ``dots`` the gradients of all h (T, N, H), the last h and the last c (N, H).
    """
    steps, size = len(given.x), given.h.shape[1]
    h_dots, *last = dots

    def body(k: Array, state: tuple) -> tuple:
        h_dot, c_dot, sums_dots = state
        t = k if reverse else steps - 1 - k
        at, _ = _places(t)
        slopes = lstm_slopes(*map(at, known[3:]))
        h_dot = h_dot + at(h_dots)
        c_dot = c_dot + h_dot * slopes.carry
        for gate, (slope, dot) in enumerate(zip(slopes.gates, (c_dot, c_dot, c_dot, h_dot), strict=True)):
            sums_dots = jax.lax.dynamic_update_slice(sums_dots, (slope * dot)[None], (t, 0, gate * size))
        return at(sums_dots) @ given.w_hh, slopes.cell * c_dot, sums_dots

    empty = jnp.zeros((*given.x.shape[:2], 4 * size), given.h.dtype)
    h_dot, c_dot, sums_dots = jax.lax.fori_loop(0, steps, body, (*last, empty))
    rows = rows_of(sums_dots)
    return Inputs(
        x=(rows @ given.w_ih).reshape(given.x.shape),
        w_ih=_weight_dot(given.x, rows),
        b=sums_dots.sum((0, 1)),
        h=h_dot,
        c=c_dot,
        w_hh=_weight_dot(states_before(known[1], given.h, reverse), rows),
        w_hr=None,
        b_hn=None,
        lengths=None,
    )


def _weight_dot(x: Array, rows: Array) -> Array:
    """The gradient (G, K) of the weight that x (T, N, K) was multiplied by, as `recurrence_slopes` has it: x' rows, turned."""
    return jax.lax.optimization_barrier(jax.lax.dot_general(rows_of(x), rows, (((0,), (0,)), ((), ())))).T
