"""Collation: a list of samples becomes one batch, by rules that depend on the type of the first."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any

import jax
import numpy as np

from ...errors import ArgumentTypeError, OpError
from . import _tensors

__all__ = ["collate", "default_collate", "default_convert"]

Rule = Callable[..., Any]
Rules = dict[type | tuple[type, ...], Rule]

# The kinds of NumPy arrays that no tensor can hold: bytes, text, objects.
_NOT_NUMBERS = "SUO"


def default_collate(batch: Sequence) -> Any:
    """Put samples together into a batch, keeping the structure that they share.

    Tensors and arrays are stacked along a new first axis; numbers become a tensor (N,): Python floats of
    float64, ints of int64, NumPy scalars of their own dtype; texts and bytes stay a list. Mappings, named
    tuples and sequences are batched entry by entry; a plain tuple becomes a list.

    Args:
        batch: N samples of one structure.

    Returns:
        The structure of one sample, with a batch in each place.

    Differs from PyTorch: JAX arrays are taken as NumPy's are.

    Raises:
        TypeError: a sample holds something that cannot be batched.
        RuntimeError: tensors differ in shape, or sequences in length.

    Example:
        >>> default_collate([{"x": 1, "name": "a"}, {"x": 2, "name": "b"}])
        {'x': tensor([1, 2]), 'name': ['a', 'b']}
    """
    return collate(batch, collate_fn_map=_default_rules())


def collate(batch: Sequence, *, collate_fn_map: Rules | None = None) -> Any:
    """Put samples together by rules of one's own; mappings and sequences that no rule names are entered.

    Args:
        batch: N samples of one structure.
        collate_fn_map: a rule for each type or tuple of types, called as ``rule(batch, collate_fn_map=...)``;
            the exact type of the first sample is looked up first, then its base classes in the order of the
            dict.

    Raises:
        TypeError: no rule fits, and the sample is neither a mapping nor a sequence.
        RuntimeError: sequences of different lengths.
    """
    rules = collate_fn_map or {}
    first = batch[0]
    rule = rules.get(type(first)) or next((rules[kind] for kind in rules if isinstance(first, kind)), None)
    if rule is not None:
        return rule(batch, collate_fn_map=collate_fn_map)
    inner = functools.partial(collate, collate_fn_map=collate_fn_map)
    if isinstance(first, Mapping):
        return _like_mapping(first, {key: inner([sample[key] for sample in batch]) for key in first})
    if _is_named_tuple(first):
        return type(first)(*map(inner, zip(*batch, strict=False)))
    if isinstance(first, Sequence):
        sizes = [len(sample) for sample in batch]
        if len(set(sizes)) > 1:
            raise OpError(f"default_collate: the samples are sequences of different lengths, {sizes}.")
        return _like_sequence(first, [inner(column) for column in zip(*batch, strict=True)])
    raise _not_collatable(type(first).__qualname__)


def default_convert(data: Any) -> Any:
    """Turn the NumPy arrays and scalars inside one sample into tensors, keeping its structure.

    Args:
        data: a sample; mappings and sequences are entered, a plain tuple becomes a list.

    Returns:
        The structure with tensors in the place of arrays; whatever is no number stays as it is.

    Differs from PyTorch: JAX arrays are converted too.

    Example:
        >>> import numpy as np
        >>> default_convert({"x": np.arange(2), "name": "a"})
        {'x': tensor([0, 1]), 'name': 'a'}
    """
    if isinstance(data, str | bytes | _tensors.tensor_class()):
        return data
    if isinstance(data, np.ndarray) and data.dtype.kind in _NOT_NUMBERS:
        return data
    if isinstance(data, np.ndarray | np.generic | jax.Array):
        return _tensors.as_tensor(data)
    if isinstance(data, Mapping):
        return _like_mapping(data, {key: default_convert(value) for key, value in data.items()})
    if _is_named_tuple(data):
        return type(data)(*map(default_convert, data))
    if isinstance(data, Sequence):
        return _like_sequence(data, [default_convert(value) for value in data])
    return data


def __getattr__(name: str) -> Rules:
    """The name ``default_collate_fn_map``, made when it is first asked for: it needs the class of tensors."""
    if name == "default_collate_fn_map":
        return _default_rules()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


# The default rules, under PyTorch's names, for maps of one's own.


def collate_tensor_fn(batch: Sequence, *, collate_fn_map: Rules | None = None) -> Any:
    """N Tensors of one shape (*) as one, (N, *)."""
    return _tensors.stack(batch)


def collate_numpy_array_fn(batch: Sequence, *, collate_fn_map: Rules | None = None) -> Any:
    """N NumPy arrays, as Tensors, by the map's rule for those. Raises TypeError for arrays of text or objects."""
    if batch[0].dtype.kind in _NOT_NUMBERS:
        raise _not_collatable(f"an array of dtype {batch[0].dtype}")
    return collate([_tensors.as_tensor(array) for array in batch], collate_fn_map=collate_fn_map)


def collate_numpy_scalar_fn(batch: Sequence, *, collate_fn_map: Rules | None = None) -> Any:
    """N of NumPy's scalars as a Tensor (N) of their dtype."""
    return _tensors.as_tensor(batch)


def collate_float_fn(batch: Sequence, *, collate_fn_map: Rules | None = None) -> Any:
    """N floats as a Tensor (N) of float64."""
    return _tensors.as_tensor(batch, dtype="float64")


def collate_int_fn(batch: Sequence, *, collate_fn_map: Rules | None = None) -> Any:
    """N ints as a Tensor (N) of int64."""
    return _tensors.as_tensor(batch)


def collate_str_fn(batch: Sequence, *, collate_fn_map: Rules | None = None) -> Any:
    """Texts as they are: a list of them."""
    return batch


@functools.cache
def _default_rules() -> Rules:
    return {
        _tensors.tensor_class(): collate_tensor_fn,
        np.ndarray: collate_numpy_array_fn,
        jax.Array: collate_numpy_array_fn,
        # Before float, of which NumPy's float64 is a subclass.
        (np.bool_, np.number): collate_numpy_scalar_fn,
        float: collate_float_fn,
        int: collate_int_fn,
        str: collate_str_fn,
        bytes: collate_str_fn,
    }


def _is_named_tuple(value: Any) -> bool:
    return isinstance(value, tuple) and hasattr(value, "_fields")


def _like_mapping(example: Any, entries: dict) -> Any:
    """A mapping of the example's type, with what else it carries; a dict where that can't be made."""
    try:
        if not isinstance(example, MutableMapping):
            return type(example)(entries)
        clone = copy.copy(example)
        clone.update(entries)
        return clone
    except TypeError:
        return entries


def _like_sequence(example: Any, entries: list) -> Any:
    """A sequence of the example's type; a list for a tuple, and where that type can't be made."""
    if isinstance(example, tuple):
        return entries
    try:
        if not isinstance(example, MutableSequence):
            return type(example)(entries)
        clone = copy.copy(example)
        for i, entry in enumerate(entries):
            clone[i] = entry
        return clone
    except TypeError:
        return entries


def _not_collatable(found: str) -> ArgumentTypeError:
    return ArgumentTypeError(
        f"default_collate: cannot make a batch of {found}; samples may hold tensors, arrays, numbers, text, "
        "bytes, and mappings and sequences of these. Pass collate_fn for others."
    )
