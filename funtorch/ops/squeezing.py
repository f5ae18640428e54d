"""Views without, or with more, dimensions of size 1: squeeze, unsqueeze."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax

from ..core.dims import wrap_dim
from ..core.handle import form_of
from ..tensor import Tensor
from .declare import function
from .direct import shapes
from .kept import viewing
from .reshaping import Sizes


def _squeeze_layout(shape: Sizes, strides: Sizes, offset: int, dims: Sizes) -> tuple:
    stay = [d for d in range(len(shape)) if d not in dims]
    return tuple(shape[d] for d in stay), tuple(strides[d] for d in stay), offset


@viewing("squeeze", lambda base, value, dims: value.reshape(base.shape), _squeeze_layout, shapes.squeezed)
def _squeeze(x: Any, dims: Sizes) -> Any:
    return lax.squeeze(x, dims)


@function(method=True)
def squeeze(input: Tensor, dim: Any = None) -> Tensor:
    """A view without the dimensions of size 1: all of them, or those of ``dim`` that have size 1.

    >>> torch.zeros(1, 3, 1).squeeze().shape
    torch.Size([3])
    """
    shape = tuple(form_of(input).shape)
    asked = range(len(shape)) if dim is None else [wrap_dim(d, len(shape)) for d in ((dim,) if isinstance(dim, int) else dim)]
    return _squeeze(input, tuple(d for d in sorted(set(asked)) if shape and shape[d] == 1))


def _unsqueeze_layout(shape: Sizes, strides: Sizes, offset: int, dim: int) -> tuple:
    stride = shape[dim] * strides[dim] if dim < len(shape) else 1
    return (*shape[:dim], 1, *shape[dim:]), (*strides[:dim], stride, *strides[dim:]), offset


@viewing("unsqueeze", lambda base, value, dim: value.reshape(base.shape), _unsqueeze_layout, shapes.unsqueezed)
def _unsqueeze(x: Any, dim: int) -> Any:
    return jnp.expand_dims(x, dim)


@function(method=True)
def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """A view with a new dimension of size 1 at ``dim``.

    Raises:
        IndexError: if ``dim`` is out of range.

    >>> torch.zeros(3).unsqueeze(0).shape
    torch.Size([1, 3])
    """
    return _unsqueeze(input, wrap_dim(dim, len(form_of(input).shape) + 1))
