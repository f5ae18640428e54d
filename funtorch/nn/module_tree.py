"""A Module as a JAX pytree: its leaves are the parameters, then the buffers, in the order of registration.

Everything else (the classes, the shape of the tree, plain attributes, hooks) is the tree's structure. Two
structures are equal when their plain attributes are: `jax.jit` compiles again after, say, ``model.eval()``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax

from ..tensor import Tensor
from .module_members import HOOK_TABLES, TABLES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .module import Module

MUTABLE = (*HOOK_TABLES, "_non_persistent_buffers_set")


class Part:
    """One module of a tree without its Tensors: numbers stand for its leaves and for the modules below it."""

    __slots__ = ("cls", "members", "attributes")

    def __init__(self, module: Module, numbers: tuple[dict[int, int], ...]) -> None:
        self.cls = type(module)
        self.members = tuple(
            {name: None if member is None else number[id(member)] for name, member in getattr(module, table).items()}
            for table, number in zip(TABLES, numbers, strict=True)
        )
        self.attributes = {name: value for name, value in module.__dict__.items() if name not in TABLES}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Part) or self.cls is not other.cls or self.members != other.members:
            return False
        mine, theirs = self.attributes, other.attributes
        return mine.keys() == theirs.keys() and all(_same(mine[name], theirs[name]) for name in mine)

    def __hash__(self) -> int:
        # Attributes may be unhashable. What tells most structures apart is enough.
        return hash((self.cls, self.attributes.get("training"), *(tuple(table.items()) for table in self.members)))


class Structure:
    """A module tree without its Tensors; a module or a Tensor at several places comes once."""

    __slots__ = ("parts",)

    def __init__(self, module: Module) -> None:
        modules = list(module.modules())
        leaf = {id(tensor): i for i, (_, tensor) in enumerate(named_leaves(module))}
        part = {id(found): i for i, found in enumerate(modules)}
        self.parts = tuple(Part(found, (leaf, leaf, part)) for found in modules)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Structure) and self.parts == other.parts

    def __hash__(self) -> int:
        return hash(self.parts)

    def build(self, leaves: Sequence[Any]) -> Module:
        """The module tree with these leaves, which may be anything; no `__init__` runs."""
        modules = [object.__new__(part.cls) for part in self.parts]
        for module, part in zip(modules, self.parts, strict=True):
            own = module.__dict__
            for name, value in part.attributes.items():
                own[name] = value.copy() if name in MUTABLE else value
            for table, members, values in zip(TABLES, part.members, (leaves, leaves, modules), strict=True):
                own[table] = {name: None if i is None else values[i] for name, i in members.items()}
        return modules[0]


def _same(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if isinstance(a, Tensor):
        # Comparing values would ask for them, inside a trace too.
        return False
    try:
        return type(a) is type(b) and bool(a == b)
    except Exception:
        # Arrays and the like, which have no single answer: equal only where they are the same object.
        return False


def named_leaves(module: Module) -> list[tuple[str, Tensor]]:
    """The parameters and then the buffers by path, each once."""
    leaves = [*module.named_parameters(), *module.named_buffers()]
    first: dict[int, tuple[str, Tensor]] = {}
    for name, tensor in leaves:
        first.setdefault(id(tensor), (name, tensor))
    return list(first.values())


def _flatten_with_keys(module: Module) -> tuple[list[tuple[Any, Tensor]], Structure]:
    return [(jax.tree_util.GetAttrKey(name), tensor) for name, tensor in named_leaves(module)], Structure(module)


def _flatten(module: Module) -> tuple[list[Tensor], Structure]:
    return [tensor for _, tensor in named_leaves(module)], Structure(module)


def _unflatten(structure: Structure, leaves: Iterable[Any]) -> Module:
    return structure.build(tuple(leaves))


def register(cls: type[Module]) -> None:
    """Tells JAX that instances of a Module class are pytrees."""
    jax.tree_util.register_pytree_with_keys(cls, _flatten_with_keys, _unflatten, _flatten)
