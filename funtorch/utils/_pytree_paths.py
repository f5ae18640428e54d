"""Where the leaves of a tree are: a path of keys to each. PyTorch has these in ``torch.utils._pytree``."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..core.trees import is_named_tuple
from ..errors import ArgumentValueError
from ._pytree import (
    SUPPORTED_NODES,
    _flatten_up_to,
    _get_node_type,
    _wanted,
    namedtuple,
    register_pytree_node,
    tree_all,
    tree_any,
    tree_leaves,
    tree_structure,
)

__all__ = [
    "GetAttrKey", "KeyEntry", "KeyPath", "MappingKey", "SequenceKey", "arg_tree_leaves", "is_namedtuple", "key_get", "keystr",
    "map_only", "register_dataclass", "tree_all_only", "tree_any_only", "tree_flatten_with_path", "tree_leaves_with_path",
    "tree_map_with_path",
]  # fmt: skip

KeyEntry = Any
KeyPath = tuple
Predicate = Callable[[Any], bool] | None


@dataclasses.dataclass(frozen=True)
class MappingKey:
    """A key of a dict."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, obj: Any) -> Any:
        """The child of ``obj``."""
        return obj[self.key]


@dataclasses.dataclass(frozen=True)
class SequenceKey:
    """A place in a sequence."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, obj: Any) -> Any:
        """The child of ``obj``."""
        return obj[self.idx]


@dataclasses.dataclass(frozen=True)
class GetAttrKey:
    """The name of an attribute."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, obj: Any) -> Any:
        """The child of ``obj``."""
        return getattr(obj, self.name)


def _keyed(tree: Any, kind: Any) -> list[tuple[Any, Any]]:
    """The children of a container with their keys. Raises ValueError for a class that was registered without."""
    node = SUPPORTED_NODES[kind]
    if node.flatten_with_keys_fn is not None:
        return list(node.flatten_with_keys_fn(tree)[0])
    children = list(node.flatten_fn(tree)[0])
    if kind is namedtuple:
        return [(GetAttrKey(name), child) for name, child in zip(tree._fields, children, strict=True)]
    if isinstance(tree, Mapping):
        return [(MappingKey(key), child) for key, child in zip(tree, children, strict=True)]
    if isinstance(tree, Sequence):
        return [(SequenceKey(i), child) for i, child in enumerate(children)]
    raise ArgumentValueError(
        f"Did not find a flatten_with_keys_fn for type: {kind}. Please pass a flatten_with_keys_fn argument to register_pytree_node."
    )


def _walk(tree: Any, path: tuple, found: list, is_leaf: Predicate) -> None:
    kind = _get_node_type(tree)
    if kind not in SUPPORTED_NODES or (is_leaf is not None and is_leaf(tree)):
        found.append((path, tree))
        return
    for key, child in _keyed(tree, kind):
        _walk(child, (*path, key), found, is_leaf)


def tree_leaves_with_path(tree: Any, is_leaf: Predicate = None) -> list[tuple[KeyPath, Any]]:
    """The leaves of a tree, each after the keys that lead to it.

    >>> [(keystr(path), leaf) for path, leaf in tree_leaves_with_path({"a": [1, 2]})]
    [("['a'][0]", 1), ("['a'][1]", 2)]
    """
    found: list[tuple[KeyPath, Any]] = []
    _walk(tree, (), found, is_leaf)
    return found


def tree_flatten_with_path(tree: Any, is_leaf: Predicate = None) -> tuple[list[tuple[KeyPath, Any]], Any]:
    """`tree_leaves_with_path`, and the tree's structure."""
    return tree_leaves_with_path(tree, is_leaf), tree_structure(tree, is_leaf)


def tree_map_with_path(func: Callable, tree: Any, *rests: Any, is_leaf: Predicate = None) -> Any:
    """``func(path, leaf, ...)`` for each leaf, with what stands at its place in further trees. Raises ValueError if they don't fit."""
    leaves, spec = tree_flatten_with_path(tree, is_leaf)
    others = [_flatten_up_to(spec, rest) for rest in rests]
    return spec.unflatten([func(path, leaf, *each) for (path, leaf), *each in zip(leaves, *others, strict=True)])


def keystr(kp: KeyPath) -> str:
    """A path as it is written in Python."""
    return "".join(map(str, kp))


def key_get(obj: Any, kp: KeyPath) -> Any:
    """What stands at a path of a tree."""
    for key in kp:
        obj = key.get(obj)
    return obj


def tree_all_only(types: Any, /, pred: Callable, tree: Any, is_leaf: Predicate = None) -> bool:
    """Whether ``pred`` is true of every leaf of some types."""
    wanted = _wanted(types)
    return tree_all(lambda x: not wanted(x) or pred(x), tree, is_leaf)


def tree_any_only(types: Any, /, pred: Callable, tree: Any, is_leaf: Predicate = None) -> bool:
    """Whether ``pred`` is true of any leaf of some types."""
    wanted = _wanted(types)
    return tree_any(lambda x: wanted(x) and pred(x), tree, is_leaf)


def map_only(types: Any, /) -> Callable[[Callable], Callable]:
    """Makes of a function one that leaves values of other types as they are."""
    wanted = _wanted(types)
    return lambda func: lambda x: func(x) if wanted(x) else x


def arg_tree_leaves(*args: Any, **kwargs: Any) -> list[Any]:
    """The leaves of a call's arguments."""
    return [leaf for value in (*args, *kwargs.values()) for leaf in tree_leaves(value)]


def is_namedtuple(obj: Any) -> bool:
    """Whether a value, or a class, is a named tuple."""
    return issubclass(obj, tuple) and hasattr(obj, "_fields") if isinstance(obj, type) else is_named_tuple(obj)


def register_dataclass(
    cls: type, *, field_names: list[str] | None = None, drop_field_names: list[str] | None = None, serialized_type_name: str | None = None
) -> None:  # fmt: skip
    """Make a dataclass a container of its fields.

    Args:
        cls: the class.
        field_names: those that are children; all that ``__init__`` takes unless given.
        drop_field_names: of these the ones that get their default instead.
        serialized_type_name: accepted, without effect.

    Raises:
        ValueError: it is no dataclass, or a container already.
    """
    if not dataclasses.is_dataclass(cls):
        raise ArgumentValueError(f"register_dataclass(): expected a dataclass, got {cls}")
    taken = field_names or [field.name for field in dataclasses.fields(cls) if field.init]
    names = [name for name in taken if name not in (drop_field_names or ())]

    def apart(x: Any) -> tuple[list[Any], list[str]]:
        return [getattr(x, name) for name in names], names

    def keyed(x: Any) -> tuple[list[tuple[Any, Any]], list[str]]:
        return [(GetAttrKey(name), getattr(x, name)) for name in names], names

    register_pytree_node(
        cls, apart, lambda children, context: cls(**dict(zip(context, children, strict=True))), flatten_with_keys_fn=keyed
    )
