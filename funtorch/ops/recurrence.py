"""Recurrences over time as one loop each: h_t from x_t and h_{t-1}, for the plain, the gated and the long short-term cell.

Arrays are (T, N, *), and a recurrence gives all its states. For their derivatives see `recurrence_slopes`. The LSTM's gates are kept
as four arrays, not side by side: XLA's CPU code takes longer where it reads a part of each row of a large array.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from .quick_tanh import quick_tanh

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


def sigmoid(x: Array, tanh: Callable = jnp.tanh) -> Array:
    """1 / (1 + e^-x), by tanh."""
    half = np.asarray(0.5, x.dtype)
    return half * tanh(half * x) + half


def lstm_gates(pre: Array, tanh: Callable = jnp.tanh) -> tuple[Array, ...]:
    """i, f, g, o, of the sums before the gates (*, 4 H)."""
    i, f, g, o = jnp.split(pre, 4, -1)
    return sigmoid(i, tanh), sigmoid(f, tanh), tanh(g), sigmoid(o, tanh)


def gru_gates(x: Array, hidden: Array, bias: Maybe, tanh: Callable = jnp.tanh) -> tuple[Array, Array, Array, Array]:
    """r, z, n, and q = W_hn h + b_hn, of the sums (*, 3 H) from the input and from the state."""
    size = x.shape[-1] // 3
    r, z = jnp.split(sigmoid(x[..., : 2 * size] + hidden[..., : 2 * size], tanh), 2, -1)
    q = hidden[..., 2 * size :] if bias is None else hidden[..., 2 * size :] + bias
    return r, z, tanh(x[..., 2 * size :] + r * q), q


def step(mode: str, sums: Array, hidden: Array, h: Array, c: Array, given: Inputs, tanh: Callable = jnp.tanh) -> tuple:
    """h, c and the LSTM's gates one step later; ``sums`` is W_ih x, ``hidden`` W_hh h."""
    if given.b is not None:  # here, and not for all steps at once: it costs no pass over them
        sums = sums + given.b
    if mode == "lstm":
        gates = lstm_gates(sums + hidden, tanh)
        return *lstm_state(gates, c, given, tanh), gates
    if mode == "gru":
        _, z, n, _ = gru_gates(sums, hidden, given.b_hn, tanh)
        return (h - n) * z + n, None, ()
    pre = sums + hidden
    return (tanh(pre) if mode == "rnn_tanh" else jnp.maximum(pre, 0)), None, ()


def lstm_state(gates: Sequence[Array], c: Array, given: Inputs, tanh: Callable = jnp.tanh) -> tuple[Array, Array]:
    """The LSTM's h and c after a step, of its gates and the c before."""
    i, f, g, o = gates
    c = f * c + i * g
    m = o * tanh(c)
    return (m if given.w_hr is None else m @ given.w_hr.T), c


def running_of(given: Inputs) -> Maybe:
    """(T, N, 1): whether a sequence still has that step."""
    if given.lengths is None:
        return None
    return (jnp.arange(given.x.shape[0])[:, None] < given.lengths)[..., None]


def kept(running: Maybe, new: Maybe, old: Maybe) -> Maybe:
    """A state after a step: the new one, but for sequences that have ended."""
    return new if running is None or new is None else jnp.where(running, new, old)


def states(mode: str, reverse: bool, given: Inputs) -> tuple[Array, ...]:
    """The last h (N, P) and all h (T, N, P); of the LSTM also the last c (N, H), and before each step c, i, f, g, o (T, N, H).

    Past its end a sequence keeps its state.
    """
    # Turned once and not at each step; the barrier keeps XLA from moving that into the loop again.
    w_ih, w_hh = jax.lax.optimization_barrier((given.w_ih.T, given.w_hh.T))
    by_step = given.h.shape[0] >= ROWS

    def body(state: tuple, xs: tuple) -> tuple:
        h, c = state
        x, running = xs
        new_h, new_c, gates = step(mode, x @ w_ih if by_step else x, h @ w_hh, h, c, given, quick_tanh)
        new = kept(running, new_h, h), kept(running, new_c, c)
        return new, (new[0], c, *gates)

    end: Any = jax.lax.scan(body, (given.h, given.c), (given.x if by_step else given.sums(), running_of(given)), reverse=reverse)
    last, found = end
    return (last[0], found[0]) if mode != "lstm" else (last[0], found[0], last[1], *found[1:])


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
