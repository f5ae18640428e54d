"""PyTorch's names for trees of containers: tuples, lists, dicts, named tuples, deques, and classes registered here."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from ..core.trees import is_named_tuple
from ..errors import ArgumentTypeError, ArgumentValueError

PyTree = Any


@dataclass(frozen=True)
class NodeDef:
    """How a kind of container is taken apart, ``flatten_fn(x) -> (children, context)``, and built up, ``unflatten_fn(children, context)``."""

    type: type
    flatten_fn: Callable[[Any], tuple[Iterable[Any], Any]]
    unflatten_fn: Callable[[Iterable[Any], Any], Any]
    flatten_with_keys_fn: Any = None  # ``(x) -> ([(key, child)], context)``


SUPPORTED_NODES: dict[type, NodeDef] = {}
namedtuple = type("namedtuple", (), {"__doc__": "Stands for every class of named tuples."})


def register_pytree_node(
    cls: type, flatten_fn: Callable, unflatten_fn: Callable, *, serialized_type_name: str | None = None, to_dumpable_context: Any = None,
    from_dumpable_context: Any = None, flatten_with_keys_fn: Any = None,
) -> None:  # fmt: skip
    """Make a class a container. Raises ValueError if it is one."""
    if cls in SUPPORTED_NODES:
        raise ArgumentValueError(f"{cls} is already registered as pytree node.")
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn)


_register_pytree_node = register_pytree_node


def _dict_like(cls: type) -> None:
    register_pytree_node(cls, lambda x: (list(x.values()), list(x)), lambda children, keys: cls(zip(keys, children, strict=True)))


_dict_like(dict)
_dict_like(OrderedDict)
register_pytree_node(
    defaultdict,
    lambda x: (list(x.values()), [x.default_factory, list(x)]),
    lambda children, context: defaultdict(context[0], zip(context[1], children, strict=True)),
)
register_pytree_node(tuple, lambda x: (list(x), None), lambda children, _: tuple(children))
register_pytree_node(list, lambda x: (list(x), None), lambda children, _: list(children))
register_pytree_node(deque, lambda x: (list(x), x.maxlen), lambda children, most: deque(children, maxlen=most))
register_pytree_node(namedtuple, lambda x: (list(x), type(x)), lambda children, cls: cls(*children))


def _get_node_type(tree: Any) -> Any:
    """The kind of container that a value is: its class, or `namedtuple` for all of those."""
    return namedtuple if is_named_tuple(tree) and type(tree) not in SUPPORTED_NODES else type(tree)


class TreeSpec:
    """The structure of a tree; a leaf's has type None.

    Args:
        type: the kind of container.
        context: what it needs besides its children, such as a dict's keys.
        children_specs: theirs, in order.
    """

    __slots__ = ("type", "context", "children_specs", "num_leaves", "num_nodes")

    def __init__(self, type: Any, context: Any, children_specs: Iterable[TreeSpec]) -> None:
        self.type, self.context, self.children_specs = type, context, list(children_specs)
        self.num_leaves: int = 1 if type is None else sum(child.num_leaves for child in self.children_specs)
        self.num_nodes: int = 1 + sum(child.num_nodes for child in self.children_specs)

    @property
    def num_children(self) -> int:
        """How many children there are."""
        return len(self.children_specs)

    def children(self) -> list[TreeSpec]:
        """The children's structures."""
        return list(self.children_specs)

    def child(self, index: int) -> TreeSpec:
        """The structure of one child."""
        return self.children_specs[index]

    def is_leaf(self) -> bool:
        """Whether this is no container."""
        return self.type is None

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """A tree of this structure. Raises ValueError if the number of leaves does not fit."""
        return tree_unflatten(leaves, self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TreeSpec) and self._parts() == other._parts()

    def _parts(self) -> tuple:
        return self.type, self.context, self.children_specs

    def __hash__(self) -> int:
        return hash((self.type, repr(self.context), tuple(self.children_specs)))

    def __repr__(self) -> str:
        if self.is_leaf():
            return "*"
        return f"TreeSpec({self.type.__name__}, {self.context}, [{', '.join(map(repr, self.children_specs))}])"


class LeafSpec(TreeSpec):
    """The structure of a leaf."""

    def __init__(self) -> None:
        super().__init__(None, None, ())


def tree_flatten(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], TreeSpec]:
    """The leaves of a tree, and its structure. ``is_leaf`` says which containers are leaves.

    >>> tree_flatten({"b": 1, "a": (2, [3])})[0]
    [1, 2, 3]
    """
    leaves: list[Any] = []
    return leaves, _flatten(tree, leaves, is_leaf)


def _flatten(tree: Any, leaves: list[Any], is_leaf: Callable[[Any], bool] | None) -> TreeSpec:
    kind = _get_node_type(tree)
    node = SUPPORTED_NODES.get(kind)
    if node is None or (is_leaf is not None and is_leaf(tree)):
        leaves.append(tree)
        return LeafSpec()
    children, context = node.flatten_fn(tree)
    return TreeSpec(kind, context, [_flatten(child, leaves, is_leaf) for child in children])


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> Any:
    """A tree of a structure. Raises TypeError for what is no structure, ValueError if the number of leaves does not fit."""
    if not isinstance(treespec, TreeSpec):
        raise ArgumentTypeError(
            f"tree_unflatten(leaves, treespec): Expected `treespec` to be instance of TreeSpec but got item of type {type(treespec)}."
        )
    given = list(leaves)
    if len(given) != treespec.num_leaves:
        raise ArgumentValueError(
            f"treespec.unflatten(leaves): `leaves` has length {len(given)} but the spec refers to a pytree that holds "
            f"{treespec.num_leaves} items ({treespec})."
        )
    return _build(treespec, iter(given))


def _build(spec: TreeSpec, given: Any) -> Any:
    if spec.is_leaf():
        return next(given)
    return SUPPORTED_NODES[spec.type].unflatten_fn([_build(child, given) for child in spec.children_specs], spec.context)


def tree_leaves(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> list[Any]:
    """The leaves of a tree."""
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> TreeSpec:
    """The structure of a tree."""
    return tree_flatten(tree, is_leaf)[1]


def tree_iter(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> Iterable[Any]:
    """The leaves of a tree, one after the other."""
    return iter(tree_leaves(tree, is_leaf))


def tree_is_leaf(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Whether a value is no container."""
    return tree_structure(tree, is_leaf).is_leaf()


def tree_map(func: Callable, tree: Any, *rests: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """``func`` applied to each leaf, with what stands at its place in further trees. Raises ValueError if they don't fit."""
    leaves, spec = tree_flatten(tree, is_leaf)
    others = [_flatten_up_to(spec, rest) for rest in rests]
    return spec.unflatten([func(*each) for each in zip(leaves, *others, strict=True)])


def _flatten_up_to(spec: TreeSpec, tree: Any) -> list[Any]:
    """The subtrees of a tree at the places of a structure's leaves. Raises ValueError if its structure is another."""
    if spec.is_leaf():
        return [tree]
    kind = _get_node_type(tree)
    node = SUPPORTED_NODES.get(kind)
    children = [] if node is None else list(node.flatten_fn(tree)[0])
    if kind is not spec.type or len(children) != spec.num_children:
        raise ArgumentValueError(
            f"the trees' structures differ: expected {spec}, got a {type(tree).__name__} with {len(children)} children"
        )
    if isinstance(tree, dict):
        keys = spec.context[1] if kind is defaultdict else spec.context
        if set(keys) != set(tree):
            raise ArgumentValueError(f"the trees' structures differ: expected the keys {list(keys)}, got {list(tree)}")
        children = [tree[key] for key in keys]
    return [each for child, subtree in zip(spec.children_specs, children, strict=True) for each in _flatten_up_to(child, subtree)]


def tree_map_(func: Callable, tree: Any, *rests: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """Call ``func`` for each leaf, and return the tree itself."""
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def _wanted(types: Any) -> Callable[[Any], bool]:
    return (lambda x: isinstance(x, types)) if isinstance(types, (type, tuple)) or hasattr(types, "__args__") else types


def tree_map_only(types: Any, func: Callable, tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """``func`` applied to the leaves of some types (or for which a function is true); the others stay as they are."""
    wanted = _wanted(types)
    return tree_map(lambda x: func(x) if wanted(x) else x, tree, is_leaf=is_leaf)


def tree_map_only_(types: Any, func: Callable, tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """Call ``func`` for the leaves of some types, and return the tree itself."""
    tree_map_only(types, func, tree, is_leaf)
    return tree


def tree_all(pred: Callable, tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Whether ``pred`` is true of every leaf."""
    return all(map(pred, tree_leaves(tree, is_leaf)))


def tree_any(pred: Callable, tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Whether ``pred`` is true of any leaf."""
    return any(map(pred, tree_leaves(tree, is_leaf)))


def _broadcast_to_and_flatten(tree: Any, treespec: TreeSpec, is_leaf: Callable[[Any], bool] | None = None) -> list[Any] | None:
    """The leaves of ``tree`` repeated so that there is one for each leaf of a structure; None if it does not fit."""
    kind = _get_node_type(tree)
    if kind not in SUPPORTED_NODES or (is_leaf is not None and is_leaf(tree)):
        return [tree] * treespec.num_leaves
    children, context = SUPPORTED_NODES[kind].flatten_fn(tree)
    children = list(children)
    if kind is not treespec.type or len(children) != treespec.num_children or context != treespec.context:
        return None
    parts = [
        _broadcast_to_and_flatten(child, spec, is_leaf) for child, spec in zip(children, treespec.children_specs, strict=True)
    ]
    return None if any(part is None for part in parts) else [each for part in parts if part is not None for each in part]


def __getattr__(name: str) -> Any:
    """What has to do with the places of leaves, loaded when it is first asked for."""
    from . import _pytree_paths as paths

    if name not in paths.__all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(paths, name)


PyTreeSpec = TreeSpec
