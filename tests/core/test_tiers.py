"""The rules between the tiers: by counts and sizes."""

import math

import jax
import jax.numpy as jnp
import pytest

from funtorch.core import tiers


def _jaxpr(f, *shapes):
    return jax.make_jaxpr(f)(*[jax.ShapeDtypeStruct(s, jnp.float32) for s in shapes]).jaxpr


def test_small_work_stays_on_the_host():
    assert tiers.patience(_jaxpr(lambda a, b: a + b, (32, 32), (32, 32))) == math.inf


def test_large_work_of_few_primitives_gets_a_kernel_at_once():
    assert tiers.patience(_jaxpr(lambda a, b: a @ b, (1024, 1024), (1024, 1024))) == 0


def _chain(x, n):
    for _ in range(n):
        x = jnp.tanh(x)
    return x


def test_long_programs_wait_for_what_they_cost_to_compile():
    counts = [tiers.patience(_jaxpr(lambda x, n=n: _chain(x, n), (300, 300))) for n in (40, 200)]
    assert counts[0] == 0 < counts[1] <= tiers.MOST_CALLS


def test_the_more_a_call_saves_the_sooner():
    counts = [tiers.patience(_jaxpr(lambda x: _chain(x, 6), (size, 32))) for size in (16, 32, 64, 128)]
    assert counts == sorted(counts, reverse=True) and counts[0] > counts[-1] > 0


def test_loops_wait_too():
    f = _jaxpr(lambda x: jax.lax.fori_loop(0, 9, lambda i, c: jnp.sin(c), x), (8,))
    assert 0 < tiers.patience(f) <= tiers.MOST_CALLS


@pytest.mark.parametrize(("works", "passes"), [([1.0] * 8, tiers.MOST_PASSES), ([5000.0] * 8, 1)])
def test_backward_passes_before_they_are_one_program(works, passes):
    assert tiers.composite_patience(works) == passes
