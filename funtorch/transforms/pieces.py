"""Sparse Tensors at the border of compiled code: they go in and come out as the Tensors of which they are made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..core.foreign import is_foreign
from ..core.trees import flatten, unflatten
from .surroundings import is_module


class CooPieces(NamedTuple):
    """What a Tensor in coordinate layout is made of."""

    indices: Any
    values: Any
    shape: tuple[int, ...]
    coalesced: bool


class CompressedPieces(NamedTuple):
    """What a Tensor in compressed layout is made of."""

    layout: Any
    compressed: Any
    plain: Any
    values: Any
    shape: tuple[int, ...]


def _is_pieces(value: Any) -> bool:
    return isinstance(value, (CooPieces, CompressedPieces)) or is_module(value)


def taken_apart(tree: Any) -> Any:
    """``tree`` with the pieces of each sparse Tensor in its place."""
    leaves, spec = flatten(tree, is_leaf=is_module)
    return unflatten(spec, [_pieces(leaf) if is_foreign(leaf) else leaf for leaf in leaves])


def put_together(tree: Any) -> Any:
    """What `taken_apart` was given."""
    leaves, spec = flatten(tree, is_leaf=_is_pieces)
    return unflatten(spec, [leaf if is_module(leaf) or not _is_pieces(leaf) else _whole(leaf) for leaf in leaves])


def _pieces(tensor: Any) -> CooPieces | CompressedPieces:
    held = tensor._payload
    if held.layout.name == "sparse_coo":
        return CooPieces(held.indices, held.values, tuple(held.shape), held.coalesced)
    return CompressedPieces(held.layout, held.compressed, held.plain, held.values, tuple(held.shape))


def _whole(pieces: CooPieces | CompressedPieces) -> Any:
    from ..sparse.structure import Compressed, Coo
    from ..sparse.tensor import SparseTensor

    return SparseTensor.of((Coo if isinstance(pieces, CooPieces) else Compressed)(*pieces))


def on_pieces(function: Callable) -> Callable:
    """``function`` of arguments that were taken apart; its result is taken apart as well."""

    def run(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = put_together((args, kwargs))
        return taken_apart(function(*args, **kwargs))

    return run
