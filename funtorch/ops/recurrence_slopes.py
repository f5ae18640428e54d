"""The derivatives of recurrences: without running them again, from their states.

`attached` takes states that are known. Its tangents are a second scan, linear in them, in which everything that multiplies a tangent
from outside is computed for all steps at once. So the gradient of a weight is one product and not one for each step.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from .quick_tanh import quick_tanh
from .recurrence import GATES, Array, Inputs, gru_gates, kept, running_of


class Slopes(NamedTuple):
    """The tangents' coefficients, (*, N, H) each: of every gate, of the cell in itself, and of h in the cell (LSTM) or itself (GRU)."""

    gates: tuple[Array, ...]
    cell: Array
    carry: Array


def states_before(all_states: Array, first: Array, reverse: bool) -> Array:
    """The state each step began with."""
    parts = (all_states[1:], first[None]) if reverse else (first[None], all_states[:-1])
    return jnp.concatenate(parts)


def _slopes(mode: str, given: Inputs, h: Array, known: tuple[Array, ...]) -> Slopes:
    """The coefficients at the state h before a step.

    ``known``: h after it, and the LSTM's c before it and gates; of one step or of all. Where a sequence has ended the formulas
    don't fit its states, but nothing that uses them counts there.
    """
    after = known[0]
    if mode == "rnn_relu":
        return Slopes(((after > 0).astype(after.dtype),), None, None)
    if mode == "rnn_tanh":
        return Slopes((1 - after * after,), None, None)
    if mode == "gru":
        sums = given.sums()
        r, z, n, q = gru_gates(sums if given.b is None else sums + given.b, h @ given.w_hh.T, given.b_hn, quick_tanh)
        inner = (1 - z) * (1 - n * n)
        return Slopes((inner * q * r * (1 - r), (h - n) * z * (1 - z), inner * r), inner, z)
    return lstm_slopes(*known[1:])


def lstm_slopes(c: Array, i: Array, f: Array, g: Array, o: Array) -> Slopes:
    """The LSTM's, of the c before a step and the gates."""
    top = quick_tanh(f * c + i * g)
    parts = (g * i * (1 - i), c * f * (1 - f), i * (1 - g * g), top * o * (1 - o))
    return Slopes(parts, f, o * (1 - top * top))


def _unprojected(known: tuple[Array, ...]) -> Array:
    """The LSTM's h before the projection."""
    c, i, f, g, o = known[1:]
    return o * quick_tanh(f * c + i * g)


def _sums_dots(mode: str, given: Inputs, dots: Inputs, before: Array) -> tuple[Array, ...]:
    """Tangents of the gates' sums for fixed states: (T, N, G); the GRU's r and z, and n's from the input and from the state."""
    from_x = rows_of(dots.x) @ given.w_ih.T + _by_rows(given.x, dots.w_ih)
    from_x = from_x if dots.b is None else from_x + dots.b
    from_h = _by_rows(before, dots.w_hh)
    if mode != "gru":
        return (_by_steps(from_x + from_h, given),)
    from_x, from_h = _by_steps(from_x, given), _by_steps(from_h, given)
    size = given.h.shape[-1]
    from_n = from_h[..., 2 * size :] if dots.b_hn is None else from_h[..., 2 * size :] + dots.b_hn
    return from_x[..., : 2 * size] + from_h[..., : 2 * size], from_x[..., 2 * size :], from_n


def rows_of(x: Array) -> Array:
    """(T, N, K) as (T N, K)."""
    return x.reshape(-1, x.shape[-1])


def _by_steps(rows: Array, given: Inputs) -> Array:
    """Rows (T N, K) as (T, N, K)."""
    return rows.reshape(*given.x.shape[:2], rows.shape[-1])


def _by_rows(x: Array, weights: Array) -> Array:
    """x (T, N, K) by the tangent (G, K) of a weight, as one matrix of all steps' rows; (T N, G).

    The cotangent of the weight is x' g then, and the barrier keeps XLA from making it g' x, for which it would transpose g
    first: that is the larger one, and takes a third of the product's time.
    """
    return rows_of(x) @ jax.lax.optimization_barrier(weights.T)


def _across(x: Array, weights: Array) -> Array:
    """x (*, P) by a weight (G, P) as it lies, (*, G): so that the gradient's g W, at each step, needs no turned weight."""
    return jax.lax.dot_general(x, weights, (((x.ndim - 1,), (1,)), ((), ())))


def _pushed(mode: str, slopes: Slopes, sums: tuple[Array, ...], recurrent: Array, state: tuple) -> tuple[Array, Array]:
    """The tangents of h (before the projection) and c one step later.

    ``sums`` is `_sums_dots` of the step, ``recurrent`` the tangent of W_hh h, ``state`` those of h and c.
    """
    if mode == "gru":
        size = recurrent.shape[-1] // 3
        r, z = jnp.split(sums[0] + recurrent[..., : 2 * size], 2, -1)
        n = sums[2] + recurrent[..., 2 * size :]
        return _weighted(slopes.gates, (r, z, n)) + slopes.cell * sums[1] + slopes.carry * state[0], None
    parts = tuple(jnp.split(sums[0] + recurrent, GATES[mode], -1))
    if mode != "lstm":
        return _weighted(slopes.gates, parts), None
    c = slopes.cell * state[1] + _weighted(slopes.gates[:3], parts[:3])
    return slopes.carry * c + slopes.gates[3] * parts[3], c


def _weighted(slopes: tuple[Array, ...], dots: tuple[Array, ...]) -> Array:
    return functools.reduce(jnp.add, [s * d for s, d in zip(slopes, dots, strict=True)])


def _tangents(mode: str, reverse: bool, given: Inputs, dots: Inputs, out: tuple[Array, ...]) -> tuple[Array, ...]:
    """The tangents of all `states`: a scan that is linear in ``dots``."""
    h, known = states_before(out[1], given.h, reverse), (out[1], *out[3:])
    sums = _sums_dots(mode, given, dots, h)
    # The GRU's coefficients are of products, which are better done for all steps at once.
    at_once = _slopes(mode, given, h, known) if mode == "gru" else None
    projected = None if given.w_hr is None else _by_steps(_by_rows(_unprojected(known), dots.w_hr), given)

    def body(state: tuple, xs: tuple) -> tuple:
        h_dot, c_dot = state
        before, now, slopes, from_sums, added, running = xs
        slopes = slopes or _slopes(mode, given, before, now)
        new_h, new_c = _pushed(mode, slopes, from_sums, _across(h_dot, given.w_hh), state)
        if added is not None:
            new_h = new_h @ given.w_hr.T + added
        new = kept(running, new_h, h_dot), kept(running, new_c, c_dot)
        return new, (new[0], c_dot)

    xs = (None if at_once else h, None if at_once else known, at_once, sums, projected, running_of(given))
    # Kept for the way back, the coefficients would be more than what they are computed from.
    again = jax.checkpoint(body, prevent_cse=False)
    last, (h_dots, c_dots) = jax.lax.scan(again, (dots.h, dots.c), xs, reverse=reverse)
    if mode != "lstm":
        return last[0], h_dots
    pre = sums[0] + _across(states_before(h_dots, dots.h, reverse), given.w_hh)
    gates = _gates_slopes(out[4:])
    return last[0], h_dots, last[1], c_dots, *(slope * dot for slope, dot in zip(gates, jnp.split(pre, 4, -1), strict=True))


def _gates_slopes(gates: tuple[Array, ...]) -> tuple[Array, ...]:
    """The derivatives of the LSTM's gates: s (1 - s) of a sigmoid, 1 - g^2 of the tanh."""
    i, f, g, o = gates
    return i * (1 - i), f * (1 - f), 1 - g * g, o * (1 - o)


@functools.cache
def attached(mode: str, reverse: bool) -> Callable:
    """The function ``(inputs, known states) -> the states``, with the derivative that they have as functions of the inputs."""

    @jax.custom_jvp
    def attach(given: Inputs, known: tuple[Array, ...]) -> tuple[Array, ...]:
        return known

    @attach.defjvp
    def rule(primals: tuple, tangents: tuple) -> tuple:
        given, known = primals
        # The states again with their derivative, so that the coefficients can be differentiated in turn.
        out = attach(given, known)
        return out, _tangents(mode, reverse, given, tangents[0], out)

    return attach
