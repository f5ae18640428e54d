"""Whole modules and optimisers between PyTorch and funtorch: made by one, computing and training on in the other."""

import importlib
import inspect
import io
import sys
import types

import numpy as np
import pytest
import torch

import funtorch

SIZES = {  # what a layer is made with, where it is not nothing or (2,)
    "AdaptiveLogSoftmaxWithLoss": (3, 6, [2]),
    "Bilinear": (2, 3, 4),
    "CrossMapLRN2d": (2,),
    "GroupNorm": (1, 3),
    "LayerNorm": (3,),
    "Linear": (3, 2),
    "MultiheadAttention": (4, 2),
    "Threshold": (1.0, 2.0),
    "Transformer": (4, 2, 1, 1, 8),
    "TransformerDecoderLayer": (4, 2),
    "TransformerEncoderLayer": (4, 2),
    "Unflatten": (1, (2, 2)),
}
STACKED = {"TransformerEncoder": "TransformerEncoderLayer", "TransformerDecoder": "TransformerDecoderLayer"}
BASES = {"Module", "RNNBase", "RNNCellBase", "Container", "DataParallel"}  # the last: other attributes where there is a GPU


def names():
    for name in dir(torch.nn):
        cls = getattr(torch.nn, name)
        here = isinstance(own := getattr(funtorch.nn, name, None), type) and issubclass(own, funtorch.nn.Module)
        if here and inspect.isclass(cls) and issubclass(cls, torch.nn.Module) and name not in BASES:
            yield name


def made(lib, name):
    cls = getattr(lib.nn, name)
    if name in STACKED:
        return cls(getattr(lib.nn, STACKED[name])(4, 2, 8), 2)
    if name.startswith("FractionalMaxPool"):
        return cls(2, output_size=2)
    if name in SIZES:
        return cls(*SIZES[name])
    for arguments in ((), (2,), (2, 2), (2, 3, 2)):
        try:
            return cls(*arguments)
        except (TypeError, ValueError):
            continue
    raise AssertionError(f"how is {name} made?")


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("name", list(names()))
def test_every_layer(exchange, name):
    for writer, reader in ((torch, funtorch), (funtorch, torch)):
        module = made(writer, name)
        read = exchange.read(reader, exchange.written(writer, module), weights_only=False)
        own = made(reader, name)
        assert type(read) is type(own) and repr(read) == repr(module)
        assert set(own.__dict__) <= set(read.__dict__), "what its forward may look for"
        if not name.startswith("Lazy"):
            expected = {key: value.detach().numpy() for key, value in module.state_dict().items()}
            found = {key: value.detach().numpy() for key, value in read.state_dict().items()}
            assert list(found) == list(expected) and all(np.array_equal(found[key], expected[key]) for key in found)


def network(lib):
    lib.manual_seed(0)
    return lib.nn.Sequential(
        lib.nn.Conv2d(1, 2, 3),
        lib.nn.BatchNorm2d(2),
        lib.nn.ReLU(),
        lib.nn.MaxPool2d(2),
        lib.nn.Flatten(),
        lib.nn.Linear(2 * 3 * 3, 4),
        lib.nn.Softmax(dim=1),
    )


def recurrent(lib):
    lib.manual_seed(1)
    return lib.nn.ModuleList(
        [lib.nn.LSTM(3, 4, 2, bidirectional=True), lib.nn.TransformerEncoderLayer(8, 2, 8, activation="gelu")]
    )


def run(lib, module):
    x = lib.linspace(-1, 1, 2 * 8 * 8)
    if isinstance(module, lib.nn.ModuleList):
        return module[1](module[0](x[:60].view(5, 4, 3))[0])
    return module(x.view(2, 1, 8, 8))


@pytest.mark.parametrize("make", [network, recurrent])
def test_a_module_computes_and_trains_on(pass_on, way, make):
    read, twin = pass_on(make, weights_only=False), make(way[1])
    for module in (read, twin):
        module.eval()
    out = run(way[1], read)
    np.testing.assert_allclose(out.detach().numpy(), run(way[1], twin).detach().numpy(), rtol=1e-5, atol=1e-6)
    out.sum().backward()
    assert all(p.grad is not None for p in read.parameters())


def test_lazy_modules_come_to_life(pass_on, way):
    with np.errstate():
        read = pass_on(lambda lib: lib.nn.Sequential(lib.nn.LazyLinear(3)), weights_only=False)
    assert tuple(read(way[1].zeros(2, 5)).shape) == (2, 3) and type(read[0]) is way[1].nn.Linear


OPTIMIZERS = {
    "SGD": {"momentum": 0.9}, "Adam": {"amsgrad": True}, "AdamW": {}, "Adamax": {}, "Adagrad": {}, "Adadelta": {}, "RMSprop": {"centered": True},
    "NAdam": {}, "RAdam": {}, "Rprop": {}, "ASGD": {}, "LBFGS": {},
}  # fmt: skip


def trained(lib, name, steps=2):
    pair = [lib.nn.Parameter(lib.tensor([1.0, -2.0])), lib.nn.Parameter(lib.tensor([[0.5]]))]
    optimizer = getattr(lib.optim, name)(pair, lr=0.1, **OPTIMIZERS[name])
    go_on(optimizer, pair, steps)
    return pair, optimizer


def go_on(optimizer, pair, steps=2):
    def closure():
        optimizer.zero_grad()
        loss = (pair[0] ** 2).sum() + pair[0].prod() * pair[1].sum() + (pair[1] ** 2).sum()
        loss.backward()
        return loss

    for _ in range(steps):
        optimizer.step(closure)


def agree(pair, expected):
    for one, other in zip(pair, expected, strict=True):
        np.testing.assert_allclose(one.detach().numpy(), other.detach().numpy(), rtol=1e-5)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizer_states_go_on(way, name, exchange):
    writer, reader = way
    pair, optimizer = trained(writer, name)
    read = exchange.read(reader, exchange.written(writer, [pair, optimizer.state_dict()]))
    again = getattr(reader.optim, name)(read[0], lr=99.0)
    again.load_state_dict(read[1])
    go_on(again, read[0])
    agree(read[0], trained(reader, name, 4)[0])


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "RMSprop", "NAdam"])
def test_whole_optimizers_go_on(way, name, exchange):
    writer, reader = way
    pair, optimizer = exchange.read(reader, exchange.written(writer, list(trained(writer, name))), weights_only=False)
    assert optimizer.param_groups[0]["params"][0] is pair[0]
    go_on(optimizer, pair)
    agree(pair, trained(reader, name, 4)[0])


SCHEDULES = {"StepLR": (2,), "CosineAnnealingLR": (5,), "ExponentialLR": (0.9,), "ReduceLROnPlateau": (), "OneCycleLR": (0.5, 10)}


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules(way, name, exchange):
    def made(lib):
        return getattr(lib.optim.lr_scheduler, name)(trained(lib, "SGD", 1)[1], *SCHEDULES[name])

    writer, reader = way
    read = exchange.read(reader, exchange.written(writer, made(writer).state_dict()), weights_only=name != "OneCycleLR" and None)
    again = made(reader)
    again.load_state_dict(read)


WHOLE = {
    "StepLR": lambda s, o: s.StepLR(o, 2),
    "CyclicLR": lambda s, o: s.CyclicLR(o, 0.1, 0.3, 2),
    "CyclicLR, triangular2": lambda s, o: s.CyclicLR(o, 0.1, 0.3, 2, mode="triangular2"),
    "CyclicLR, exp_range": lambda s, o: s.CyclicLR(o, 0.1, 0.3, 2, mode="exp_range", gamma=0.9),
    "OneCycleLR": lambda s, o: s.OneCycleLR(o, 0.5, 10),
    "SWALR": lambda s, o: s.SWALR(o, 0.05, 4),
    "SWALR, linear": lambda s, o: s.SWALR(o, 0.05, 4, "linear"),
    "SequentialLR": lambda s, o: s.SequentialLR(o, [s.ConstantLR(o), s.ExponentialLR(o, 0.5)], [2]),
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", WHOLE)
def test_whole_schedules_go_on(way, name, exchange):
    def made(lib):
        optimizer = lib.optim.SGD([lib.nn.Parameter(lib.ones(1))], lr=0.2, momentum=0.9)
        lib.optim.lr_scheduler.SWALR = lib.optim.swa_utils.SWALR
        schedule = WHOLE[name](lib.optim.lr_scheduler, optimizer)
        return [optimizer, schedule, rates(schedule)]

    def rates(schedule):
        found = []
        for _ in range(3):
            schedule.step()
            found.append(schedule.optimizer.param_groups[0]["lr"])
        return found

    writer, reader = way
    optimizer, schedule, first = exchange.read(reader, exchange.written(writer, made(writer)), weights_only=False)
    expected = made(reader)
    assert schedule.optimizer is optimizer and schedule.state_dict().keys() == expected[1].state_dict().keys()
    np.testing.assert_allclose([*first, *rates(schedule)], [*expected[2], *rates(expected[1])], rtol=1e-12)


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_modules_with_hooks_of_pytorchs_go_on(way, exchange):
    def made(lib):
        pruned = lib.nn.Linear(2, 2)
        importlib.import_module(f"{lib.__name__}.nn.utils.prune").l1_unstructured(pruned, "weight", 1)
        return [pruned, lib.nn.utils.spectral_norm(lib.nn.Linear(2, 2)), lib.nn.utils.weight_norm(lib.nn.Linear(2, 2))]

    writer, reader = way
    for module, fresh in zip(
        exchange.read(reader, exchange.written(writer, made(writer)), weights_only=False), made(reader), strict=True
    ):
        assert module.state_dict().keys() == fresh.state_dict().keys()
        fresh.load_state_dict(module.state_dict())
        module(reader.ones(1, 2)).sum().backward()
        assert all(p.grad is not None for p in module.parameters())


def test_named_tuples_and_transforms(way, exchange):
    def made(lib):
        laws = lib.distributions
        law = laws.TransformedDistribution(laws.Normal(lib.zeros(2), 1.0), [laws.ExpTransform(), laws.AffineTransform(1.0, 2.0)])
        return [lib.tensor([1.0, 3.0]).max(0), lib.linalg.qr(lib.eye(2)), law, lib.tanh, lib.nn.functional.gelu]

    writer, reader = way
    top, parts, law, *functions = exchange.read(reader, exchange.written(writer, made(writer)), weights_only=False)
    expected = made(reader)
    assert type(top) is type(expected[0]) and top.indices.item() == 1 and parts.R.tolist() == expected[1].R.tolist()
    assert (
        law.sample().shape == (2,)
        and law.log_prob(reader.full((2,), 3.0)).tolist() == expected[2].log_prob(reader.full((2,), 3.0)).tolist()
    )
    x = reader.linspace(-1, 1, 3)
    assert [f(x).tolist() for f in functions] == [f(x).tolist() for f in expected[3:]]


@pytest.fixture
def user_module():
    """A module of the user's own, that either library's objects may come from."""
    module = types.ModuleType("my_models")
    sys.modules["my_models"] = module
    yield module
    del sys.modules["my_models"]


def define(module, lib):
    class Net(lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = lib.nn.Linear(2, 2)
            self.tied = self.layer
            self.activation = lib.nn.functional.relu
            self.register_buffer("steps", lib.zeros(()))

        def forward(self, x):
            return self.activation(self.layer(x)) + self.steps

    Net.__module__, Net.__qualname__ = "my_models", "Net"
    module.Net = Net
    return Net


@pytest.mark.parametrize("format", ["zip"], indirect=True)  # for the other, PyTorch wants the source
def test_modules_of_the_user(way, format, exchange, user_module):
    net = define(user_module, way[0])()
    data = exchange.written(way[0], net, **format)
    expected = net(way[0].ones(1, 2)).tolist()
    cls = define(user_module, way[1])
    read = exchange.read(way[1], data, weights_only=False)
    assert type(read) is cls and read.tied is read.layer and read.activation is way[1].nn.functional.relu
    np.testing.assert_allclose(read(way[1].ones(1, 2)).tolist(), expected, rtol=1e-6)


def test_admitted_modules(way, exchange):
    nn = way[1].nn
    module = way[0].nn.Sequential(way[0].nn.Linear(2, 2), way[0].nn.ReLU())
    data = exchange.written(way[0], module)
    with way[1].serialization.safe_globals([nn.Sequential, nn.Linear, nn.ReLU]):
        read = exchange.read(way[1], data)
    assert repr(read) == repr(module)
    with pytest.raises(Exception, match="Sequential"):
        exchange.read(way[1], data)


def test_functions_have_pytorchs_names(exchange):
    functions = [funtorch.nn.functional.relu, funtorch.nn.functional.gelu, funtorch.nn.init.xavier_uniform_, funtorch.tanh]
    read = exchange.read(torch, exchange.written(funtorch, functions), weights_only=False)
    assert read[2] is torch.nn.init.xavier_uniform_
    x = torch.linspace(-1, 1, 3)
    assert [f(x).tolist() for f in read[:2] + read[3:]] == [
        f(x).tolist() for f in (torch.nn.functional.relu, torch.nn.functional.gelu, torch.tanh)
    ]
    again = exchange.read(funtorch, exchange.written(torch, read), weights_only=False)
    assert again == functions


def test_a_file_of_an_old_module_lacks_newer_attributes(exchange):
    module = torch.nn.Linear(2, 2)
    for name in ("_non_persistent_buffers_set", "_forward_hooks_with_kwargs", "_is_full_backward_hook"):
        del module.__dict__[name]
    read = exchange.read(funtorch, exchange.written(torch, module), weights_only=False)
    assert read(funtorch.ones(1, 2)).shape == (1, 2)


def test_names_that_are_nowhere(exchange):
    data = exchange.written(torch, torch.fx.Graph)
    with pytest.raises(NotImplementedError, match=r"torch\.fx\.graph\.Graph"):
        exchange.read(funtorch, data, weights_only=False)


def test_other_pickle_modules(exchange):
    import pickle

    other = types.ModuleType("other")
    other.Pickler, other.Unpickler = pickle.Pickler, pickle.Unpickler
    buffer = io.BytesIO()
    funtorch.save({"w": funtorch.ones(2), "t": funtorch.uint16}, buffer, pickle_module=other)
    read = exchange.read(funtorch, buffer.getvalue(), pickle_module=other)
    assert read["w"].tolist() == [1, 1] and read["t"] is funtorch.uint16
    with pytest.raises(RuntimeError, match="pickle_module"):
        exchange.read(funtorch, buffer.getvalue(), pickle_module=other, weights_only=True)


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_protocols(exchange, protocol):
    data = exchange.written(funtorch, network(funtorch).state_dict(), pickle_protocol=protocol)
    assert list(exchange.read(funtorch, data)) == list(network(torch).state_dict())
    assert list(exchange.read(torch, data, weights_only=protocol == 2)) == list(network(torch).state_dict())
    with pytest.raises(RuntimeError, match="pickle_protocol"):
        exchange.written(funtorch, 1, pickle_protocol=1)
