"""Recurrent cells: one step, for loops that one writes oneself."""

from __future__ import annotations

import math
from typing import Any

from ...core.handle import Handle
from ...errors import ArgumentTypeError, ArgumentValueError, OpError
from ...ops import registry
from ...ops.recurrent import alike
from ...ops.recurrent_cells import CELLS
from .. import init
from ..module import Module
from ..parameter import Parameter

__all__ = ["GRUCell", "LSTMCell", "RNNCell", "RNNCellBase"]

_torch = registry.names("torch")
NOT_A_PAIR = "lstm_cell(): argument 'hx' (position 2) must be tuple of Tensors, not Tensor"


def _refused(hx: Any) -> Any:
    """For what is no pair of states."""
    if isinstance(hx, Handle):
        raise ArgumentTypeError(NOT_A_PAIR)
    raise OpError("lstm_cell expects two hidden states")


class RNNCellBase(Module):
    """What the cells share: parameters for ``num_chunks`` gates.

    Args:
        input_size: D.
        hidden_size: H.
        bias: whether there are b.
        num_chunks: G.

    Attributes:
        weight_ih: (G H, D); weight_hh: (G H, H); bias_ih, bias_hh: (G H). All are drawn uniformly from [-1/sqrt(H), 1/sqrt(H)).
    """

    __constants__ = ["input_size", "hidden_size", "bias"]
    bias_ih: Any
    bias_hh: Any

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool, num_chunks: int, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        rows, where = num_chunks * hidden_size, {"device": device, "dtype": dtype}
        self.weight_ih = Parameter(_torch["empty"]((rows, input_size), **where))
        self.weight_hh = Parameter(_torch["empty"]((rows, hidden_size), **where))
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, Parameter(_torch["empty"](rows, **where)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new parameters."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        if getattr(self, "nonlinearity", "tanh") != "tanh":
            text += f", nonlinearity={self.nonlinearity}"
        return text

    def _states(self, input: Any, states: tuple[Any, ...], names: tuple[str, ...]) -> tuple[Any, tuple[Any, ...]]:
        """Input and states with a batch dimension."""
        kind = type(self).__name__
        for name, value in ((None, input), *zip(names, states, strict=True)):
            if value.dim() not in (1, 2):
                raise ArgumentValueError(f"{kind}: Expected {name or 'input'} to be 1D or 2D, got {value.dim()}D instead")
        if input.dim() == 1:
            return input.unsqueeze(0), tuple(s.unsqueeze(0) for s in states)
        return input, states

    def _zeros(self, input: Any) -> Any:
        return _torch["zeros"]((input.size(0), self.hidden_size), dtype=input.dtype, device=input.device)

    def _weights(self, state: Any) -> tuple[Any, ...]:
        return tuple(alike(each, state) for each in (self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh))

    def _step(self, mode: str, input: Any, hx: Any) -> Any:
        """The next h, of a cell without c."""
        single = input.dim() == 1
        input, states = self._states(input, () if hx is None else (hx,), () if hx is None else ("hidden",))
        h = states[0] if states else self._zeros(input)
        z = CELLS[mode](alike(input, h), h, *self._weights(h))
        return z.squeeze(0) if single else z


class RNNCell(RNNCellBase):
    """One step of `RNN`: h' = tanh(W_ih x + b_ih + W_hh h + b_hh).

    Args:
        input_size: D.
        hidden_size: H.
        bias: whether there are b.
        nonlinearity: "tanh" or "relu".

    Raises:
        RuntimeError: sizes that don't fit, or another nonlinearity. ValueError: inputs of another rank.

    Example:
        >>> import funtorch
        >>> RNNCell(10, 20)(funtorch.zeros(3, 10)).shape
        torch.Size([3, 20])
    """

    __constants__ = ["input_size", "hidden_size", "bias", "nonlinearity"]

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh", device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Any, hx: Any = None) -> Any:
        """input (N, D) or (D), hx (N, H) or (H), zeros if None; z as hx."""
        if self.nonlinearity not in ("tanh", "relu"):
            raise OpError(f"Unknown nonlinearity: {self.nonlinearity}")
        return self._step(f"rnn_{self.nonlinearity}", input, hx)


class GRUCell(RNNCellBase):
    """One step of `GRU`.

    Args:
        input_size: D.
        hidden_size: H.
        bias: whether there are b.

    Raises:
        RuntimeError: sizes that don't fit. ValueError: inputs of another rank.

    Example:
        >>> import funtorch
        >>> GRUCell(10, 20)(funtorch.zeros(3, 10)).shape
        torch.Size([3, 20])
    """

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Any, hx: Any = None) -> Any:
        """input (N, D) or (D), hx (N, H) or (H), zeros if None; z as hx."""
        return self._step("gru", input, hx)


class LSTMCell(RNNCellBase):
    """One step of `LSTM`.

    Args:
        input_size: D.
        hidden_size: H.
        bias: whether there are b.

    Raises:
        RuntimeError: sizes that don't fit. ValueError: inputs of another rank.

    Example:
        >>> import funtorch
        >>> h, c = LSTMCell(10, 20)(funtorch.zeros(3, 10))
        >>> h.shape, c.shape
        (torch.Size([3, 20]), torch.Size([3, 20]))
    """

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, Any]:
        """input (N, D) or (D), hx: h and c, (N, H) or (H) each, zeros if None; the next h and c."""
        single = input.dim() == 1
        given = () if hx is None else (hx[0], hx[1]) if len(hx) > 1 else _refused(hx)
        input, states = self._states(input, given, ("hx[0]", "hx[1]")[: len(given)])
        if isinstance(hx, Handle):
            raise ArgumentTypeError(NOT_A_PAIR)
        if not states:
            zeros = self._zeros(input)
            states = (zeros, zeros)
        h, c = CELLS["lstm"](alike(input, states[0]), states, *self._weights(states[0]))
        return (h.squeeze(0), c.squeeze(0)) if single else (h, c)
