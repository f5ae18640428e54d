"""Direct forms of a step of an LSTM: gates i, f, g, o; c' = f c + i g, h' = o tanh(c')."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.direct import Avals, Direct, Form, small
from ...core.gathered import Gathered


def lstm_cell(present: tuple) -> Direct | None:
    """Of a cell with both biases."""
    return None if -1 in present else _LSTM


def lstm_calls(present: tuple) -> Gathered | None:
    """What many calls of one cell share."""
    return None if -1 in present else _CALLS


def _fits(avals: Avals) -> bool:
    x, h, c, w_ih, w_hh, b_ih, b_hh = [shape for shape, _ in avals]
    if not small(avals) or len(x) != 2 or len(h) != 2 or len(w_ih) != 2:
        return False
    rows, size = h
    return h == c and x[0] == rows and w_ih == (4 * size, x[1]) and w_hh == (4 * size, size) and b_ih == b_hh == (4 * size,)


def _gates(x: Any, h: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any) -> list:
    """Those three that lie between 0 and 1, and the new content, each (N, H)."""
    sums = x.dot(w_ih.T)
    sums += b_ih
    sums += h.dot(w_hh.T)
    sums += b_hh
    size = h.shape[1]
    i, f, g, o = (sums[:, k * size : (k + 1) * size] for k in range(4))
    return [_sigmoid(i), _sigmoid(f), np.tanh(g), _sigmoid(o)]


def _sigmoid(x: Any) -> Any:
    y = np.negative(x)
    np.exp(y, y)
    y += 1
    return np.reciprocal(y, y)


def _forward(avals: Avals) -> Form | None:
    if not _fits(avals):
        return None

    def run(x: Any, h: Any, c: Any, *weights: Any) -> tuple:
        i, f, g, o = _gates(x, h, *weights)
        new = f * c
        g *= i
        new += g
        return o * np.tanh(new), new

    return Form(run, False)


def _of_sums(h: Any, c: Any, gates: list, of_h: Any, of_c: Any) -> tuple:
    """The gradients of the sums before the gates, (N, 4 H), and of c."""
    i, f, g, o = gates
    squashed = np.tanh(f * c + i * g)
    inner = of_h * o * (1 - squashed * squashed) + of_c
    size = h.shape[1]
    sums = np.empty((len(h), 4 * size), h.dtype)
    np.multiply(inner * g, i * (1 - i), sums[:, :size])
    np.multiply(inner * c, f * (1 - f), sums[:, size : 2 * size])
    np.multiply(inner * i, 1 - g * g, sums[:, 2 * size : 3 * size])
    np.multiply(of_h * squashed, o * (1 - o), sums[:, 3 * size :])
    return sums, inner * f


def _each(mask: tuple[bool, ...], saved: Sequence[Any], cotangents: Sequence[np.ndarray]) -> tuple:
    x, h, c, w_ih, w_hh, b_ih, b_hh = saved
    sums, of_c = _of_sums(h, c, _gates(x, h, w_ih, w_hh, b_ih, b_hh), *cotangents)
    grads = []
    if mask[0]:
        grads.append(sums.dot(w_ih))
    if mask[1]:
        grads.append(sums.dot(w_hh))
    if mask[2]:
        grads.append(of_c)
    return grads, (x, h, sums)


def _all(avals: Avals, needed: Sequence[Any]) -> tuple:
    x, h, sums = needed[0] if len(needed) == 1 else (np.concatenate(each) for each in zip(*needed, strict=True))
    of_bias = np.add.reduce(sums, 0)
    return sums.T.dot(x), sums.T.dot(h), of_bias, of_bias


def _backward(mask: tuple[bool, ...], avals: Avals) -> Form | None:
    if not _fits(avals):
        return None

    def run(*args: Any) -> tuple:
        grads, needed = _each(mask, args[:7], args[7:])
        shared = _all(avals, [needed]) if any(mask[3:]) else ()
        return (*grads, *[grad for grad, marked in zip(shared, mask[3:], strict=False) if marked])

    return Form(run, False, (True,) * 7)


_LSTM = Direct(_forward, _backward)
_CALLS = Gathered((3, 4, 5, 6), _fits, _each, _all)
