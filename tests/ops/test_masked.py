"""Masked reductions and normalisations against PyTorch's: values, dtypes, gradients, nothing selected, errors."""

import importlib

import numpy as np
import pytest

importlib.import_module("torch.masked")  # which torch itself does not import

X = np.array([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]])
MASK = np.array([[True, False, True], [True, True, False]])
NOTHING_BELOW = np.array([[True, False, True], [False, False, False]])
REDUCTIONS = ["sum", "prod", "amax", "amin", "mean", "logsumexp", "norm", "var", "std"]
ALONG = ["cumsum", "cumprod", "softmax", "log_softmax", "softmin", "median", "argmax", "argmin"]


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_agree(name, agree):
    def reduced(t, x, m):
        f = getattr(t.masked, name)
        results = f(x, mask=m), f(x, dim=(0, 1), mask=m), f(x, dim=-1, keepdim=True, mask=m[:1]), f(x, dim=0)
        return *results, f(x.float(), dim=1, mask=m, dtype=t.float64)

    agree(reduced, X, MASK)


@pytest.mark.parametrize("name", REDUCTIONS + ALONG)
def test_rows_with_nothing_selected_agree(name, agree):
    agree(lambda t, x, m: getattr(t.masked, name)(x, dim=1, mask=m), X, NOTHING_BELOW, grad=False)


@pytest.mark.parametrize("name", ALONG)
def test_functions_along_a_dimension_agree(name, agree):
    agree(lambda t, x, m: t.masked.normalize(x, 2.0, 1, mask=m), X, MASK)
    agree(
        lambda t, x, m: (getattr(t.masked, name)(x, 1, mask=m), getattr(t.masked, name)(x, 0)),
        X,
        MASK,
        grad=name != "log_softmax",
    )


@pytest.mark.parametrize("name", ["sum", "prod", "amax", "amin", "argmax", "cumsum", "var", "median"])
def test_integers_agree(name, agree):
    agree(lambda t, x, m: getattr(t.masked, name)(x, dim=1, mask=m), X.astype(np.int64), MASK)


def test_a_mask_of_numbers_selects_what_is_not_zero(agree):
    agree(lambda t, x, m: t.masked.sum(x, mask=m), X, MASK.astype(np.int64) * 3)


def test_variance_corrections_agree(agree):
    agree(lambda t, x, m: [t.masked.var(x, 1, u, mask=m) for u in (True, False, None)], X, MASK)
    agree(lambda t, x, m: (t.masked.var(x, 1, correction=0.5, mask=m), t.masked.std(x, 0, correction=2)), X, MASK, grad=False)
    agree(lambda t, x, m: t.masked.std(x, 1, mask=m), X * (1 + 2j), MASK, grad=False)


def test_masked_sum_of_exponentials_agrees(agree):
    agree(lambda t, x, m: t.masked.logaddexp(x, x * 2, input_mask=m, other_mask=~m), X, MASK)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda t, x, m: t.masked.sum(x, mask=m[None]),
        lambda t, x, m: t.masked.sum(x, mask=m[:, :2]),
        lambda t, x, m: t.masked.sum(x, dim=2, mask=m),
        lambda t, x, m: t.masked.amax(x, dim=(0, 0), mask=m),
        lambda t, x, m: t.masked.amin(m, mask=m),
        lambda t, x, m: t.masked.mean(m, mask=m),
        lambda t, x, m: t.masked.median(x.long(), 1, mask=m & False),
        lambda t, x, m: t.masked.norm(x, "fro", mask=m),
        lambda t, x, m: t.masked.var(x, 1, True, correction=1, mask=m),
    ],
)
def test_errors_are_of_the_same_class(wrong, refuse):
    refuse(wrong, X, MASK, words=False)
