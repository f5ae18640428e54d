"""Where classes and functions are found: at PyTorch's addresses, which pickles and users' imports name."""

import importlib
import inspect
import pickle

import pytest
import torch

import funtorch

CLASSES = sorted(name for name, found in vars(torch.nn).items() if inspect.isclass(found))


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_of_nn_is_at_torch_s_address(name):
    theirs, ours = getattr(torch.nn, name), getattr(funtorch.nn, name)
    assert ours.__module__ == theirs.__module__.replace("torch", "funtorch", 1)
    assert getattr(importlib.import_module(ours.__module__), name) is ours
    assert pickle.loads(pickle.dumps(ours)) is ours


def test_nn_modules_hands_on_all_layers():
    assert set(funtorch.nn.modules.__all__) >= set(torch.nn.modules.__all__)
    assert all(getattr(funtorch.nn.modules, name) is getattr(funtorch.nn, name) for name in torch.nn.modules.__all__)


def test_helpers_are_at_torch_s_addresses():
    from funtorch.nn.modules.module import _IncompatibleKeys
    from funtorch.nn.utils.parametrize import ParametrizationList

    for found in (_IncompatibleKeys, ParametrizationList):
        assert pickle.loads(pickle.dumps(found)) is found
    keys = funtorch.nn.Linear(1, 1).load_state_dict({}, strict=False)
    assert type(keys).__name__ == "_IncompatibleKeys" and pickle.loads(pickle.dumps(keys)) == keys


@pytest.mark.parametrize("given", [None, {}, {"device": "cpu"}, {"dtype": None, "factory_kwargs": {"device": "meta"}}])
def test_keywords_for_making_tensors(given):
    assert funtorch.nn.factory_kwargs(given) == torch.nn.factory_kwargs(given)


@pytest.mark.parametrize("given", [{"size": 1}, {"dtype": None, "factory_kwargs": {"dtype": None}}])
def test_keywords_that_do_not_make_tensors_are_refused(given):
    for t in (torch, funtorch):
        with pytest.raises(TypeError, match="unexpected kwargs|specified twice"):
            t.nn.factory_kwargs(given)
