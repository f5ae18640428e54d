"""Sums, products, extremes, softmax along dimensions: values, gradients at ties and zeros, empty inputs, errors."""

import numpy as np
import pytest

import funtorch as torch

X = np.array([[[1.0, -2.0, 0.5], [3.0, 0.25, -1.5]], [[2.0, 2.0, -0.5], [0.75, 1.0, 4.0]]])
TIES = np.array([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]])
COUNTS = np.array([[1, 2, 0], [3, 0, 0]])
INF = np.inf


@pytest.mark.parametrize("name", ["sum", "mean", "prod", "nansum", "nanmean", "amax", "amin", "all", "any"])
@pytest.mark.parametrize("dim, keepdim", [(None, False), (1, False), (-1, True), ((0, 2), False)])
def test_reductions_agree(name, dim, keepdim, agree):
    if name == "prod" and isinstance(dim, tuple):
        pytest.skip("one dimension at most")
    if dim is None:
        agree(lambda t, x: getattr(t, name)(x), X)
    else:
        agree(lambda t, x: getattr(t, name)(x, dim, keepdim), X)


@pytest.mark.parametrize("name", ["sum", "prod", "nansum", "count_nonzero", "all", "any", "amax", "argmax", "cumsum", "cumprod"])
def test_integers_and_bools_agree(name, agree):
    agree(lambda t, x: (getattr(t, name)(x, 1), getattr(t, name)(x.int(), 0)), COUNTS)
    if name not in ("argmax",):
        agree(lambda t, x: getattr(t, name)(x != 0, 1), COUNTS)


def test_sum_in_other_types_agrees(agree):
    agree(
        lambda t, x: (x.sum(dtype=t.float64), x.sum(1, dtype=t.int32), x.prod(dtype=t.float32), x.mean(dtype=t.float32)), COUNTS
    )
    agree(lambda t, x: (x.sum(()), x.sum([]), x.sum(dim=0, keepdim=True), x.all(dim=(0, 1))), X)


def test_uint8_stays_in_all_and_any(agree):
    agree(lambda t, x: (x.all(), x.any(1)), np.array([[1, 0], [2, 3]], np.uint8))


def test_halves_are_added_up_in_float32():
    x = torch.ones(3000).half()
    assert x.sum().item() == 3000.0
    assert x.mean().item() == 1.0
    assert torch.ones(1000).bfloat16().sum().item() == 1000.0


def test_mean_of_integers_raises(refuse):
    refuse(lambda t, x: t.mean(x), COUNTS)
    refuse(lambda t, x: t.var(x), COUNTS, words=False)


def test_dimensions_out_of_range_raise(refuse):
    refuse(lambda t, x: x.sum(3), X)
    refuse(lambda t, x: x.sum((0, 0)), X)
    refuse(lambda t, x: x.max(-4), X)
    refuse(lambda t, x: x.softmax(5), X)


def test_empty_reductions_agree(agree):
    empty = np.zeros((0, 3))
    agree(lambda t, x: (x.sum(), x.prod(), x.sum(0), x.prod(0), x.all(), x.any(), x.sum(1), x.mean(), x.logsumexp(0)), empty)
    agree(lambda t, x: (x.amax(1), x.argmax(1), x.max(1), x.norm()), empty)


@pytest.mark.parametrize("name", ["max", "argmax", "amax", "aminmax", "median"])
def test_extremes_of_nothing_raise(name):
    empty = torch.zeros(0, 3)
    with pytest.raises((IndexError, RuntimeError), match=name):
        getattr(empty, name)(dim=0)


@pytest.mark.parametrize("shape", [(0, 0), (1, 0), (0,), (1, 1), (2, 0)])
def test_products_with_zeros_have_right_derivatives(shape, agree):
    zeros = np.array([0.0] * (2 - shape[0]) + [2.0, 3.0, -1.0]) if len(shape) > 1 else np.array([0.0, 2.0])
    agree(lambda t, x: (x.prod(), x.prod(0)), zeros)

    def twice(t, x):
        return t.autograd.grad((t.autograd.grad(x.prod(), x, create_graph=True)[0] ** 2).sum(), x)

    agree(twice, zeros)


def test_cumulative_products_with_zeros_have_right_derivatives(agree):
    agree(lambda t, x: x.cumprod(0), np.array([2.0, 0.0, 3.0, 0.0, 4.0]))
    agree(lambda t, x: x.cumprod(-1), np.array([[0.0, 1.0], [2.0, 0.0]]))


def test_extremes_share_or_pick_among_ties(agree):
    agree(lambda t, x: (x.max(), x.min(), x.amax(1), x.amin((0, 1))), TIES)
    agree(lambda t, x: (x.max(1), x.min(0, keepdim=True), t.max(x, -1)), TIES)
    agree(lambda t, x: (t.aminmax(x), t.aminmax(x, dim=1, keepdim=True)), TIES)


def test_max_takes_three_forms(agree):
    agree(
        lambda t, x, y: (t.max(x, y), x.min(y), t.max(x, other=y), t.max(x, dim=1).values, x.min(1)[1]), TIES, TIES[::-1].copy()
    )


def test_nan_is_an_extreme(agree):
    x = np.array([[1.0, np.nan, 3.0], [np.nan, 2.0, np.nan]])
    agree(lambda t, x: (x.max(1), x.min(0), x.argmax(1), x.argmin(), x.amax(1)), x, grad=False)


def test_argmax_takes_the_first(agree):
    agree(lambda t, x: (x.argmax(), x.argmax(1), x.argmin(0, keepdim=True), x.argmax(keepdim=True)), TIES)


def test_named_results():
    found = torch.tensor([1.0, 3.0]).max(0)
    assert found.values.item() == 3.0 and found.indices.item() == 1
    assert type(found).__name__ == "max" and repr(found).startswith("torch.return_types.max(\nvalues=tensor(3.)")
    values, indices = found
    assert (values.item(), indices.item()) == (3.0, 1)


@pytest.mark.parametrize("row", [[-INF, -INF], [INF, 1.0], [-INF, 1.0], [1000.0, 1000.0]])
def test_logsumexp_agrees_at_infinities(row, agree):
    # The gradient of a row of nothing but -inf is 0 here and NaN in torch (see test_statistics), so values alone there.
    agree(lambda t, x: t.logsumexp(x.detach() if row[1] == -INF else x, 0), np.array(row))


def test_logsumexp_agrees(agree):
    agree(lambda t, x: (x.logsumexp(1), x.logsumexp((0, 2), keepdim=True)), X)
    agree(lambda t, x: t.logsumexp(x, 1), COUNTS)


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax_agrees(name, agree, refuse):
    agree(lambda t, x: (getattr(t, name)(x, 1), getattr(x, name)(-1), getattr(t.special, name)(x, 0)), X)
    agree(lambda t, x: getattr(t, name)(x, 0), np.array([-INF, 1.0, -INF]))
    agree(lambda t, x: getattr(t, name)(x, 1, dtype=t.float64), COUNTS)
    refuse(lambda t, x: getattr(t, name)(x, 0), COUNTS, words=False)


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "softmin"])
def test_functional_softmax_agrees_and_warns_without_dim(name, agree):
    agree(lambda t, x: getattr(t.nn.functional, name)(x, dim=1, _stacklevel=5, dtype=t.float64), X)
    with pytest.warns(UserWarning, match="Implicit dimension"):
        implied = getattr(torch.nn.functional, name)(torch.tensor(TIES))
    assert torch.equal(implied, getattr(torch.nn.functional, name)(torch.tensor(TIES), dim=1))


def test_running_forms_agree(agree):
    agree(lambda t, x: (x.cumsum(1), x.cumprod(-1), x.logcumsumexp(0), t.cumsum(x, 0, dtype=t.float32)), X)
    agree(lambda t, x: (x.cummax(1), x.cummin(0)), TIES)
    agree(lambda t, x: (x.cummax(0), x.cummin(0)), np.array([2.0, np.nan, 3.0, 1.0]), grad=False)
    agree(lambda t, x: x.logcumsumexp(0), np.array([-INF, 1.0, 2.0, -INF]), grad=False)


def test_sum_to_size_agrees(agree):
    agree(lambda t, x: (x.sum_to_size(2, 1, 3), x.sum_to_size(1, 3), x.sum_to_size((2, 2, 3))), X)
