"""A compiled function's arguments: their Tensors, and the key of all else that a program takes as constant."""

from __future__ import annotations

import hashlib
from typing import Any

import jax
import numpy as np

from .. import dtypes
from ..core.handle import Handle
from ..core.state import state
from ..core.trees import Spec, flatten
from .code_names import is_module

SMALL = 1 << 16  # bytes of a NumPy array that are kept to be compared
_positional: dict[int, Spec] = {}  # the structure of so many Tensors as positional arguments


class Arguments:
    """The arguments of one call.

    ``tensors`` has each Tensor once, and after them (from ``given`` on) the Tensors from elsewhere that they are views of.
    """

    __slots__ = ("args", "kwargs", "leaves", "spec", "tensors", "given")

    def __init__(self, args: tuple, kwargs: dict) -> None:
        self.args = args
        self.kwargs = kwargs
        self.leaves, self.spec = flat(args, kwargs)
        tensors = [leaf for leaf in self.leaves if isinstance(leaf, Handle)]
        if len(set(map(id, tensors))) < len(tensors):
            tensors = list({id(t): t for t in tensors}.values())
        self.given = len(tensors)
        for t in tensors[:]:
            base = t._base
            if base is not None and all([base is not known for known in tensors]):
                tensors.append(base)
        self.tensors = tensors

    def key(self, padding: Any = None) -> tuple:
        """What two calls must agree in to be able to share a program: (structure, Tensors, other values, modes).

        With a padding (see `buckets`), its bucket stands for the call's size.
        """
        order = {id(t): i for i, t in enumerate(self.tensors)}
        described, values = [], []
        for leaf in self.leaves:
            if isinstance(leaf, Handle):
                base = leaf._base
                payload = leaf._payload
                shape = payload.shape if padding is None else padding.shape(order[id(leaf)], payload.shape, padding.bucket)
                described.append(
                    (
                        order[id(leaf)], shape, payload.dtype, leaf._requires, leaf._node is None, type(leaf),
                        None if base is None else (order[id(base)], leaf._detached),
                    )
                )  # fmt: skip
            else:
                values.append(value_key(leaf))
        return (self.spec, tuple(described), tuple(values), modes())

    def rest(self) -> list[Any]:
        """The leaves that are no Tensors."""
        return [leaf for leaf in self.leaves if not isinstance(leaf, Handle)]

    def unchanged(self) -> bool:
        """Whether containers among the arguments still have what they had."""
        leaves, spec = flat(self.args, self.kwargs)
        return spec == self.spec and all([a is b for a, b in zip(leaves, self.leaves, strict=True)])


def flat(args: tuple, kwargs: dict) -> tuple[list[Any], Spec]:
    """The leaves of a call's arguments and their structure. A Module is a leaf."""
    if kwargs or not all([isinstance(a, Handle) for a in args]):
        return flatten((args, kwargs), is_leaf=is_module)
    spec = _positional.get(len(args))
    if spec is None:
        spec = _positional[len(args)] = flatten((args, kwargs))[1]
    return list(args), spec


def modes() -> tuple:
    """The switches that a program depends on."""
    return (
        state.grad, state.inference, state.anomaly, state.saved_hooks, getattr(state, "autocast", None), dtypes.default(),
        jax.config.jax_default_matmul_precision,  # type: ignore[attr-defined]
    )  # fmt: skip


class _Same:
    """Something that can't be hashed: known by its identity, and kept alive so that this is its own."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)

    def __repr__(self) -> str:
        return repr(self.value)


def value_key(leaf: Any) -> tuple:
    """What an argument that is no Tensor is compared by."""
    kind = type(leaf)
    if kind is float:
        return (kind, leaf.hex())  # 0.0 and -0.0 are two values, NaN is one
    if isinstance(leaf, np.ndarray) and leaf.dtype != object:
        content = leaf.tobytes()
        return (kind, leaf.shape, leaf.dtype, content if len(content) <= SMALL else hashlib.blake2b(content).digest())
    if kind is set:
        return (kind, frozenset(leaf))
    try:
        hash(leaf)
    except TypeError:
        return (kind, _Same(leaf))
    return (kind, leaf)


def difference(old: tuple, new: tuple) -> str:
    """In words, what differs between two keys that `Arguments.key` gave."""
    if old[0] != new[0]:
        return f"the arguments have the structure {new[0]}, and had {old[0]}"
    for i, (was, now) in enumerate(zip(old[1], new[1], strict=True)):
        if was != now:
            return f"Tensor argument {i} is {_described(now)}, and was {_described(was)}"
    for i, (was, now) in enumerate(zip(old[2], new[2], strict=True)):
        if was != now:
            return f"argument {i} that is no Tensor ({now[0].__name__}) is {now[-1]!r:.60}, and was {was[-1]!r:.60}"
    return "a mode (grad, inference, autocast, default dtype, matmul precision) is another"


def _described(key: tuple) -> str:
    _, shape, dtype, requires, leaf, kind, base = key
    notes = [", requires grad"] * requires + [", not a leaf"] * (not leaf) + [", a view"] * (base is not None)
    return f"{kind.__name__} {dtype.name}{list(shape)}{''.join(notes)}"
