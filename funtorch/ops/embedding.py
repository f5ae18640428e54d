"""Rows of a table picked by index, alone or in bags, and one-hot vectors."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core.direct import Direct
from ..core.gathered import Gathered
from ..core.handle import Handle, value_of
from ..core.levels import WRAPPED
from ..core.rescaling import note_rescaled
from ..errors import ArgumentTypeError, OpError, OutOfBoundsError, TracedValueError
from . import registry
from .activation import PURE
from .assignment import TYPE_NAMES
from .buffers import update
from .declare import Array, function, op
from .direct import layers
from .gathering import INDEX, outside
from .norms import vector_norm
from .operands import in_float32, seen
from .picking import known

INDEX_TYPE = (
    "Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
    "torch.{}Tensor instead (while checking arguments for {})"
)
NO_SIZE = "one_hot(): the number of classes depends on values that are traced or batched: give num_classes"


@jax.custom_jvp
def _by_frequency(rows: Array, count: Array) -> Array:
    """The rows themselves; only their gradient is divided, by how often the index came."""
    return rows


@_by_frequency.defjvp
def _by_frequency_jvp(primals: tuple, tangents: tuple) -> tuple:
    return primals[0], tangents[0] / primals[1]


def rows_of(table: Array, index: Array, padding_idx: int | None, by_frequency: bool) -> Array:
    """Rows of a table. Inside traced code, an index that is out of range gives NaN (0 for integers)."""
    fill = np.asarray(np.nan if jnp.issubdtype(table.dtype, jnp.inexact) else 0, table.dtype)
    rows = table.at[index].get(mode="fill", fill_value=fill, wrap_negative_indices=False)
    if by_frequency:
        count = jnp.zeros(table.shape[0], table.dtype).at[index.reshape(-1)].add(1)
        rows = _by_frequency(rows, count[index][..., None])
    if padding_idx is None:
        return rows
    return jnp.where((index == padding_idx)[..., None], jax.lax.stop_gradient(rows), rows)


def check_table_index(input: Any, weight: Any, name: str) -> None:
    """Raise RuntimeError for indices of another type than int64 and int32, and for a table that is no matrix."""
    if value_of(input).dtype not in INDEX:
        raise OpError(INDEX_TYPE.format(TYPE_NAMES[input.dtype.name], name))
    if len(value_of(weight).shape) != 2:
        raise OpError("'weight' must be 2-D")


def _check_rows(input: Any, weight: Any, *rest: Any) -> None:
    check_table_index(input, weight, "embedding")
    if outside(input, weight._payload.shape[0]) is not None:
        raise OutOfBoundsError("index out of range in self")


def _gathered(present: tuple, padding_idx: int | None, scale_grad_by_freq: bool) -> Gathered | None:
    return None if padding_idx is not None or scale_grad_by_freq else layers.LOOKUPS


def _direct(present: tuple, padding_idx: int | None, scale_grad_by_freq: bool) -> Direct | None:
    return None if padding_idx is not None or scale_grad_by_freq else layers.EMBEDDING


@op(namespace=PURE, name="embedding", out=False, check=_check_rows, gathered=_gathered, direct=_direct)
def _embedding(input: Array, weight: Array, padding_idx, scale_grad_by_freq):
    """Rows of a table."""
    return rows_of(weight, input, padding_idx, scale_grad_by_freq)


@op(namespace=PURE, name="embedding_renorm", out=False)
def rescaled(weight: Array, index: Array, max_norm, norm_type):
    """The table, its rows that are in ``index`` scaled down to norm ``max_norm`` at most."""

    def rescale(w: Array) -> Array:
        size = vector_norm(w, float(norm_type), (1,), True)
        used = jnp.zeros((w.shape[0], 1), bool).at[index.reshape(-1)].set(True)
        # PyTorch's 1e-7 keeps the division safe.
        return jnp.where(used & (size > max_norm), w * (max_norm / (size + 1e-7)), w)

    return in_float32(rescale)(weight)


def rescale(weight: Any, index: Any, max_norm: float, norm_type: float) -> None:
    """Scale down the rows of a table that are in ``index``, in place. Their derivatives stay what they were, in either mode."""
    table = weight.detach() if type(value_of(weight)) in WRAPPED else weight
    update(table, rescaled(table, index, float(max_norm), float(norm_type)))
    note_rescaled(weight)


def _wrapped_padding(padding_idx: int, weight: Any) -> int:
    if weight.dim() != 2:
        raise OpError("'weight' must be 2-D")
    size = weight.shape[0]
    if not -size <= padding_idx < size:
        raise AssertionError("Padding_idx must be within num_embeddings")
    return padding_idx % size


def _looked_up(input: Any, weight: Any, padding_idx: int | None, scale_grad_by_freq: bool, sparse: bool) -> Any:
    if sparse and not scale_grad_by_freq:
        from ..sparse.embedding import is_possible, rows

        if is_possible(weight, input):
            return rows(input, weight, padding_idx, lambda table: _embedding(input, table, padding_idx, False))
    return _embedding(input, weight, padding_idx, scale_grad_by_freq)


@function("nn.functional")
def embedding(
    input: Any, weight: Any, padding_idx: int | None = None, max_norm: float | None = None, norm_type: float = 2.0,
    scale_grad_by_freq: bool = False, sparse: bool = False,
) -> Any:  # fmt: skip
    """Rows of a table: z = w[x].

    Args:
        input: (*) of int64 or int32, each in 0 ... V - 1.
        weight: (V, D).
        padding_idx: a row that gets no gradient.
        max_norm: rows that are used are first scaled down in place to this norm of order ``norm_type``.
        scale_grad_by_freq: divide the gradient of a row by how often it is in ``input``.
        sparse: the gradient is a sparse Tensor of the rows that were used, where ``weight`` is a leaf (a dense one inside
            transforms and compiled code).

    Returns:
        (*, D).

    Raises:
        IndexError: an index out of range.
        RuntimeError: indices of another type, or a weight of another rank.
        AssertionError: ``padding_idx`` out of range.
    """
    if padding_idx is not None:
        padding_idx = _wrapped_padding(padding_idx, weight)
    if max_norm is not None:
        _check_rows(input, weight)
        rescale(weight, input, max_norm, norm_type)
    return _looked_up(input, weight, padding_idx, scale_grad_by_freq, sparse)


def _torch_embedding(
    weight: Any, indices: Any, padding_idx: int = -1, scale_grad_by_freq: bool = False, sparse: bool = False
) -> Any:
    """`nn.functional.embedding` with the arguments in another order. weight (V, D), indices (*)."""
    return _looked_up(indices, weight, None if padding_idx < 0 else padding_idx, scale_grad_by_freq, sparse)


_torch_embedding.__name__ = "embedding"
registry.add("torch", "embedding", _torch_embedding)


@op(namespace=PURE, name="one_hot", out=False)
def _one_hot(tensor: Array, num_classes):
    """1 at the class, else 0."""
    return (tensor[..., None] == jnp.arange(num_classes)).astype(np.int64)


@function("nn.functional")
def one_hot(input: Any, num_classes: int = -1) -> Any:
    """One-hot vectors: 1 at the class, else 0.

    Args:
        input: (*) of int64.
        num_classes: C; -1: the largest class plus 1.

    Returns:
        (*, C) of int64.

    Raises:
        RuntimeError: another type, classes out of range, or C is not known.
    """
    if not isinstance(input, Handle):
        raise ArgumentTypeError(f"one_hot(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
    if value_of(input).dtype != np.int64:
        raise OpError("one_hot is only applicable to index tensor of type LongTensor.")
    values = seen(input)
    if not input.numel():
        if num_classes <= 0:
            raise OpError("Can not infer total number of classes from empty tensor.")
    elif values is not None and values.size:
        if values.min() < 0:
            raise OpError("Class values must be non-negative.")
        if num_classes >= 0 and values.max() >= num_classes:
            raise OpError("Class values must be smaller than num_classes.")
    if num_classes < -1:
        raise OpError("Class values must be smaller than num_classes.")
    if num_classes < 0:
        values = known(input)
        if values is None:
            raise TracedValueError(NO_SIZE)
        num_classes = int(values.max()) + 1
    return _one_hot(input, num_classes)
