"""States in single precision, beside PyTorch's and relative to their own size: what is made of the options must not lose digits."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import funtorch

CASES = [
    ("Adam", {}), ("Adam", {"amsgrad": True, "weight_decay": 0.1}), ("AdamW", {"betas": (0.99, 0.9999)}), ("NAdam", {}), ("RAdam", {}),
    ("Adamax", {}), ("Adadelta", {}), ("RMSprop", {"alpha": 0.999, "centered": True, "momentum": 0.9}), ("Adagrad", {"lr_decay": 1e-3}),
    ("ASGD", {}), ("Rprop", {}), ("SGD", {"momentum": 0.9, "dampening": 0.1}), ("Adafactor", {}), ("SparseAdam", {}),
]  # fmt: skip


def states(lib, name: str, options: dict, steps: int, count: int) -> list[dict[str, np.ndarray]]:
    """The parameters and what is kept for them after some steps."""
    rng = np.random.default_rng(0)
    params = [lib.nn.Parameter(lib.tensor(rng.normal(size=(4, 3)).astype("float32"))) for _ in range(count)]
    optimizer = getattr(lib.optim, name)(params, **options)
    for _ in range(steps):
        for p in params:
            grad = lib.tensor(rng.normal(size=(4, 3)).astype("float32"))
            p.grad = grad.to_sparse() if name == "SparseAdam" else grad
        optimizer.step()
    kept = [{k: v for k, v in optimizer.state[p].items() if isinstance(v, lib.Tensor)} for p in params]
    return [{"param": p.detach().numpy(), **{k: v.numpy() for k, v in s.items()}} for p, s in zip(params, kept, strict=True)]


@pytest.mark.parametrize("count", [1, 30])  # many small ones are computed together
@pytest.mark.parametrize(("name", "options"), CASES, ids=str)
def test_states_keep_their_digits(name, options, count):
    for steps in (1, 10):
        expected, got = (states(lib, name, options, steps, count) for lib in (torch, funtorch))
        for each, ours in zip(expected, got, strict=True):
            assert set(ours) == set(each)
            for key, value in each.items():
                np.testing.assert_allclose(ours[key], value, rtol=0, atol=1e-6 * np.abs(value).max() + 1e-12, err_msg=key)
