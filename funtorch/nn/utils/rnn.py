"""Sequences of several lengths: padded to one length, or packed, step by step, into one Tensor without padding."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ...errors import ArgumentTypeError, ArgumentValueError, OpError, OutOfBoundsError
from ...ops.creation import full
from ...ops.given_data import tensor as new_tensor
from ...ops.joining import cat
from ...ops.shared_data import from_numpy
from ...tensor import Tensor

__all__ = [
    "PackedSequence", "invert_permutation", "pack_padded_sequence", "pack_sequence", "pad_packed_sequence", "pad_sequence",
    "unpack_sequence", "unpad_sequence",
]  # fmt: skip

NOT_SORTED = (
    "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass `enforce_sorted=False` to "
    "pack_padded_sequence and/or pack_sequence to sidestep this requirement if you do not need ONNX exportability."
)


class _Parts(NamedTuple):
    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(_Parts):
    """The steps of sequences, the longest first: all first steps, then all second steps, and so on.

    Args:
        data: the steps, (sum of lengths, *).
        batch_sizes: int64 on the CPU, (longest length,): how many sequences have that step.
        sorted_indices: where each sequence, longest first, stood before; None if they came in that order.
        unsorted_indices: the way back.

    Raises:
        ValueError: ``batch_sizes`` is not on the CPU.
    """

    def __new__(
        cls, data: Tensor, batch_sizes: Tensor | None = None, sorted_indices: Any = None, unsorted_indices: Any = None
    ) -> PackedSequence:
        if batch_sizes is None:  # the pair (data, batch_sizes)
            data, batch_sizes = data
        if batch_sizes.device.type != "cpu":
            raise ArgumentValueError(
                "batch_sizes should always be on CPU. Instances of PackedSequence should never be created manually: got "
                f"{batch_sizes.device}"
            )
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """The data as `Tensor.to` gives it, the indices on the same device; itself if nothing changes."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        moved = [None if each is None else each.to(data.device) for each in (self.sorted_indices, self.unsorted_indices)]
        return type(self)(data, self.batch_sizes, *moved)

    def cpu(self) -> PackedSequence:
        """On the CPU."""
        return self.to("cpu")

    def cuda(self, device: Any = None) -> PackedSequence:
        """On a GPU. Raises RuntimeError if there is none."""
        return self.to("cuda" if device is None else device)

    def pin_memory(self) -> PackedSequence:
        """Itself: host memory is not pinned here."""
        return self

    def is_pinned(self) -> bool:
        """Whether the data is in pinned memory: False."""
        return self.data.is_pinned()

    is_cuda = property(lambda self: self.data.is_cuda)


def _caster(name: str) -> Any:
    def convert(self: PackedSequence) -> PackedSequence:
        return self.to(getattr(self.data, name)().dtype)

    convert.__name__, convert.__doc__ = name, f"The data as `Tensor.{name}` gives it."
    return convert


for _name in ("double", "float", "half", "long", "int", "short", "char", "byte"):
    setattr(PackedSequence, _name, _caster(_name))


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The permutation (N,) that undoes another one; None of None."""
    return None if permutation is None else permutation.argsort()


def _places(lengths: np.ndarray, batch: int) -> tuple[Tensor, np.ndarray]:
    """Where step t of sequence b stands in a flat (T, B), in the order of packing; and how many sequences have each step."""
    there = np.arange(lengths.max(initial=0))[:, None] < lengths  # (T, B)
    steps, lanes = np.nonzero(there)
    return from_numpy(steps * batch + lanes), there.sum(1).astype(np.int64)


def _checked_lengths(name: str, lengths: Any, batch: int, longest: int) -> np.ndarray:
    if isinstance(lengths, Tensor) and lengths.device.type != "cpu":
        raise OpError(f"{name}(): 'lengths' argument should be a 1D CPU int64 tensor, but got a tensor on {lengths.device}")
    found = np.asarray(lengths.numpy(force=True) if isinstance(lengths, Tensor) else lengths, np.int64)
    if found.ndim != 1:
        raise OpError(f"{name}(): 'lengths' argument should be a 1D CPU int64 tensor, but got {found.ndim}D")
    if len(found) != batch:
        raise OpError(f"{name}(): Expected `len(lengths)` to be equal to batch_size, but got {len(found)} (batch_size={batch})")
    if len(found) and found.min() <= 0:
        raise OpError(f"{name}(): Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0")
    if len(found) and found.max() > longest:
        raise OpError(
            f"{name}(): Expected all lengths to be at most {longest}, the input's number of steps, but got {found.max()}"
        )
    return found


def pack_padded_sequence(input: Tensor, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True) -> PackedSequence:
    """The steps of padded sequences, without the padding.

    Args:
        input: (T, B, *), or (B, T, *) if ``batch_first``.
        lengths: B ints, or a CPU Tensor of them.
        batch_first: see ``input``.
        enforce_sorted: the sequences come longest first; False: they are sorted here.

    Returns: a `PackedSequence` of (sum of lengths, *).

    Raises:
        RuntimeError: lengths that don't fit the input, are not positive, or not sorted.

    >>> import funtorch as torch
    >>> x = torch.tensor([[1, 2, 0], [3, 0, 0], [4, 5, 6]])
    >>> torch.nn.utils.rnn.pack_padded_sequence(x, [2, 1, 3], batch_first=True, enforce_sorted=False).data
    tensor([4, 1, 3, 5, 2, 6])
    """
    if input.dim() < 2:
        raise OutOfBoundsError(
            f"pack_padded_sequence(): Expected input of at least 2 dimensions (T, B, *), got shape {list(input.shape)}"
        )
    batch, longest = (input.shape[0], input.shape[1]) if batch_first else (input.shape[1], input.shape[0])
    found = _checked_lengths("pack_padded_sequence", lengths, batch, longest)
    order = None
    if enforce_sorted:
        if (found[:-1] < found[1:]).any():
            raise OpError(NOT_SORTED)
    else:
        ranks = np.argsort(-found, kind="stable")
        order, found = new_tensor(ranks, device=input.device), found[ranks]
        input = input.index_select(0 if batch_first else 1, order)
    steps_first = input.transpose(0, 1) if batch_first else input  # (T, B, *)
    places, sizes = _places(found, batch)
    data = steps_first.reshape(longest * batch, *input.shape[2:]).index_select(0, places.to(input.device))
    return PackedSequence(data, from_numpy(sizes), order, None)


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Tensor, Tensor]:
    """Packed sequences padded to one length: the way back from `pack_padded_sequence`.

    Args:
        sequence: packed.
        batch_first: give (B, T, *) rather than (T, B, *).
        padding_value: what stands after the last step.
        total_length: T; the longest length unless given.

    Returns: the Tensor, and the lengths as an int64 Tensor on the CPU, both in the sequences' first order.

    Raises:
        ValueError: ``total_length`` is less than the longest length.
    """
    data, sizes = sequence.data, np.asarray(sequence.batch_sizes.numpy())
    longest, batch = len(sizes), int(sizes[0])
    if total_length is not None and total_length < longest:
        raise ArgumentValueError(
            "Expected total_length to be at least the length of the longest sequence in input, but got "
            f"total_length={total_length} and max sequence length being {longest}"
        )
    lengths = (sizes[:, None] > np.arange(batch)).sum(0).astype(np.int64)
    padded = _laid_out(data, lengths, batch, longest if total_length is None else total_length, padding_value)
    if batch_first:
        padded = padded.transpose(0, 1)
    order = sequence.unsorted_indices
    if order is None:
        return padded, from_numpy(lengths)
    return padded.index_select(0 if batch_first else 1, order), from_numpy(lengths[np.asarray(order.numpy(force=True))])


def _laid_out(data: Tensor, lengths: np.ndarray, batch: int, steps: int, padding_value: float) -> Tensor:
    """Packed steps (sum of lengths, *) as (T, B, *)."""
    places, _ = _places(lengths, batch)
    rows = full((steps * batch, *data.shape[1:]), padding_value, dtype=data.dtype, device=data.device)
    return rows.index_copy(0, places.to(data.device), data).reshape(steps, batch, *data.shape[1:])


def pad_sequence(sequences: Any, batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right") -> Tensor:
    """Tensors of several lengths, padded and put side by side.

    Args:
        sequences: B Tensors of (length, *), or one Tensor (B, T, *).
        batch_first: give (B, T, *) rather than (T, B, *).
        padding_value: what stands in the padding.
        padding_side: "right" or "left".

    Raises:
        RuntimeError: no sequences, sizes that differ beyond the first, or another side.

    >>> import funtorch as torch
    >>> torch.nn.utils.rnn.pad_sequence([torch.tensor([1, 2]), torch.tensor([3])], batch_first=True)
    tensor([[1, 2],
            [3, 0]])
    """
    if not isinstance(sequences, Iterable):
        raise OpError(f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}")
    if padding_side not in ("left", "right"):
        raise OpError(f"pad_sequence: expected padding_side to be 'left' or 'right', got {padding_side!r}")
    given = list(sequences)
    if not given:
        raise OpError("received an empty list of sequences")
    if any(x.dim() == 0 for x in given):
        raise OpError("pad_sequence: expected sequences of at least 1 dimension, got a 0-dim Tensor")
    if any(x.shape[1:] != given[0].shape[1:] for x in given):
        raise OpError(
            f"pad_sequence: sizes may differ in the first dimension only, got {', '.join(str(list(x.shape)) for x in given)}"
        )
    lengths = np.array([x.shape[0] for x in given])
    steps, batch = int(lengths.max()), len(given)
    starts = steps - lengths if padding_side == "left" else np.zeros_like(lengths)
    places = np.concatenate(
        [lane * steps + start + np.arange(n) for lane, (start, n) in enumerate(zip(starts, lengths, strict=True))]
    )
    first = given[0]
    rows = full((batch * steps, *first.shape[1:]), padding_value, dtype=first.dtype, device=first.device)
    laid = rows.index_copy(0, from_numpy(places).to(first.device), cat(given).to(first.dtype)).reshape(
        batch, steps, *first.shape[1:]
    )
    return laid if batch_first else laid.transpose(0, 1)


def unpad_sequence(padded_sequences: Tensor, lengths: Any, batch_first: bool = False) -> list[Tensor]:
    """The sequences of a padded Tensor (T, B, *), or (B, T, *) if ``batch_first``, without the padding: a list of (length, *)."""
    rows = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [row[: int(n)] for row, n in zip(rows, lengths, strict=True)]


def pack_sequence(sequences: list[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Tensors of (length, *), packed. Raises RuntimeError if they are not longest first, unless ``enforce_sorted`` is False."""
    if not isinstance(sequences, (list, tuple)):
        raise ArgumentTypeError(f"pack_sequence(): expected a list of Tensors, got {type(sequences).__name__}")
    return pack_padded_sequence(pad_sequence(sequences), [x.shape[0] for x in sequences], enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences of a packed one: a list of (length, *)."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
