"""Sums of products over named or numbered dimensions: einsum and its special cases."""

from __future__ import annotations

import functools
import string
import warnings
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..core.dims import wrap_dim
from ..core.handle import Handle
from ..core.promotion import result_type
from ..errors import ArgumentValueError, OpError
from .declare import Array, Arrays, function, op
from .operands import is_floating, kind_of, refuse

NO_OPERANDS = (
    "einsum(): must specify the equation string and at least one operand, or at least one operand and its subscripts list"
)
LETTERS = string.ascii_uppercase + string.ascii_lowercase


@op(name="_outer", method=False)
def _outer(input: Array, vec2: Array, kind):
    """Products of all pairs of elements."""
    for a, name in ((input, "self"), (vec2, "vec2")):
        if a.ndim != 1:
            raise OpError(f"outer: Expected 1-D argument {name}, but got {a.ndim}-D")
    return input.astype(kind.numpy)[:, None] * vec2.astype(kind.numpy)


@function(alias=("ger",), method=True)
def outer(input: Any, vec2: Any, *, out: Any = None) -> Any:
    """Products of all pairs of elements of two vectors. input (N), vec2 (M); z (N, M). Raises RuntimeError for other ranks."""
    return _outer(input, vec2, result_type((input, vec2)), out=out)


@function(method=True)
def kron(input: Any, other: Any, *, out: Any = None) -> Any:
    """Kronecker product: each element of x times all of y. input (*), other (*); z has the products of their sizes."""
    return _kron(input, other, result_type((input, other)), out=out)


@op(name="_kron", method=False)
def _kron(input: Array, other: Array, kind):
    """Kronecker product."""
    input, other = input.astype(kind.numpy), other.astype(kind.numpy)
    rank = max(input.ndim, other.ndim)
    x, y = (a.reshape((1,) * (rank - a.ndim) + a.shape) for a in (input, other))
    x, y = jnp.expand_dims(x, tuple(range(1, 2 * rank, 2))), jnp.expand_dims(y, tuple(range(0, 2 * rank, 2)))
    z = x & y if x.dtype == bool else x * y
    return z.reshape(tuple(z.shape[2 * d] * z.shape[2 * d + 1] for d in range(rank)))


@op()
def inner(input: Array, other: Array):
    """Sums of products over the last dimensions. input (*A, K), other (*B, K) of one type; z (*A, *B).

    A Tensor without dimensions multiplies the other. Raises RuntimeError for sizes or types that don't fit.
    """
    if not input.ndim or not other.ndim:
        return input * other
    if input.dtype != other.dtype:
        raise OpError("inner(): both inputs should have same dtype")
    if input.shape[-1] != other.shape[-1]:
        raise OpError(
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{list(input.shape)} and {list(other.shape)}"
        )
    return _over(input, other, (input.ndim - 1,), (other.ndim - 1,))


def _over(x: Array, y: Array, x_dims: Sequence[int], y_dims: Sequence[int]) -> Array:
    refuse("addmm_impl_cpu_", x, "b")
    wide = jnp.float32 if is_floating(x) and x.dtype.itemsize <= 2 else None
    return jnp.tensordot(x, y, (tuple(x_dims), tuple(y_dims)), preferred_element_type=wide).astype(x.dtype)


@op(name="_tensordot", method=False)
def _tensordot(a: Array, b: Array, x_dims, y_dims):
    """Sums of products over pairs of dimensions."""
    if a.dtype != b.dtype:
        raise OpError("tensordot(): both inputs should have same dtype")
    xs, ys = ([wrap_dim(d, t.ndim) for d in dims] for t, dims in ((a, x_dims), (b, y_dims)))
    for given, other, i, j in zip(x_dims, y_dims, xs, ys, strict=True):
        # A size of 1 is broadcast: the other side's elements are added up.
        if a.shape[i] == 1 and b.shape[j] != 1:
            b = jnp.sum(b, axis=j, keepdims=True, dtype=b.dtype)
        elif b.shape[j] == 1 and a.shape[i] != 1:
            a = jnp.sum(a, axis=i, keepdims=True, dtype=a.dtype)
        if a.shape[i] != b.shape[j]:
            raise OpError(
                f"contracted dimensions need to match, but first has size {a.shape[i]} in dim {given} and second has size "
                f"{b.shape[j]} in dim {other}"
            )
    return _over(a, b, xs, ys)


@function()
def tensordot(a: Any, b: Any, dims: Any = 2, out: Any = None) -> Any:
    """Sum of products over pairs of dimensions.

    Args:
        a: (*A, *K).
        b: (*K, *B), of the same type.
        dims: how many of a's last and b's first dimensions; or two lists of dimensions.

    Returns:
        The dimensions of a that remain, then those of b.

    Raises:
        RuntimeError: sizes, types or numbers of dimensions that don't fit.
    """
    if isinstance(dims, Handle):
        dims = dims.tolist() if dims.numel() > 1 else dims.item()
    if isinstance(dims, (list, tuple)):
        x_dims, y_dims = ((d,) if isinstance(d, int) else tuple(d) for d in dims)
    else:
        if dims < 0:
            raise OpError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a.dim(), b.dim()):
            raise OpError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        x_dims, y_dims = tuple(range(-dims, 0)), tuple(range(dims))
    if len(x_dims) != len(y_dims):
        raise OpError("both dimension lists should have same length")
    return _tensordot(a, b, x_dims, y_dims, out=out)


@function()
def chain_matmul(*matrices: Any, out: Any = None) -> Any:
    """Product of several matrices in the cheapest order (see `linalg.multi_dot`)."""
    warnings.warn(
        "torch.chain_matmul is deprecated and will be removed in a future PyTorch release. Use torch.linalg.multi_dot instead, "
        "which accepts a list of two or more tensors rather than multiple parameters.",
        stacklevel=2,
    )
    given = matrices[0] if len(matrices) == 1 and isinstance(matrices[0], (list, tuple)) else matrices
    return given[0] if len(given) == 1 else multi_dot(given, out=out)


@function("linalg")
def multi_dot(tensors: Sequence[Any], *, out: Any = None) -> Any:
    """Product of two or more matrices in the order that needs the fewest multiplications.

    Args:
        tensors: (N0, N1), (N1, N2), ...; the first and the last may be vectors, whose dimension the result lacks.

    Raises:
        RuntimeError: fewer than two, other ranks, or sizes that don't fit.
    """
    return _multi_dot(tensors, out=out)


@op(name="_multi_dot", method=False)
def _multi_dot(tensors: Arrays):
    """Product of matrices."""
    if len(tensors) < 2:
        raise OpError(f"multi_dot(): expected at least 2 tensors but got {len(tensors)}")
    for i, a in enumerate(tensors):
        ranks = (1, 2) if i in (0, len(tensors) - 1) else (2,)
        if a.ndim not in ranks:
            wanted = "1D or 2D" if len(ranks) == 2 else "2D"
            raise OpError(f"multi_dot(): tensor {i} must be {wanted} but got {a.ndim}D")
        if a.dtype != tensors[0].dtype:
            raise OpError(
                f"multi_dot(): all tensors must have be the same dtype but tensor 0 is {kind_of(tensors[0])} and tensor {i} "
                f"{kind_of(a)}"
            )
    for i, (a, b) in enumerate(zip(tensors, tensors[1:], strict=False)):
        if a.shape[-1] != b.shape[0]:
            raise OpError(
                f"multi_dot(): tensors {i} and {i + 1} with shapes {list(a.shape)} and {list(b.shape)} cannot be multiplied"
            )
    kind = tensors[0].dtype
    wide = [a.astype(jnp.float32) if is_floating(a) and a.dtype.itemsize <= 2 else a for a in tensors]
    return jnp.linalg.multi_dot(wide).astype(kind)


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
    return _einsum(operands, equation)


@op(name="_einsum", method=False, out=False)
def _einsum(operands: Arrays, equation):
    """Sum of products in Einstein's notation."""
    terms, output = _parsed(equation, len(operands))
    _check_sizes(terms, output, operands)
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
