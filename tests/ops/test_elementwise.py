"""Exponentials, trigonometry, rounding, bits: one line an op, against PyTorch."""

import numpy as np
import pytest

import funtorch as torch

OPEN = np.array([[0.1, 0.5, 0.9], [-0.3, -0.7, 0.25]])
POSITIVE = np.array([1.1, 2.5, 0.3, 7.0])
EXTREME = np.array([0.0, np.inf, -np.inf, np.nan, 1e-20, 50.0, -50.0])
COUNTS = np.array([1, 2, 0, 3])

ANYWHERE = ["exp", "exp2", "expm1", "sigmoid", "sin", "cos", "tan", "sinh", "cosh", "tanh", "atan", "asinh", "sinc"]
INSIDE = ["asin", "acos", "atanh"]
ABOVE = ["log", "log2", "log10", "log1p", "sqrt", "rsqrt", "acosh"]
ROUNDING = ["floor", "ceil", "trunc", "fix", "round"]


@pytest.mark.parametrize("name", ANYWHERE + INSIDE)
def test_values_and_gradients_agree(name, agree):
    agree(lambda t, x: getattr(t, name)(x), OPEN)


@pytest.mark.parametrize("name", ABOVE)
def test_positive_arguments_agree(name, agree):
    agree(lambda t, x: getattr(t, name)(x + (name == "acosh")), POSITIVE)


@pytest.mark.parametrize("name", ANYWHERE + INSIDE + ABOVE)
def test_extremes_agree(name, agree):
    agree(lambda t, x: getattr(t, name)(x), EXTREME, grad=False)


@pytest.mark.parametrize("name", ["exp", "sqrt", "sin", "sigmoid", "log1p", "atan"])
def test_integers_become_the_default_float(name, agree):
    agree(lambda t, x: (getattr(t, name)(x), getattr(t, name)(x > 1)), COUNTS)


@pytest.mark.parametrize("name", ["exp", "log", "sin", "cos", "tanh", "sqrt", "sigmoid", "asin", "atan", "expm1", "log1p"])
def test_complex_arguments_agree(name, agree):
    agree(lambda t, x: getattr(t, name)(x), np.array([0.3 + 0.4j, -0.2 + 0.1j]))


def test_two_arguments_agree(agree):
    other = POSITIVE[::-1].copy()
    agree(
        lambda t, x, y: (t.atan2(x, y), t.logaddexp(x, y), t.logaddexp2(x, y), t.xlogy(x, y), t.special.xlog1py(x, y)),
        POSITIVE,
        other,
    )
    agree(lambda t, x, y: (t.xlogy(x, y), t.special.xlog1py(x, y)), np.zeros(3), np.array([0.5, 2.0, 3.0]))
    agree(lambda t, x, y: t.xlogy(x, y), np.zeros(3), np.array([0.0, np.nan, np.inf]), grad=False)


def test_atan2_at_the_origin_has_gradient_zero(agree):
    agree(lambda t, x, y: t.atan2(x, y), np.array([0.0, 1.0]), np.array([0.0, 0.0]))


def test_logit_clamps(agree):
    agree(lambda t, x: (t.logit(x), t.logit(x, 0.2)), np.array([0.1, 0.2, 0.5, 0.9]))


@pytest.mark.parametrize("name", [*ROUNDING, "frac"])
def test_rounding_agrees(name, agree):
    agree(lambda t, x: getattr(t, name)(x), np.array([-1.5, -0.5, 0.5, 1.5, 2.5, -0.2, 3.0]))


def test_rounding_keeps_integers(agree, refuse):
    agree(lambda t, x: (x.floor(), x.ceil(), x.trunc(), x.round()), COUNTS)
    refuse(lambda t, x: t.round(x, decimals=1), COUNTS, words=False)
    refuse(lambda t, x: t.floor(x > 1), COUNTS, words=False)


@pytest.mark.parametrize("decimals", [2, 1, -1])
def test_round_to_decimals_agrees(decimals, agree):
    agree(lambda t, x: t.round(x, decimals=decimals), np.array([12.345, -7.655, 25.0, 0.05]), grad=False)


def test_nextafter_agrees(agree):
    agree(lambda t, x, y: t.nextafter(x, y), np.array([0.0, 1.0, 1.0, np.inf]), np.array([1.0, 2.0, 0.0, 0.0]), grad=False)


BITS = ["bitwise_and", "bitwise_or", "bitwise_xor", "gcd", "lcm"]


@pytest.mark.parametrize("name", BITS)
def test_bits_and_divisors_agree(name, agree):
    agree(lambda t, x, y: getattr(t, name)(x, y), np.array([12, -7, 0, 255]), np.array([10, 3, 5, -4]))


@pytest.mark.parametrize("kind", [np.int8, np.int64, np.uint8])
def test_shifts_agree_beyond_the_width(kind, agree):
    x, places = np.array([1, 100, 127, 5, 64], kind), np.array([0, 1, 3, 7, 200 if kind is np.uint8 else 100], kind)
    agree(lambda t, x, y: (x << y, x >> y, x << 2), x, places)


def test_negative_numbers_shift_with_their_sign(agree):
    agree(lambda t, x: (x >> 1, x >> 70, x << 3, ~x), np.array([-1, -8, 7]))


def test_bits_of_floats_raise(refuse):
    refuse(lambda t, x: x & x, OPEN, words=False)
    refuse(lambda t, x: t.bitwise_not(x), OPEN, words=False)
    refuse(lambda t, x: t.gcd(x, x), OPEN, words=False)


def test_bools_have_bitwise_logic(agree):
    agree(lambda t, x, y: (x & y, x | y, x ^ y, ~x), np.array([True, False]), np.array([True, True]))


def test_half_precision_rounds_once():
    x = torch.tensor([3.1, 0.2, 7.7]).half()
    for name in ("sigmoid", "log2", "expm1", "asinh"):
        wide = getattr(torch, name)(x.float()).half()
        assert torch.equal(getattr(torch, name)(x), wide)
