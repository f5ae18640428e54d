"""Datasets: where samples come from, and datasets made of other datasets."""

from __future__ import annotations

import abc
import bisect
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

import numpy as np

from ...cautions import caution
from ...errors import ArgumentValueError, MissingError, OutOfBoundsError
from . import _tensors

__all__ = [
    "ChainDataset",
    "ConcatDataset",
    "Dataset",
    "IterableDataset",
    "StackDataset",
    "Subset",
    "TensorDataset",
    "random_split",
]

T = TypeVar("T", covariant=True)


class Dataset(Generic[T]):
    """A collection of samples by key; a subclass writes ``__getitem__``, and ``__len__`` where it is known.

    A subclass may also write ``__getitems__``, which takes a list of keys and returns the list of their
    samples: the DataLoader then asks for a batch at once. ``a + b`` is the ``ConcatDataset`` of both.
    """

    def __getitem__(self, index: Any) -> T:
        """Return one sample.

        Raises:
            NotImplementedError: the subclass did not write it.
        """
        raise MissingError(f"{type(self).__name__}.__getitem__ is not written: a Dataset needs it.")

    def __add__(self, other: Any) -> Dataset:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T], abc.ABC):
    """A stream of samples; a subclass writes ``__iter__``. ``a + b`` is the ``ChainDataset`` of both."""

    @abc.abstractmethod
    def __iter__(self) -> Iterator[T]:
        """Yield the samples, from the beginning each time."""

    def __add__(self, other: Any) -> Dataset:
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple]):
    """Samples cut from tensors along their first axis: sample i is the tuple of each tensor's entry i.

    Args:
        tensors: each (N, *), with one N in common.

    Raises:
        AssertionError: the tensors differ in N.
        IndexError: a tensor has no axes.

    Example:
        >>> import funtorch
        >>> TensorDataset(funtorch.tensor([1, 2]), funtorch.tensor([3, 4]))[1]
        (tensor(2), tensor(4))
    """

    def __init__(self, *tensors: Any) -> None:
        sizes = [tensor.size(0) for tensor in tensors]
        if len(set(sizes)) > 1:
            raise AssertionError(f"TensorDataset(...): the tensors must agree in size(0), got {sizes}.")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple:
        return tuple(tensor[index] for tensor in self.tensors)

    def __getitems__(self, indices: list) -> list[tuple]:
        arrays = _tensors.plain_arrays(self.tensors)
        own = type(self).__getitem__ is not TensorDataset.__getitem__
        size = len(self)
        if arrays is None or own or not all(isinstance(index, int) and 0 <= index < size for index in indices):
            return [self[index] for index in indices]
        shared = any(tensor._source is not None for tensor in self.tensors)
        show = np.copy if shared else np.asarray
        return [tuple(_tensors.of_array(show(array[index, ...])) for array in arrays) for index in indices]

    def __len__(self) -> int:
        return self.tensors[0].size(0)


class StackDataset(Dataset):
    """Datasets side by side: sample i is a tuple, or a dict when they were given by name, of each one's
    sample i.

    Args:
        args: datasets of one length N, for samples that are tuples.
        kwargs: the same by name, for samples that are dicts.

    Raises:
        ValueError: no dataset, datasets both ways, or of different lengths.

    Example:
        >>> StackDataset(x=[1, 2], y="ab")[1]
        {'x': 2, 'y': 'b'}
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if bool(args) == bool(kwargs):
            given = "both" if args else "none"
            raise ArgumentValueError(f"StackDataset(...): give datasets either by position or by name, got {given}.")
        self.datasets = args or kwargs
        sizes = [len(dataset) for dataset in self._parts()]
        if len(set(sizes)) > 1:
            raise ArgumentValueError(f"StackDataset(...): the datasets must be of one length, got {sizes}.")
        self._length = sizes[0]

    def __getitem__(self, index: Any) -> tuple | dict:
        return self._sample([dataset[index] for dataset in self._parts()])

    def __getitems__(self, indices: list) -> list:
        columns = [_fetch_many(dataset, indices) for dataset in self._parts()]
        for column in columns:
            if len(column) != len(indices):
                raise ArgumentValueError(
                    f"StackDataset.__getitems__: a dataset's __getitems__ returned {len(column)} samples for "
                    f"{len(indices)} indices; it must return one for each."
                )
        return [self._sample(values) for values in zip(*columns, strict=True)]

    def __len__(self) -> int:
        return self._length

    def _parts(self) -> list:
        return list(self.datasets.values() if isinstance(self.datasets, dict) else self.datasets)

    def _sample(self, values: Sequence) -> tuple | dict:
        if isinstance(self.datasets, dict):
            return dict(zip(self.datasets, values, strict=True))
        return tuple(values)


class ConcatDataset(Dataset[T]):
    """Datasets one after another, as one.

    Args:
        datasets: at least one, each with a length; those without it (``IterableDataset``) need
            ``ChainDataset``.

    Raises:
        AssertionError: no dataset, or an ``IterableDataset`` among them.

    Example:
        >>> ConcatDataset(["ab", "cde"])[3]
        'd'
    """

    def __init__(self, datasets: Iterable) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("ConcatDataset(datasets): at least one dataset is needed, got none.")
        streams = [type(dataset).__name__ for dataset in self.datasets if isinstance(dataset, IterableDataset)]
        if streams:
            raise AssertionError(f"ConcatDataset(datasets): {', '.join(streams)} can only be iterated over; use ChainDataset.")
        self.cumulative_sizes = list(itertools.accumulate(map(len, self.datasets)))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> T:
        if index < -len(self):
            raise ArgumentValueError(f"ConcatDataset[{index}]: the dataset has {len(self)} samples.")
        index += len(self) if index < 0 else 0
        part = bisect.bisect_right(self.cumulative_sizes, index)
        if part == len(self.datasets):
            raise OutOfBoundsError(f"ConcatDataset[{index}]: the dataset has {len(self)} samples.")
        return self.datasets[part][index - (self.cumulative_sizes[part - 1] if part else 0)]


class ChainDataset(IterableDataset[T]):
    """Streams one after another, as one.

    Args:
        datasets: of ``IterableDataset`` each; each is looked at when its turn comes.

    Raises:
        AssertionError: a dataset is no ``IterableDataset``; when iterating, or asking for the length.
    """

    def __init__(self, datasets: Iterable) -> None:
        self.datasets = datasets

    def __iter__(self) -> Iterator[T]:
        for dataset in self._streams():
            yield from dataset

    def __len__(self) -> int:
        return sum(map(len, self._streams()))

    def _streams(self) -> Iterator[Any]:
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise AssertionError(
                    f"ChainDataset(datasets): each must be an IterableDataset, got {type(dataset).__name__}; "
                    "join datasets that have a length by ConcatDataset."
                )
            yield dataset


class Subset(Dataset[T]):
    """The samples of a dataset at the given indices, in their order.

    Args:
        dataset: the whole.
        indices: keys of ``dataset``.

    Example:
        >>> list(Subset("abcde", [4, 0]))
        ['e', 'a']
    """

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, index: Any) -> T:
        if isinstance(index, list):
            return self.dataset[[self.indices[i] for i in index]]
        return self.dataset[self.indices[index]]

    def __getitems__(self, indices: list) -> list[T]:
        return _fetch_many(self.dataset, [self.indices[i] for i in indices])

    def __len__(self) -> int:
        return len(self.indices)


def random_split(dataset: Any, lengths: Sequence[int | float], generator: Any = None) -> list[Subset]:
    """Split a dataset at random into subsets that do not overlap.

    Args:
        dataset: N samples.
        lengths: sizes that sum to N; or fractions that sum to 1, whose sizes are rounded down, the samples
            left over going one each to the first subsets in turn.
        generator: draws the order; the default generator where None.

    Returns:
        One ``Subset`` for each length.

    Raises:
        ValueError: a fraction outside [0, 1], or sizes that do not sum to N.

    Example:
        >>> [len(part) for part in random_split(range(10), [0.7, 0.3])]
        [7, 3]
    """
    total = len(dataset)
    sizes: list[Any] = _sizes_of_fractions(lengths, total) if _are_fractions(lengths) else list(lengths)
    if sum(sizes) != total:
        raise ArgumentValueError(
            f"random_split(dataset, lengths={list(lengths)}): the lengths must sum to the dataset's {total} "
            f"samples, or as fractions to 1, got a sum of {sum(lengths)}."
        )
    order = _tensors.permutation(total, generator)
    ends = itertools.accumulate(sizes)
    return [Subset(dataset, order[end - size : end]) for size, end in zip(sizes, ends, strict=True)]


def _are_fractions(lengths: Sequence[float]) -> bool:
    return math.isclose(sum(lengths), 1) and sum(lengths) <= 1


def _sizes_of_fractions(fractions: Sequence[float], total: int) -> list[int]:
    outside = [fraction for fraction in fractions if not 0 <= fraction <= 1]
    if outside:
        raise ArgumentValueError(f"random_split(dataset, lengths={list(fractions)}): {outside} must be between 0 and 1.")
    sizes = [math.floor(total * fraction) for fraction in fractions]
    for i in range(total - sum(sizes)):
        sizes[i % len(sizes)] += 1
    empty = [i for i, size in enumerate(sizes) if size == 0]
    if empty:
        caution(f"random_split: the subsets at {empty} of {list(fractions)} are empty.")
    return sizes


def _fetch_many(dataset: Any, indices: list) -> list:
    """Samples at the indices: at once where the dataset knows how, else one by one."""
    fetch = getattr(dataset, "__getitems__", None)
    return fetch(indices) if callable(fetch) else [dataset[index] for index in indices]
