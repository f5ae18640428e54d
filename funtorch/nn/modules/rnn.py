"""Recurrent layers over sequences: `RNN`, `LSTM`, `GRU`. Each layer and direction is one op (see `ops.recurrent`)."""

from __future__ import annotations

from typing import Any

from ...errors import ArgumentValueError, OpError
from ...ops import registry
from .rnn_base import RNNBase
from .rnn_cells import GRUCell, LSTMCell, RNNCell, RNNCellBase

__all__ = ["GRU", "GRUCell", "LSTM", "LSTMCell", "RNN", "RNNBase", "RNNCell", "RNNCellBase"]

_torch = registry.names("torch")
PAIR_RANK = "For {} {}-D input, hx and cx should also be {}-D but got ({}-D, {}-D) tensors"


class RNN(RNNBase):
    """Recurrent layers: h_t = tanh(W_ih x_t + b_ih + W_hh h_{t-1} + b_hh), or max(., 0) with nonlinearity "relu".

    Args:
        input_size, hidden_size, num_layers: as in `LSTM`.
        nonlinearity: "tanh" or "relu"; by position the fourth.
        bias, batch_first, dropout, bidirectional: as in `LSTM`.

    Attributes:
        weight_ih_l0 (H, D), weight_hh_l0 (H, H), bias_ih_l0 (H), bias_hh_l0 (H), and likewise for the other layers and
        directions (see `LSTM`).

    Raises:
        TypeError, ValueError: options of another type or out of range.
        RuntimeError: an input or state that doesn't fit.

    Example:
        >>> import funtorch
        >>> output, h = RNN(10, 20, 2)(funtorch.zeros(5, 3, 10))
        >>> output.shape, h.shape
        (torch.Size([5, 3, 20]), torch.Size([2, 3, 20]))

    Source: Elman, "Finding Structure in Time", 1990.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ArgumentValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        self.nonlinearity = args[3] if len(args) > 3 else kwargs.pop("nonlinearity", "tanh")
        if self.nonlinearity not in ("tanh", "relu"):
            raise ArgumentValueError(f"Unknown nonlinearity '{self.nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(f"RNN_{self.nonlinearity.upper()}", *args[:3], *args[4:], **kwargs)

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, Any]:
        """input (T, N, D), (N, T, D) with ``batch_first``, (T, D), or packed; hx (layers directions, N, H), zeros if None."""
        return self._forward(input, hx)


class GRU(RNNBase):
    """Gated recurrent units: h_t = (1 - z) n + z h_{t-1}, with gates r, z = sigmoid(W x_t + b + U h_{t-1} + c).

    n = tanh(W_in x_t + b_in + r (W_hn h_{t-1} + b_hn)).

    Args:
        input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional: as in `LSTM`.

    Attributes:
        weight_ih_l0 (3 H, D), weight_hh_l0 (3 H, H), bias_ih_l0 (3 H), bias_hh_l0 (3 H): r, z and n, one after the other;
        and likewise for the other layers and directions (see `LSTM`).

    Raises:
        TypeError, ValueError: options of another type or out of range.
        RuntimeError: an input or state that doesn't fit.

    Example:
        >>> import funtorch
        >>> output, h = GRU(10, 20, bidirectional=True)(funtorch.zeros(5, 3, 10))
        >>> output.shape, h.shape
        (torch.Size([5, 3, 40]), torch.Size([2, 3, 20]))

    Source: Cho et al., "Learning Phrase Representations using RNN Encoder-Decoder", 2014.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if "proj_size" in kwargs:
            raise ArgumentValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        super().__init__("GRU", *args, **kwargs)

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, Any]:
        """input (T, N, D), (N, T, D) with ``batch_first``, (T, D), or packed; hx (layers directions, N, H), zeros if None."""
        return self._forward(input, hx)


class LSTM(RNNBase):
    """Long short-term memory: c_t = f c_{t-1} + i g, h_t = o tanh(c_t).

    i, f, o are sigmoids and g is the tanh of W_ih x_t + b_ih + W_hh h_{t-1} + b_hh, cut in four in the order i, f, g, o.
    With ``proj_size`` h_t = W_hr (o tanh(c_t)).

    Args:
        input_size: D.
        hidden_size: H.
        num_layers: each layer's input is the output of the one before.
        bias: whether there are b.
        batch_first: whether inputs and outputs are (N, T, *) and not (T, N, *); states don't change.
        dropout: the probability with which an output between two layers is dropped in training.
        bidirectional: whether there is a second layer that goes backwards; the outputs of both stand side by side.
        proj_size: P, the size of h; 0: H.

    Attributes:
        weight_ih_l0 (4 H, D), weight_hh_l0 (4 H, P), bias_ih_l0 (4 H), bias_hh_l0 (4 H), weight_hr_l0 (P, H) with ``proj_size``;
        the names of layer k end in ``_lk``, those of the way back in ``_lk_reverse``. All are drawn uniformly from
        [-1/sqrt(H), 1/sqrt(H)).

    Raises:
        TypeError, ValueError: options of another type or out of range.
        RuntimeError: an input or state that doesn't fit.

    Example:
        >>> import funtorch
        >>> output, (h, c) = LSTM(10, 20, 2, proj_size=5)(funtorch.zeros(7, 3, 10))
        >>> output.shape, h.shape, c.shape
        (torch.Size([7, 3, 5]), torch.Size([2, 3, 5]), torch.Size([2, 3, 20]))

    Source: Hochreiter and Schmidhuber, "Long Short-Term Memory", 1997; Sak et al., 2014, for the projection.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)

    def get_expected_cell_size(self, input: Any, batch_sizes: Any) -> tuple[int, int, int]:
        """The shape that c must have."""
        return self.num_layers * self._directions, self._batch(input, batch_sizes), self.hidden_size

    def check_forward_args(self, input: Any, hidden: Any, batch_sizes: Any) -> None:
        """Raise for an input or a state that doesn't fit."""
        self.check_input(input, batch_sizes)
        expected = self.get_expected_hidden_size(input, batch_sizes), self.get_expected_cell_size(input, batch_sizes)
        for number, size in enumerate(expected):
            self.check_hidden_size(hidden[number], size, f"Expected hidden[{number}] size {{}}, got {{}}")

    def permute_hidden(self, hx: Any, permutation: Any) -> Any:
        """The states with their sequences in another order."""
        return hx if permutation is None else tuple(state.index_select(1, permutation) for state in hx)

    def _zero_state(self, input: Any, batch_sizes: Any) -> Any:
        sizes = self.get_expected_hidden_size(input, batch_sizes), self.get_expected_cell_size(input, batch_sizes)
        return tuple(_torch["zeros"](size, dtype=input.dtype, device=input.device) for size in sizes)

    def _check_rank(self, hx: Any, rank: int) -> None:
        ranks = hx[0].dim(), hx[1].dim()
        if ranks != (rank, rank):
            raise OpError(PAIR_RANK.format("batched" if rank == 3 else "unbatched", rank, rank, *ranks))

    def _each(self, hx: Any, fn: Any) -> Any:
        return fn(hx[0]), fn(hx[1])

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, Any]:
        """input (T, N, D), (N, T, D) with ``batch_first``, (T, D), or packed; hx: h and c, zeros if None."""
        return self._forward(input, hx)
