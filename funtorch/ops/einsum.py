"""Sums of products in Einstein's notation."""

from __future__ import annotations

import functools
import string
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..core import casting
from ..dtypes import FROM_NUMPY, promote_types
from ..errors import ArgumentValueError, OpError
from .declare import Arrays, function, op
from .operands import is_floating, kind_of, refuse

NO_OPERANDS = (
    "einsum(): must specify the equation string and at least one operand, or at least one operand and its subscripts list"
)
LETTERS = string.ascii_uppercase + string.ascii_lowercase


def _letters(number: int) -> str:
    if not 0 <= number < len(LETTERS):
        raise OpError(f"einsum(): subscripts in the sublist format must be in the range [0, 52), but got {number}")
    return LETTERS[number]


def _from_sublists(args: Sequence[Any]) -> tuple[str, list[Any]]:
    """The equation that operands and lists of numbers stand for."""
    lists = list(args[1::2])
    output = args[-1] if len(args) % 2 else None
    operands = list(args[0 : len(args) - (len(args) % 2) : 2])
    texts = ["".join("..." if n is Ellipsis else _letters(n) for n in numbers) for numbers in lists]
    equation = ",".join(texts)
    if output is not None:
        equation += "->" + "".join("..." if n is Ellipsis else _letters(n) for n in output)
    return equation, operands


@function()
def einsum(*args: Any) -> Any:
    """Sum of products in Einstein's notation: ``einsum("ij,jk->ik", x, y)``.

    Args:
        args: an equation of letters for each operand's dimensions, ``...`` for those broadcast, ``->`` before the
            result's, and the operands; or operands, each followed by a list of numbers for its dimensions.

    Returns:
        The sums over the letters that the result lacks; without ``->`` it has those that appear once, in alphabetical order.

    Raises:
        RuntimeError: an equation that can't be read or doesn't fit the operands.
        ValueError: no operands.
    """
    if len(args) < 2:
        raise ArgumentValueError(NO_OPERANDS)
    if isinstance(args[0], str):
        equation, operands = args[0], list(args[1:])
    else:
        equation, operands = _from_sublists(args)
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = list(operands[0])
    if casting.active and len(operands) > 1 and _contracts(equation, len(operands)):
        operands = casting.cast_arguments("bmm", operands)  # products, as matrices' are
    return _einsum(operands, equation)


def _contracts(equation: str, count: int) -> bool:
    terms, output = _parsed(equation, count)
    return not set("".join(terms)) - {"."} <= set(output)


@op(name="_einsum", method=False, out=False)
def _einsum(operands: Arrays, equation):
    """Sum of products in Einstein's notation."""
    terms, output = _parsed(equation, len(operands))
    _check_sizes(terms, output, operands)
    if not _contracts(equation, len(operands)):  # an elementwise product
        common = functools.reduce(promote_types, [FROM_NUMPY[np.dtype(a.dtype)] for a in operands]).numpy
        operands = [a.astype(common) for a in operands]
    kind = operands[0].dtype
    for a in operands[1:]:
        if a.dtype != kind:
            raise OpError(f"einsum(): expected scalar type {kind_of(operands[0])} but found {kind_of(a)}")
    if len(operands) > 1:
        refuse("bmm", operands[0], "b")
    elif kind.kind == "b" and set("".join(terms)) - set(output):
        operands = [operands[0].astype(np.int64)]
    # A size of 1 is broadcast, which JAX's own einsum doesn't do with letters: such dimensions are summed away first.
    terms, operands = _without_ones(terms, operands, output)
    wide = jnp.float32 if is_floating(operands[0]) and kind.itemsize <= 2 else None
    result = jnp.einsum(",".join(terms) + "->" + output, *operands, preferred_element_type=wide)
    return result if operands[0].dtype != kind else result.astype(kind)


@functools.lru_cache(maxsize=1024)
def _parsed(equation: str, count: int) -> tuple[list[str], str]:
    """The operands' letters and the result's. Raises RuntimeError for an equation that isn't one."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    for i, term in enumerate(terms):
        bare = term.replace("...", "", 1)
        if "." in bare:
            raise OpError(f"einsum(): found '.' for operand {i} that is not part of any ellipsis")
    for at, letter in enumerate(equation):
        if letter not in LETTERS and letter not in ".,->" and letter != " ":
            raise OpError(
                f"einsum(): invalid subscript given at index {at} in the equation string, subscripts must be in [a-zA-Z]"
            )
    if len(terms) != count:
        words = "fewer" if count < len(terms) else "more"
        raise OpError(f"einsum(): {words} operands were provided than specified in the equation")
    letters = left.replace(",", "").replace(".", "")
    if not arrow:
        once = "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
        return terms, ("..." if "..." in left else "") + once
    for letter in right.replace(".", ""):
        if right.count(letter) > 1:
            raise OpError(f"einsum(): output subscript {letter} appears more than once in the output")
        if letter not in letters:
            raise OpError(f"einsum(): output subscript {letter} does not appear in the equation for any input operand")
    return terms, right


def _check_sizes(terms: Sequence[str], output: str, operands: Sequence[Any]) -> None:
    sizes: dict[str, int] = {}
    for i, (term, a) in enumerate(zip(terms, operands, strict=True)):
        letters, spread = term.replace("...", ""), "..." in term
        if len(letters) > a.ndim or (len(letters) < a.ndim and not spread):
            words = "than" if spread else "and no ellipsis was given"
            raise OpError(
                f"einsum(): the number of subscripts in the equation ({len(letters)}) "
                + (f"is more {words} the number of dimensions ({a.ndim}) for operand {i}" if spread else
                   f"does not match the number of dimensions ({a.ndim}) for operand {i} {words}")
            )  # fmt: skip
        start = term.find("...")
        after = len(letters) - start if spread else 0
        for at, letter in enumerate(letters):
            size = a.shape[at if not spread or at < start else at - start + a.ndim - after]
            seen = sizes.get(letter, 1)
            if 1 not in (seen, size) and seen != size:
                raise OpError(
                    f"einsum(): subscript {letter} has size {size} for operand {i} which does not broadcast with previously "
                    f"seen size {seen}"
                )
            sizes[letter] = max(seen, size) if 0 not in (seen, size) else 0


def _without_ones(terms: Sequence[str], operands: Sequence[Any], output: str) -> tuple[list[str], list[Any]]:
    """Drop an operand's dimension of size 1 where another operand has the letter with another size."""
    sizes: dict[str, set[int]] = {}
    places = [_letter_axes(term, a.ndim) for term, a in zip(terms, operands, strict=True)]
    for axes, a in zip(places, operands, strict=True):
        for letter, axis in axes:
            sizes.setdefault(letter, set()).add(a.shape[axis])
    mixed = {letter for letter, found in sizes.items() if len(found) > 1}
    if not mixed:
        return list(terms), list(operands)
    new_terms, new_operands = [], []
    for term, axes, a in zip(terms, places, operands, strict=True):
        gone = [(letter, axis) for letter, axis in axes if letter in mixed and a.shape[axis] == 1]
        for letter, _ in gone:
            term = term.replace(letter, "", 1)
        new_terms.append(term)
        new_operands.append(jnp.squeeze(a, axis=tuple(axis for _, axis in gone)))
    return new_terms, new_operands


def _letter_axes(term: str, ndim: int) -> list[tuple[str, int]]:
    start = term.find("...")
    letters = term.replace("...", "")
    shift = ndim - len(letters)
    return [(letter, at if start < 0 or at < start else at + shift) for at, letter in enumerate(letters)]
