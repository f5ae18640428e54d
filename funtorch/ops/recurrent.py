"""Recurrent layers: each layer and direction is one op. Stacks of them, as PyTorch's ``lstm``, ``gru``, ``rnn_tanh``, ``rnn_relu``."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from ..core import casting
from ..core.call import call
from ..core.compiler_options import of_loops
from ..core.handle import Handle
from ..core.op import Op
from ..core.state import state
from ..core.views import concrete
from ..errors import OpError, TracedValueError
from . import lstm_loops, registry
from .declare import function
from .dropout import dropout as drop
from .gathering import index_select
from .joining import cat, stack
from .operands import KINDS
from .recurrence import Inputs, inputs_of, states
from .recurrence_slopes import attached
from .shared_data import from_numpy

Form = tuple[str, bool, bool, bool, bool, bool]  # mode, reverse, bias, projected, masked, alone


def _inputs(form: Form, arrays: tuple[Any, ...]) -> Inputs:
    """A layer's `Inputs`; the states of one that is alone have its number before them: (1, N, *)."""
    if form[5]:
        end = 3 if form[0] == "lstm" else 2
        arrays = (arrays[0], *(a.reshape(a.shape[1:]) for a in arrays[1:end]), *arrays[end:])
    return inputs_of(form[0], arrays, *form[2:5])


def _results(form: Form, kind: Any, out: tuple[Any, ...]) -> tuple[Any, ...]:
    """All h, the last h, and for the LSTM the last c."""
    last = (out[0], *out[2:3])
    return tuple(each.astype(kind) for each in (out[1], *(each[None] if form[5] else each for each in last)))


def _lstm_vjp(form: Form, mask: tuple[bool, ...]) -> Callable | None:
    """XLA's way back of an LSTM layer: a loop of our own, where there is one."""
    _, _, bias, projected, masked, _ = form
    count = 5 + 2 * bias  # of the inputs that aren't states
    if projected or masked or any(mask[count:]):
        return None
    return functools.partial(_lstm_gradients, form, mask[:count])


def _lstm_gradients(form: Form, mask: tuple[bool, ...], *args: Any) -> tuple[Any, ...]:
    """The gradients of the marked inputs: of the arrays of an LSTM layer, its states, and the gradients of its results."""
    arrays, known, dots = args[: len(mask)], args[len(mask) : -3], args[-3:]
    given = _inputs(form, arrays)
    wide = [dot.astype(given.h.dtype).reshape(s.shape) for dot, s in zip(dots, (known[1], known[0], known[2]), strict=True)]
    found = lstm_loops.backward(form[1], given, known, (wide[0], wide[1], wide[2]))
    each = (found.x, found.h, found.c, found.w_ih, found.w_hh, *([found.b] * 2 if form[2] else ()))
    return tuple(g.reshape(a.shape).astype(a.dtype) for g, a, marked in zip(each, arrays, mask, strict=True) if marked)


@functools.cache
def _ops(form: Form) -> tuple[Op, Op, Op]:
    """The layer as one Op; and in two parts, the states as constants, and their place on the tape."""
    mode, reverse = form[:2]
    count = 4 + (mode == "lstm") + 2 * form[2] + form[3] + form[4]

    def known(*arrays: Any) -> tuple[Any, ...]:
        return states(mode, reverse, jax.lax.stop_gradient(_inputs(form, arrays)))

    def attach(*arrays: Any) -> tuple[Any, ...]:
        given = _inputs(form, arrays[:count])
        return _results(form, arrays[0].dtype, attached(mode, reverse)(given, tuple(arrays[count:])))

    def whole(*arrays: Any) -> tuple[Any, ...]:
        return attach(*arrays, *known(*arrays))

    def written(*arrays: Any) -> tuple[Any, ...]:
        return lstm_loops.forward(reverse, _inputs(form, arrays))

    ops = Op(whole, mode), Op(known, f"{mode}_states"), Op(attach, mode)
    if mode == "lstm":
        ops[0].compiled = lambda *arrays: _results(form, arrays[0].dtype, written(*arrays))
        ops[1].compiled = written
        ops[2].compiled_vjp = functools.partial(_lstm_vjp, form)
    for each in ops:
        each.options = of_loops()
    return ops


def layer(
    mode: str, x: Any, hidden: tuple[Any, ...], weights: Sequence[Any], bias: bool, lengths: Any, reverse: bool, alone: bool = False,
) -> tuple:  # fmt: skip
    """One layer in one direction: all h (T, N, P), the last h (N, P), and for the LSTM the last c (N, H).

    Where it is ``alone`` in its stack, states are (1, N, *): to take these apart and to put them together is four ops more.
    """
    projected = len(weights) == (5 if bias else 3)
    arrays = (x, *hidden, *weights, *(() if lengths is None else (lengths,)))
    whole, known, attach = _ops((mode, reverse, bias, projected, lengths is not None, alone))
    if state.grad and any(a._requires for a in arrays):
        # The gradient reads the states instead of computing them again. Not detached the Tensors keep the arrays that a kernel wants.
        found = call(known, [a.detach() for a in arrays] if state.levels else arrays, recording=False)
        return call(attach, (*arrays, *(found if isinstance(found, tuple) else (found,))))
    return call(whole, arrays)


class Packing:
    """How packed data (S, D) lies in a padded array (T, N, D): given by the batch sizes alone."""

    def __init__(self, batch_sizes: Any) -> None:
        values = concrete(batch_sizes)
        if values is None:
            raise TracedValueError("A recurrent layer needs the batch sizes of a PackedSequence as numbers, but they are traced")
        sizes = np.asarray(values)
        self.steps, self.batch = len(sizes), int(sizes[0])
        self.even = bool((sizes == self.batch).all())
        if not self.even:
            there = np.arange(self.batch) < sizes[:, None]  # (T, N)
            # Padding is filled from the first row: any numbers do, if they are as finite as the data are.
            places = np.where(there, (np.cumsum(sizes) - sizes)[:, None] + np.arange(self.batch), 0)
            self.into, self.out_of = from_numpy(places.reshape(-1)), from_numpy(np.flatnonzero(there))
        self.lengths = None if self.even else from_numpy(there.sum(0))

    def pad(self, data: Any) -> Any:
        """(S, D) to (T, N, D)."""
        rows = data if self.even else index_select(data, 0, self.into)
        return rows.reshape(self.steps, self.batch, data.shape[-1])

    def pack(self, padded: Any) -> Any:
        """(T, N, D) to (S, D)."""
        rows = padded.reshape(-1, padded.shape[-1])
        return rows if self.even else index_select(rows, 0, self.out_of)


def _stacked(
    mode: str, x: Any, hidden: tuple[Any, ...], params: Sequence[Any], bias: bool, layers: int, dropout: float, train: bool,
    bidirectional: bool, packing: Packing | None,
) -> tuple[Any, ...]:  # fmt: skip
    """The outputs (T, N, D P) of the last layer, and the last states (layers D, N, *), for D directions."""
    directions = 2 if bidirectional else 1
    each = len(params) // (layers * directions)
    lengths = None if packing is None else packing.lengths
    if layers * directions == 1:
        return layer(mode, x, hidden, params, bias, lengths, False, True)
    firsts = list(zip(*(h.unbind(0) for h in hidden), strict=True))
    lasts = []
    for number in range(layers):
        outs = []
        for direction in range(directions):
            k = number * directions + direction
            out, *last = layer(mode, x, firsts[k], params[k * each : (k + 1) * each], bias, lengths, bool(direction))
            outs.append(out)
            lasts.append(last)
        x = outs[0] if directions == 1 else cat(outs, -1)
        if dropout and train and number < layers - 1:
            # Drawn for each step there is, none for padding.
            x = drop(x, dropout) if packing is None else packing.pad(drop(packing.pack(x), dropout))
    return (x, *(stack(parts) for parts in zip(*lasts, strict=True)))


def _check_layers(
    mode: str, input: Any, hidden: tuple[Any, ...], params: Sequence[Any], bias: bool, layers: int, bidirectional: bool
) -> None:
    sets = layers * (2 if bidirectional else 1)
    allowed = {4 if bias else 2} | ({5 if bias else 3} if mode == "lstm" else set())
    if len(params) not in {sets * each for each in allowed}:
        raise OpError(f"{mode}(): got an incorrect number of RNN parameters: {len(params)} for {sets} layers and directions")
    for given in (input, *hidden):
        if given.dtype is not params[0].dtype:
            kinds = [KINDS.get(t.dtype.name, t.dtype.name) for t in (given, params[0])]
            raise OpError(f"{mode}(): mat1 and mat2 must have the same dtype, but got {kinds[0]} and {kinds[1]}")


def alike(given: Any, like: Any) -> Any:
    """Where autocast is on, a Tensor (or None) in the dtype of a state; as it is otherwise.

    On the CPU autocast doesn't cast GRUs and single steps, but what comes before them.
    """
    if state.autocast is None or given is None or given.dtype is like.dtype or not given.dtype.is_floating_point:
        return given
    return given.to(like.dtype)


def _run(mode: str, input: Any, hidden: tuple[Any, ...], params: Sequence[Any], *options: Any) -> tuple[Any, ...]:
    """``options``: has_biases, num_layers, dropout, train, bidirectional, batch_first."""
    bias, layers, dropout, train, bidirectional, batch_first = options
    input, params = alike(input, hidden[0]), [alike(each, hidden[0]) for each in params]
    _check_layers(mode, input, hidden, params, bias, layers, bidirectional)
    x = input.transpose(0, 1) if batch_first else input
    if x.shape[0] == 0:
        raise OpError("Expected sequence length to be larger than 0 in RNN")
    out, *lasts = _stacked(mode, x, hidden, params, bias, layers, dropout, train, bidirectional, None)
    return (out.transpose(0, 1) if batch_first else out, *lasts)


def _run_packed(
    mode: str, data: Any, batch_sizes: Any, hidden: tuple[Any, ...], params: Sequence[Any], *options: Any
) -> tuple[Any, ...]:
    """``options``: has_biases, num_layers, dropout, train, bidirectional."""
    bias, layers, dropout, train, bidirectional = options
    data, params = alike(data, hidden[0]), [alike(each, hidden[0]) for each in params]
    _check_layers(mode, data, hidden, params, bias, layers, bidirectional)
    packing = Packing(batch_sizes)
    out, *lasts = _stacked(mode, packing.pad(data), hidden, params, bias, layers, dropout, train, bidirectional, packing)
    return (packing.pack(out), *lasts)


DOC = """A stack of {kind} layers; its class in `nn` says what they compute.

    Args, in this order, by position:
        input: (T, N, D), or (N, T, D) with ``batch_first``; for packed data (S, D), followed by ``batch_sizes``.
        hx: {hidden}, {states} (layers directions, N, P).
        params: W_ih, W_hh, b_ih, b_hh{more} of each layer and direction; has_biases: whether the b are among them.
        num_layers, dropout (between layers, where ``train``), train, bidirectional, and, not for packed data, batch_first.

    Returns:
        The outputs, and {last}.

    Raises:
        RuntimeError: another number of parameters, arrays of different dtypes, or no steps.
    """
PARTS = {
    "lstm": ("LSTM", "a pair", "each", " (, W_hr)", "the last h and the last c"),
    "gru": ("GRU", "a Tensor", "of", "", "the last h"),
    "rnn_tanh": ("recurrent tanh", "a Tensor", "of", "", "the last h"),
    "rnn_relu": ("recurrent ReLU", "a Tensor", "of", "", "the last h"),
}


def _declare(mode: str) -> Callable:
    # Autocast's tables tell packed data from other.
    padded, packed_data = (
        casting.casting_first(functools.partial(each, mode), f"{mode}.{kind}", "torch")
        for each, kind in ((_run, "input"), (_run_packed, "data"))
    )

    def run(*args: Any) -> tuple[Any, ...]:
        packed = len(args) == 9 and isinstance(args[2 if mode != "lstm" else 1], Handle) and isinstance(args[3], (list, tuple))
        hx = args[2 if packed else 1]
        hidden = (hx,) if isinstance(hx, Handle) else tuple(hx)
        if packed:
            return packed_data(args[0], args[1], hidden, *args[3:])  # type: ignore[no-any-return]
        return padded(args[0], hidden, *args[2:])  # type: ignore[no-any-return]

    run.__name__ = mode
    run.__doc__ = DOC.format(**dict(zip(("kind", "hidden", "states", "more", "last"), PARTS[mode], strict=True)))
    return function()(run)


for _mode in PARTS:
    _declare(_mode)
STACKS = {mode: registry.names("torch")[mode] for mode in PARTS}
