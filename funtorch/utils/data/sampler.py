"""Samplers: iterables over the keys of a dataset, in the order in which they are to be loaded."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence, Sized
from typing import Any, Generic, TypeVar

from ...errors import ArgumentTypeError, ArgumentValueError, MissingError, describe
from . import _tensors

__all__ = [
    "BatchSampler",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "SubsetRandomSampler",
    "WeightedRandomSampler",
]

T = TypeVar("T", covariant=True)

# How many indices one draw with replacement brings: PyTorch's number, on which the sequence of indices
# depends.
_DRAWN_AT_ONCE = 32


class Sampler(Generic[T]):
    """An order of keys; a subclass writes ``__iter__``, and ``__len__`` where the number of keys is known."""

    def __iter__(self) -> Iterator[T]:
        """Yield the keys of one epoch.

        Raises:
            NotImplementedError: the subclass did not write it.
        """
        raise MissingError(f"{type(self).__name__}.__iter__ is not written: a Sampler needs it.")


class SequentialSampler(Sampler[int]):
    """The indices of a dataset from first to last.

    Example:
        >>> list(SequentialSampler("abc"))
        [0, 1, 2]
    """

    def __init__(self, data_source: Sized) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """The indices of a dataset in random order, with PyTorch's own draws.

    Args:
        data_source: a dataset of N samples.
        replacement: draw each index independently of the others.
        num_samples: how many indices an epoch has; N where None. Without replacement, each full round of N
            indices is a permutation.
        generator: draws the indices; where None, each epoch makes a new one, seeded by the default generator.

    Raises:
        TypeError: ``replacement`` is no bool.
        ValueError: ``num_samples``, or N in its place, is no positive int.

    Example:
        >>> sorted(RandomSampler("abc", num_samples=6))
        [0, 0, 1, 1, 2, 2]
    """

    def __init__(
        self,
        data_source: Sized,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: Any = None,
    ) -> None:
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        if not isinstance(replacement, bool):
            raise ArgumentTypeError(f"RandomSampler(replacement={replacement!r}): replacement must be a bool.")
        if not isinstance(self.num_samples, int) or self.num_samples <= 0:
            raise ArgumentValueError(
                f"RandomSampler(num_samples={num_samples!r}): num_samples must be a positive int, or None "
                f"for a dataset that is not empty; the dataset has {len(data_source)} samples."
            )

    @property
    def num_samples(self) -> int:
        """The number of indices in an epoch; it follows the dataset's length where none was given."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        size, generator = len(self.data_source), self.generator
        if generator is None:
            generator = _tensors.seeded_generator(_tensors.random_seed())
        if self.replacement:
            for start in range(0, self.num_samples, _DRAWN_AT_ONCE):
                count = min(_DRAWN_AT_ONCE, self.num_samples - start)
                yield from _tensors.random_indices(size, count, generator)
            return
        rounds, rest = divmod(self.num_samples, size)
        for _ in range(rounds):
            yield from _tensors.permutation(size, generator)
        # Drawn even where nothing of it is used, as PyTorch does: a generator that was given stays in step.
        yield from _tensors.permutation(size, generator)[:rest]

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """The given indices in random order.

    Args:
        indices: the keys to choose from.
        generator: draws the order; the default generator where None.

    Example:
        >>> sorted(SubsetRandomSampler([7, 5]))
        [5, 7]
    """

    def __init__(self, indices: Sequence[int], generator: Any = None) -> None:
        self.indices = indices
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        for i in _tensors.permutation(len(self.indices), self.generator):
            yield self.indices[i]

    def __len__(self) -> int:
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """Indices drawn with chances in proportion to weights.

    Args:
        weights: N numbers of at least 0; they need not sum to 1.
        num_samples: how many indices an epoch has.
        replacement: whether an index may come more than once in an epoch.
        generator: draws the indices; the default generator where None.

    Raises:
        ValueError: ``num_samples`` is no positive int, ``replacement`` no bool, or ``weights`` has not one
            axis.
        RuntimeError: when iterating, where the weights do not allow the draw.

    Example:
        >>> list(WeightedRandomSampler([0.0, 1.0], 3))
        [1, 1, 1]
    """

    def __init__(self, weights: Sequence[float], num_samples: int, replacement: bool = True, generator: Any = None) -> None:
        _check_positive_int("WeightedRandomSampler", "num_samples", num_samples)
        _check_bool("WeightedRandomSampler", "replacement", replacement)
        self.weights = _tensors.as_tensor(weights, dtype="float64")
        if len(self.weights.shape) != 1:
            raise ArgumentValueError(f"WeightedRandomSampler(weights): weights must have one axis, got {describe(self.weights)}.")
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self) -> Iterator[int]:
        yield from _tensors.weighted_indices(self.weights, self.num_samples, self.replacement, self.generator)

    def __len__(self) -> int:
        return self.num_samples


class BatchSampler(Sampler[list]):
    """Groups what a sampler yields into lists.

    Args:
        sampler: any iterable of keys.
        batch_size: keys in a list.
        drop_last: leave out a last list that is not full.

    Raises:
        ValueError: ``batch_size`` is no positive int, or ``drop_last`` no bool.

    Example:
        >>> list(BatchSampler(range(5), 2, False))
        [[0, 1], [2, 3], [4]]
    """

    def __init__(self, sampler: Any, batch_size: int, drop_last: bool) -> None:
        _check_positive_int("BatchSampler", "batch_size", batch_size)
        _check_bool("BatchSampler", "drop_last", drop_last)
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self) -> Iterator[list]:
        keys = iter(self.sampler)
        while batch := list(itertools.islice(keys, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        full, rest = divmod(len(self.sampler), self.batch_size)
        return full + (1 if rest and not self.drop_last else 0)


def _check_positive_int(owner: str, name: str, value: object) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        raise ArgumentValueError(f"{owner}({name}={value!r}): {name} must be a positive int.")


def _check_bool(owner: str, name: str, value: object) -> None:
    if not isinstance(value, bool):
        raise ArgumentValueError(f"{owner}({name}={value!r}): {name} must be a bool.")
