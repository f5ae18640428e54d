"""Where classes and functions say that they are: PyTorch's modules by their names, so that files and messages name the same things."""

from __future__ import annotations

import importlib
import inspect
import io
import pickle

import pytest
import torch

import funtorch

MODULES = [
    "adadelta",
    "adagrad",
    "adam",
    "adamax",
    "adamw",
    "asgd",
    "lbfgs",
    "nadam",
    "radam",
    "rmsprop",
    "rprop",
    "sgd",
    "sparse_adam",
]
MODULES += ["_adafactor", "_functional", "_muon", "lr_scheduler", "optimizer", "swa_utils"]
SCHEDULES = {
    "StepLR": (2,), "MultiStepLR": ([2, 3],), "CosineAnnealingLR": (4,), "CosineAnnealingWarmRestarts": (3,), "ReduceLROnPlateau": (),
}  # fmt: skip


@pytest.mark.parametrize("name", ["", *MODULES])
def test_modules(name):
    theirs, ours = (importlib.import_module(f"{lib.__name__}.optim.{name}".rstrip(".")) for lib in (torch, funtorch))
    checked = 0
    for each, value in vars(theirs).items():
        found = vars(ours).get(each)
        if found is None or each.startswith("__") or not (inspect.isclass(value) or inspect.isfunction(value)):
            continue
        if value.__module__.startswith("torch.optim") and not each.startswith(("_format", "_param_groups", "_update", "_warn")):
            assert found.__module__ == value.__module__.replace("torch", "funtorch", 1), each
            assert pickle.loads(pickle.dumps(found)) is found
            checked += 1
    assert checked


@pytest.mark.parametrize("name", [name for name in torch.optim.__all__ if name[0].isupper() and name != "Optimizer"])
def test_a_whole_optimiser_goes_from_one_to_the_other(name):
    for first, second in ((torch, funtorch), (funtorch, torch)):
        optimizer = getattr(first.optim, name)([first.nn.Parameter(first.ones(2, 2))], lr=0.25)
        file = io.BytesIO()
        first.save(optimizer, file)
        file.seek(0)
        found = second.load(file, weights_only=False)
        assert type(found) is getattr(second.optim, name)
        assert repr(found) == repr(optimizer)


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_whole_schedule_goes_from_one_to_the_other(name):
    for first, second in ((torch, funtorch), (funtorch, torch)):
        optimizer = first.optim.SGD([first.nn.Parameter(first.ones(2))], lr=0.25)
        schedule = getattr(first.optim.lr_scheduler, name)(optimizer, *SCHEDULES[name])
        file = io.BytesIO()
        first.save(schedule, file)
        file.seek(0)
        found = second.load(file, weights_only=False)
        assert type(found) is getattr(second.optim.lr_scheduler, name)
        assert found.get_last_lr() == schedule.get_last_lr()
