"""The square of a root of squares: of a norm, a modulus, a deviation, a distance.

The root has no derivative at 0, where its gradient counts as 0; so the square, derived through it, would have second
derivative 0 there. Yet the square is smooth: it is the sum below the root. An op that is such a root says in ``squared``
what that sum is, and derivatives of its square that may be derived again are those of the sum: in ``jvp`` and where JAX
derives what is traced, as told here, and on the tape, as in `core.straightening`.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import jax

from .engine import CONCRETE
from .handle import Handle
from .op import Mask, Op


class DualRoot:
    """What a dual payload is the root of: ``op`` below the root, of the primals and tangents ``args``, as they were."""

    __slots__ = ("op", "mask", "args", "payloads")

    def __init__(self, op: Op, mask: Mask, args: Sequence[Any]) -> None:
        self.op = op
        self.mask = mask
        self.args = args
        self.payloads = _payloads(args)


def derived_again(args: Sequence[Any]) -> bool:
    """Whether what is computed of these may be derived outside of the transform that does it."""
    return any(isinstance(arg, Handle) and (arg._requires or type(arg._payload) not in CONCRETE) for arg in args)


def _payloads(args: Sequence[Any]) -> list[Any]:
    return [arg._payload if isinstance(arg, Handle) else arg for arg in args]


def dual_root(square: Op, payloads: Sequence[Any]) -> DualRoot | None:
    """What the dual payloads that an op is to square are the root of, if anything, and if that wasn't written since."""
    first = payloads[0]
    root = getattr(first, "root", None)
    if root is None or len(payloads) != square.squares or any(payload is not first for payload in payloads):
        return None
    return root if all(a is b for a, b in zip(_payloads(root.args), root.payloads, strict=True)) else None


def remember_root(result: Any, below: Op, values: Sequence[Any]) -> None:
    """Let a traced result know what it is the root of."""
    result._root = (result._payload, below, tuple(values))


def traced_square(square: Op, args: Sequence[Any], values: Sequence[Any]) -> tuple[Op, Sequence[Any]]:
    """The op to trace for a square, and its arguments: itself, or if they are a root, one with the derivative of the sum."""
    root = args[0]._root if isinstance(args[0], Handle) else None
    if root is None or len(values) != square.squares or any(value is not root[0] for value in values):
        return square, values
    return _derived_as(root[1], square), [root[0], *root[2]]


@functools.lru_cache(maxsize=256)
def _derived_as(below: Op, square: Op) -> Op:
    """The Op ``(root, *what is below it) -> square of the root``, which is derived as the sum below the root."""

    @jax.custom_jvp
    def smooth(root: Any, *values: Any) -> Any:
        return square.fn(*[root] * square.squares)

    @smooth.defjvp
    def _smooth_jvp(primals: tuple, tangents: tuple) -> tuple:
        _, tangent = jax.jvp(below.fn, primals[1:], tangents[1:])
        return smooth(*primals), tangent

    return Op(smooth, square.name)
