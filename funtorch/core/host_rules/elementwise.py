"""Elementwise primitives: most are a NumPy ufunc; the others say where XLA and NumPy differ."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..branchless import FEW, chosen
from .table import Equation, Inline, is_float, is_narrow_float, rule

UFUNCS: dict[str, Callable] = {
    "add": np.add,
    "add_any": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
    "neg": np.negative,
    "abs": np.absolute,
    "floor": np.floor,
    "ceil": np.ceil,
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log1p": np.log1p,
    "sqrt": np.sqrt,
    "cbrt": np.cbrt,
    "square": np.square,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "is_finite": np.isfinite,
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "not": np.invert,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "conj": np.conjugate,
}


@rule(*UFUNCS, elementwise=True)
def ufunc(eqn: Equation) -> Callable:
    return UFUNCS[eqn.name]


@rule("nextafter", elementwise=True)
def nextafter(eqn: Equation) -> Callable:
    if eqn.dtype != np.float16:
        return np.nextafter
    return lambda x, y: np.where(np.equal(x, y), y, np.nextafter(x, y))  # from one zero to the other: NumPy stays


@rule("div", elementwise=True)
def div(eqn: Equation) -> Callable:
    if eqn.dtype.kind not in "iu":
        return np.divide
    return _divide_signed if eqn.dtype.kind == "i" else _divide_unsigned


def _divide_signed(x, y):
    # XLA truncates towards 0, and gives -1 for x / 0 and the dividend for min / -1.
    zero = np.equal(y, 0)
    if zero.any():
        safe = np.where(zero, np.ones((), x.dtype), y)
        return np.where(zero, np.array(-1, x.dtype), _divide_signed(x, safe))
    quotient = np.floor_divide(x, y)
    inexact = np.not_equal(np.multiply(quotient, y), x) & ((np.less(x, 0)) != (np.less(y, 0)))
    return np.add(quotient, inexact.astype(x.dtype))


def _divide_unsigned(x, y):
    zero = np.equal(y, 0)
    if zero.any():
        top = np.array(np.iinfo(x.dtype).max, x.dtype)
        return np.where(zero, top, np.floor_divide(x, np.where(zero, np.ones((), x.dtype), y)))
    return np.floor_divide(x, y)


@rule("rem", elementwise=True)
def rem(eqn: Equation) -> Callable:
    return np.fmod if is_float(eqn.dtype) else _remainder


def _remainder(x, y):
    zero = np.equal(y, 0)
    if zero.any():
        return np.where(zero, x, np.fmod(x, np.where(zero, np.ones((), x.dtype), y)))
    return np.fmod(x, y)


@rule("pow", elementwise=True)
def power(eqn: Equation) -> Callable | None:
    base, exponent = (aval.dtype for aval in eqn.inputs)
    if base.kind in "iu":
        return None
    if base == exponent:
        return np.power
    return lambda x, y: np.power(x, y.astype(base))


@rule("integer_pow", elementwise=True)
def integer_pow(eqn: Equation) -> Callable:
    exponent = int(eqn.params["y"])
    if exponent == 2:
        return np.square
    if exponent == -1:
        return np.reciprocal
    return lambda x: _repeated(x, exponent)


def _repeated(x, exponent: int):
    """x to an integer power by squaring, in the order in which JAX expands it: narrow floats are rounded at each step."""
    if exponent < 0:
        return np.divide(np.ones((), x.dtype), _repeated(x, -exponent))
    result = None
    while exponent:
        if exponent & 1:
            result = x if result is None else np.multiply(result, x)
        exponent >>= 1
        if exponent:
            x = np.multiply(x, x)
    return np.ones_like(x) if result is None else result


@rule("rsqrt", elementwise=True)
def rsqrt(eqn: Equation) -> Callable:
    one = np.ones((), eqn.dtype)
    return lambda x: np.divide(one, np.sqrt(x))


@rule("logistic", elementwise=True)
def logistic(eqn: Equation) -> Callable:
    dtype = np.dtype(eqn.dtype)
    one = np.ones((), np.float32 if is_narrow_float(dtype) else dtype)

    def run(x):
        result = np.exp(np.negative(x))
        result += one
        return np.reciprocal(result)

    return (lambda x: run(x.astype(np.float32)).astype(dtype)) if is_narrow_float(dtype) else run


@rule("sign", elementwise=True)
def sign(eqn: Equation) -> Callable:
    dtype = np.dtype(eqn.dtype)
    if dtype.kind == "c":
        return _complex_sign
    if not is_float(dtype):
        return np.sign
    return lambda x: np.where(np.equal(x, 0), x, np.sign(x))  # -0.0 stays


def _complex_sign(x):
    size = np.absolute(x)
    result = np.empty_like(x)
    result.real, result.imag = np.divide(x.real, size), np.divide(x.imag, size)
    return np.where(np.equal(x, 0), x, result)


@rule("round", elementwise=True)
def round_(eqn: Equation) -> Callable:
    if int(eqn.params["rounding_method"]) == 1:  # to nearest, ties to even
        return np.rint
    half = np.array(0.5, eqn.dtype)

    def away_from_zero(x):
        whole = np.trunc(x)
        return np.where(np.abs(np.subtract(x, whole)) >= half, np.add(whole, np.sign(x)), whole)

    return away_from_zero


@rule("clamp", elementwise=True)
def clamp(eqn: Equation) -> Callable:
    return lambda low, x, high: np.minimum(np.maximum(x, low), high)


@rule("select_n", elementwise=True)
def select_n(eqn: Equation) -> Callable | Inline:
    count = len(eqn.inputs) - 1
    if count == 1:
        return lambda which, case: case
    if count == 2 and eqn.inputs[0].dtype == bool:
        return Inline("{k[0]}({0}, {2}, {1})", chosen if math.prod(eqn.shape) > FEW else np.where)

    def select(which, *cases):
        result = cases[0]
        for number in range(1, count):
            result = np.where(np.greater_equal(which, number), cases[number], result)
        return result

    return select


@rule("shift_left", "shift_right_logical", "shift_right_arithmetic", elementwise=True)
def shift(eqn: Equation) -> Callable:
    dtype = np.dtype(eqn.dtype)
    bits = dtype.itemsize * 8
    word = np.dtype(f"{'i' if eqn.name == 'shift_right_arithmetic' else 'u'}{dtype.itemsize}")
    move = np.left_shift if eqn.name == "shift_left" else np.right_shift

    def run(x, amount):
        amount = amount.astype(f"u{dtype.itemsize}")  # a negative amount is a very large one
        within = np.less(amount, bits)
        x = x.astype(word)
        moved = move(x, np.where(within, amount, 0).astype(word))
        beyond = np.where(np.less(x, 0), np.array(-1, word), np.zeros((), word)) if word.kind == "i" else 0
        return np.where(within, moved, beyond).astype(dtype)

    return run


@rule("population_count", elementwise=True)
def population_count(eqn: Equation) -> Callable:
    dtype, word = eqn.dtype, f"u{np.dtype(eqn.dtype).itemsize}"
    return lambda x: np.bitwise_count(x.astype(word)).astype(dtype)


@rule("clz", elementwise=True)
def count_leading_zeros(eqn: Equation) -> Callable:
    dtype, bits = eqn.dtype, np.dtype(eqn.dtype).itemsize * 8
    word = np.dtype(f"u{bits // 8}")

    def run(x):
        x, distance = x.astype(word), 1
        while distance < bits:  # fill every bit below the highest one set
            x = np.bitwise_or(x, np.right_shift(x, word.type(distance)))
            distance *= 2
        return np.subtract(bits, np.bitwise_count(x)).astype(dtype)

    return run


@rule("real", "imag", elementwise=True, view=True)
def part(eqn: Equation) -> Inline:
    return Inline("{0}." + eqn.name)


@rule("complex", elementwise=True)
def complex_(eqn: Equation) -> Callable:
    dtype = eqn.dtype

    def run(x, y):
        result = np.empty(np.broadcast_shapes(np.shape(x), np.shape(y)), dtype)
        result.real, result.imag = x, y
        return result

    return run


@rule("lt_to", "le_to", "eq_to", elementwise=True)
def total_order(eqn: Equation) -> Callable:
    compare = {"lt_to": np.less, "le_to": np.less_equal, "eq_to": np.equal}[eqn.name]
    dtype = np.dtype(eqn.inputs[0].dtype)
    if not is_float(dtype):
        return compare
    word = np.dtype(f"i{dtype.itemsize}")
    top = word.type(np.iinfo(word).max)

    def rank(x):
        bits = np.asarray(x).view(word)
        return np.where(bits < 0, np.bitwise_xor(bits, top), bits)

    return lambda x, y: compare(rank(x), rank(y))
