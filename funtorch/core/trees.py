"""Nested containers of Tensors: flattened in the order in which they were written, and built up again.

Tuples, named tuples, lists, dicts of every kind and JAX's registered classes are containers; all else is a leaf. Dicts keep
their order (JAX's own tree functions sort the keys).
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Mapping
from typing import Any

import jax

from .handle import Handle


class Spec:
    """The structure of a container: hashable, compared by value."""

    __slots__ = ("kind", "aux", "children", "count", "_hash")

    def __init__(self, kind: Any, aux: Any, children: tuple[Spec, ...], count: int) -> None:
        self.kind = kind
        self.aux = aux
        self.children = children
        self.count = count
        self._hash = hash((kind, aux, children))

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Spec)
            and self._hash == other._hash
            and (self.kind, self.aux, self.children) == (other.kind, other.aux, other.children)
        )

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        if self is LEAF:
            return "*"
        return f"{getattr(self.kind, '__name__', self.kind)}({', '.join(map(repr, self.children))})"


LEAF = Spec("leaf", None, (), 1)
_MAPPINGS = (dict, OrderedDict, defaultdict)


def is_named_tuple(value: Any) -> bool:
    """Whether ``value`` is a named tuple."""
    return isinstance(value, tuple) and hasattr(value, "_fields")


def flatten(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], Spec]:
    """The leaves of ``tree`` and its structure.

    >>> leaves, spec = flatten({"b": 1, "a": (2, [3])})
    >>> leaves, unflatten(spec, [10, 20, 30])
    ([1, 2, 3], {'b': 10, 'a': (20, [30])})
    """
    leaves: list[Any] = []
    return leaves, _flatten(tree, leaves, is_leaf)


def _flatten(tree: Any, leaves: list[Any], is_leaf: Callable[[Any], bool] | None) -> Spec:
    kind = type(tree)
    if isinstance(tree, Handle) or (is_leaf is not None and is_leaf(tree)):
        leaves.append(tree)
        return LEAF
    before = len(leaves)
    aux: Any = None
    if kind in (list, tuple) or is_named_tuple(tree):
        children = tree
    elif kind in _MAPPINGS:
        aux = (tuple(tree), tree.default_factory if kind is defaultdict else None)
        children = tree.values()
    elif isinstance(tree, tuple):
        kind, children = tuple, tree
    elif isinstance(tree, Mapping) and not isinstance(tree, _MAPPINGS) and _registered(tree):
        return _flatten_registered(tree, leaves, is_leaf)
    elif tree is not None and kind.__module__ != "builtins" and _registered(tree):
        return _flatten_registered(tree, leaves, is_leaf)
    else:
        leaves.append(tree)
        return LEAF
    specs = tuple([_flatten(child, leaves, is_leaf) for child in children])
    return Spec(kind, aux, specs, len(leaves) - before)


def flatten_plain(tree: Any) -> tuple[list[Any], Spec]:
    """`flatten` for what a person's own function gets or keeps: only tuples, lists and dicts that hold Tensors are opened.

    A Module is a leaf, and so is a list without Tensors: a copy of either would take what the function writes there.

    >>> log: list = []
    >>> leaves, _ = flatten_plain((log, {"a": torch.ones(1)}))
    >>> leaves[0] is log
    True
    """
    return flatten(tree, is_leaf=lambda value: not _holds_tensors(value))


def _holds_tensors(value: Any) -> bool:
    if isinstance(value, (tuple, list, dict)):
        return any(map(_holds_tensors, value.values() if isinstance(value, dict) else value))
    return isinstance(value, Handle)


def _registered(tree: Any) -> bool:
    return not jax.tree_util.all_leaves([tree])


def _flatten_registered(tree: Any, leaves: list[Any], is_leaf: Any) -> Spec:
    found, treedef = jax.tree_util.tree_flatten(tree, is_leaf=lambda x: isinstance(x, Handle))
    before = len(leaves)
    specs = tuple(_flatten(child, leaves, is_leaf) for child in found)
    return Spec("jax", treedef, specs, len(leaves) - before)


def unflatten(spec: Spec, leaves: Any) -> Any:
    """A container of structure ``spec`` with these leaves."""
    given = iter(leaves)
    return _build(spec, given)


def _build(spec: Spec, given: Any) -> Any:
    if spec is LEAF or spec.kind == "leaf":
        return next(given)
    children = [_build(child, given) for child in spec.children]
    if spec.kind == "jax":
        return jax.tree_util.tree_unflatten(spec.aux, children)
    if spec.aux is not None:
        keys, factory = spec.aux
        items = zip(keys, children, strict=True)
        return defaultdict(factory, items) if spec.kind is defaultdict else spec.kind(items)
    if spec.kind is list:
        return children
    return spec.kind(*children) if hasattr(spec.kind, "_fields") else tuple(children)


def tree_map(fn: Callable, tree: Any, *rest: Any) -> Any:
    """``fn`` applied to each leaf of ``tree``, with the leaves at the same places of further trees."""
    leaves, spec = flatten(tree)
    others = [flatten(other)[0] for other in rest]
    return unflatten(spec, [fn(*each) for each in zip(leaves, *others, strict=True)])


def broadcast_prefix(prefix: Any, tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> list[Any]:
    """The leaves of ``prefix`` repeated so that there is one for each leaf of ``tree``. Raises ValueError on a misfit."""
    result: list[Any] = []
    _broadcast(prefix, tree, result)
    return result


def _broadcast(prefix: Any, tree: Any, result: list[Any]) -> None:
    if isinstance(prefix, (list, tuple)) and isinstance(tree, (list, tuple)):
        if len(prefix) != len(tree):
            raise ValueError(f"structure of {len(prefix)} elements does not fit one of {len(tree)}")
        for p, t in zip(prefix, tree, strict=True):
            _broadcast(p, t, result)
    elif isinstance(prefix, Mapping) and isinstance(tree, Mapping):
        if set(prefix) != set(tree):
            raise ValueError(f"keys {sorted(map(str, prefix))} do not fit {sorted(map(str, tree))}")
        for key in tree:
            _broadcast(prefix[key], tree[key], result)
    elif isinstance(prefix, (list, tuple, Mapping)):
        raise ValueError(f"a {type(prefix).__name__} does not fit a {type(tree).__name__}")
    else:
        result.extend([prefix] * flatten(tree)[1].count)
