"""For each primitive, what keeps apart what an argument was filled up with: it stays in its place, or it is masked."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..errors import FuntorchError

Padded = tuple[int, int]  # the axis, and how many entries each unit of the size has there


class Unpaddable(FuntorchError):
    """Filling up would show in the results."""


class Equation:
    """One equation in both traces, with the values of its inputs."""

    def __init__(self, eqn: Any, values: list[Any], ins: list[Padded | None], outs: list[Padded | None], size: Any) -> None:
        self.name = eqn.primitive.name
        self.params = dict(eqn.params)
        self.primitive = eqn.primitive
        self.values = values
        self.ins = ins
        self.outs = outs
        self.size = size

    def mask(self, number: int, fill: Any) -> None:
        """Replace what is filled up of an input."""
        place, value = self.ins[number], self.values[number]
        if place is not None:
            valid = lax.broadcasted_iota(jnp.int64, value.shape, place[0]) < self.size * place[1]
            self.values[number] = jnp.where(valid, value, jnp.asarray(fill, value.dtype))

    def expect(self, place: Padded | None, number: int = 0) -> None:
        """The output is padded there, or the program refuses."""
        if self.outs[number] != place:
            raise Unpaddable(f"{self.name} moves elements along the dimension that is filled up")

    def run(self) -> Any:
        return self.primitive.bind(*self.values, **self.params)


def apply(eqn: Equation) -> Any:
    """Run an equation by its rule. Raises `Unpaddable` where there is none, or where it says so."""
    if all(place is None for place in eqn.ins) and not (eqn.name not in FREE and any(p is not None for p in eqn.outs)):
        return eqn.run()
    rule = RULES.get(eqn.name)
    if rule is None:
        raise Unpaddable(f"there is no rule for {eqn.name} along a dimension that is filled up")
    rule(eqn)
    return eqn.run()


# Rules: each checks that what is filled up stays where it is, or masks it.


def _elementwise(eqn: Equation) -> None:
    for place in eqn.ins:
        if place is not None:
            eqn.expect(place)


def _made(eqn: Equation) -> None:
    """Made from nothing: the first entries are right whatever comes after them."""


def _broadcast(eqn: Equation) -> None:
    place = eqn.ins[0]
    if place is not None:
        eqn.expect((eqn.params["broadcast_dimensions"][place[0]], place[1]))


def _reshape(eqn: Equation) -> None:
    place, out = eqn.ins[0], eqn.outs[0]
    before, after = eqn.values[0].shape, eqn.params["new_sizes"]
    if place is None or out is None:
        raise Unpaddable("a reshape hides the dimension that is filled up")
    ahead, behind = math.prod(before[: place[0]]), math.prod(after[: out[0]])
    same = ahead == behind and before[place[0]] == after[out[0]]
    if not same and not ahead == behind == 1:
        raise Unpaddable(f"a reshape of {list(before)} to {list(after)} mixes the dimension that is filled up with one before it")


def _transpose(eqn: Equation) -> None:
    place = eqn.ins[0]
    assert place is not None
    eqn.expect((tuple(eqn.params["permutation"]).index(place[0]), place[1]))


def _squeeze(eqn: Equation) -> None:
    place = eqn.ins[0]
    assert place is not None
    eqn.expect((place[0] - sum(d < place[0] for d in eqn.params["dimensions"]), place[1]))


def _reduction(fill: Callable[[np.dtype], Any]) -> Callable[[Equation], None]:
    def rule(eqn: Equation) -> None:
        place = eqn.ins[0]
        assert place is not None
        if place[0] in eqn.params["axes"]:
            eqn.mask(0, fill(np.dtype(eqn.values[0].dtype)))
            eqn.expect(None)
        else:
            eqn.expect((place[0] - sum(d < place[0] for d in eqn.params["axes"]), place[1]))

    return rule


def _lowest(dtype: np.dtype) -> Any:
    return False if dtype.kind == "b" else -np.inf if dtype.kind == "f" else np.iinfo(dtype).min


def _highest(dtype: np.dtype) -> Any:
    return True if dtype.kind == "b" else np.inf if dtype.kind == "f" else np.iinfo(dtype).max


def _dot(eqn: Equation) -> None:
    (left, right), (left_batch, right_batch) = eqn.params["dimension_numbers"]
    a, b = eqn.ins
    if (a is not None and a[0] in left) or (b is not None and b[0] in right):
        eqn.mask(0, 0)
        eqn.mask(1, 0)
        eqn.expect(None)
        return
    free = [d for d in range(eqn.values[0].ndim) if d not in (*left, *left_batch)]
    also = [d for d in range(eqn.values[1].ndim) if d not in (*right, *right_batch)]
    order = [*((0, d) for d in left_batch), *((0, d) for d in free), *((1, d) for d in also)]
    places = dict(zip(order, range(len(order)), strict=True))
    places |= {(1, d): i for i, d in enumerate(right_batch)}
    for side, place in enumerate((a, b)):
        if place is not None:
            eqn.expect((places[side, place[0]], place[1]))


def _along(key: str) -> Callable[[Equation], None]:
    """Works along the axis ``key``, which must not be the padded one (a sum from the front does no harm there)."""

    def rule(eqn: Equation) -> None:
        harmless = eqn.name.startswith("cum") and not eqn.params.get("reverse")
        for number, place in enumerate(eqn.ins):
            if place is not None and place[0] == eqn.params[key] and not harmless:
                raise Unpaddable(f"{eqn.name} works along the dimension that is filled up")
            if place is not None:
                eqn.expect(place, min(number, len(eqn.outs) - 1))

    return rule


def _whole(eqn: Equation) -> None:
    """Slices and the like, which must leave the padded axis whole."""
    place = eqn.ins[0]
    config = eqn.params.get("padding_config")
    moved = place is not None and config is not None and tuple(config[place[0]]) != (0, 0, 0)
    if place is None or moved or eqn.outs[0] != place or place[0] in eqn.params.get("dimensions", ()):
        raise Unpaddable(f"{eqn.name} takes a part of the dimension that is filled up, or turns it round")


def _gather(eqn: Equation) -> None:
    numbers = eqn.params["dimension_numbers"]
    operand, index = eqn.ins
    if operand is not None and (index is None or operand[0] not in numbers.operand_batching_dims):
        raise Unpaddable("it picks elements along the dimension that is filled up")
    if index is not None:
        batch = [d for d in range(eqn.values[0].ndim + eqn.values[1].ndim) if d not in numbers.offset_dims]
        eqn.expect((batch[index[0]], index[1]))


def _scatter(eqn: Equation) -> None:
    numbers = eqn.params["dimension_numbers"]
    operand, index, updates = eqn.ins
    if operand is not None:
        if operand[0] not in numbers.operand_batching_dims:
            raise Unpaddable("it writes elements along the dimension that is filled up")
        eqn.expect(operand)
    elif eqn.name != "scatter-add" or index is None or updates is None:
        raise Unpaddable("it writes the elements that are filled up into a Tensor of another size")
    else:
        eqn.mask(2, 0)
        eqn.expect(None)


ELEMENTWISE = """
    abs acos acosh add add_any and asin asinh atan atan2 atanh cbrt ceil clamp conj convert_element_type copy cos cosh digamma div eq
    erf erf_inv erfc exp exp2 expm1 floor ge gt imag integer_pow is_finite le lgamma log log1p logistic lt max min mul ne neg nextafter
    not or pow real reduce_precision rem round rsqrt select_n shift_left shift_right_arithmetic shift_right_logical sign sin sinh sqrt
    square stop_gradient sub tan tanh xor
"""
FREE = frozenset({"broadcast_in_dim", "iota"})  # may make a padded dimension from nothing
RULES: dict[str, Callable[[Equation], None]] = dict.fromkeys(ELEMENTWISE.split(), _elementwise) | {
    "broadcast_in_dim": _broadcast, "iota": _made, "reshape": _reshape, "transpose": _transpose, "squeeze": _squeeze,
    "reduce_sum": _reduction(lambda d: 0), "reduce_prod": _reduction(lambda d: 1), "reduce_max": _reduction(_lowest),
    "reduce_min": _reduction(_highest), "reduce_and": _reduction(lambda d: True), "reduce_or": _reduction(lambda d: False),
    "argmax": _reduction(_lowest), "argmin": _reduction(_highest), "dot_general": _dot, "cumsum": _along("axis"),
    "cummax": _along("axis"), "cummin": _along("axis"), "cumprod": _along("axis"), "sort": _along("dimension"),
    "concatenate": _along("dimension"), "slice": _whole, "rev": _whole, "pad": _whole, "gather": _gather, "scatter-add": _scatter,
    "scatter": _scatter,
}  # fmt: skip
