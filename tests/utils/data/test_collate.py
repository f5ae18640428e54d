"""Collation of samples of all kinds, compared with torch.utils.data."""

import collections
import importlib
import types

import jax.numpy as jnp
import numpy as np
import pytest

import funtorch as torch
from funtorch.utils.data import collate as collation

Pair = collections.namedtuple("Pair", "a b")


class Named(dict):
    """A mapping that carries more than its entries."""

    label = "none"


class Frozen(collections.abc.Mapping):
    """A mapping that cannot be made from a dict alone."""

    def __init__(self, entries, more):
        self.entries = entries

    def __getitem__(self, key):
        return self.entries[key]

    def __iter__(self):
        return iter(self.entries)

    def __len__(self):
        return len(self.entries)


def labelled():
    sample = Named(a=np.ones(1))
    sample.label = "kept"
    return sample


BATCHES = {
    "empty": lambda t: [],
    "None": lambda t: [None],
    "ints": lambda t: [1, 2],
    "large ints": lambda t: [2**40, -1],
    "bools": lambda t: [True, False],
    "int and bool": lambda t: [1, True],
    "bool and int": lambda t: [True, 2],
    "floats": lambda t: [0.1, float("inf")],
    "float and int": lambda t: [1.5, 2],
    "float and bool": lambda t: [1.5, True],
    "int and float": lambda t: [1, 2.5],
    "complex": lambda t: [1j],
    "tuple as batch": lambda t: (1, 2),
    "texts": lambda t: ["a", "b"],
    "bytes": lambda t: [b"a", b"b"],
    "NumPy texts": lambda t: [np.str_("a"), np.str_("b")],
    "NumPy bytes": lambda t: [np.bytes_(b"a")],
    "bytearrays": lambda t: [bytearray(b"ab"), bytearray(b"cd")],
    "text, then int": lambda t: ["a", 1],
    "tensors": lambda t: [t.ones(2, 3), t.zeros(2, 3)],
    "tensors without axes": lambda t: [t.tensor(1.5), t.tensor(2.5)],
    "int tensors": lambda t: [t.tensor([1]), t.tensor([2])],
    "tensors, mixed dtypes": lambda t: [t.tensor(1), t.tensor(1.5)],
    "tensors, unequal": lambda t: [t.ones(2), t.ones(3)],
    "tensor, then number": lambda t: [t.tensor(1), 2],
    "tensor, then array": lambda t: [t.ones(2), np.ones(2)],
    "arrays": lambda t: [np.ones((2, 3), np.float32), np.zeros((2, 3), np.float32)],
    "arrays without axes": lambda t: [np.array(3), np.array(4)],
    "bool arrays": lambda t: [np.array([True]), np.array([False])],
    "array, then tensor": lambda t: [np.ones(2), t.zeros(2, dtype=t.float64)],
    "arrays, unequal": lambda t: [np.ones(2), np.ones(3)],
    "arrays, mixed dtypes": lambda t: [np.ones(2, np.float32), np.ones(2)],
    "object arrays": lambda t: [np.array([object()])] * 2,
    "text arrays": lambda t: [np.array(["a"])] * 2,
    "bytes arrays": lambda t: [np.array([b"a"])] * 2,
    "dates": lambda t: [np.datetime64("2020")],
    **{
        f"NumPy {name}": lambda t, name=name: [getattr(np, name)(1), getattr(np, name)(0)]
        for name in "float16 float32 float64 complex64 bool int8 int16 int32 int64 uint8 uint16".split()
    },
    "NumPy, mixed dtypes": lambda t: [np.int8(1), np.float32(2.0)],
    "tuples": lambda t: [(1, 2.0), (3, 4.0)],
    "lists": lambda t: [[1, 2, 3], [4, 5, 6]],
    "empty lists": lambda t: [[], []],
    "lists, unequal": lambda t: [[1, 2], [3]],
    "tuples, unequal": lambda t: [(1,), (2, 3)],
    "ranges": lambda t: [range(2), range(2)],
    "deques": lambda t: [collections.deque([1, 2]), collections.deque([3, 4])],
    "dicts": lambda t: [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}],
    "dicts, key missing": lambda t: [{"a": 1}, {"b": 1}],
    "dicts, key too many": lambda t: [{"a": 1}, {"a": 1, "c": 2}],
    "ordered dicts": lambda t: [collections.OrderedDict(a=1), collections.OrderedDict(a=2)],
    "default dicts": lambda t: [collections.defaultdict(list, {"a": 1})] * 2,
    "subclassed dicts": lambda t: [labelled(), labelled()],
    "read-only mappings": lambda t: [types.MappingProxyType({"a": 1})] * 2,
    "mappings that can't be made": lambda t: [Frozen({"a": 1}, 0), Frozen({"a": 2}, 0)],
    "named tuples": lambda t: [Pair(1, "x"), Pair(2, "y")],
    "nested": lambda t: [(t.full((2,), i), {"k": [i, 2], "p": Pair(3, i)}) for i in (1, 2)],
    "sets": lambda t: [{1}, {2}],
    "dict as batch": lambda t: {"a": 1},
}


@pytest.mark.parametrize("make", BATCHES.values(), ids=BATCHES.keys())
def test_collate(same, make):
    same(lambda t: t.utils.data.default_collate(make(t)))


SAMPLES = {
    "None": lambda t: None,
    "int": lambda t: 1,
    "text": lambda t: "ab",
    "bytes": lambda t: b"ab",
    "NumPy text": lambda t: np.str_("a"),
    "NumPy scalar": lambda t: np.float32(1.5),
    "NumPy bool": lambda t: np.bool_(True),
    "array": lambda t: np.arange(3),
    "text array": lambda t: np.array(["a"]),
    "bytes array": lambda t: np.array([b"a"]),
    "date": lambda t: np.datetime64("2020"),
    "tensor": lambda t: t.ones(2),
    "tuple": lambda t: (1, np.ones(1)),
    "list": lambda t: [1, np.ones(1)],
    "range": lambda t: range(3),
    "deque": lambda t: collections.deque([np.ones(1)]),
    "dict": lambda t: {"a": np.ones(1)},
    "subclassed dict": lambda t: labelled(),
    "read-only mapping": lambda t: types.MappingProxyType({"a": np.ones(1)}),
    "mapping that can't be made": lambda t: Frozen({"a": np.ones(1)}, 0),
    "named tuple": lambda t: Pair(np.ones(1), "x"),
    "set": lambda t: {1},
    "nested": lambda t: {"a": [(np.float64(1.0), "x")]},
}


@pytest.mark.parametrize("make", SAMPLES.values(), ids=SAMPLES.keys())
def test_convert(same, make):
    same(lambda t: t.utils.data.default_convert(make(t)))


def test_samples_are_left_alone():
    samples = [{"a": [1, 2]}, {"a": [3, 4]}]
    torch.utils.data.default_collate(samples)
    assert samples == [{"a": [1, 2]}, {"a": [3, 4]}]
    assert torch.utils.data.default_collate([labelled(), labelled()]).label == "kept"
    assert torch.utils.data.default_convert(labelled()).label == "kept"


def test_gradients_pass_through_a_batch():
    x = torch.ones(2, requires_grad=True)
    batch = torch.utils.data.default_collate([x, x * 2])
    batch.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_jax_arrays():
    batch = torch.utils.data.default_collate([jnp.ones(2, jnp.float32), jnp.zeros(2, jnp.float32)])
    assert (batch.tolist(), str(batch.dtype)) == ([[1.0, 1.0], [0.0, 0.0]], "torch.float32")
    assert torch.utils.data.default_convert(jnp.arange(2)).tolist() == [0, 1]


def test_rules_of_ones_own():
    def count(batch, *, collate_fn_map):
        return len(batch)

    rules = {set: count, (complex, float): count}
    assert collation.collate([{"a": {1}, "b": 1j}] * 2, collate_fn_map=rules) == {"a": 2, "b": 2}
    assert collation.collate([np.float64(1)], collate_fn_map=rules) == 1
    with pytest.raises(TypeError, match="int"):
        collation.collate([1], collate_fn_map=rules)
    with pytest.raises(TypeError, match="int"):
        collation.collate([1])


def test_the_default_rules_can_be_extended():
    rules = collation.default_collate_fn_map
    assert torch.Tensor in rules
    rules[set] = lambda batch, *, collate_fn_map: "sets"
    try:
        assert torch.utils.data.default_collate([{1}]) == "sets"
    finally:
        del rules[set]
    with pytest.raises(AttributeError, match="no_such_name"):
        collation.no_such_name  # noqa: B018


@pytest.mark.parametrize(
    "batch, parts",
    [
        ([None], ["default_collate", "NoneType", "collate_fn"]),
        ([np.array(["a"])], ["default_collate", "<U1"]),
        ([[1, 2], [3]], ["default_collate", "[2, 1]"]),
    ],
)
def test_messages(batch, parts):
    with pytest.raises(Exception) as caught:
        torch.utils.data.default_collate(batch)
    assert all(part in str(caught.value) for part in parts), caught.value


def test_rules_by_their_names():
    import torch as original

    for lib in (original, torch):
        rules = importlib.import_module(f"{lib.__name__}.utils.data._utils.collate")
        assert rules.collate_tensor_fn([lib.ones(2)] * 3).shape == (3, 2)
        assert rules.collate_float_fn([1.0, 2.0]).dtype is lib.float64 and rules.collate_int_fn([1, 2]).tolist() == [1, 2]
        assert rules.collate_numpy_scalar_fn([np.float32(1), np.float32(2)]).dtype is lib.float32
        assert rules.collate_numpy_array_fn([np.ones(2)] * 3, collate_fn_map=rules.default_collate_fn_map).shape == (3, 2)
        assert rules.collate_str_fn(["a", "b"]) == ["a", "b"]
        table = rules.default_collate_fn_map | {int: lambda batch, *, collate_fn_map: sum(batch)}
        assert rules.collate([(1, 2.0), (3, 4.0)], collate_fn_map=table)[0] == 4
