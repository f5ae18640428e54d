"""From one seed and nothing else shared, torch and funtorch train the same models: the same initial weights, the same losses at every step."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
import torch

import funtorch

_spec = importlib.util.spec_from_file_location("twins", Path(__file__).with_name("twins.py"))
twins = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(twins)


@pytest.mark.parametrize("name", twins.TWINS)
def test_same_architecture_keys_weights_losses_and_draws(name):
    results = []
    for lib in (torch, funtorch):
        lib.manual_seed(0)
        results.append((*twins.TWINS[name](lib), lib.rand(5).numpy(), lib.get_rng_state().numpy()))
    (want_text, want_weights, want_losses, *want_draws), (text, weights, losses, *draws) = results
    assert text == want_text
    assert list(weights) == list(want_weights)
    for key, want in want_weights.items():
        assert weights[key].dtype == want.dtype, key
        np.testing.assert_array_equal(weights[key], want, err_msg=key)
    assert len(want_losses) >= twins.STEPS
    np.testing.assert_allclose(losses, want_losses, rtol=1e-4)
    assert abs(want_losses[0] - want_losses[-1]) > 1e-3, "it learns nothing, and shows nothing"
    for drawn, want in zip(draws, want_draws, strict=True):
        np.testing.assert_array_equal(drawn, want, err_msg="the generators have come apart")
