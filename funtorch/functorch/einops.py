"""Dimensions rearranged by a pattern of names, as in ``"b (h w) c -> b c h w"``."""

from __future__ import annotations

import math
import re
from typing import Any

from ..errors import ArgumentValueError
from ..ops import registry

__all__ = ["rearrange"]

REST = "..."  # within brackets
ALONE = "... alone"  # outside: each of its dimensions stays one
Axes = list[list[str]]  # what each dimension is made of


def _parsed(side: str, pattern: str) -> Axes:
    """One side of a pattern: a list of names for each dimension, the slowest first."""
    found: Axes = []
    group: list[str] | None = None
    for word in re.findall(r"\.\.\.|[()]|[^\s().]+|\.+", side):
        if word == "(" and group is None:
            group = []
        elif word == ")" and group is not None:
            found.append(group)
            group = None
        elif word in "()":
            raise ArgumentValueError(f"rearrange({pattern!r}): brackets must be closed, and not stand within one another")
        elif word != REST and word != "1" and (not word.isidentifier() or word[0] == "_" or word[-1] == "_"):
            raise ArgumentValueError(f"rearrange({pattern!r}): Invalid axis identifier: {word}")
        elif group is not None:
            group += [] if word == "1" else [word]
        else:
            found.append([] if word == "1" else [ALONE if word == REST else word])
    if group is not None:
        raise ArgumentValueError(f"rearrange({pattern!r}): brackets must be closed, and not stand within one another")
    return found


def _sides(pattern: str) -> tuple[Axes, Axes]:
    halves = pattern.split("->")
    if len(halves) != 2:
        raise ArgumentValueError(f"rearrange({pattern!r}): Pattern must contain a single '->' separator")
    left, right = (_parsed(half, pattern) for half in halves)
    names = [[REST if name == ALONE else name for group in side for name in group] for side in (left, right)]
    for side in names:
        if doubled := sorted({name for name in side if side.count(name) > 1}):
            raise ArgumentValueError(f"rearrange({pattern!r}): Indexing expression contains duplicate dimension {doubled[0]!r}")
    if any(REST in group for group in left):
        raise ArgumentValueError(f"rearrange({pattern!r}): Ellipsis in parentheses in the left side is not allowed")
    if only := set(names[0]) ^ set(names[1]):
        raise ArgumentValueError(f"rearrange({pattern!r}): Identifiers only on one side (should be on both): {only}")
    return left, right


def _sizes(shape: tuple[int, ...], left: Axes, given: dict[str, int], pattern: str) -> dict[str, int]:
    """The size of each name of the left side, on which ``...`` has been replaced."""
    if len(left) != len(shape):
        raise ArgumentValueError(
            f"rearrange({pattern!r}): Number of dimensions in pattern ({len(left)}) must be equal to the number of dimensions in the "
            f"tensor ({len(shape)})"
        )
    sizes = dict(given)
    for size, group in zip(shape, left, strict=True):
        unknown = [name for name in group if name not in sizes]
        known = math.prod(sizes[name] for name in group if name in sizes)
        if len(unknown) > 1:
            raise ArgumentValueError(f"rearrange({pattern!r}): cannot infer the sizes of {' and '.join(unknown)} at once")
        if unknown:
            sizes[unknown[0]] = size // known if known else 0
            known *= sizes[unknown[0]]
        if known != size:
            raise ArgumentValueError(
                f"rearrange({pattern!r}): ({' '.join(group)}) of a dimension of size {size} does not evenly fit"
            )
    return sizes


def rearrange(tensor: Any, pattern: str, **axes_lengths: int) -> Any:
    """A Tensor with its dimensions in another order, split and joined, by a pattern of names.

    Args:
        tensor: (*); or a list or tuple of Tensors of one shape, which are stacked first.
        pattern: names of the dimensions before and after ``->``. Brackets join several into one, ``...`` stands for all the others,
            and 1 or () for a dimension of size 1.
        axes_lengths: sizes of names that can't be told from the Tensor's.

    Returns:
        (*): a view where strides allow one.

    Raises:
        ValueError: a pattern that is none, or does not fit.

    >>> import funtorch as torch
    >>> torch.func.rearrange(torch.ones(2, 12, 5), "b (h w) c -> b c h w", h=3).shape
    torch.Size([2, 5, 3, 4])
    """
    if isinstance(tensor, (list, tuple)):
        tensor = registry.names("torch")["stack"](tuple(tensor))
    left, right = _sides(pattern)
    shape = tuple(tensor.shape)
    if unused := set(axes_lengths) - {name for group in left for name in group}:
        raise ArgumentValueError(f"rearrange({pattern!r}): {', '.join(sorted(unused))} is not in the pattern")
    others = [f"...{i}" for i in range(len(shape) - len(left) + 1)]
    left = [each for group in left for each in ([[name] for name in others] if group == [ALONE] else [group])]
    right = [each for group in right for each in ([[name] for name in others] if group == [ALONE] else [group])]
    right = [[each for name in group for each in (others if name == REST else [name])] for group in right]
    sizes = _sizes(shape, left, axes_lengths, pattern)
    before = [name for group in left for name in group]
    apart = tensor.reshape([sizes[name] for name in before])
    turned = apart.permute([before.index(name) for group in right for name in group])
    return turned.reshape([math.prod(sizes[name] for name in group) for group in right])
