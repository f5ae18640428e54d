"""Tensors as leaves of JAX's trees: JAX's functions take their payloads and give Tensors back."""

from __future__ import annotations

from typing import Any

import jax

from .handle import Handle, announce, value_of


def _flatten(tensor: Any) -> tuple:
    return (value_of(tensor),), (type(tensor), tensor._requires and tensor._node is None)


def _unflatten(aux: tuple, children: tuple) -> Any:
    cls, requires = aux
    payload = children[0]
    if isinstance(payload, Handle):
        return payload
    new = object.__new__(cls)
    new._payload = payload
    if requires and hasattr(payload, "dtype"):
        new._requires = True
    return announce(new)


def register_pytree(cls: type) -> None:
    """Let JAX's functions take and give Tensors of a class."""
    jax.tree_util.register_pytree_node(cls, _flatten, _unflatten)
