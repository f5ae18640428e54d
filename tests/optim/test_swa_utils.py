"""Averaged weights and their rate beside PyTorch's."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import funtorch

LIBS = (torch, funtorch)


def model_of(lib):
    model = lib.nn.Sequential(lib.nn.Linear(2, 3), lib.nn.BatchNorm1d(3))
    rng = np.random.default_rng(0)
    with lib.no_grad():
        for p in model.parameters():
            p.copy_(lib.tensor(rng.standard_normal(tuple(p.shape)).astype("float32")))
    return model


def drift(lib, model, step):
    """The model as it would be after some training."""
    with lib.no_grad():
        for p in model.parameters():
            p.add_(0.1 * step)
        model[1].running_mean.add_(step)
        model[1].num_batches_tracked.add_(1)


def flat(model):
    return {name: value.detach().numpy().tolist() for name, value in model.state_dict().items()}


WAYS = {
    "equal parts": lambda lib: {}, "buffers": lambda lib: {"use_buffers": True},
    "decaying": lambda lib: {"avg_fn": lib.optim.swa_utils.get_ema_avg_fn(0.9)},
    "decaying lists": lambda lib: {"multi_avg_fn": lib.optim.swa_utils.get_ema_multi_avg_fn(0.9), "use_buffers": True},
    "equal lists": lambda lib: {"multi_avg_fn": lib.optim.swa_utils.get_swa_multi_avg_fn()},
    "own": lambda lib: {"avg_fn": lambda averaged, current, n: averaged * 0.5 + current / (n + 2)},
}  # fmt: skip


@pytest.mark.parametrize("name", WAYS)
def test_averages(name):
    ends = []
    for lib in LIBS:
        model = model_of(lib)
        averaged = lib.optim.swa_utils.AveragedModel(model, **WAYS[name](lib))
        for step in range(4):
            drift(lib, model, step)
            averaged.update_parameters(model)
        ends.append(flat(averaged))
    assert ends[1].keys() == ends[0].keys()
    for key, wanted in ends[0].items():
        np.testing.assert_allclose(ends[1][key], wanted, rtol=1e-6, err_msg=key)
    assert ends[1]["n_averaged"] == 4


def test_the_averaged_model_is_a_model_of_its_own():
    model = model_of(funtorch).eval()
    averaged = funtorch.optim.swa_utils.AveragedModel(model, device="cpu").eval()
    x = funtorch.ones(2, 2)
    assert averaged(x).tolist() == model(x).tolist()
    drift(funtorch, model, 1)
    assert averaged(x).tolist() != model(x).tolist()
    assert all(p.requires_grad for p in averaged.parameters())


def test_statistics_of_the_data():
    ends = []
    for lib in LIBS:
        model = model_of(lib).eval()
        batches = [(lib.tensor(np.random.default_rng(i).standard_normal((4, 2)).astype("float32")), 1) for i in range(3)]
        lib.optim.swa_utils.update_bn(batches, model, device="cpu")
        assert (model.training, model[1].momentum) == (False, 0.1)
        ends.append(flat(model))
        lib.optim.swa_utils.update_bn(iter([]), lib.nn.Linear(1, 1))  # nothing to do
    for key, wanted in ends[0].items():
        np.testing.assert_allclose(ends[1][key], wanted, rtol=1e-5, err_msg=key)


@pytest.mark.parametrize("options", [{}, {"anneal_strategy": "linear"}, {"anneal_epochs": 3}, {"anneal_epochs": 0}], ids=str)
@pytest.mark.parametrize("rate", [0.05, [0.05, 0.2]], ids=str)
def test_the_rate(options, rate):
    seen = []
    for lib in LIBS:
        params = [{"params": [lib.nn.Parameter(lib.zeros(1))]}, {"params": [lib.nn.Parameter(lib.zeros(1))], "lr": 0.3}]
        optimizer = lib.optim.SGD(params, lr=0.5)
        scheduler = lib.optim.swa_utils.SWALR(optimizer, rate, **options)
        seen.append([])
        for _ in range(15):
            seen[-1].append([group["lr"] for group in optimizer.param_groups])
            optimizer.step()
            scheduler.step()
    assert seen[1] == seen[0]
    assert seen[1][-1] == pytest.approx(rate if isinstance(rate, list) else [rate] * 2)


def test_errors():
    swa = funtorch.optim.swa_utils
    optimizer = funtorch.optim.SGD([funtorch.zeros(1)], lr=0.1)
    for make, text in (
        (lambda: swa.SWALR(optimizer, 0.1, anneal_strategy="step"), "instead got step"),
        (lambda: swa.SWALR(optimizer, 0.1, anneal_epochs=-1), "got -1"),
        (lambda: swa.SWALR(optimizer, [0.1, 0.2]), "swa_lr has 2 values"),
        (lambda: swa.get_ema_avg_fn(1.5), "decay value 1.5"),
        (lambda: swa.get_ema_multi_avg_fn(-0.5), "decay value -0.5"),
    ):
        with pytest.raises(ValueError, match=text):
            make()
    with pytest.raises(AssertionError, match="Only one"):
        swa.AveragedModel(funtorch.nn.Linear(1, 1), avg_fn=swa.get_swa_avg_fn(), multi_avg_fn=swa.get_swa_multi_avg_fn())
