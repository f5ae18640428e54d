"""Recurrences over time as one scan each: h_t from x_t and h_{t-1}, for the plain, the gated and the long short-term cell.

Arrays are (T, N, *), and a recurrence gives all its states. Derivatives don't run the scan again: `attached` takes states that
are known, and its tangents are a second scan, linear in them, whose coefficients (and everything that multiplies a tangent
from outside) are computed for all steps at once. So the gradient of a weight is one product and not one for each step.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

Array = Any  # or None, where something is missing
Maybe = Any  # an Array, or None where the mode or the model has none
GATES = {"rnn_tanh": 1, "rnn_relu": 1, "gru": 3, "lstm": 4}  # in units of the hidden size

ROWS = 32  # sequences from which on W_ih x is cheaper step by step: the sums stay in the cache then


class Inputs(NamedTuple):
    """What a recurrence reads.

    x (T, N, D), W_ih (G, D), b (G), h_0 (N, P), c_0 (N, H), W_hh (G, P), W_hr (P, H), b_hn (H), lengths (N); None: has none.
    """

    x: Array
    w_ih: Array
    b: Array
    h: Array
    c: Array
    w_hh: Array
    w_hr: Array
    b_hn: Array
    lengths: Array

    def sums(self) -> Array:
        """W_ih x, (T, N, G)."""
        return self.x @ self.w_ih.T


class Slopes(NamedTuple):
    """The tangents' coefficients, (T, N, H) each: of every gate, of the cell in itself, and of h in the cell (LSTM) or itself (GRU)."""

    gates: tuple[Array, ...]
    cell: Array
    carry: Array


def sigmoid(x: Array) -> Array:
    """1 / (1 + e^-x), by tanh: XLA's CPU code for it is several times faster than that of logistic."""
    half = np.asarray(0.5, x.dtype)
    return half * jnp.tanh(half * x) + half


def lstm_gates(pre: Array) -> Array:
    """i, f, g, o side by side, of the sums before the gates (*, 4 H): three sigmoids and a tanh, as one tanh of all."""
    size = pre.shape[-1] // 4
    scale = np.repeat(np.array([0.5, 0.5, 1.0, 0.5], pre.dtype), size)
    shift = np.repeat(np.array([0.5, 0.5, 0.0, 0.5], pre.dtype), size)
    return jnp.tanh(pre * scale) * scale + shift


def gru_gates(x: Array, hidden: Array, bias: Maybe) -> tuple[Array, Array, Array, Array]:
    """r, z, n, and q = W_hn h + b_hn, of the sums (*, 3 H) from the input and from the state."""
    size = x.shape[-1] // 3
    r, z = jnp.split(sigmoid(x[..., : 2 * size] + hidden[..., : 2 * size]), 2, -1)
    q = hidden[..., 2 * size :] if bias is None else hidden[..., 2 * size :] + bias
    return r, z, jnp.tanh(x[..., 2 * size :] + r * q), q


def step(mode: str, sums: Array, hidden: Array, h: Array, c: Array, given: Inputs) -> tuple[Array, Array, Array]:
    """h, c and the LSTM's gates one step later; ``sums`` is W_ih x, ``hidden`` W_hh h."""
    if given.b is not None:  # here, and not for all steps at once: it costs no pass over them
        sums = sums + given.b
    if mode == "lstm":
        gates = lstm_gates(sums + hidden)
        i, f, g, o = jnp.split(gates, 4, -1)
        c = f * c + i * g
        m = o * jnp.tanh(c)
        return (m if given.w_hr is None else m @ given.w_hr.T), c, gates
    if mode == "gru":
        _, z, n, _ = gru_gates(sums, hidden, given.b_hn)
        return (h - n) * z + n, None, None
    pre = sums + hidden
    return (jnp.tanh(pre) if mode == "rnn_tanh" else jnp.maximum(pre, 0)), None, None


def _running(given: Inputs) -> Maybe:
    """(T, N, 1): whether a sequence still has that step."""
    if given.lengths is None:
        return None
    return (jnp.arange(given.x.shape[0])[:, None] < given.lengths)[..., None]


def _kept(running: Maybe, new: Maybe, old: Maybe) -> Maybe:
    return new if running is None or new is None else jnp.where(running, new, old)


def states(mode: str, reverse: bool, given: Inputs) -> tuple[Array, ...]:
    """All h (T, N, P), and for the LSTM all c (T, N, H) and gates (T, N, 4 H). Past its end a sequence keeps its state."""

    # Turned once and not at each step; the barrier keeps XLA from moving that into the loop again.
    w_ih, w_hh = jax.lax.optimization_barrier((given.w_ih.T, given.w_hh.T))
    each = given.h.shape[0] >= ROWS

    def body(state: tuple, xs: tuple) -> tuple:
        h, c = state
        x, running = xs
        new_h, new_c, gates = step(mode, x @ w_ih if each else x, h @ w_hh, h, c, given)
        new = _kept(running, new_h, h), _kept(running, new_c, c)
        return new, (*new, gates)

    xs = (given.x if each else given.sums(), _running(given))
    found: Any = jax.lax.scan(body, (given.h, given.c), xs, reverse=reverse)[1]
    return found if mode == "lstm" else found[:1]


def _before(all_states: Array, first: Array, reverse: bool) -> Array:
    """The state each step began with."""
    parts = (all_states[1:], first[None]) if reverse else (first[None], all_states[:-1])
    return jnp.concatenate(parts)


def _slopes(mode: str, given: Inputs, h: Array, c: Array, out: tuple[Array, ...]) -> tuple[Slopes, Array]:
    """The coefficients at the states h, c before each step and ``out`` after it, and the LSTM's h before the projection.

    Where a sequence has ended the formulas don't fit its states, but nothing that uses them counts there.
    """
    hs = out[0]
    if mode == "rnn_relu":
        return Slopes(((hs > 0).astype(hs.dtype),), None, None), None
    if mode == "rnn_tanh":
        return Slopes((1 - hs * hs,), None, None), None
    if mode == "gru":
        sums = given.sums()
        r, z, n, q = gru_gates(sums if given.b is None else sums + given.b, h @ given.w_hh.T, given.b_hn)
        inner = (1 - z) * (1 - n * n)
        return Slopes((inner * q * r * (1 - r), (h - n) * z * (1 - z), inner * r), inner, z), None
    i, f, g, o = jnp.split(out[2], 4, -1)
    top = jnp.tanh(out[1])
    parts = (g * i * (1 - i), c * f * (1 - f), i * (1 - g * g), top * o * (1 - o))
    return Slopes(parts, f, o * (1 - top * top)), (None if given.w_hr is None else o * top)


def _sums_dots(mode: str, given: Inputs, dots: Inputs, before: Array) -> tuple[Array, ...]:
    """Tangents of the gates' sums for fixed states: (T, N, G); the GRU's r and z, and n's from the input and from the state."""
    from_x = dots.x @ given.w_ih.T
    from_x = from_x if dots.b is None else from_x + dots.b
    from_x, from_h = from_x + _by_rows(given.x, dots.w_ih), _by_rows(before, dots.w_hh)
    if mode != "gru":
        return (from_x + from_h,)
    size = given.h.shape[-1]
    from_n = from_h[..., 2 * size :] if dots.b_hn is None else from_h[..., 2 * size :] + dots.b_hn
    return from_x[..., : 2 * size] + from_h[..., : 2 * size], from_x[..., 2 * size :], from_n


def _by_rows(x: Array, weights: Array) -> Array:
    """x (T, N, K) by the tangent (G, K) of a weight, as one matrix of all steps' rows; (T, N, G).

    The cotangent of the weight is x' g then, and the barrier keeps XLA from making it g' x, for which it would transpose g
    first: that is the larger one, and takes a third of the product's time.
    """
    turned = jax.lax.optimization_barrier(weights.T)
    return (x.reshape(-1, x.shape[-1]) @ turned).reshape(*x.shape[:-1], -1)


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
    """The tangents of all states: a scan that is linear in ``dots``."""
    h, c = _before(out[0], given.h, reverse), (None if mode != "lstm" else _before(out[1], given.c, reverse))
    slopes, m = _slopes(mode, given, h, c, out)
    sums = _sums_dots(mode, given, dots, h)
    projected = None if m is None else m @ dots.w_hr.T

    def body(state: tuple, xs: tuple) -> tuple:
        h_dot, c_dot = state
        slope, from_sums, added, running = xs
        new_h, new_c = _pushed(mode, slope, from_sums, _across(h_dot, given.w_hh), state)
        if added is not None:
            new_h = new_h @ given.w_hr.T + added
        new = _kept(running, new_h, h_dot), _kept(running, new_c, c_dot)
        return new, new

    xs = (slopes, sums, projected, _running(given))
    found: Any = jax.lax.scan(body, (dots.h, dots.c), xs, reverse=reverse)[1]
    h_dots, c_dots = found
    if mode != "lstm":
        return (h_dots,)
    return h_dots, c_dots, _gates_slope(out[2]) * (sums[0] + _across(_before(h_dots, dots.h, reverse), given.w_hh))


def _gates_slope(gates: Array) -> Array:
    """The derivatives of the LSTM's gates: s (1 - s) of a sigmoid, 1 - g^2 of the tanh."""
    i, f, g, o = jnp.split(gates, 4, -1)
    return jnp.concatenate([i * (1 - i), f * (1 - f), 1 - g * g, o * (1 - o)], -1)


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


def inputs_of(mode: str, arrays: tuple[Array, ...], bias: bool, projected: bool, masked: bool) -> Inputs:
    """`Inputs` of x (T, N, D), h_0, (c_0), W_ih, W_hh, (b_ih, b_hh), (W_hr), (lengths). Halves become float32."""
    wide = [a.astype(jnp.float32) if a.dtype.itemsize <= 2 else a for a in arrays]
    given = iter(wide)
    x, h = next(given), next(given)
    c = next(given) if mode == "lstm" else None
    w_ih, w_hh = next(given), next(given)
    biases: list[Maybe] = [next(given), next(given)] if bias else [None, None]
    b_ih, b_hh = biases
    project = next(given) if projected else None
    lengths = next(given) if masked else None
    b = b_hn = None
    if bias and mode == "gru":
        size = h.shape[-1]
        # b_hn is multiplied by r: only the other two parts may be added to b_ih.
        b = jnp.concatenate([b_ih[: 2 * size] + b_hh[: 2 * size], b_ih[2 * size :]])
        b_hn = b_hh[2 * size :]
    elif bias:
        b = b_ih + b_hh
    return Inputs(x, w_ih, b, h, c, w_hh, project, b_hn, lengths)
