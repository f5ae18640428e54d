"""sort, topk, unique, searchsorted against torch, with NaN, ties, bools and integers."""

import numpy as np
import pytest

X = np.array([[3.0, 1, 2, 5], [0, 7, -1, 4]])
NANS = np.array([1.0, np.nan, -np.inf, np.inf, np.nan, 0.0, -0.0])
INTS = np.array([3, 1, 3, 3, -2, 1])

OPS = {
    "sort": lambda t, x: x.sort(),
    "sort descending": lambda t, x: t.sort(x, 0, descending=True),
    "sort stable": lambda t, x: t.sort(x, stable=True, dim=1),
    "argsort": lambda t, x: x.argsort(-1, True),
    "msort": lambda t, x: t.msort(x),
    "topk": lambda t, x: x.topk(2),
    "topk smallest": lambda t, x: t.topk(x, 3, 1, largest=False),
    "topk along rows": lambda t, x: x.topk(1, dim=0),
    "topk of a number": lambda t, x: x[0, 0].topk(1),
    "sort of a number": lambda t, x: x[0, 0].sort(),
}


@pytest.mark.parametrize("name", OPS)
def test_values_and_gradients(name, agree):
    agree(OPS[name], X)


PLAIN = {
    "sort NaN": (lambda t, x: x.sort(stable=True), NANS),
    "sort NaN descending": (lambda t, x: x.sort(descending=True, stable=True), NANS),
    "topk NaN": (lambda t, x: x.topk(4)[0], NANS),
    "topk NaN smallest": (lambda t, x: x.topk(6, largest=False)[0], NANS),
    "sort integers": (lambda t, x: x.sort(stable=True), INTS),
    "sort integers descending": (lambda t, x: x.sort(stable=True, descending=True), INTS),
    "topk integers": (lambda t, x: (x.topk(3)[0], x.topk(3, largest=False)[0]), INTS),
    "topk half": (lambda t, x: x.half().topk(3, largest=False), INTS[[0, 1, 4]] * 1.5),
    "sort bools": (lambda t, x: (x > 2).sort(stable=True), INTS),
    "unique": (lambda t, x: t.unique(x, return_inverse=True, return_counts=True), INTS),
    "unique NaN": (lambda t, x: t.unique(x[:5], return_counts=True), NANS),
    "unique values": (lambda t, x: x.unique(), INTS),
    "unique of a matrix": (lambda t, x: t.unique(x.view(2, 3), return_inverse=True), INTS),
    "unique rows": (
        lambda t, x: t.unique(x.view(3, 2), dim=0, return_inverse=True, return_counts=True),
        np.array([3, 1, 0, 2, 3, 1]),
    ),
    "unique columns": (lambda t, x: t.unique(x.view(2, 3), dim=1, return_inverse=True), np.array([3, 1, 3, 2, 0, 2])),
    "unique of nothing": (lambda t, x: t.unique(x[:0], return_inverse=True, return_counts=True), INTS),
    "unique_consecutive": (lambda t, x: t.unique_consecutive(x, return_inverse=True, return_counts=True), INTS),
    "unique_consecutive rows": (lambda t, x: x.view(3, 2).unique_consecutive(dim=0), np.array([3, 1, 3, 1, 0, 1])),
    "searchsorted": (lambda t, x: t.searchsorted(t.tensor([1.0, 3, 5]), x), X),
    "searchsorted right": (lambda t, x: t.searchsorted(t.tensor([1.0, 3, 5]), x, right=True, out_int32=True), X),
    "searchsorted side": (lambda t, x: t.searchsorted(t.tensor([1, 3, 3]), 3, side="right"), X),
    "searchsorted rows": (lambda t, x: t.searchsorted(x.sort()[0], x), X),
    "searchsorted sorter": (lambda t, x: t.searchsorted(x, x, sorter=x.argsort()), X),
    "searchsorted of floats among integers": (lambda t, x: t.searchsorted(t.tensor([1, 2, 3]), 1.5), X),
    "bucketize": (lambda t, x: t.bucketize(x, t.tensor([1.0, 3, 5])), X),
    "bucketize right": (lambda t, x: t.bucketize(x, t.tensor([1.0, 3, 5]), right=True), X),
}


@pytest.mark.parametrize("name", PLAIN)
def test_values(name, agree):
    f, x = PLAIN[name]
    agree(f, x, grad=False)


ERRORS = {
    "sort dim": lambda t, x: x.sort(5),
    "topk": lambda t, x: x.topk(5),
    "topk negative": lambda t, x: x.topk(-1),
    "searchsorted": lambda t, x: t.searchsorted(x, t.tensor([[1.0]], dtype=t.float64)),
    "searchsorted side": lambda t, x: t.searchsorted(x[0], x[0], side="lef"),
    "searchsorted sides": lambda t, x: t.searchsorted(x[0], x[0], right=True, side="left"),
    "bucketize": lambda t, x: t.bucketize(x, x),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name, refuse):
    refuse(ERRORS[name], X)
