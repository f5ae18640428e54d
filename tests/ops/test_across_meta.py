"""Tensors with data beside those on the device "meta": what may be mixed, what is refused, what moves and is kept."""

import copy
import pickle
import re

import pytest
import torch

import funtorch


def without(t, *shape, **options):
    return t.empty(*shape, device="meta", **options)


def written(x, index, value):
    x[index] = value
    return x


def set_attribute(x, name, value):
    setattr(x, name, value)
    return getattr(x, name)


def pulled(t, x, cotangent):
    (x * 2).backward(cotangent)
    return x.grad


def moved_back(t):
    x = t.ones(3, requires_grad=True)
    x.to("meta").sum().backward()
    return x.grad


def copied(t):
    x, source = without(t, 3), without(t, 3, requires_grad=True)
    x.copy_(source * 2)
    x.sum().backward()
    return source.grad


def scattered(t):
    x, row = without(t, 3, 4, requires_grad=True), without(t, 4, requires_grad=True)
    return t.autograd.grad(t.select_scatter(x, row, 0, 1).sum(), (x, row))


def packed(t):
    sequence = t.nn.utils.rnn.pack_padded_sequence(without(t, 5, 2, 3), t.tensor([5, 3]))
    out, last = t.nn.GRU(3, 4, device="meta")(sequence)
    return t.nn.utils.rnn.pad_packed_sequence(out)[0].shape, last.shape


def named(t, kind):
    with t.device("meta"):
        return getattr(t, kind)([2]).device


def in_context(t):
    with t.device("meta"):
        return [x.device for x in (t.Tensor([1.0]), t.zeros_like(t.ones(2)), t.normal(t.ones(2), 1.0), t.fft.fftfreq(4))]


CASES = {
    "written to without data": lambda t: written(without(t, 3, 2), 0, t.ones(2)),
    "written from without data": lambda t: written(t.ones(3, 2), 0, without(t, 2)),
    "written at places without data": lambda t: written(without(t, 3), without(t, 3) > 0, without(t, 2)),
    "written at a known mask": lambda t: written(without(t, 3), t.tensor([True, False, True]), without(t, 2)),
    "copied": copied,
    "scattered": scattered,
    "filled": lambda t: without(t, 3).fill_(t.tensor(1.0)),
    "rows of a table": lambda t: t.nn.functional.embedding(t.tensor([1]), without(t, 3, 2)),
    "gathered": lambda t: without(t, 3, 3).gather(0, t.zeros(1, 3, dtype=t.long)),
    "taken": lambda t: without(t, 3, 3).take(t.tensor([1])),
    "scattered a number": lambda t: without(t, 3, 3).scatter(0, t.zeros(1, 3, dtype=t.long), 1.0),
    "index_add": lambda t: without(t, 3, 3).index_add(0, t.tensor([1]), without(t, 1, 3)),
    "index_copy": lambda t: without(t, 3, 3).index_copy(0, t.tensor([1]), without(t, 1, 3)),
    "index_fill": lambda t: without(t, 3, 3).index_fill(0, t.tensor([1]), 0.0),
    "packed": packed,
    "out without data": lambda t: t.add(t.ones(3), 1, out=without(t, 3)),
    "out with data": lambda t: t.add(without(t, 3), 1, out=t.ones(3)),
    "out that grows": lambda t: t.add(without(t, 3), 1, out=without(t, 0)),
    "made into": lambda t: t.arange(4, out=without(t, 0, dtype=t.long)),
    "made into, of another device": lambda t: t.zeros(4, out=without(t, 4), device="cpu"),
    "drawn into": lambda t: t.rand(4, out=without(t, 0)),
    "drawn into, of another device": lambda t: t.rand(4, out=without(t, 4), device="cpu"),
    "an order drawn into": lambda t: t.randperm(4, out=without(t, 0, dtype=t.long)),
    "moved": lambda t: t.ones(3, requires_grad=True).to("meta"),
    "moved with type": lambda t: t.ones(3, requires_grad=True).to("meta", t.float64),
    "moved back": moved_back,
    "data with data": lambda t: set_attribute(without(t, 3), "data", t.ones(5)),
    "data without": lambda t: set_attribute(t.ones(3), "data", without(t, 5)),
    "data of another size": lambda t: set_attribute(without(t, 3), "data", without(t, 5)),
    "grad with data": lambda t: set_attribute(without(t, 3, requires_grad=True), "grad", t.ones(3)),
    "grad without": lambda t: set_attribute(t.ones(3, requires_grad=True), "grad", without(t, 3)),
    "cotangent with data": lambda t: pulled(t, without(t, 3, requires_grad=True), t.ones(3)),
    "cotangent without": lambda t: pulled(t, t.ones(3, requires_grad=True), without(t, 3)),
    "both without": lambda t: pulled(t, without(t, 3, requires_grad=True), without(t, 3)),
    "equal": lambda t: t.equal(without(t, 3), without(t, 3)),
    "equal of other sizes": lambda t: t.equal(without(t, 3), t.ones(4)),
    "assert_close": lambda t: t.testing.assert_close(without(t, 3), without(t, 3)),
    "assert_close of two devices": lambda t: t.testing.assert_close(without(t, 3), t.ones(3)),
    "unique": lambda t: without(t, 3).unique(),
    "unique_consecutive": lambda t: without(t, 3, 2).unique_consecutive(dim=0),
    "to_sparse": lambda t: without(t, 3, 3).to_sparse(),
    "to_sparse_csr": lambda t: without(t, 3, 3).to_sparse_csr(),
    "sparse of unknown size": lambda t: t.sparse_coo_tensor(without(t, 2, 4, dtype=t.long), without(t, 4)),
    "tensor_split": lambda t: without(t, 3).tensor_split(without(t, 1, dtype=t.long)),
    "lengths": lambda t: t.nn.utils.rnn.pack_padded_sequence(without(t, 3, 2, 4), without(t, 2, dtype=t.long)),
    "numpy": lambda t: without(t, 3, requires_grad=True).numpy(),
    "numpy by force": lambda t: without(t, 3).numpy(force=True),
    "numbers in a list": lambda t: t.tensor([without(t, ()), without(t, ())]),
    "get_device": lambda t: without(t, 3).get_device(),
    "share_memory_": lambda t: without(t, 3).share_memory_(),
    "pin_memory": lambda t: without(t, 3).pin_memory(),
    "dlpack": lambda t: without(t, 3).__dlpack__(),
    "apply_": lambda t: without(t, 3).apply_(lambda x: x + 1),
    "map_": lambda t: without(t, 3).map_(without(t, 3), lambda x, y: x + y),
    "pickled": lambda t: pickle.loads(pickle.dumps(without(t, 3, 2, requires_grad=True))),
    "pickled bfloat16": lambda t: pickle.loads(pickle.dumps(without(t, 3, dtype=t.bfloat16))),
    "pickled layer": lambda t: copy.deepcopy(pickle.loads(pickle.dumps(t.nn.Linear(2, 3, device="meta"))).weight),
    "log_normal_": lambda t: without(t, 3).log_normal_(0, 0),
    "cauchy_": lambda t: without(t, 3).cauchy_(0, 0),
    "geometric_": lambda t: without(t, 3).geometric_(-1),
    "too few drawn": lambda t: without(t, 3).multinomial(-1),
    "factors of too many columns": lambda t: t.ormqr(without(t, 5, 0), without(t, 5), without(t, 5, 5)),
    "statistics": lambda t: [x.device for x in t.native_batch_norm(without(t, 2, 3), *[without(t, 3)] * 4, False, 0.1, 1e-5)],
    "parameters": lambda t: t.nn.ParameterList([t.nn.Parameter(without(t, 3, 2))]),
    "old types": lambda t: [named(t, kind) for kind in ("FloatTensor", "LongTensor")],
    "is of an old type": lambda t: isinstance(without(t, 2), t.FloatTensor),
    "context": in_context,
}


def _told(t, case):
    """What a case gives as text, without the names of nodes; or the type that it raises."""
    try:
        return re.sub(r"grad_fn=<\w+>", "grad_fn", str(case(t)).replace("funtorch.", "torch."))
    except Exception as error:
        return next(c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins")


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore")
def test_as_pytorch(name):
    want, got = (_told(t, CASES[name]) for t in (torch, funtorch))
    assert got == want


@pytest.mark.parametrize(
    "refused",
    [
        lambda x, at: x[at],
        lambda x, at: written(x, at, 0.0),
        lambda x, at: x.index_select(0, at),
        lambda x, at: x.take(at),
        lambda x, at: funtorch.nn.functional.embedding(at, x[:, None]),
        lambda x, at: x[0].add_(without(funtorch, ())),
    ],
)
def test_data_do_not_get_lost_by_a_tensor_without_them(refused):
    x = funtorch.ones(3)
    with pytest.raises(RuntimeError, match="meta"):
        refused(x, without(funtorch, 2, dtype=funtorch.int64))
    assert x.tolist() == [1, 1, 1]


def test_values_written_at_unknown_places_are_differentiated():
    x, value = (without(funtorch, n, 3, requires_grad=True) for n in (4, 2))
    y = written(x * 1, without(funtorch, 4) > 0, value)
    y.sum().backward()
    assert x.grad.is_meta and value.grad.is_meta and value.grad.shape == (2, 3)


def test_a_move_inside_of_transforms():
    x = funtorch.ones(3)
    z, dz = funtorch.func.jvp(lambda x: x.to("meta") * 2, (x,), (x,))
    assert z.is_meta and dz.is_meta and dz.shape == (3,)
    with pytest.raises(NotImplementedError, match="no data"):
        funtorch.func.grad(lambda x: x.to("meta").sum())(x)


@pytest.mark.parametrize("t", [torch, funtorch], ids=["torch", "funtorch"])
def test_a_module_without_data_has_new_parameters(t):
    layer = t.nn.Linear(2, 3)
    weight = layer.weight
    layer(t.ones(4, 2)).sum().backward()
    layer.to("meta")
    assert layer.weight is not weight and layer.weight.is_meta and layer.weight.requires_grad and layer.weight.grad.is_meta
    assert weight.device.type == weight.grad.device.type == "cpu"
    lost = layer.weight
    layer.to_empty(device="cpu")
    assert layer.weight is not lost and lost.is_meta and type(layer.weight) is t.nn.Parameter


def test_tied_parameters_without_data_stay_one():
    net = funtorch.nn.Sequential(*[funtorch.nn.Linear(3, 3) for _ in range(2)])
    net[1].weight = net[0].weight
    assert net.to("meta")[0].weight is net[1].weight and net[0].weight.is_meta
    assert net.to_empty(device="cpu")[0].weight is net[1].weight and net[0].bias is not net[1].bias


@pytest.mark.parametrize("name", ["Adam", "NAdam", "RMSprop", "Adagrad", "SGD"])
def test_optimisers_count_steps_of_parameters_without_data(name):
    told = []
    for t in (torch, funtorch):
        t.manual_seed(0)
        layers = t.nn.Linear(2, 3, device="meta"), t.nn.Linear(2, 3)
        optimizer = getattr(t.optim, name)([p for layer in layers for p in layer.parameters()], lr=0.1)
        for _ in range(3):
            for layer in layers:
                layer(t.ones(4, 2, device=layer.weight.device)).sum().backward()
            optimizer.step()
        without, known = (optimizer.state[layer.weight] for layer in layers)
        devices = {key: value.device.type for key, value in without.items() if t.is_tensor(value)}
        told.append((devices, without.get("step"), known.get("step"), layers[1].weight.tolist()))
    assert told[1][0] == told[0][0]
    assert str(told[1][1:3]) == str(told[0][1:3])
    assert all(a == pytest.approx(b, rel=1e-5) for a, b in zip(told[1][3], told[0][3], strict=True))


def test_loaded_state_goes_where_its_parameter_is():
    told = []
    for t in (torch, funtorch):
        known, without = t.nn.Linear(2, 3), t.nn.Linear(2, 3, device="meta")
        first, second = (t.optim.Adam(layer.parameters()) for layer in (known, without))
        known(t.ones(4, 2)).sum().backward()
        first.step()
        second.load_state_dict(first.state_dict())
        told.append({key: (value.device.type, tuple(value.shape)) for key, value in second.state[without.weight].items()})
    assert told[1] == told[0]


@pytest.mark.parametrize(
    "made",
    [
        lambda t, **options: t.arange(10**12, **options),
        lambda t, **options: t.linspace(0, 1, 10**12, **options),
        lambda t, **options: t.logspace(0, 1, 10**12, **options),
        lambda t, **options: t.full((10**6, 10**6), 1, **options),
        lambda t, **options: t.eye(10**6, **options),
        lambda t, **options: t.hann_window(10**12, **options),
        lambda t, **options: t.ones_like(without(t, 10**12)),
        lambda t, **options: t.nn.Transformer.generate_square_subsequent_mask(10**6, **options),
    ],
)
def test_what_would_fill_no_memory_is_not_made(made):
    want, got = (made(t, device="meta") for t in (torch, funtorch))
    assert (str(got), got.is_meta) == (str(want), True)


def test_views_without_data_are_written():
    x = without(funtorch, 3, 3, requires_grad=True)
    y = x * 1
    y.diagonal().copy_(without(funtorch, 3))
    y[1].normal_()
    y.as_strided((2, 2), (1, 2)).fill_(1)
    y.sum().backward()
    assert y._version == 3 and x.grad.is_meta
