"""Normals that were foreseen are the ones that come: those of one draw at a time, whatever is drawn between."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from funtorch.core import foreseen
from funtorch.core.mersenne import MersenneTwister

BETWEEN = {
    "nothing": lambda source, i: None,
    "a uniform now and then": lambda source, i: source.uniform((i % 3,)) if i % 5 == 4 else None,
    "another size": lambda source, i: source.normal((48,)) if i % 7 == 6 else None,
    "a few": lambda source, i: source.normal((3,)) if i % 6 == 5 else None,
    "a seed": lambda source, i: source.seed(i) if i % 9 == 8 else None,
    "another seed's state": lambda source, i: source.set_state(MersenneTwister(i).get_state()) if i % 9 == 8 else None,
    "back to the start": lambda source, i: source.go_back(MersenneTwister(7).mark()) if i % 9 == 8 else None,
}


@pytest.mark.parametrize("name", BETWEEN)
@pytest.mark.parametrize(("n", "dtype"), [(16, np.float32), (100, np.float32), (100, np.float16), (1000, np.float32)])
def test_the_same_as_without(name, n, dtype, monkeypatch):
    def drawn() -> list:
        source = MersenneTwister(7)
        results = []
        for i in range(40):
            results.append(source.normal((n,), dtype, 0.5 * (i % 2), 1 + i % 3))
            BETWEEN[name](source, i)
        return [*results, source.get_state()]

    ours = drawn()
    monkeypatch.setattr(MersenneTwister, "foreseen", lambda self: None)
    for a, b in zip(ours, drawn(), strict=True):
        np.testing.assert_array_equal(a, b)


def test_torch_goes_on_so():
    torch_, ours = torch.Generator().manual_seed(3), MersenneTwister(3)
    for _ in range(60):
        np.testing.assert_allclose(ours.normal((100,)), torch.randn(100, generator=torch_).numpy(), rtol=3e-7)
    np.testing.assert_array_equal(ours.get_state(), torch_.get_state().numpy())


def test_only_a_run_of_draws_looks_ahead(monkeypatch):
    asked = []
    transformed = foreseen.transformed
    monkeypatch.setattr(foreseen, "transformed", lambda words, draw: asked.append(len(words)) or transformed(words, draw))
    source = MersenneTwister(0)
    for _ in range(6):
        source.normal((32,))
        source.uniform((5,))
    assert asked == [1] * 6
    asked.clear()
    for _ in range(100):
        source.normal((32,))
    assert len(asked) < 5


def test_a_result_is_the_callers_own():
    source, other = MersenneTwister(0), MersenneTwister(0)
    for _ in range(6):
        values, expected = source.normal((32,)), other.normal((32,))
        np.testing.assert_array_equal(values, expected)
        values[:] = 0


def test_a_copy_and_its_source_draw_the_same():
    source = MersenneTwister(5)
    for _ in range(4):
        source.normal((32,))
    twin = source.copy()
    for _ in range(4):
        np.testing.assert_array_equal(source.normal((32,)), twin.normal((32,)))
