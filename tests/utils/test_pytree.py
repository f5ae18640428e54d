"""Trees under PyTorch's names, beside PyTorch's."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict, defaultdict, deque, namedtuple

import pytest
import torch.utils._pytree as theirs

import funtorch
from funtorch.utils import _pytree as ours

Point = namedtuple("Point", "x y")
TREES = [
    3, None, (), [1, (2, 3)], {"b": 1, "a": [2, {"c": 3}]}, OrderedDict(b=1, a=2), defaultdict(list, {"k": [1, 2]}), Point(1, [2]),
    deque([1, (2,)], maxlen=4), (None, "text", 2.5), [[], {}, ()],
]  # fmt: skip


@pytest.mark.parametrize("tree", TREES, ids=str)
def test_taken_apart_and_built_up(tree):
    leaves, spec = ours.tree_flatten(tree)
    wanted, other = theirs.tree_flatten(tree)
    assert leaves == wanted == ours.tree_leaves(tree) == list(ours.tree_iter(tree))
    assert (spec.num_leaves, spec.num_nodes, spec.num_children, spec.is_leaf()) == (
        other.num_leaves,
        other.num_nodes,
        other.num_children,
        other.is_leaf(),
    )
    built = ours.tree_unflatten(leaves, spec)
    assert built == tree and type(built) is type(tree)
    assert ours.tree_is_leaf(tree) == other.is_leaf()
    assert spec == ours.tree_structure(tree) and hash(spec) == hash(ours.tree_structure(tree))
    doubled = ours.tree_map(lambda x: (x, x), tree)
    assert doubled == theirs.tree_map(lambda x: (x, x), tree)
    assert ours._broadcast_to_and_flatten(7, spec) == theirs._broadcast_to_and_flatten(7, other)


def test_specs_differ_by_kind_keys_and_children():
    specs = [ours.tree_structure(t) for t in ([1], (1,), {"a": 1}, {"b": 1}, [1, 2], [[1]], 1)]
    assert len(set(specs)) == len(specs)
    assert all(a != b for i, a in enumerate(specs) for b in specs[:i])
    assert isinstance(specs[-1], ours.LeafSpec) and isinstance(specs[0], ours.TreeSpec)
    assert repr(specs[0]) == "TreeSpec(list, None, [*])"
    assert specs[4].children() == [specs[4].child(0), ours.LeafSpec()]


def test_maps_over_several_trees():
    a, b = {"x": 1, "y": [2, 3]}, {"y": [20, 30], "x": 10}
    assert ours.tree_map(lambda p, q: p + q, a, b) == theirs.tree_map(lambda p, q: p + q, a, b) == {"x": 11, "y": [22, 33]}
    assert ours.tree_map(lambda p, q: (p, q), [1, 2], [(3, 4), 5]) == [(1, (3, 4)), (2, 5)]
    for wrong in ({"x": 1}, {"x": 1, "y": [2]}, [1, 2], {"x": 1, "z": [2, 3]}):
        for lib in (theirs, ours):
            with pytest.raises(ValueError):
                lib.tree_map(lambda p, q: p, a, wrong)


def test_maps_over_some_types():
    tree = {"t": funtorch.ones(2), "n": 3, "f": 2.5}
    moved = ours.tree_map_only(funtorch.Tensor, lambda t: t + 1, tree)
    assert moved["t"].tolist() == [2, 2] and (moved["n"], moved["f"]) == (3, 2.5)
    assert ours.tree_map_only((int, float), str, tree)["n"] == "3"
    assert ours.tree_map_only(lambda x: isinstance(x, int), lambda x: 0, tree)["n"] == 0
    assert ours.tree_map_only(int | float, lambda x: 0, tree)["f"] == 0
    seen = []
    assert ours.tree_map_only_(funtorch.Tensor, lambda t: t.zero_(), tree) is tree
    assert tree["t"].tolist() == [0, 0]
    assert ours.tree_map_(seen.append, [1, 2]) == [1, 2] == seen


def test_leaves_by_choice():
    tree = [1, (2, 3), {"a": (4, 5)}]
    is_leaf = lambda x: isinstance(x, tuple)  # noqa: E731
    assert ours.tree_leaves(tree, is_leaf) == theirs.tree_leaves(tree, is_leaf) == [1, (2, 3), (4, 5)]
    assert ours.tree_map(len, tree[1:], is_leaf=is_leaf) == [2, {"a": 2}]
    assert ours.tree_all(bool, tree) and not ours.tree_any(lambda x: x > 5, tree)


def test_classes_of_ones_own():
    class Box:
        def __init__(self, *items):
            self.items = items

    module = funtorch.nn.Linear(1, 1)
    assert ours.tree_leaves([Box(1, 2), module])[1] is module
    ours.register_pytree_node(Box, lambda b: (list(b.items), "context"), lambda children, context: Box(*children, context))
    leaves, spec = ours.tree_flatten([Box(1, (2,))])
    assert (leaves, spec.child(0).type, spec.child(0).context) == ([1, 2], Box, "context")
    assert spec.unflatten([5, 6])[0].items == (5, (6,), "context")
    with pytest.raises(ValueError, match="already registered"):
        ours._register_pytree_node(Box, None, None)


def test_broadcasting():
    spec = ours.tree_structure([1, (2, 3), {"a": 4}])
    other = theirs.tree_flatten([1, (2, 3), {"a": 4}])[1]
    for tree in (0, [1, 2, 3], [1, (2, 3), 4], [1, 2], (1, 2, 3), [1, (2, 3), {"b": 4}]):
        assert ours._broadcast_to_and_flatten(tree, spec) == theirs._broadcast_to_and_flatten(tree, other)


def test_errors():
    spec = ours.tree_structure([1, 2])
    for lib, each in ((theirs, theirs.tree_flatten([1, 2])[1]), (ours, spec)):
        with pytest.raises(ValueError, match="has length 1 but the spec refers to a pytree that holds 2 items"):
            lib.tree_unflatten([1], each)
        with pytest.raises(TypeError, match="TreeSpec"):
            lib.tree_unflatten([1, 2], 3)


@pytest.mark.parametrize("tree", TREES, ids=str)
def test_paths(tree):
    found, wanted = ours.tree_flatten_with_path(tree), theirs.tree_flatten_with_path(tree)
    assert [(ours.keystr(path), leaf) for path, leaf in found[0]] == [(theirs.keystr(path), leaf) for path, leaf in wanted[0]]
    assert repr([path for path, _ in found[0]]) == repr([path for path, _ in wanted[0]])
    assert found[1] == ours.tree_structure(tree) and ours.tree_leaves_with_path(tree) == found[0]
    assert all(ours.key_get(tree, path) is leaf for path, leaf in found[0])
    assert ours.tree_map_with_path(lambda path, x, y: (ours.keystr(path), x, y), tree, tree) == theirs.tree_map_with_path(
        lambda path, x, y: (theirs.keystr(path), x, y), tree, tree
    )


def test_containers_of_ones_own_have_paths():
    for lib in (theirs, ours):

        @dataclasses.dataclass
        class Pair:
            left: int
            right: list
            note: str = "none"

        lib.register_dataclass(Pair, drop_field_names=["note"]) if lib is ours else lib.register_dataclass(
            Pair, field_names=["left", "right"], drop_field_names=["note"]
        )
        pair = Pair(1, [2], "kept not")
        assert [lib.keystr(path) for path, _ in lib.tree_leaves_with_path([pair])] == ["[0].left", "[0].right[0]"]
        assert lib.tree_map(lambda x: x + 1, pair) == Pair(2, [3])
        plain = type("Plain", (), {})
        lib.register_pytree_node(plain, lambda x: ([1], None), lambda children, _: None)
        with pytest.raises(ValueError, match="flatten_with_keys_fn"):
            lib.tree_leaves_with_path(plain())
    with pytest.raises(ValueError, match="expected a dataclass"):
        ours.register_dataclass(int)


def test_questions_of_some_types():
    for lib in (theirs, ours):
        tree = [1, "a", (2, 2.5)]
        assert lib.tree_all_only(int, lambda x: x > 0, tree) and not lib.tree_any_only(int, lambda x: x > 2, tree)
        assert lib.map_only(int)(lambda x: x + 1)(1) == 2 and lib.map_only(int)(lambda x: x + 1)("a") == "a"
        assert lib.arg_tree_leaves(1, [2, 3], k={"a": 4}) == [1, 2, 3, 4]
        assert lib.is_namedtuple(Point(1, 2)) and lib.is_namedtuple(Point) and not lib.is_namedtuple((1, 2))
