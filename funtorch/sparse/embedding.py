"""Rows of a table whose gradient is sparse: it has the rows that were used, and no others."""

from __future__ import annotations

from typing import Any

from ..core.engine import CONCRETE
from ..core.python_node import apply_body
from ..core.state import state
from ..core.views import concrete
from .conversion import indices_of
from .structure import Coo
from .tensor import SparseTensor


class _Rows:
    """The body of the tape's node."""

    name = "EmbeddingBackward0"
    keeps = ()
    materialize = True

    def __init__(self, index: Any, padding_idx: int | None, lookup: Any) -> None:
        self.index = index
        self.padding_idx = padding_idx
        self.lookup = lookup

    def forward(self, weight: Any) -> list[Any]:
        self.shape = tuple(weight.shape)
        return [self.lookup(weight)]

    def backward(self, application: Any, cotangent: Any) -> list[Any]:
        values = cotangent.reshape(-1, self.shape[1])
        index = self.index.reshape(-1)
        if self.padding_idx is not None:
            used = indices_of((index != self.padding_idx).nonzero()[0])
            index, values = index[used.numpy()], values[used]
        return [SparseTensor.of(Coo(indices_of(index[None]), values, self.shape, False))]

    def jvp(self, tangents: list[Any]) -> list[Any] | None:
        return [self.lookup(tangents[0])]

    def differentiable(self, number: int) -> bool:
        return True


def is_possible(weight: Any, index: Any) -> bool:
    """Whether the gradient of ``weight`` can be sparse: a leaf, in code that is neither transformed nor compiled."""
    plain = not state.levels and state.recorder is None and type(weight._payload) in CONCRETE
    return plain and state.grad and weight.requires_grad and weight.is_leaf and concrete(index) is not None


def rows(index: Any, weight: Any, padding_idx: int | None, lookup: Any) -> Any:
    """``lookup(weight)``, which is the rows of ``weight`` that ``index`` names, with a sparse gradient."""
    return apply_body(_Rows(concrete(index), padding_idx, lookup), (weight,))[0]
