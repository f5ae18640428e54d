"""Single steps of recurrent layers: ``rnn_tanh_cell``, ``rnn_relu_cell``, ``gru_cell``, ``lstm_cell``."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ..errors import OpError
from . import registry
from .declare import Array, function, op
from .direct import cells
from .operands import kind_of
from .recurrence import GATES, inputs_of, step

PURE = "nn.functional.pure"


def _check(x: Array, states: tuple[Array, ...], w_ih: Array, w_hh: Array, units: int) -> None:
    if x.shape[-1] != w_ih.shape[1]:
        raise OpError(f"input has inconsistent input_size: got {x.shape[-1]} expected {w_ih.shape[1]}")
    size = w_hh.shape[1]
    for name, weight in (("weight_ih", w_ih), ("weight_hh", w_hh)):
        if weight.shape[0] != units * size:
            raise OpError(f"{name} first dim must be {units} * hidden_size = {units * size}, but got {weight.shape[0]}")
    for number, state in enumerate(states):
        if state.shape[0] != x.shape[0]:
            raise OpError(f"Input batch size {x.shape[0]} doesn't match hidden{number} batch size {state.shape[0]}")
        if state.shape[1] != size:
            raise OpError(f"hidden{number} has inconsistent hidden_size: got {state.shape[1]}, expected {size}")
    for given, weight in ((x, w_ih), *((state, w_hh) for state in states)):
        if given.dtype != weight.dtype:
            raise OpError(f"mat1 and mat2 must have the same dtype, but got {kind_of(given)} and {kind_of(weight)}")


def _step(
    mode: str, x: Array, states: tuple[Array, ...], w_ih: Array, w_hh: Array, b_ih: Array | None, b_hh: Array | None
) -> Any:
    _check(x, states, w_ih, w_hh, GATES[mode])
    kind = x.dtype
    biases = [] if b_ih is None and b_hh is None else [jnp.zeros_like(w_ih[:, 0]) if b is None else b for b in (b_ih, b_hh)]
    given = inputs_of(mode, (x, *states, w_ih, w_hh, *biases), bool(biases), False, False)
    h, c, _ = step(mode, given.sums(), given.h @ given.w_hh.T, given.h, given.c, given)
    return h.astype(kind) if c is None else (h.astype(kind), c.astype(kind))


@op(out=False, method=False)
def rnn_tanh_cell(input: Array, hx: Array, w_ih: Array, w_hh: Array, b_ih: Array | None = None, b_hh: Array | None = None):
    """h' = tanh(W_ih x + b_ih + W_hh h + b_hh). input (N, D), hx (N, H), w_ih (H, D), w_hh (H, H); z (N, H)."""
    return _step("rnn_tanh", input, (hx,), w_ih, w_hh, b_ih, b_hh)


@op(out=False, method=False)
def rnn_relu_cell(input: Array, hx: Array, w_ih: Array, w_hh: Array, b_ih: Array | None = None, b_hh: Array | None = None):
    """h' = max(W_ih x + b_ih + W_hh h + b_hh, 0). input (N, D), hx (N, H), w_ih (H, D), w_hh (H, H); z (N, H)."""
    return _step("rnn_relu", input, (hx,), w_ih, w_hh, b_ih, b_hh)


@op(out=False, method=False)
def gru_cell(input: Array, hx: Array, w_ih: Array, w_hh: Array, b_ih: Array | None = None, b_hh: Array | None = None):
    """One step of a GRU (see `nn.GRUCell`). input (N, D), hx (N, H), w_ih (3 H, D), w_hh (3 H, H); z (N, H)."""
    return _step("gru", input, (hx,), w_ih, w_hh, b_ih, b_hh)


@op(namespace=PURE, name="lstm_cell", out=False, direct=cells.lstm_cell, gathered=cells.lstm_calls)
def _lstm_cell(input: Array, h: Array, c: Array, w_ih: Array, w_hh: Array, b_ih: Array | None, b_hh: Array | None):
    """One step of an LSTM."""
    return _step("lstm", input, (h, c), w_ih, w_hh, b_ih, b_hh)


@function()
def lstm_cell(input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None) -> tuple[Any, Any]:
    """One step of an LSTM (see `nn.LSTMCell`): the next h and c.

    Args:
        input: (N, D); hx: h and c, (N, H) each.
        w_ih: (4 H, D); w_hh: (4 H, H); b_ih, b_hh: (4 H).

    Raises:
        RuntimeError: sizes that don't fit.
    """
    h, c = hx
    return _lstm_cell(input, h, c, w_ih, w_hh, b_ih, b_hh)


CELLS = {name: registry.names("torch")[f"{name}_cell"] for name in GATES}
