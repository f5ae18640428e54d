"""``out=`` of ops that insist on its dtype, membership, spaced values with ends as Tensors, and gradients of draws."""

import numpy as np
import pytest
import torch as oracle

import funtorch as torch

X = np.array([[0.5, 2.0], [3.0, 0.25]])


@pytest.mark.parametrize(
    "given",
    [
        lambda t, x: t.gather(x, 0, t.zeros(1, 2, dtype=t.int64), out=t.empty(1, 2)),
        lambda t, x: t.aminmax(x, dim=0, out=(t.empty(2, dtype=t.float64), t.empty(2))),
        lambda t, x: t.complex(x, x, out=t.empty(2, 2, dtype=t.complex64)),
        lambda t, x: t.polar(x, x, out=t.empty(2, 2, dtype=t.complex64)),
        lambda t, x: t.narrow_copy(x, 0, 0, 1, out=t.empty(1, 2)),
        lambda t, x: t.narrow_copy(x, 2, 0, 1),
        lambda t, x: t.arange(0, 64, 0.5, out=t.empty(0, dtype=t.int64)),
        lambda t, x: t.linspace(0, 1, 2.0),
        lambda t, x: t.logspace(0, 1, -1),
        lambda t, x: t.linspace(x, x, 3),
        lambda t, x: t.isin(1, 2),
        lambda t, x: t.isin(x > 1, x > 1),
    ],
)
def test_wrong_arguments_raise_the_same_class(given, refuse):
    refuse(given, X, words=False)


def test_a_refused_out_is_left_alone():
    first = torch.zeros(2, dtype=torch.float64)
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype double, but got float instead"):
        torch.aminmax(torch.tensor(X), dim=0, out=(first, torch.empty(2)))
    assert not first.any()


def test_membership_agrees(agree):
    rows = np.arange(6).reshape(2, 3)
    agree(
        lambda t, x, y: (t.isin(x, y), t.isin(x, y, invert=True), t.isin(x, 2), t.isin(2, y), t.isin(x, y.double())),
        rows,
        np.array([1, 4]),
    )


def test_spaced_values_in_the_dtype_of_out_agree(agree):
    def spaced(t):
        into = [t.empty(0, dtype=d) for d in (t.int64, t.float64, t.int32, t.int64)]
        t.linspace(0, 5, 3, out=into[0])
        t.logspace(0, 2, 3, out=into[1])
        t.arange(0.5, 4.7, 1.5, out=into[2])
        t.arange(0, 10, 2.5, out=into[3])
        return into

    agree(spaced)


@pytest.mark.parametrize("steps", [0, 1, 2, 5])
def test_spaced_values_map_over_their_ends(steps):
    start, end = torch.tensor([0.0, -1.0]), torch.tensor([2.0, 1.0])
    found = (
        torch.vmap(lambda a, b: torch.linspace(a, b, steps))(start, end),
        torch.vmap(lambda a: torch.logspace(a, 1, steps))(start),
    )
    for row, (a, b) in enumerate(zip(start.tolist(), end.tolist(), strict=True)):
        np.testing.assert_allclose(found[0][row].numpy(), oracle.linspace(a, b, steps).numpy(), rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(found[1][row].numpy(), oracle.logspace(a, 1, steps).numpy(), rtol=1e-6)


def test_draws_have_gradient_zero(agree):
    def drawn(f):
        def run(t, *args):
            t.manual_seed(0)
            return f(t, *args)

        return run

    agree(drawn(lambda t, p: t.bernoulli(p)), X / 4)
    agree(drawn(lambda t, p: t.bernoulli(p)), np.array(0.3))
    agree(drawn(lambda t, p: t.poisson(p)), X)
    agree(drawn(lambda t, m, s: (t.normal(m, s), t.normal(m, 2.0), t.normal(1.0, s))), X, X)


def test_draws_have_tangent_zero():
    p = torch.tensor(X / 4)
    for draw in (torch.bernoulli, lambda v: torch.normal(v, 1.0)):
        value, tangent = torch.func.jvp(draw, (p,), (torch.ones_like(p),))
        assert value.shape == p.shape and not tangent.any()


def test_native_batch_norm_writes_its_results(agree):
    def normalised(t, x):
        into = [t.empty(0, dtype=t.float64) for _ in range(3)]
        t.native_batch_norm(x, None, None, None, None, True, 0.1, 1e-5, out=tuple(into))
        return into

    agree(normalised, X[..., None], grad=False)
