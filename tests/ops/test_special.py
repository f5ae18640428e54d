"""Special functions: values against PyTorch or mpmath, gradients, poles and far arguments."""

import mpmath
import numpy as np
import pytest
import torch as oracle

import funtorch as torch

INSIDE = np.array([0.1, 0.5, 0.9])
ANY = np.array([-2.5, -0.3, 0.0, 0.7, 3.0])
POSITIVE = np.array([0.3, 1.0, 2.5, 7.0])
FAR = np.array([np.inf, -np.inf, np.nan, 60.0, -60.0, 0.0])


@pytest.mark.parametrize("name", ["erf", "erfc", "erfcx", "ndtr", "log_ndtr", "i0", "i0e", "i1", "i1e"])
def test_functions_of_the_line_agree(name, agree):
    agree(lambda t, x: getattr(t.special, name)(x), ANY)
    agree(lambda t, x: getattr(t.special, name)(x), FAR, grad=False)


@pytest.mark.parametrize("name", ["erfinv", "ndtri", "entr", "logit"])
def test_functions_of_the_unit_interval_agree(name, agree):
    agree(lambda t, x: getattr(t.special, name)(x), INSIDE)
    agree(lambda t, x: getattr(t.special, name)(x), np.array([-0.5, 0.0, 1.0, 1.5, np.nan]), grad=False)


@pytest.mark.parametrize("name", ["lgamma", "digamma"])
def test_gamma_functions_agree(name, agree):
    agree(lambda t, x: getattr(t, name)(x), np.array([0.3, 2.5, -1.5, 7.0]))
    agree(lambda t, x: getattr(t, name)(x), np.array([0.0, -1.0, np.inf, np.nan]), grad=False)


@pytest.mark.parametrize("n", [0, 1, 2, 4])
def test_polygamma_agrees(n, agree):
    agree(lambda t, x: (t.polygamma(n, x), x.polygamma(n)), POSITIVE)


@pytest.mark.parametrize("mode", ["host", "kernel"])
def test_functions_of_negative_arguments_are_exact(mode):
    points = [-20.3, -8.9, -7.3, -0.4, -2.95]
    with torch.set_engine(mode):
        x = torch.tensor(points, dtype=torch.float64, requires_grad=True)
        for n in (1, 2, 5):
            found = torch.polygamma(n, x)
            (slope,) = torch.autograd.grad(found.sum(), x)
            for order, values in ((n, found.detach()), (n + 1, slope)):
                expected = [float(mpmath.polygamma(order, mpmath.mpf(p))) for p in points]
                np.testing.assert_allclose(values.numpy(), expected, rtol=1e-13)
        (slope,) = torch.autograd.grad(torch.lgamma(x).sum(), x, create_graph=True)
        (curvature,) = torch.autograd.grad(slope.sum(), x)
        np.testing.assert_allclose(curvature.numpy(), torch.polygamma(1, x).detach().numpy(), rtol=1e-13)


@pytest.mark.parametrize("mode", ["host", "kernel"])
def test_zeta_of_negative_arguments_and_its_gradient(mode):
    points = [-8.9, -20.5, 2.0, 0.5]
    with torch.set_engine(mode):
        q = torch.tensor(points, dtype=torch.float64, requires_grad=True)
        found = torch.special.zeta(3.0, q)
        (slope,) = torch.autograd.grad(found.sum(), q)
    # zeta(n + 1, q) is polygamma(n, q) / n! but for its sign.
    value, fourth = ([float(mpmath.polygamma(n, mpmath.mpf(v))) for v in points] for n in (2, 3))
    np.testing.assert_allclose(found.detach().numpy(), -np.array(value) / 2, rtol=1e-11)
    np.testing.assert_allclose(slope.numpy(), -np.array(fourth) / 2, rtol=1e-11)


@pytest.mark.parametrize("mode", ["host", "kernel"])
def test_zeta_at_its_poles_below_one_and_far_out_agrees(mode, agree):
    x, q = np.meshgrid([-2.0, -1.0, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0, np.inf, np.nan], [-np.inf, -2.0, -1.5, -1.0, 0.0, 0.5, 1.0])
    with torch.set_engine(mode):
        agree(lambda t, x, q: t.special.zeta(x, q), x, q, grad=False)


def test_zeta_has_no_derivative_in_its_first_argument():
    x = torch.tensor([2.0, 3.0], requires_grad=True)
    with pytest.raises(NotImplementedError):
        torch.autograd.grad(torch.special.zeta(x, 2.0).sum(), x)


def test_airy_function_of_negative_floats_is_exact_to_their_precision():
    x = np.linspace(-12, 3, 61).astype(np.float32)
    expected = [float(mpmath.airyai(float(v))) for v in x]
    np.testing.assert_allclose(torch.special.airy_ai(torch.tensor(x)).numpy(), expected, rtol=2e-7, atol=1e-8)


def test_polygamma_of_negative_order_raises(refuse):
    refuse(lambda t, x: t.polygamma(-1, x), POSITIVE)


def test_incomplete_gamma_and_relatives_agree(agree):
    agree(
        lambda t, x, y: (t.igamma(x, y), t.igammac(x, y), t.special.zeta(x + 1, y)), POSITIVE, POSITIVE[::-1].copy(), grad=False
    )
    agree(lambda t, x: t.igamma(t.tensor(POSITIVE), x), POSITIVE)
    agree(lambda t, x: t.mvlgamma(x + 1, 3), POSITIVE)


def test_second_derivatives_at_zero_agree(agree):
    def curvature(t, x, f):
        return t.autograd.grad(t.autograd.grad(f(x).sum(), x, create_graph=True)[0].sum(), x)

    zero = np.array([0.0, 0.5])
    for name in ("i0", "erf", "log_ndtr"):
        agree(lambda t, x, name=name: curvature(t, x, getattr(t.special, name)), zero)


def test_sinc_has_its_curvature_at_zero():
    x = torch.tensor(0.0, dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(torch.sinc(x), x, create_graph=True)
    (curvature,) = torch.autograd.grad(slope, x)
    assert slope.item() == 0 and curvature.item() == pytest.approx(-(np.pi**2) / 3)  # PyTorch gives NaN


BESSEL = {
    "bessel_j0": lambda v: mpmath.besselj(0, v),
    "bessel_j1": lambda v: mpmath.besselj(1, v),
    "bessel_y0": lambda v: mpmath.bessely(0, v),
    "bessel_y1": lambda v: mpmath.bessely(1, v),
    "modified_bessel_k0": lambda v: mpmath.besselk(0, v),
    "modified_bessel_k1": lambda v: mpmath.besselk(1, v),
    "scaled_modified_bessel_k0": lambda v: mpmath.besselk(0, v) * mpmath.exp(v),
    "scaled_modified_bessel_k1": lambda v: mpmath.besselk(1, v) * mpmath.exp(v),
    "airy_ai": mpmath.airyai,
}


@pytest.mark.parametrize("name", list(BESSEL))
def test_bessel_functions_are_exact(name):
    # Near and far from the origin, and on both sides of where the method changes. PyTorch's own are off by up to 1e-6.
    x = [1e-3, 0.4, 0.999, 1.001, 2.4, 8.0, 17.0, 24.99, 25.01, 60.0]
    x += [-v for v in x if v < 20] if name == "airy_ai" else []
    expected = np.array([float(BESSEL[name](v)) for v in x])
    found = getattr(torch.special, name)(torch.tensor(x, dtype=torch.float64)).numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("name", [*list(BESSEL)[:-1], "spherical_bessel_j0"])
def test_bessel_functions_at_the_ends_agree(name, agree):
    agree(lambda t, x: getattr(t.special, name)(x), np.array([0.0, -1.0, np.nan]), grad=False)
    assert getattr(torch.special, name)(torch.tensor(np.inf)).item() == 0  # the limit; PyTorch gives NaN for some


def test_bessel_functions_are_differentiable():
    x = torch.tensor([0.5, 8.0, 30.0], dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(torch.special.bessel_j0(x).sum(), x)
    np.testing.assert_allclose(slope.numpy(), -torch.special.bessel_j1(x).detach().numpy(), atol=1e-14)


POLYNOMIALS = [n for n in dir(oracle.special) if "polynomial" in n]


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_polynomials_agree(name, agree):
    x, n = np.array([1e-3, 0.3, 1.0, -1.0, -0.5, 1.5, 0.2]), np.array([0.0, 1.0, 2.0, 3.0, 9.0, 4.0, -1.0])
    agree(
        lambda t, x, n: (getattr(t.special, name)(x, n), getattr(t.special, name)(x, 3), getattr(t.special, name)(0.3, n)),
        x,
        n,
        grad=False,
    )


def test_names_in_other_places_are_the_same_functions():
    for name, other in (
        ("expit", "sigmoid"),
        ("gammaln", "lgamma"),
        ("psi", "digamma"),
        ("gammainc", "igamma"),
        ("exp2", "exp2"),
    ):
        assert getattr(torch.special, name) is getattr(torch, other)
    assert not [
        n
        for n in dir(oracle.special)
        if n[0] != "_" and callable(getattr(oracle.special, n)) and not hasattr(torch.special, n) and n != "Tensor"
    ]


def test_half_precision_is_computed_in_float32():
    x = torch.tensor([0.3, 2.5]).bfloat16()
    for name in ("lgamma", "erfcx", "i0"):
        f = getattr(torch.special, "gammaln" if name == "lgamma" else name)
        assert torch.equal(f(x), f(x.float()).bfloat16())
