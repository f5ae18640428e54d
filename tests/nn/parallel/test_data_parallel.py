"""nn.DataParallel and nn.parallel.data_parallel on one device, compared with torch."""

import pytest
import torch as oracle

import funtorch as torch


def outcome(t):
    inner = t.nn.Linear(3, 2)
    inner.load_state_dict({"weight": t.arange(6.0).reshape(2, 3), "bias": t.ones(2)})
    model = t.nn.DataParallel(inner)
    x = t.arange(12.0).reshape(4, 3)
    y = model(x)
    y.sum().backward()
    return [y.tolist(), inner.weight.grad.tolist(), list(model.state_dict()), model.module is inner]


def test_as_torch():
    assert outcome(torch) == outcome(oracle)


def test_the_function():
    module = torch.nn.Bilinear(3, 3, 2)
    x, y = torch.ones(4, 3), torch.rand(4, 3)
    want = module(x, y)
    assert torch.equal(torch.nn.parallel.data_parallel(module, (x, y)), want)
    assert torch.equal(torch.nn.parallel.data_parallel(module, x, [0], module_kwargs={"input2": y}), want)
    assert torch.equal(torch.nn.parallel.data_parallel(module, None, module_kwargs={"input1": x, "input2": y}), want)


def test_several_devices():
    with pytest.raises(NotImplementedError, match=r"device_ids=\[0, 1\]"):
        torch.nn.DataParallel(torch.nn.Linear(1, 1), device_ids=[0, 1])
    with pytest.raises(NotImplementedError, match=r"device_ids=\[0, 1\]"):
        torch.nn.parallel.data_parallel(torch.nn.Linear(1, 1), torch.ones(1), [0, 1])
    assert torch.nn.DataParallel(torch.nn.Linear(1, 1), device_ids=[0])(torch.ones(1)).shape == (1,)
