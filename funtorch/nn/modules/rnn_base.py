"""What recurrent layers share: options, parameters, and how inputs of each kind go through the stack."""

from __future__ import annotations

import math
import numbers
from typing import Any

from ...cautions import caution
from ...core.state import state
from ...errors import ArgumentTypeError, ArgumentValueError, OpError
from ...ops import registry
from ...ops.recurrence import GATES
from ...ops.recurrent import STACKS
from .. import init
from ..module import Module
from ..parameter import Parameter
from ..utils.rnn import PackedSequence

__all__ = ["RNNBase"]

_torch = registry.names("torch")
BAD_DROPOUT = "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
LONE_DROPOUT = (
    "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects num_layers greater than 1, "
    "but got dropout={} and num_layers={}"
)
OTHER_TYPE = (
    "RNN input dtype ({0}) does not match weight dtype ({1}). Convert input: input.to({1}), or convert model: model.to({0})"
)
RANK = "For {} {}-D input, hx should also be {}-D but got {}-D tensor"


def _check_options(module: RNNBase, dropout: Any) -> None:
    number = isinstance(dropout, numbers.Number) and not isinstance(dropout, bool)
    if not number or not 0 <= dropout <= 1:
        raise ArgumentValueError(BAD_DROPOUT)
    if dropout > 0 and module.num_layers == 1:
        caution(LONE_DROPOUT.format(dropout, module.num_layers))
    for name, kind in (("bias", bool), ("batch_first", bool), ("input_size", int), ("hidden_size", int)):
        value = getattr(module, name)
        if not isinstance(value, kind):
            raise ArgumentTypeError(f"{name} should be of type {kind.__name__}, got: {type(value).__name__}")
    for name in ("input_size", "hidden_size", "num_layers"):
        if getattr(module, name) <= 0:
            raise ArgumentValueError(f"{name} must be greater than zero")
    if module.proj_size < 0:
        raise ArgumentValueError("proj_size should be a positive integer or zero to disable projections")
    if module.proj_size >= module.hidden_size:
        raise ArgumentValueError("proj_size has to be smaller than hidden_size")
    if module.mode.lower() not in GATES:
        raise ArgumentValueError(f"Unrecognized RNN mode: {module.mode}")


class RNNBase(Module):
    """What `RNN`, `LSTM` and `GRU` share: options, parameters, the order of layers and directions.

    Args:
        mode: "RNN_TANH", "RNN_RELU", "LSTM" or "GRU".
        input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, proj_size: as in `LSTM`.

    Raises:
        TypeError, ValueError: options of another type or out of range.
    """

    __constants__ = [
        "mode", "input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout", "bidirectional", "proj_size",
    ]  # fmt: skip
    __jit_unused_properties__ = ["all_weights"]

    def __init__(
        self, mode: str, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True, batch_first: bool = False,
        dropout: float = 0.0, bidirectional: bool = False, proj_size: int = 0, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout) if isinstance(dropout, numbers.Real) else dropout
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        _check_options(self, dropout)
        self._all_weights: list[list[str]] = []
        self._make_parameters({"device": device, "dtype": dtype})
        self.reset_parameters()

    def _make_parameters(self, where: dict[str, Any]) -> None:
        rows = GATES[self.mode.lower()] * self.hidden_size
        state, directions = self._state_size, self._directions
        for number in range(self.num_layers):
            width = self.input_size if number == 0 else state * directions
            for suffix in ("", "_reverse")[:directions]:
                shapes: dict[str, Any] = {"weight_ih": (rows, width), "weight_hh": (rows, state)}
                if self.bias:
                    shapes |= {"bias_ih": rows, "bias_hh": rows}
                if self.proj_size:
                    shapes["weight_hr"] = (self.proj_size, self.hidden_size)
                for name, shape in shapes.items():
                    setattr(self, f"{name}_l{number}{suffix}", Parameter(_torch["empty"](shape, **where)))
                self._all_weights.append([f"{name}_l{number}{suffix}" for name in shapes])

    @property
    def _directions(self) -> int:
        return 2 if self.bidirectional else 1

    @property
    def _state_size(self) -> int:
        return self.proj_size or self.hidden_size

    @property
    def _flat_weights_names(self) -> list[str]:
        return [name for names in self._all_weights for name in names]

    @property
    def _flat_weights(self) -> list[Any]:
        # Looked up at each call: whoever puts other Tensors in the parameters' place is heard.
        return [getattr(self, name) for name in self._flat_weights_names]

    def __getstate__(self) -> dict[str, Any]:
        # PyTorch's recurrent layers keep these two lists, and have to find them in what they load.
        return super().__getstate__() | {"_flat_weights_names": self._flat_weights_names, "_flat_weights": self._flat_weights}

    def __setstate__(self, saved: dict[str, Any]) -> None:
        super().__setstate__({name: value for name, value in saved.items() if not name.startswith("_flat_weights")})
        self.__dict__.setdefault("proj_size", 0)  # older than PyTorch 1.8

    @property
    def all_weights(self) -> list[list[Any]]:
        """The parameters, a list for each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def flatten_parameters(self) -> None:
        """Allowed, without effect: XLA chooses how arrays lie in memory."""

    def reset_parameters(self) -> None:
        """Draw new parameters, uniformly from [-1/sqrt(H), 1/sqrt(H))."""
        bound = 1.0 / math.sqrt(self.hidden_size)
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def check_input(self, input: Any, batch_sizes: Any) -> None:
        """Raise ValueError for an input of another dtype than the weights' (autocast casts both), RuntimeError for other sizes."""
        weight = self._flat_weights[0]
        if state.autocast is None and input.dtype != weight.dtype:
            raise ArgumentValueError(OTHER_TYPE.format(input.dtype, weight.dtype))
        rank = 3 if batch_sizes is None else 2
        if input.dim() != rank:
            raise OpError(f"input must have {rank} dimensions, got {input.dim()}")
        if input.size(-1) != self.input_size:
            raise OpError(f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.size(-1)}")

    def _batch(self, input: Any, batch_sizes: Any) -> int:
        if batch_sizes is not None:
            return int(batch_sizes[0])
        return input.size(0 if self.batch_first else 1)

    def get_expected_hidden_size(self, input: Any, batch_sizes: Any) -> tuple[int, int, int]:
        """The shape that h must have."""
        return self.num_layers * self._directions, self._batch(input, batch_sizes), self._state_size

    def check_hidden_size(
        self, hx: Any, expected_hidden_size: tuple[int, int, int], msg: str = "Expected hidden size {}, got {}"
    ) -> None:
        """Raise RuntimeError unless a state has the expected shape."""
        if tuple(hx.size()) != tuple(expected_hidden_size):
            raise OpError(msg.format(tuple(expected_hidden_size), list(hx.size())))

    def check_forward_args(self, input: Any, hidden: Any, batch_sizes: Any) -> None:
        """Raise for an input or a state that doesn't fit."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx: Any, permutation: Any) -> Any:
        """The state with its sequences in another order."""
        return hx if permutation is None else hx.index_select(1, permutation)

    def _zero_state(self, input: Any, batch_sizes: Any) -> Any:
        return _torch["zeros"](self.get_expected_hidden_size(input, batch_sizes), dtype=input.dtype, device=input.device)

    def _check_rank(self, hx: Any, rank: int) -> None:
        if hx.dim() != rank:
            raise OpError(RANK.format("batched" if rank == 3 else "unbatched", rank, rank, hx.dim()))

    def _each(self, hx: Any, fn: Any) -> Any:
        """``fn`` of the state: of h, or of h and c."""
        return fn(hx)

    def _stack(self, *data: Any, batch_first: tuple = ()) -> tuple[Any, Any]:
        """Outputs and last state of the whole stack."""
        options = (self._flat_weights, self.bias, self.num_layers, self.dropout, self.training, self.bidirectional)
        output, *hidden = STACKS[self.mode.lower()](*data, *options, *batch_first)
        return output, (hidden[0] if len(hidden) == 1 else tuple(hidden))

    def _forward_packed(self, packed: PackedSequence, hx: Any) -> tuple[PackedSequence, Any]:
        data, batch_sizes, order, back = packed
        hx = self._zero_state(data, batch_sizes) if hx is None else self.permute_hidden(hx, order)
        self.check_forward_args(data, hx, batch_sizes)
        output, hidden = self._stack(data, batch_sizes, hx)
        return PackedSequence(output, batch_sizes, order, back), self.permute_hidden(hidden, back)

    def _forward(self, input: Any, hx: Any) -> tuple[Any, Any]:
        if isinstance(input, PackedSequence):
            return self._forward_packed(input, hx)
        rank = input.dim()
        if rank not in (2, 3):
            more = " tensor" if self.mode.startswith("RNN") else ""
            raise ArgumentValueError(f"{type(self).__name__}: Expected input to be 2D or 3D, got {rank}D{more} instead")
        if hx is not None:
            self._check_rank(hx, rank)
        at = 0 if self.batch_first else 1
        if rank == 2:
            input = input.unsqueeze(at)
            hx = None if hx is None else self._each(hx, lambda state: state.unsqueeze(1))
        if hx is None:
            self.check_input(input, None)
            hx = self._zero_state(input, None)
        else:
            self.check_forward_args(input, hx, None)
        output, hidden = self._stack(input, hx, batch_first=(self.batch_first,))
        if rank == 2:
            output, hidden = output.squeeze(at), self._each(hidden, lambda state: state.squeeze(1))
        return output, hidden

    def extra_repr(self) -> str:
        usual = {"proj_size": 0, "num_layers": 1, "bias": True, "batch_first": False, "dropout": 0, "bidirectional": False}
        parts = [f"{name}={getattr(self, name)}" for name, value in usual.items() if getattr(self, name) != value]
        return ", ".join([f"{self.input_size}, {self.hidden_size}", *parts])
