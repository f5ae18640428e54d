"""copy.deepcopy and pickle of Tensors, Parameters, Modules, optimisers and generators."""

import copy
import io
import pickle

import numpy as np
import pytest

import funtorch as torch


def by_pickle(protocol):
    return lambda value: pickle.loads(pickle.dumps(value, protocol))


def by_file(value):
    buffer = io.BytesIO()
    torch.save(value, buffer)
    return torch.load(io.BytesIO(buffer.getvalue()), weights_only=False)


WAYS = {"deepcopy": copy.deepcopy, "pickle 2": by_pickle(2), "pickle 5": by_pickle(5), "file": by_file}


@pytest.fixture(params=WAYS)
def again(request):
    return WAYS[request.param]


@pytest.mark.parametrize("kind", [t.name for t in torch.dtypes.ALL])
def test_tensors(again, kind):
    for shape in ((), (0,), (2, 3)):
        x = torch.ones(shape).to(getattr(torch, kind))
        y = again(x)
        assert y is not x and y.dtype is x.dtype and y.shape == x.shape and y.tolist() == x.tolist()
        y.zero_()
        assert x.tolist() == torch.ones(shape).to(x.dtype).tolist()


def test_flags_and_attributes(again):
    w = torch.nn.Parameter(torch.ones(2), requires_grad=False)
    x = torch.zeros(2, requires_grad=True)
    x.note = "kept"
    again_w, again_x, same = again([w, x, w])
    assert type(again_w) is torch.nn.Parameter and not again_w.requires_grad and same is again_w
    assert again_x.requires_grad and again_x.is_leaf and again_x.note == "kept"


def test_modules_train_on(again):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.GRU(4, 2), torch.nn.PReLU())
    model[0].tied = model[0].weight
    twin = again(model)
    assert repr(twin) == repr(model) and twin[0].tied is twin[0].weight
    assert [k for k, _ in twin.named_parameters()] == [k for k, _ in model.named_parameters()]
    for a, b in zip(twin.state_dict().values(), model.state_dict().values(), strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())
    twin[1](twin[0](torch.randn(5, 3))).sum().backward()
    assert twin[0].weight.grad is not None and model[0].weight.grad is None
    assert twin[1].num_batches_tracked == 1 and model[1].num_batches_tracked == 0


def test_optimizers_go_with_their_parameters(again):
    w = torch.nn.Parameter(torch.ones(2))
    optimizer = torch.optim.Adam([w], lr=0.5)
    (w**2).sum().backward()
    optimizer.step()
    v, twin = again([w, optimizer])
    assert twin.param_groups[0]["params"][0] is v and float(twin.state[v]["step"]) == 1
    before = w.tolist()
    (v**2).sum().backward()
    twin.step()
    assert v.tolist() != before == w.tolist()


def test_generators(again):
    generator = torch.Generator().manual_seed(3)
    torch.randn(5, generator=generator)
    twin = again(generator)
    assert torch.rand(3, generator=twin).tolist() == torch.rand(3, generator=generator).tolist()


def test_small_kinds(again):
    values = [torch.float16, torch.device("cuda", 1), torch.Size([1, 2]), torch.strided]
    assert again(values) == values and type(again(values)[2]) is torch.Size
