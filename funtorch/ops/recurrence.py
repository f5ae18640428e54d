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

Array = Any
Maybe = Any  # an Array, or None where the mode or the model has none
GATES = {"rnn_tanh": 1, "rnn_relu": 1, "gru": 3, "lstm": 4}  # in units of the hidden size


class Inputs(NamedTuple):
    """What a recurrence reads: W_ih x + b (T, N, G), h_0 (N, P), c_0 (N, H), W_hh (G, P), W_hr (P, H), b_hn (H), lengths (N)."""

    x: Array
    h: Array
    c: Maybe
    w: Array
    project: Maybe
    hidden_bias: Maybe
    lengths: Maybe


class Slopes(NamedTuple):
    """The tangents' coefficients: of the gates (T, N, G), of the cell in itself, and of h in the cell (LSTM) or itself (GRU)."""

    gates: Array
    cell: Maybe
    carry: Maybe


def sigmoid(x: Array) -> Array:
    """1 / (1 + e^-x), by tanh: XLA's CPU code for it is several times faster than that of logistic."""
    half = np.asarray(0.5, x.dtype)
    return half * jnp.tanh(half * x) + half


def lstm_gates(pre: Array) -> list[Array]:
    """i, f, g, o of the sums before the gates (*, 4 H): three sigmoids and a tanh, as one tanh of all."""
    size = pre.shape[-1] // 4
    scale = np.repeat(np.array([0.5, 0.5, 1.0, 0.5], pre.dtype), size)
    shift = np.repeat(np.array([0.5, 0.5, 0.0, 0.5], pre.dtype), size)
    return jnp.split(jnp.tanh(pre * scale) * scale + shift, 4, -1)


def gru_gates(x: Array, hidden: Array, bias: Maybe) -> tuple[Array, Array, Array, Array]:
    """r, z, n, and q = W_hn h + b_hn, of the sums (*, 3 H) from the input and from the state."""
    size = x.shape[-1] // 3
    r, z = jnp.split(sigmoid(x[..., : 2 * size] + hidden[..., : 2 * size]), 2, -1)
    q = hidden[..., 2 * size :] if bias is None else hidden[..., 2 * size :] + bias
    return r, z, jnp.tanh(x[..., 2 * size :] + r * q), q


def step(mode: str, x: Array, h: Array, c: Maybe, hidden: Array, given: Inputs) -> tuple[Array, Maybe]:
    """h and c one step later; ``hidden`` is W_hh h."""
    if mode == "lstm":
        i, f, g, o = lstm_gates(x + hidden)
        c = f * c + i * g
        m = o * jnp.tanh(c)
        return (m if given.project is None else m @ given.project.T), c
    if mode == "gru":
        _, z, n, _ = gru_gates(x, hidden, given.hidden_bias)
        return (h - n) * z + n, None
    pre = x + hidden
    return (jnp.tanh(pre) if mode == "rnn_tanh" else jnp.maximum(pre, 0)), None


def _running(given: Inputs) -> Maybe:
    """(T, N, 1): whether a sequence still has that step."""
    if given.lengths is None:
        return None
    return (jnp.arange(given.x.shape[0])[:, None] < given.lengths)[..., None]


def _kept(running: Maybe, new: Maybe, old: Maybe) -> Maybe:
    return new if running is None or new is None else jnp.where(running, new, old)


def states(mode: str, reverse: bool, given: Inputs) -> tuple[Array, ...]:
    """All h (T, N, P), and for the LSTM all c (T, N, H). Past its end a sequence keeps its state."""
    turned = given.w.T

    def body(state: Any, xs: Any) -> tuple[Any, Any]:
        h, c = state
        x, running = xs
        new_h, new_c = step(mode, x, h, c, h @ turned, given)
        new = _kept(running, new_h, h), _kept(running, new_c, c)
        return new, new

    _, (hs, cs) = jax.lax.scan(body, (given.h, given.c), (given.x, _running(given)), reverse=reverse, unroll=_unroll(given))
    return (hs,) if cs is None else (hs, cs)


def _unroll(given: Inputs) -> int:
    return 2 if given.x.shape[0] > 8 else 1


def _before(all_states: Array, first: Array, reverse: bool) -> Array:
    """The state each step began with."""
    parts = (all_states[1:], first[None]) if reverse else (first[None], all_states[:-1])
    return jnp.concatenate(parts)


def _slopes(mode: str, given: Inputs, h: Array, c: Maybe, hs: Array, cs: Maybe) -> tuple[Slopes, Maybe]:
    """The coefficients at the states h, c before each step and hs, cs after it, and the LSTM's h before the projection."""
    if mode == "rnn_relu":
        return Slopes((hs > 0).astype(hs.dtype), None, None), None
    if mode == "rnn_tanh":
        # Where a sequence has ended hs isn't tanh of anything, but its slope isn't used there.
        return Slopes(1 - hs * hs, None, None), None
    hidden = h @ given.w.T
    if mode == "gru":
        r, z, n, q = gru_gates(given.x, hidden, given.hidden_bias)
        inner = (1 - z) * (1 - n * n)
        return Slopes(jnp.concatenate([inner * q * r * (1 - r), (h - n) * z * (1 - z), inner * r], -1), inner, z), None
    i, f, g, o = lstm_gates(given.x + hidden)
    top = jnp.tanh(cs)
    parts = [g * i * (1 - i), c * f * (1 - f), i * (1 - g * g), top * o * (1 - o)]
    return Slopes(jnp.concatenate(parts, -1), f, o * (1 - top * top)), (None if given.project is None else o * top)


def _push_gates(mode: str, slopes: Slopes, dots: Array) -> tuple[Array, Maybe]:
    """From tangents of the gates' sums (*, G): what they add to the tangent of h, and of c."""
    parts = jnp.split(slopes.gates * dots, GATES[mode], -1)
    if mode == "lstm":
        return parts[3], parts[0] + parts[1] + parts[2]
    return functools.reduce(jnp.add, parts), None


def _outside(mode: str, given: Inputs, dots: Inputs, slopes: Slopes, before: Array, m: Maybe) -> tuple:
    """What the tangents of x, W_hh, b_hn and W_hr add to those of h (before and after the projection) and c, for all steps."""
    from_weight = before @ dots.w.T
    if mode == "gru":
        size = given.h.shape[-1]
        if dots.hidden_bias is not None:
            from_weight = from_weight.at[..., 2 * size :].add(dots.hidden_bias)
        sums = from_weight.at[..., : 2 * size].add(dots.x[..., : 2 * size])
        added, _ = _push_gates(mode, slopes, sums)
        return added + slopes.cell * dots.x[..., 2 * size :], None, None
    added, added_c = _push_gates(mode, slopes, dots.x + from_weight)
    return added, added_c, (None if m is None else m @ dots.project.T)


def _tangents(mode: str, reverse: bool, given: Inputs, dots: Inputs, out: tuple[Array, ...]) -> tuple[Array, ...]:
    """The tangents of all states: a scan that is linear in ``dots``."""
    hs, cs = out if mode == "lstm" else (out[0], None)
    h, c = _before(hs, given.h, reverse), (None if cs is None else _before(cs, given.c, reverse))
    slopes, m = _slopes(mode, given, h, c, hs, cs)
    outside = _outside(mode, given, dots, slopes, h, m)
    turned = given.w.T

    def body(state: Any, xs: Any) -> tuple[Any, Any]:
        h_dot, c_dot = state
        slope, (added, added_c, added_h), running = xs
        from_h, from_h_c = _push_gates(mode, slope, h_dot @ turned)
        new_c, new_h = None, from_h + added
        if mode == "lstm":
            new_c = slope.cell * c_dot + from_h_c + added_c
            new_h = slope.carry * new_c + new_h
            new_h = new_h if added_h is None else new_h @ given.project.T + added_h
        elif mode == "gru":
            new_h = slope.carry * h_dot + new_h
        new = _kept(running, new_h, h_dot), _kept(running, new_c, c_dot)
        return new, new

    xs = (slopes, outside, _running(given))
    _, (h_dots, c_dots) = jax.lax.scan(body, (dots.h, dots.c), xs, reverse=reverse, unroll=_unroll(given))
    return (h_dots,) if cs is None else (h_dots, c_dots)


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
    hidden_bias = None
    sums = x @ w_ih.T  # (T, N, G)
    if bias and mode == "gru":
        size = h.shape[-1]
        # b_hn is multiplied by r: only the other two parts may be added here.
        sums = sums + jnp.concatenate([b_ih[: 2 * size] + b_hh[: 2 * size], b_ih[2 * size :]])
        hidden_bias = b_hh[2 * size :]
    elif bias:
        sums = sums + (b_ih + b_hh)
    return Inputs(sums, h, c, w_hh, project, hidden_bias, lengths)
