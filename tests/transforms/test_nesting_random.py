"""Random numbers in every transform under vmap: a draw for each lane, or one for all, and no others."""

import numpy as np
import pytest
import torch as reference
from composing import LANES, OURS, REFERENCE, WEIGHTS, X

import funtorch


def jacfwd(m, f):
    options = {"randomness": "same"} if m is funtorch else {}
    return lambda x: m.tensor(WEIGHTS) @ m.func.jacfwd(f, **options)(x)


INNER = {**{k: OURS[k] for k in ("grad", "jvp", "jacrev", "compile", "checkpoint", "backward")}, "jacfwd": jacfwd}


def lanes_of(m):
    return m.tensor(X)[None] * m.tensor(LANES)[:, None]


@pytest.mark.parametrize("mode", ["same", "different"])
@pytest.mark.parametrize("inner", INNER)
def test_draws(inner, mode):
    def noisy(x):
        return (x * funtorch.rand(3, dtype=funtorch.float64)).sin() + x**2

    funtorch.manual_seed(5)
    found = funtorch.vmap(INNER[inner](funtorch, noisy), randomness=mode)(lanes_of(funtorch))
    after = funtorch.rand(1).item()

    reference.manual_seed(5)
    draws = reference.rand(*([3] if mode == "different" else []), 3, dtype=reference.float64)
    table = {**REFERENCE, "jacfwd": jacfwd}

    def lane(x, draw):
        return table[inner](reference, lambda z: (z * draw).sin() + z**2)(x)

    expected = reference.func.vmap(lane, in_dims=(0, 0 if mode == "different" else None))(lanes_of(reference), draws)
    np.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy(), rtol=1e-10)
    assert after == reference.rand(1).item()


@pytest.mark.parametrize("inner", INNER)
def test_draws_are_refused_unasked(inner):
    with pytest.raises(RuntimeError, match="randomness"):
        funtorch.vmap(INNER[inner](funtorch, lambda x: x * funtorch.rand(3, dtype=funtorch.float64)))(lanes_of(funtorch))


def test_an_outer_transform_of_a_random_vmap():
    def total(x):
        return funtorch.vmap(lambda x: (x * funtorch.rand(3, dtype=funtorch.float64)).sin(), randomness="different")(
            lanes_of(funtorch) * x
        ).sum()

    funtorch.manual_seed(5)
    found = funtorch.func.grad(total)(funtorch.tensor(X))
    reference.manual_seed(5)
    draws = reference.rand(3, 3, dtype=reference.float64)
    expected = reference.func.grad(lambda x: ((lanes_of(reference) * x) * draws).sin().sum())(reference.tensor(X))
    np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-10)
