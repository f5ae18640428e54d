"""Variances, norms, medians, quantiles, histograms, covariances: against PyTorch."""

import numpy as np
import pytest

import funtorch as torch

X = np.array([[1.0, -2.0, 0.5, 4.0], [3.0, 0.25, -1.5, 2.0], [0.5, 0.5, 2.5, -3.0]])
Z = X[:, :2] + 1j * X[:, 2:]
NAN = np.where(np.abs(X) < 1, np.nan, X)


@pytest.mark.parametrize("name", ["var", "std", "var_mean", "std_mean"])
def test_spreads_agree_in_all_forms(name, agree):
    agree(lambda t, x: (getattr(t, name)(x), getattr(t, name)(x, 1), getattr(t, name)(x, (0, 1), keepdim=True)), X)
    agree(lambda t, x: (getattr(t, name)(x, False), getattr(t, name)(x, 0, False, True), getattr(t, name)(x, unbiased=False)), X)
    agree(lambda t, x: (getattr(t, name)(x, dim=1, correction=0), getattr(t, name)(x, correction=2)), X)
    agree(lambda t, x: getattr(t, name)(x, 0), Z)


def test_deviation_of_equals_has_gradient_zero(agree):
    agree(lambda t, x: (x.std(), x.std(0)), np.ones((3, 2)))


@pytest.mark.filterwarnings("ignore:.*degrees of freedom")
def test_too_few_elements_give_nan():
    assert torch.tensor([1.0]).var().isnan().item()
    assert torch.zeros(0).std().isnan().item()


@pytest.mark.parametrize("p", [0, 0.5, 1, 1.5, 2, 3, float("inf"), float("-inf"), "fro"])
def test_norms_agree(p, agree):
    agree(lambda t, x: (t.norm(x, p), t.norm(x, p, dim=1), x.norm(p, (0, 1), keepdim=True)), X, grad=p != 0)


@pytest.mark.parametrize("p", [1, 1.5, 2, 3, float("inf")])
def test_norms_at_zero_have_gradient_zero(p, agree):
    agree(lambda t, x: (x.norm(p), x.norm(p, 0)), np.array([[0.0, 0.0], [0.0, 2.0]]))


def test_norm_of_complex_and_nuclear_norm_agree(agree):
    agree(lambda t, x: (x.norm(), x.norm(1), x.norm(3, 0)), Z)
    agree(lambda t, x: t.norm(x, "nuc"), X)


def test_norm_of_integers_raises(refuse):
    refuse(lambda t, x: x.norm(), np.array([1, 2]), words=False)


def test_dist_and_renorm_agree(agree):
    agree(lambda t, x, y: (t.dist(x, y), t.dist(x, y, 1), t.dist(x, y, 3)), X, X[:1] * 0.5)
    agree(lambda t, x: t.renorm(x, 2, 0, 2.0), X)


def test_medians_agree(agree):
    agree(lambda t, x: (x.median(), x.median(1), x.median(0, keepdim=True), t.nanmedian(x), x.nanmedian(1)), X)
    agree(lambda t, x: (x.median(), x.median(1).values, x.nanmedian(), x.nanmedian(1).values), NAN, grad=False)
    agree(lambda t, x: (x.median(), x.median(0).values), np.array([[3, 1], [2, 5], [4, 4], [0, 0]]))
    agree(lambda t, x: x.median(), np.array([1.0, 1.0, 0.0]))


def test_kthvalue_agrees(agree, refuse):
    agree(lambda t, x: (x.kthvalue(2), t.kthvalue(x, 1, 0, True)), X)
    refuse(lambda t, x: x.kthvalue(9), X, words=False)


def test_mode_takes_the_smallest_of_the_most_frequent(agree):
    x = np.array([[3, 1, 1, 3, 2], [5, 4, 5, 4, 5], [9, 8, 7, 6, 5]])
    agree(lambda t, x: (x.mode(1).values, x.mode(1, keepdim=True).values), x)
    found = torch.mode(torch.tensor(x), 1)
    assert torch.equal(torch.tensor(x).gather(1, found.indices[:, None])[:, 0], found.values)


@pytest.mark.parametrize("interpolation", ["linear", "lower", "higher", "midpoint", "nearest"])
def test_quantiles_agree(interpolation, agree):
    q = np.array([0.0, 0.3, 0.5, 1.0])
    agree(lambda t, x: t.quantile(x, t.tensor(q), 1, interpolation=interpolation), X)
    agree(lambda t, x: t.nanquantile(x, 0.4, 1, True, interpolation=interpolation), NAN, grad=False)


def test_quantile_of_all_and_errors(agree, refuse):
    agree(lambda t, x: (x.quantile(0.25), x.quantile(0.5, keepdim=True)), X)
    agree(lambda t, x: (x.quantile(0.25, 1), x.nanquantile(0.25)), NAN, grad=False)
    refuse(lambda t, x: x.quantile(1.5), X, words=False)
    refuse(lambda t, x: x.quantile(0.5), np.array([1, 2]), words=False)


def test_histograms_agree(agree):
    agree(lambda t, x: (t.histc(x, 4), t.histc(x, 5, -2, 2)), X, grad=False)
    agree(lambda t, x: t.histogram(x, 4), X, grad=False)
    agree(lambda t, x, w: t.histogram(x, 3, range=(-1.0, 2.0), weight=w, density=True), X, np.abs(X), grad=False)
    agree(lambda t, x, e: t.histogram(x, e), X, np.array([-2.0, 0.0, 0.5, 4.0]), grad=False)


def test_histogram_in_several_dimensions_agrees(agree):
    agree(lambda t, x: tuple(t.histogramdd(x, [2, 3])), X[:, :2].copy(), grad=False)


def test_bincount_agrees(agree, refuse):
    agree(lambda t, x: (t.bincount(x), x.bincount(minlength=8)), np.array([1, 5, 1, 0]))
    agree(lambda t, x, w: t.bincount(x, w), np.array([1, 3, 1]), np.array([0.5, 1.0, 2.0]), grad=False)
    refuse(lambda t, x: t.bincount(x), np.array([-1, 2]))


def test_covariances_agree(agree):
    agree(lambda t, x: (t.cov(x), t.cov(x, correction=0), t.corrcoef(x), t.cov(x[0])), X)
    agree(lambda t, x, f, a: t.cov(x, fweights=f, aweights=a), X, np.array([1, 2, 1, 3]), np.array([0.5, 1.0, 2.0, 0.25]))


def test_cross_agrees(agree, refuse):
    agree(lambda t, x, y: (t.cross(x, y, dim=0), x.cross(y, 0)), X, X[::-1].copy())
    refuse(lambda t, x: t.cross(x, x, dim=1), X, words=False)


def test_differences_and_areas_agree(agree):
    agree(lambda t, x: (x.diff(), t.diff(x, 2, 0), t.diff(x, dim=1, prepend=x[:, :1])), X)
    agree(lambda t, x: (t.diff(x > 1, dim=1).int(),), X)
    agree(lambda t, x: (t.trapezoid(x), t.trapz(x, dx=0.5, dim=0), t.cumulative_trapezoid(x, dim=1)), X)
    agree(lambda t, y, x: (t.trapezoid(y, x), t.cumulative_trapezoid(y, x)), X, np.array([0.0, 1.0, 3.0, 3.5]))


def test_gradient_agrees(agree, refuse):
    agree(lambda t, x: (t.gradient(x), t.gradient(x, spacing=0.5, edge_order=2), t.gradient(x, dim=1, spacing=2.0)), X)
    agree(lambda t, x, p: t.gradient(x, dim=1, spacing=[p], edge_order=2), X, np.array([0.0, 1.0, 3.0, 3.5]))
    refuse(lambda t, x: t.gradient(x, edge_order=3), X, words=False)


@pytest.mark.parametrize(
    "fn, value, want",
    [
        (lambda t, x: t.logsumexp(x, 1), [[-np.inf, -np.inf], [0.0, 0.0]], [[0.0, 0.0], [0.5, 0.5]]),
        (lambda t, x: t.logaddexp(x[0], x[1]), [-np.inf, -np.inf], [0.0, 0.0]),
        (lambda t, x: t.logaddexp(x[0], x[1]), [-np.inf, 1.0], [0.0, 1.0]),
        (lambda t, x: t.logcumsumexp(x, 0), [-np.inf, 0.0, 0.0], [0.0, 1.5, 0.5]),
    ],
)
def test_rows_without_information_have_gradient_zero(fn, value, want):
    """PyTorch gives NaN here; the gradient of what can't change is 0."""
    x = torch.tensor(np.array(value), requires_grad=True)
    fn(torch, x).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), want)
