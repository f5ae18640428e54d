"""Sequential, ModuleList, ModuleDict, ParameterList, ParameterDict: each line does what it does in torch."""

from __future__ import annotations

import copy
from collections import OrderedDict

import pytest


def sequential(k):
    return k.nn.Sequential(k.Affine(1, 2), k.Norm(), k.Affine(2, 3))


def named(k):
    return k.nn.Sequential(OrderedDict(a=k.Affine(1, 1), b=k.Norm()))


def module_list(k):
    return k.nn.ModuleList([k.Affine(1, 2), k.Norm(), k.Affine(2, 3)])


def module_dict(k):
    return k.nn.ModuleDict({"b": k.Affine(1, 2), "a": k.Norm()})


def parameter_list(k):
    return k.nn.ParameterList([k.tensor([[1.0, 2.0]]), k.P(k.tensor([0.0])), "word"])


def parameter_dict(k):
    return k.nn.ParameterDict({"b": k.tensor([[1.0, 2.0]]), "a": k.P(k.tensor([0.0])), "c": "word"})


def setitem(m, index, value):
    m[index] = value


def delitem(m, index):
    del m[index]


def iadd(m, other):
    m += other
    return m


def imul(m, other):
    m *= other
    return m


def ior(m, other):
    m |= other
    return m


def new(k, n=9):
    return k.Affine(n, n)


ROW = {
    "first": lambda k, m: m[0],
    "last": lambda k, m: m[-1],
    "beyond": lambda k, m: m[5],
    "before": lambda k, m: m[-4],
    "slice": lambda k, m: m[1:],
    "step": lambda k, m: m[::2],
    "string": lambda k, m: m["0"],
    "float": lambda k, m: m[1.0],
    "bool": lambda k, m: m[True],
    "tensor": lambda k, m: m[k.tensor(1)],
    "set": lambda k, m: setitem(m, 0, new(k)),
    "set last": lambda k, m: setitem(m, -1, new(k)),
    "set beyond": lambda k, m: setitem(m, 9, new(k)),
    "set number": lambda k, m: setitem(m, 0, 3),
    "del": lambda k, m: delitem(m, 0),
    "del slice": lambda k, m: delitem(m, slice(0, 2)),
    "del beyond": lambda k, m: delitem(m, 7),
    "insert": lambda k, m: m.insert(1, new(k)),
    "insert at end": lambda k, m: m.insert(3, new(k)),
    "append": lambda k, m: m.append(new(k)),
    "append number": lambda k, m: m.append(3),
    "extend": lambda k, m: m.extend([new(k), new(k, 8)]),
    "extend by a row": lambda k, m: m.extend(sequential(k)),
    "extend by number": lambda k, m: m.extend(3),
    "pop": lambda k, m: m.pop(0),
    "pop last": lambda k, m: m.pop(-1),
    "pop beyond": lambda k, m: m.pop(8),
    "pop nothing": lambda k, m: m.pop(),
    "len": lambda k, m: len(m),
    "iterate": lambda k, m: list(m),
    "reversed": lambda k, m: list(reversed(m)),
    "contains": lambda k, m: m[1] in m,
    "keys of the state": lambda k, m: list(m.state_dict()),
    "copy": lambda k, m: copy.deepcopy(m),
    "append none": lambda k, m: m.append(None),
}
SEQUENTIAL = {
    **ROW,
    "call": lambda k, m: m(k.tensor([1.0])),
    "call with two": lambda k, m: m(1, 2),
    "insert before last": lambda k, m: m.insert(-1, new(k)),
    "insert beyond": lambda k, m: m.insert(9, new(k)),
    "insert before": lambda k, m: m.insert(-4, new(k)),
    "insert number": lambda k, m: m.insert(0, 3),
    "add": lambda k, m: m + k.nn.Sequential(new(k)),
    "add list": lambda k, m: m + [new(k)],
    "iadd": lambda k, m: iadd(m, k.nn.Sequential(new(k))),
    "iadd number": lambda k, m: iadd(m, 3),
    "times": lambda k, m: m * 2,
    "times from the left": lambda k, m: 2 * m,
    "times nothing": lambda k, m: m * 0,
    "times less": lambda k, m: m * -1,
    "times a float": lambda k, m: m * 1.5,
    "imul": lambda k, m: imul(m, 3),
    "imul once": lambda k, m: imul(m, 1),
    "imul nothing": lambda k, m: imul(m, 0),
    "of a number": lambda k, m: k.nn.Sequential(3),
    "of a dict": lambda k, m: k.nn.Sequential({"a": new(k)}),
    "of a list": lambda k, m: k.nn.Sequential([new(k)]),
    "of none": lambda k, m: k.nn.Sequential(None),
    "of named none": lambda k, m: k.nn.Sequential(OrderedDict([("a", new(k)), ("b", None)])),
    "empty": lambda k, m: (k.nn.Sequential(), bool(k.nn.Sequential()), k.nn.Sequential()(4)),
}
NAMED = {
    "first": lambda k, m: (m[0], m.a),
    "set": lambda k, m: setitem(m, 0, new(k)),
    "append": lambda k, m: m.append(new(k)),
    "del": lambda k, m: delitem(m, 0),
    "slice": lambda k, m: m[:1],
    "del slice": lambda k, m: delitem(m, slice(0, 1)),
    "add": lambda k, m: m + m,
    "times": lambda k, m: m * 2,
    "pop by name": lambda k, m: m.pop("a"),
    "keys": lambda k, m: list(m.state_dict()),
}
MODULE_LIST = {
    **ROW,
    "add list": lambda k, m: m + [new(k)],
    "add": lambda k, m: m + k.nn.ModuleList([new(k)]),
    "add to list": lambda k, m: [new(k)] + m,
    "iadd": lambda k, m: iadd(m, [new(k)]),
    "times": lambda k, m: m * 2,
    "pop slice": lambda k, m: m.pop(slice(0, 2)),
    "call": lambda k, m: m(1),
    "of a number": lambda k, m: k.nn.ModuleList(3),
    "of none": lambda k, m: k.nn.ModuleList([None, new(k)]),
    "of a dict": lambda k, m: k.nn.ModuleList({"a": new(k)}),
    "of a generator": lambda k, m: k.nn.ModuleList(new(k) for _ in range(3)),
    "runs": lambda k, m: k.nn.ModuleList([new(k), new(k), m, new(k), k.net(), k.net()]),
    "empty": lambda k, m: k.nn.ModuleList(),
}
MODULE_DICT = {
    "get": lambda k, m: m["a"],
    "missing": lambda k, m: m["z"],
    "method's name": lambda k, m: m["keys"],
    "set": lambda k, m: setitem(m, "c", new(k)),
    "replace": lambda k, m: setitem(m, "b", new(k)),
    "set number": lambda k, m: setitem(m, "c", 3),
    "set by number": lambda k, m: setitem(m, 3, new(k)),
    "set method's name": lambda k, m: setitem(m, "keys", new(k)),
    "set with a dot": lambda k, m: setitem(m, "c.d", new(k)),
    "set without name": lambda k, m: setitem(m, "", new(k)),
    "del": lambda k, m: delitem(m, "a"),
    "del missing": lambda k, m: delitem(m, "z"),
    "len": lambda k, m: len(m),
    "iterate": lambda k, m: list(m),
    "contains": lambda k, m: ("a" in m, "z" in m),
    "clear": lambda k, m: m.clear(),
    "pop": lambda k, m: m.pop("a"),
    "pop missing": lambda k, m: m.pop("z"),
    "views": lambda k, m: (list(m.keys()), list(m.values()), list(m.items())),
    "update": lambda k, m: m.update({"z": new(k), "c": new(k, 8), "b": None}),
    "update by pairs": lambda k, m: m.update([("z", new(k)), ["c", new(k, 8)]]),
    "update by itself": lambda k, m: m.update(k.nn.ModuleDict({"q": new(k)})),
    "update by number": lambda k, m: m.update(3),
    "update by numbers": lambda k, m: m.update([("a", 3)]),
    "update by triples": lambda k, m: m.update([(1, 2, 3)]),
    "call": lambda k, m: m(1),
    "of pairs": lambda k, m: k.nn.ModuleDict([["x", new(k)]]),
    "no get": lambda k, m: m.get("a"),
    "keys of the state": lambda k, m: list(m.state_dict()),
    "empty": lambda k, m: k.nn.ModuleDict(),
}
PARAMETER_LIST = {
    "first": lambda k, m: m[0],
    "last": lambda k, m: m[-1],
    "beyond": lambda k, m: m[5],
    "slice": lambda k, m: m[1:],
    "string": lambda k, m: m["0"],
    "float": lambda k, m: m[1.5],
    "tensor": lambda k, m: m[k.tensor(0)],
    "set": lambda k, m: setitem(m, 0, k.tensor([5.0])),
    "set over a word": lambda k, m: setitem(m, 2, k.tensor([5.0])),
    "set number": lambda k, m: setitem(m, 0, 3),
    "set beyond": lambda k, m: setitem(m, 9, 3),
    "set slice": lambda k, m: setitem(m, slice(0, 1), 3),
    "append": lambda k, m: m.append(k.tensor([1.0])),
    "append number": lambda k, m: m.append(3),
    "extend": lambda k, m: m.extend([k.tensor([1.0]), 2]),
    "extend by itself": lambda k, m: m.extend(m),
    "extend by a word": lambda k, m: m.extend("ab"),
    "extend by number": lambda k, m: m.extend(3),
    "extend by tensor": lambda k, m: m.extend(k.tensor([[1.0]])),
    "iadd": lambda k, m: iadd(m, [k.tensor([1.0])]),
    "add": lambda k, m: m + m,
    "call": lambda k, m: m(1),
    "len": lambda k, m: len(m),
    "iterate": lambda k, m: list(m),
    "parameters": lambda k, m: list(m.named_parameters()),
    "pop": lambda k, m: m.pop(),
    "dir": lambda k, m: "0" in dir(m),
    "of a number": lambda k, m: k.nn.ParameterList(3),
    "of a module": lambda k, m: k.nn.ParameterList([new(k)]),
    "of many kinds": lambda k, m: k.nn.ParameterList(
        [k.P(k.tensor(1.0)), k.nn.Buffer(k.tensor([2.0])), k.nn.ParameterList([k.tensor([1.0]).double()])]
    ),
    "of a result": lambda k, m: k.nn.ParameterList([k.tensor([1.0], requires_grad=True) * 2])[0].is_leaf,
    "empty": lambda k, m: k.nn.ParameterList(),
    "copy": lambda k, m: list(copy.deepcopy(m)),
}
PARAMETER_DICT = {
    "get": lambda k, m: m["a"],
    "attribute": lambda k, m: m.a,
    "missing": lambda k, m: m["z"],
    "number": lambda k, m: "a" in m and 3 in m,
    "set": lambda k, m: setitem(m, "d", k.tensor([1.0])),
    "set number": lambda k, m: setitem(m, "a", 3),
    "replace": lambda k, m: setitem(m, "b", k.tensor([1.0])),
    "replace a word": lambda k, m: setitem(m, "c", k.tensor([1.0])),
    "set method's name": lambda k, m: setitem(m, "keys", k.tensor([1.0])),
    "set with a dot": lambda k, m: setitem(m, "x.y", k.tensor([1.0])),
    "set without name": lambda k, m: setitem(m, "", k.tensor([1.0])),
    "del": lambda k, m: delitem(m, "a"),
    "del missing": lambda k, m: delitem(m, "z"),
    "len": lambda k, m: len(m),
    "iterate": lambda k, m: (list(m), list(reversed(m))),
    "contains": lambda k, m: ("a" in m, "z" in m),
    "clear": lambda k, m: m.clear(),
    "pop": lambda k, m: m.pop("a"),
    "pop missing": lambda k, m: m.pop("z"),
    "popitem": lambda k, m: m.popitem(),
    "popitem of nothing": lambda k, m: k.nn.ParameterDict().popitem(),
    "get method": lambda k, m: (m.get("a"), m.get("z"), m.get("z", 4)),
    "setdefault": lambda k, m: (m.setdefault("a", 3), m.setdefault("z", k.tensor([1.0])), m.setdefault("y")),
    "fromkeys": lambda k, m: (m.fromkeys(["q", "r"], k.tensor([1.0])), m.fromkeys(["q"])),
    "views": lambda k, m: (list(m.keys()), list(m.values()), list(m.items())),
    "update": lambda k, m: m.update({"y": k.tensor([1.0]), "x": 2}),
    "update by pairs": lambda k, m: m.update([("z", 3), ("y", 2)]),
    "update in order": lambda k, m: m.update(OrderedDict(z=3, y=2)),
    "update by itself": lambda k, m: m.update(k.nn.ParameterDict([("q", 3), ("p", 1)])),
    "update by triples": lambda k, m: m.update([(1, 2, 3)]),
    "copy": lambda k, m: (m.copy(), m.copy()["a"] is m["a"]),
    "or": lambda k, m: m | {"k": 3},
    "or itself": lambda k, m: k.nn.ParameterDict({"k": 3}) | m,
    "dict or": lambda k, m: {"k": 3} | m,
    "ior": lambda k, m: ior(m, {"k": 3}),
    "call": lambda k, m: m(1),
    "parameters": lambda k, m: list(m.named_parameters()),
    "of pairs": lambda k, m: k.nn.ParameterDict([["x", k.tensor([1.0])]]),
    "of a module": lambda k, m: k.nn.ParameterDict({"l": new(k)}),
    "of doubles": lambda k, m: k.nn.ParameterDict({"l": k.tensor([[1.0, 2.0]]).double(), "s": k.tensor(1.0)}),
    "empty": lambda k, m: k.nn.ParameterDict(),
    "deepcopy": lambda k, m: dict(copy.deepcopy(m).items()),
}

CASES = [
    pytest.param(make, fn, id=f"{make.__name__}: {name}")
    for make, table in (
        (sequential, SEQUENTIAL),
        (named, NAMED),
        (module_list, MODULE_LIST),
        (module_dict, MODULE_DICT),
        (parameter_list, PARAMETER_LIST),
        (parameter_dict, PARAMETER_DICT),
    )
    for name, fn in table.items()
]


@pytest.mark.parametrize(("make", "fn"), CASES)
def test_result_container_and_error_are_those_of_torch(alike, make, fn):
    def build(k):
        container = make(k)
        result = fn(k, container)
        return result, container, list(container._modules), list(container._parameters)

    alike(build)


@pytest.mark.parametrize("make", [sequential, module_list])
def test_extending_a_container_by_itself_doubles_it(kit, make):
    m = make(kit)
    assert list(m.extend(m)) == list(m)[:3] * 2 and len(m) == 6


def test_slices_share_the_modules(kit):
    m = sequential(kit)
    assert m[:2][0] is m[0] and type(m[:2]) is kit.nn.Sequential
    assert module_list(kit)[0:0]._modules == {}


def test_inserting_into_a_named_sequential_numbers_its_modules(kit):
    m = named(kit)
    first = m.a
    m.insert(0, kit.Norm())
    assert list(m._modules) == ["0", "1", "2"] and m[1] is first


def test_module_list_inserts_as_a_list_does(kit):
    for index in (-1, -9, 9):
        m, inserted = module_list(kit), kit.Norm()
        expected = list(m)
        expected.insert(index, inserted)
        m.insert(index, inserted)
        assert list(m) == expected and list(m._modules) == ["0", "1", "2", "3"]
    with pytest.raises(TypeError, match="int is not a Module subclass"):
        module_list(kit).insert(0, 3)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda k: module_dict(k).update([3]),
            TypeError,
            "ModuleDict update sequence element #0 should be Iterable; is int",
        ),
        (
            lambda k: parameter_dict(k).update([3]),
            TypeError,
            "ParameterDict update sequence element #0 should be",
        ),
        (
            lambda k: parameter_dict(k).update(3),
            TypeError,
            "ParameterDict.update should be called with an iterable",
        ),
        (
            lambda k: parameter_dict(k)[3],
            TypeError,
            "cannot be used as a key as it is not a string .type is 'int'",
        ),
        (lambda k: k.nn.ParameterDict({1: k.tensor([1.0])}), TypeError, "not a string"),
        (lambda k: parameter_dict(k)["keys"], AttributeError, "no attribute 'keys'"),
        (lambda k: setitem(parameter_dict(k), "keys", 3), KeyError, "attribute 'keys' already exists"),
        (lambda k: k.nn.ParameterList([k.tensor([1])]), RuntimeError, "require gradients"),
    ],
)
def test_messages_of_their_own(kit, call, error, words):
    with pytest.raises(error, match=words):
        call(kit)


def test_a_failed_update_adds_nothing_after_a_wrong_pair(kit):
    m = module_dict(kit)
    with pytest.raises(ValueError, match="length 3"):
        m.update([("c", kit.Norm()), (1, 2, 3)])
    assert list(m) == ["b", "a"]
