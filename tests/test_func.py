"""What ``funtorch.func`` has besides the transforms."""

from __future__ import annotations

import numpy as np
import torch

import funtorch


def test_batch_norms_without_statistics():
    found = []
    for t in (torch, funtorch):
        model = t.nn.Sequential(t.nn.BatchNorm1d(2), t.nn.Sequential(t.nn.BatchNorm1d(2, affine=False), t.nn.InstanceNorm1d(2)))
        assert t.func.replace_all_batch_norm_modules_(model) is model
        assert list(model.state_dict()) == ["0.weight", "0.bias"]
        assert not model[0].track_running_stats
        x = t.tensor(np.random.default_rng(0).normal(size=(3, 4, 2)))
        found.append(t.vmap(model[0].double().eval())(x).detach().numpy())
    np.testing.assert_allclose(found[1], found[0], rtol=1e-9)


def test_what_a_tensor_in_vmap_wraps():
    seen = []

    def look(x):
        seen.append(funtorch.func.debug_unwrap(x).shape)
        return x

    funtorch.vmap(look)(funtorch.ones(2, 3))
    funtorch.vmap(funtorch.vmap(look))(funtorch.ones(2, 3))
    assert seen == [(2, 3), (2, 3)]

    def look_once(x):
        seen.append(funtorch.func.debug_unwrap(x, recurse=False).shape)
        return x

    funtorch.vmap(funtorch.vmap(look_once))(funtorch.ones(2, 3))
    assert seen[-1] == (3,)
    x = funtorch.ones(2)
    assert funtorch.func.debug_unwrap(x) is x
