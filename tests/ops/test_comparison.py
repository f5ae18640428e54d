"""Comparisons, logic, choices among values: against PyTorch."""

import numpy as np
import pytest

import funtorch as torch

X = np.array([1.0, 2.0, np.nan, np.inf, -0.0])
Y = np.array([1.0, 3.0, np.nan, -np.inf, 0.0])
TIES = np.array([1.0, 2.0, 3.0, -1.0])


@pytest.mark.parametrize("name", ["eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor"])
def test_comparisons_agree(name, agree):
    agree(lambda t, x, y: getattr(t, name)(x, y), X, Y)
    agree(lambda t, x, y: getattr(t, name)(x, y), np.array([1, 0, 3]), np.array([True, False, False]))


@pytest.mark.parametrize("name", ["logical_not", "isnan", "isinf", "isfinite", "isposinf", "isneginf", "isreal"])
def test_tests_of_one_argument_agree(name, agree):
    agree(lambda t, x: getattr(t, name)(x), X)
    agree(lambda t, x: getattr(t, name)(x), np.array([0, 3]))


def test_complex_numbers_have_no_order(refuse):
    refuse(lambda t, x: x < x, np.array([1j]), words=False)
    refuse(lambda t, x: t.maximum(x, x), np.array([1j]), words=False)


def test_numbers_on_either_side_agree(agree):
    agree(lambda t, x: (x == 1, x != 2.5, 2 > x, x >= True, 0 == x), np.array([1, 2, 3]))


@pytest.mark.parametrize("nan", [False, True])
def test_isclose_agrees(nan, agree):
    near = Y + np.array([1e-9, 1e-3, 0, 0, 1e-9])
    agree(lambda t, x, y: t.isclose(x, y, equal_nan=nan), X, near)
    agree(lambda t, x, y: t.isclose(x, y, rtol=0.5), np.array([10, 20]), np.array([12, 90]))
    agree(lambda t, x, y: t.allclose(x, y, equal_nan=nan), X, X)


def test_equal_agrees(agree, refuse):
    agree(lambda t, x, y: (t.equal(x, x), t.equal(x, y), x.equal(y[:2])), TIES, TIES + 1)
    refuse(lambda t, x, y: t.isclose(x, y), TIES, np.array([1, 2, 3, 4]), words=False)


@pytest.mark.parametrize("name", ["maximum", "minimum", "fmax", "fmin"])
def test_extremes_of_pairs_share_ties(name, agree):
    agree(lambda t, x, y: getattr(t, name)(x, y), TIES, np.array([1.0, 5.0, 2.0, -1.0]))
    agree(lambda t, x, y: getattr(t, name)(x, y), X, Y, grad=False)


def test_clamp_passes_the_gradient_at_its_ends(agree):
    x = np.array([-1.0, 0.0, 0.5, 1.0, 2.0])
    agree(
        lambda t, x: (x.clamp(0, 1), x.clamp(min=0), x.clamp(max=1), x.clamp_min(0.5), x.clamp_max(0.5), t.clip(x, 0.5, 0.2)), x
    )


def test_clamp_with_tensor_bounds_agrees(agree):
    low, high = np.array([1.0, 1.0, 1.0, 4.0]), np.array([2.0, 2.0, 2.0, 2.0])
    agree(lambda t, x, a, b: t.clamp(x, a, b), np.array([0.0, 1.0, 2.0, 3.0]), low, high)
    agree(lambda t, x, a: t.clamp(x, min=a), np.array([0.0, 1.0, 2.0, 3.0]), low)


def test_clamp_types_and_errors(agree, refuse):
    agree(lambda t, x: (x.clamp(0.5, 2), x.clamp(0, 2), x.clamp(min=1.5)), np.array([0, 1, 3]))
    agree(lambda t, x: (x.clamp(0, 1), x.clamp(float("nan"), 1)), np.array([np.nan, 0.5]), grad=False)
    refuse(lambda t, x: t.clamp(x), TIES)


def test_relu_agrees_at_zero_and_nan(agree):
    agree(lambda t, x: (t.relu(x), t.nn.functional.relu(x)), np.array([-1.0, 0.0, 2.0]))
    agree(lambda t, x: t.relu(x), np.array([np.nan, -np.inf, np.inf]), grad=False)


def test_functional_relu_in_place():
    x = torch.tensor([-1.0, 2.0])
    assert torch.nn.functional.relu(x, inplace=True) is x
    assert x.tolist() == [0.0, 2.0]


def test_where_agrees(agree):
    condition = np.array([True, False, True, False])
    agree(lambda t, c, x, y: (t.where(c, x, y), t.where(c, x, 0), t.where(c, 1.5, y), x.where(c, y)), condition, TIES, TIES * 2)
    agree(lambda t, c: t.where(c, 1, 2.5), condition)


def test_where_of_a_condition_alone_gives_places(agree):
    agree(lambda t, c: t.where(c), np.array([[True, False], [True, True]]))


def test_nan_to_num_agrees(agree):
    agree(lambda t, x: (t.nan_to_num(x), t.nan_to_num(x, 1.0, 2.0, -2.0)), X)
    agree(lambda t, x: t.nan_to_num(x), X.astype(np.float32), grad=False)


def test_heaviside_and_isin_agree(agree):
    agree(lambda t, x, y: t.heaviside(x, y), np.array([-1.0, 0.0, 2.0]), np.array([0.5]), grad=False)
    agree(lambda t, x, y: (t.isin(x, y), t.isin(x, y, invert=True), t.isin(x, 2)), np.array([[1, 2], [3, 4]]), np.array([2, 4]))
