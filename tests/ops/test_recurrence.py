"""What recurrent layers are made of: the fast tanh, the loop that writes in place, the states a gradient reads, XLA's options."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import funtorch
from funtorch.core.compiler_options import EIGEN, WIDE, accepted
from funtorch.ops import lstm_loops
from funtorch.ops.quick_tanh import quick_tanh
from funtorch.ops.recurrence import Inputs, states
from funtorch.ops.recurrence_slopes import attached

STEPS, BATCH, WIDTH, HIDDEN, OUT = 5, 3, 4, 6, 2


def given(batch: int = BATCH, projected: bool = False, lengths: bool = False) -> Inputs:
    draw = np.random.default_rng(0).standard_normal
    size = OUT if projected else HIDDEN
    return Inputs(
        x=jnp.asarray(draw((STEPS, batch, WIDTH))),
        w_ih=jnp.asarray(draw((4 * HIDDEN, WIDTH))),
        b=jnp.asarray(draw(4 * HIDDEN)),
        h=jnp.asarray(draw((batch, size))),
        c=jnp.asarray(draw((batch, HIDDEN))),
        w_hh=jnp.asarray(draw((4 * HIDDEN, size))),
        w_hr=jnp.asarray(draw((OUT, HIDDEN))) if projected else None,
        b_hn=None,
        lengths=jnp.arange(batch) % STEPS + 1 if lengths else None,
    )


def test_the_fast_tanh_is_within_three_units_of_the_last_place():
    x = np.concatenate([np.linspace(-12, 12, 100_001), np.logspace(-30, 0, 1001), [np.inf, -np.inf]]).astype(np.float32)
    exact = np.tanh(x.astype(np.float64))
    np.testing.assert_allclose(quick_tanh(x), exact, rtol=3.6e-7, atol=0)
    assert np.abs(quick_tanh(x)).max() == 1
    assert np.isnan(quick_tanh(np.float32(np.nan)))


def test_the_fast_tanh_has_slopes_of_each_order():
    for x in (-2.0, 0.0, 0.3, 20.0):
        t = np.tanh(x)
        np.testing.assert_allclose(jax.grad(quick_tanh)(np.float32(x)), 1 - t * t, atol=1e-6)
        np.testing.assert_allclose(jax.grad(jax.grad(quick_tanh))(np.float32(x)), -2 * t * (1 - t * t), atol=1e-6)


def test_the_fast_tanh_of_doubles_is_exact_to_their_precision():
    x = np.linspace(-3, 3, 101)
    np.testing.assert_allclose(quick_tanh(x), np.tanh(x), rtol=1e-14)


@pytest.mark.parametrize(
    "batch, reverse, projected, lengths", [(32, False, False, False), (3, True, True, False), (3, False, False, True)]
)
def test_the_loop_that_writes_in_place_gives_the_scan_s_states(batch, reverse, projected, lengths):
    inputs = given(batch, projected, lengths)
    expected = states("lstm", reverse, inputs)
    found = jax.jit(lambda inputs: lstm_loops.forward(reverse, inputs))(inputs)
    assert len(found) == len(expected) == 8
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("batch", [3, 32])
@pytest.mark.parametrize("reverse", [False, True])
def test_the_loop_backward_gives_the_derivative_s_gradients(reverse, batch):
    inputs = given(batch)
    known = states("lstm", reverse, inputs)
    dots = tuple(jnp.cos(jnp.arange(a.size, dtype=a.dtype)).reshape(a.shape) for a in (known[1], known[0], known[2]))

    def results(arrays):
        out = attached("lstm", reverse)(arrays, known)
        return out[1], out[0], out[2]

    (expected,) = jax.vjp(results, inputs)[1](dots)
    found = jax.jit(lambda *args: lstm_loops.backward(reverse, *args))(inputs, known, dots)
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("dtype, tolerance", [(funtorch.float64, 1e-10), (funtorch.float16, 2e-2)])
@pytest.mark.parametrize("bias", [True, False])
def test_kernels_and_the_host_agree_on_an_lstm_s_gradients(bias, dtype, tolerance):
    def gradients(engine: str) -> list[np.ndarray]:
        funtorch.manual_seed(0)
        layer = funtorch.nn.LSTM(WIDTH, HIDDEN, bias=bias, bidirectional=True).to(dtype)
        x, h, c = (
            funtorch.randn(n, 2, m, dtype=dtype, requires_grad=True) for n, m in ((STEPS, WIDTH), (2, HIDDEN), (2, HIDDEN))
        )
        with funtorch.set_engine(engine):
            for _ in range(2):  # node by node, and as one
                output, (last, cell) = layer(x, (h, c))
                (output.square().sum() + last.sin().sum() + cell.sum()).backward()
        return [each.grad.double().numpy() for each in (x, h, c, *layer.parameters())]

    for a, b in zip(gradients("kernel"), gradients("host"), strict=True):
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("reverse, lengths", [(False, True), (True, False)])
def test_known_states_have_the_derivatives_that_they_have_as_functions(reverse, lengths):
    inputs = given(projected=True, lengths=lengths)
    arrays = inputs._replace(lengths=None)
    tangents = jax.tree.map(lambda a: jnp.cos(jnp.arange(a.size, dtype=a.dtype)).reshape(a.shape), arrays)

    def slow(arrays):
        return states("lstm", reverse, arrays._replace(lengths=inputs.lengths))

    def quick(arrays):
        whole = arrays._replace(lengths=inputs.lengths)
        return attached("lstm", reverse)(whole, jax.lax.stop_gradient(states("lstm", reverse, whole)))

    # Past their ends the gates of sequences are of no use, and have no slopes that count.
    count = 4 if lengths else 8
    expected, found = (jax.jvp(f, (arrays,), (tangents,))[1][:count] for f in (slow, quick))
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


def test_options_that_the_compiler_does_not_know_are_left_out():
    assert accepted(()) is None
    assert accepted((("xla_cpu_no_such_option", "1"),)) is None
    if jax.default_backend() == "cpu":
        both = WIDE + EIGEN
        assert accepted((*both, ("xla_cpu_no_such_option", "1"))) == accepted(both) == dict(both)
