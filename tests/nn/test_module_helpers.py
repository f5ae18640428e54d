"""``nn.modules.utils``, ``utils.dlpack`` and small methods beside PyTorch's."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest
import torch
import torch.nn.modules.utils as theirs

import funtorch
import funtorch.nn.modules.utils as ours
import funtorch.utils.dlpack as dlpack


@pytest.mark.parametrize("name", ["_single", "_pair", "_triple", "_quadruple"])
def test_numbers_for_each_dimension(name):
    for value in (3, (1, 2), [4, 5, 6], "same"):
        assert getattr(ours, name)(value) == getattr(theirs, name)(value)
    assert getattr(ours, name).__name__ == name
    assert ours._ntuple(5)(1) == theirs._ntuple(5)(1)


def test_prefixes():
    ends = []
    for lib, helpers in ((torch, theirs), (funtorch, ours)):
        wrapped = lib.nn.Sequential()
        wrapped.add_module("module", lib.nn.Sequential(lib.nn.Linear(1, 1)))
        state = wrapped.state_dict()
        helpers.consume_prefix_in_state_dict_if_present(state, "module.")
        ends.append((list(state), {k: dict(v) for k, v in state._metadata.items()}))
        wrapped.module.load_state_dict(state)
    assert ends[1] == ends[0]
    plain = {"a.b": 1, "c": 2}
    ours.consume_prefix_in_state_dict_if_present(plain, "a.")
    assert plain == {"c": 2, "b": 1}


def test_dlpack():
    x = funtorch.arange(3.0)
    assert type(dlpack.to_dlpack(x)).__name__ == "PyCapsule"
    assert dlpack.from_dlpack(jnp.ones(2)).tolist() == [1, 1]
    assert dlpack.from_dlpack(np.ones(2)).dtype is funtorch.float64
    with pytest.raises(RuntimeError, match="require gradient"):
        dlpack.to_dlpack(funtorch.ones(1, requires_grad=True))


def test_methods_of_accelerators():
    x = funtorch.ones(1)
    assert x.record_stream(None) is None
    assert not x.is_xpu
