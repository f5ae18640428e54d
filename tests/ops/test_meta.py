"""Tensors without data, on the device "meta": what PyTorch gives, shows and raises for them."""

import re

import pytest
import torch

import funtorch


def lin(t):
    m = t.nn.Sequential(t.nn.Linear(2, 3), t.nn.BatchNorm1d(3), t.nn.ReLU(), t.nn.Linear(3, 1)).to("meta")
    return m(t.rand(5, 2, device="meta"))


CASES = {
    "empty": lambda t: t.empty(3, device="meta"),
    "lin": lambda t: t.nn.Linear(2, 3, device="meta").weight,
    "rand": lambda t: t.rand(2, 3, device="meta") @ t.rand(3, 4, device="meta"),
    "to": lambda t: t.rand(2).to("meta"),
    "back": lambda t: t.empty(2, device="meta").to("cpu"),
    "cpu": lambda t: t.empty(2, device="meta").cpu(),
    "item": lambda t: t.empty((), device="meta").item(),
    "npy": lambda t: t.empty(2, device="meta").numpy(),
    "lst": lambda t: t.empty(2, device="meta").tolist(),
    "bool_": lambda t: bool(t.empty((), device="meta")),
    "net": lin,
    "grad": lambda t: (lambda m: (m(t.rand(4, 2, device="meta")).sum().backward(), m.weight.grad)[1])(
        t.nn.Linear(2, 3, device="meta")
    ),
    "init": lambda t: t.nn.init.kaiming_uniform_(t.empty(3, 4, device="meta")),
    "inp": lambda t: t.empty(3, device="meta").add_(1),
    "view": lambda t: t.empty(3, 4, device="meta")[1:].t(),
    "mix": lambda t: t.empty(3, device="meta") + t.ones(3),
    "scal": lambda t: t.empty(3, device="meta") + t.ones(()),
    "num": lambda t: t.empty(3, device="meta") * 2,
    "toempty": lambda t: t.nn.Linear(2, 3, device="meta").to_empty(device="cpu").weight.shape,
    "like": lambda t: t.ones_like(t.empty(3, device="meta")),
    "like2": lambda t: t.rand_like(t.empty(3, device="meta")),
    "new": lambda t: t.empty(3, device="meta").new_zeros(2),
    "like3": lambda t: t.empty_like(t.empty(3, device="meta"), device="cpu").device,
    "full": lambda t: t.full((2,), 3, device="meta"),
    "ar": lambda t: t.arange(5, device="meta"),
    "ten": lambda t: t.tensor([1, 2], device="meta"),
    "perm": lambda t: t.randperm(5, device="meta"),
    "ri": lambda t: t.randint(5, (2,), device="meta"),
    "eye": lambda t: t.eye(2, device="meta"),
    "lins": lambda t: t.linspace(0, 1, 3, device="meta"),
    "gen": lambda t: (t.manual_seed(0), t.rand(3, device="meta"), t.nn.Linear(3, 3, device="meta"), t.rand(1))[3],
    "cat": lambda t: t.cat([t.empty(2, device="meta")] * 2),
    "nz": lambda t: t.empty(3, device="meta").nonzero(),
    "drop": lambda t: t.nn.functional.dropout(t.empty(3, device="meta")),
    "emb": lambda t: t.nn.Embedding(3, 4, device="meta")(t.tensor([1, 2], device="meta")),
    "mha": lambda t: t.nn.MultiheadAttention(4, 2, device="meta")(*[t.empty(2, 3, 4, device="meta")] * 3)[0],
    "lstm": lambda t: t.nn.LSTM(3, 4, device="meta")(t.empty(2, 3, 3, device="meta"))[0].shape,
    "copy": lambda t: t.ones(2).copy_(t.empty(2, device="meta")),
    "copy2": lambda t: t.empty(2, device="meta").copy_(t.ones(2)),
    "deep": lambda t: __import__("copy").deepcopy(t.nn.Linear(2, 3, device="meta")).weight,
    "is_meta": lambda t: t.empty(1, device="meta").is_meta,
    "opt": lambda t: (lambda m, o: (m(t.rand(4, 2, device="meta")).sum().backward(), o.step(), m.weight.device)[2])(
        *(lambda m: (m, t.optim.SGD(m.parameters(), lr=0.1)))(t.nn.Linear(2, 3, device="meta"))
    ),
    "opt2": lambda t: (lambda m, o: (m(t.rand(4, 2, device="meta")).sum().backward(), o.step(), m.weight.device)[2])(
        *(lambda m: (m, t.optim.Adam(m.parameters(), lr=0.1)))(t.nn.Linear(2, 3, device="meta"))
    ),
    "cmp": lambda t: t.empty(3, device="meta") > 0,
    "where": lambda t: t.where(t.empty(3, device="meta") > 0, 1.0, 0.0),
    "inter": lambda t: t.nn.functional.interpolate(t.empty(1, 1, 3, 3, device="meta"), scale_factor=2).shape,
    "sel": lambda t: t.empty(3, 3, device="meta")[t.tensor([0, 1])],
    "big": lambda t: t.empty(10**6, 10**6, device="meta").sum(0).shape,
    "load": lambda t: t.nn.Linear(2, 1, device="meta").load_state_dict(t.nn.Linear(2, 1).state_dict(), assign=True),
    "ctx": lambda t: (lambda d: (d.__enter__(), t.nn.Linear(2, 3).weight, d.__exit__(None, None, None))[1])(t.device("meta")),
    "clone": lambda t: t.empty(2, device="meta").clone(),
    "dt": lambda t: t.empty(2, device="meta").double(),
    "cpl": lambda t: t.empty(2, device="meta").type(),
    "coins": lambda t: t.bernoulli(t.empty(2, 3, device="meta")),
    "coins of one chance": lambda t: t.bernoulli(t.empty(2, 3, device="meta"), 0.5),
    "counts": lambda t: t.poisson(t.empty(2, 3, device="meta")),
    "categories": lambda t: t.multinomial(t.empty(2, 3, device="meta"), 4, replacement=True),
    "normals": lambda t: t.normal(t.empty(3, device="meta"), t.empty(2, 1, device="meta")),
    "normals of one mean": lambda t: t.normal(0.5, t.empty(2, device="meta", dtype=t.float64)),
    "gammas": lambda t: t.distributions.Gamma(*[t.empty(2, device="meta")] * 2, validate_args=False).sample((3,)),
}


def _told(lib, case):
    """What a case gives as text, without the names of nodes; or the type that it raises."""
    try:
        return re.sub(r"grad_fn=<\w+>", "grad_fn", str(case(lib)))
    except (RuntimeError, TypeError, ValueError) as error:
        return next(c.__name__ for c in type(error).__mro__ if c.__module__ == "builtins")


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore")
def test_as_pytorch(name):
    want, got = (_told(lib, CASES[name]) for lib in (torch, funtorch))
    assert got == want


def test_shapes_of_what_would_fill_no_memory():
    x = funtorch.empty(10**6, 10**6, device="meta", requires_grad=True)
    y = funtorch.func.vmap(lambda row: (row * 2).sum())(x)
    assert (y.shape, y.is_meta) == ((10**6,), True)
    (x @ x).sum().backward()
    assert x.grad.shape == x.shape and x.grad.is_meta


def test_nothing_is_drawn():
    funtorch.manual_seed(0)
    want = funtorch.rand(1)
    funtorch.manual_seed(0)
    funtorch.nn.Linear(3, 3, device="meta")
    funtorch.randn(4, device="meta").normal_()
    large = funtorch.empty(10**4, 10**4, 10**3, device="meta")
    assert funtorch.nn.functional.dropout(large).shape == funtorch.nn.functional.dropout1d(large).shape == large.shape
    rates = funtorch.empty(2, 3, device="meta")
    assert rates.bernoulli().is_meta and funtorch.binomial(rates, rates).is_meta and funtorch.normal(rates, 1.0).is_meta
    assert funtorch.func.vmap(lambda row: row.multinomial(2), randomness="different")(rates).shape == (2, 2)
    query = funtorch.empty(1, 10**6, 8, device="meta")
    assert funtorch.nn.functional.scaled_dot_product_attention(query, query, query, dropout_p=0.1).is_meta
    assert funtorch.equal(funtorch.rand(1), want)


def test_default_devices_nest():
    with funtorch.device("meta"):
        assert funtorch.zeros(2).is_meta
        with funtorch.device("cpu"):
            assert not funtorch.zeros(2).is_meta and not funtorch.rand(2).is_meta
        assert funtorch.rand(2).is_meta
    assert funtorch.get_default_device() == funtorch.device("cpu")


@pytest.mark.parametrize("t", [torch, funtorch], ids=["torch", "funtorch"])
def test_layers_that_read_numbers_of_the_host(t):
    scores = t.empty(4, 2, 6, device="meta")
    loss = t.nn.CTCLoss()(scores, t.ones(2, 2, dtype=t.int64, device="meta"), (4, 4), (2, 2))
    bags = t.nn.EmbeddingBag(5, 3, device="meta")(t.empty(2, 4, dtype=t.int64, device="meta"))
    drawn = t.nn.init.trunc_normal_(t.empty(2, 3, device="meta"))
    assert [tuple(x.shape) for x in (loss, bags, drawn)] == [(), (2, 3), (2, 3)]
    assert all(x.is_meta for x in (loss, bags, drawn)) and drawn.data_ptr() == 0


@pytest.mark.parametrize("t", [torch, funtorch], ids=["torch", "funtorch"])
def test_what_is_made_beside_a_tensor_stands_where_it_stands(t):
    x = t.empty(3, 3, device="meta")
    assert x.fill_diagonal_(2.0) is x and x.is_meta
    assert [tuple(new.shape) for new in (x.new(), x.new(2, 4), x.new([1.0, 2.0]))] == [(0,), (2, 4), (2,)]
    assert x.new(2).is_meta and x.new([1.0]).is_meta
