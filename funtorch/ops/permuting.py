"""Views with the dimensions in another order: transpose, permute, movedim, and the attributes T, mT, H, mH."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..cautions import caution_once
from ..core.call import call
from ..core.dims import wrap_dim
from ..core.handle import form_of
from ..errors import OpError
from ..tensor import Tensor
from .declare import function
from .kept import kept, viewing
from .reshaping import Sizes, sizes_of


def _permute_layout(shape: Sizes, strides: Sizes, offset: int, dims: Sizes) -> tuple:
    return tuple(shape[d] for d in dims), tuple(strides[d] for d in dims), offset


def _unpermute(base: Any, value: Any, dims: Sizes) -> Any:
    return jnp.transpose(value, np.argsort(dims).tolist())


@viewing("permute", _unpermute, _permute_layout)
def _permute(x: Any, dims: Sizes) -> Any:
    return jnp.transpose(x, dims)


@viewing("transpose", _unpermute, _permute_layout)
def _swap(x: Any, dims: Sizes) -> Any:
    return jnp.transpose(x, dims)


@viewing("t", _unpermute, _permute_layout)
def _turn(x: Any, dims: Sizes) -> Any:
    return jnp.transpose(x, dims)


@function(method=True)
def permute(input: Tensor, *order: Any, dims: Any = None) -> Tensor:
    """A view with the dimensions in another order, given as several numbers or as one sequence (``dims``).

    Raises:
        RuntimeError: if the order does not name each dimension once.

    >>> torch.zeros(2, 3, 4).permute(2, 0, 1).shape
    torch.Size([4, 2, 3])
    """
    asked = sizes_of(order, "permute", dims)
    ndim = len(form_of(input).shape)
    if len(asked) != ndim:
        raise OpError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired ordering "
            f"of dimensions i.e. input.dim() = {ndim} is not equal to len(dims) = {len(asked)}"
        )
    wrapped = tuple(wrap_dim(d, ndim) for d in asked)
    if len(set(wrapped)) != ndim:
        raise OpError("permute(): duplicate dims are not allowed.")
    return _permute(input, wrapped)


def swapped(ndim: int, dim0: int, dim1: int) -> Sizes:
    """The order of dimensions in which two have changed places. Raises IndexError for one out of range."""
    a, b = wrap_dim(dim0, ndim), wrap_dim(dim1, ndim)
    order = list(range(ndim))
    if ndim:
        order[a], order[b] = b, a
    return tuple(order)


@function(alias=("swapdims",), method=True)
def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """A view in which two dimensions have changed places.

    Raises:
        IndexError: if one is out of range.

    >>> torch.zeros(2, 3).transpose(0, 1).shape
    torch.Size([3, 2])
    """
    return _swap(input, swapped(len(form_of(input).shape), dim0, dim1))


@function(method=True)
def swapaxes(input: Tensor, axis0: int, axis1: int) -> Tensor:
    """`transpose` under NumPy's name. Raises IndexError if an axis is out of range."""
    return transpose(input, axis0, axis1)


@function(method=True)
def t(input: Tensor) -> Tensor:
    """The transpose of a matrix, as a view; a Tensor of fewer dimensions as it is.

    Raises:
        RuntimeError: for more than two dimensions.
    """
    ndim = len(form_of(input).shape)
    if ndim > 2:
        raise OpError(f"t() expects a tensor with <= 2 dimensions, but self is {ndim}D")
    return _turn(input, tuple(reversed(range(ndim))))


IDENTITY = "Tensor.{0} is deprecated on 0-D tensors: it is the identity there."
CONJUGATE = "Tensor.{0} is deprecated on 0-D tensors. Consider using x.conj()."


def _reversed(self: Tensor) -> Tensor:
    ndim = len(form_of(self).shape)
    if ndim == 0:
        caution_once(IDENTITY.format("T"))
    elif ndim != 2:
        caution_once(
            "The use of `x.T` on tensors of dimension other than 2 is deprecated and will be an error: x.mT transposes batches of "
            "matrices, and x.permute(*range(x.ndim)[::-1]) reverses the dimensions."
        )
    return _permute(self, tuple(reversed(range(ndim))))


def _matrix_transposed(self: Tensor) -> Tensor:
    ndim = len(form_of(self).shape)
    if ndim == 1:
        raise OpError("tensor.mT is only supported on matrices or batches of matrices. Got 1-D tensor.")
    if not ndim:
        caution_once(IDENTITY.format("mT"))
        return self
    return _swap(self, swapped(ndim, -2, -1))


@kept("conj")
def _conjugated() -> Any:
    return jnp.conj


@function(method=True)
def adjoint(input: Tensor) -> Tensor:
    """The conjugate transpose of each matrix: a view for real dtypes, a copy for complex ones."""
    turned = transpose(input, -2, -1)
    return call(_conjugated(), (turned,)) if turned.is_complex() else turned


def _conjugate_transposed(self: Tensor) -> Tensor:
    ndim = len(form_of(self).shape)
    if ndim not in (0, 2):
        raise OpError(f"tensor.H is only supported on matrices (2-D tensors). Got {ndim}-D tensor.")
    if ndim:
        return adjoint(self)
    caution_once(CONJUGATE.format("H"))
    return _conjugated_number(self)


def _conjugated_number(self: Tensor) -> Tensor:
    return call(_conjugated(), (self,)) if self.is_complex() else self


def _batch_conjugate_transposed(self: Tensor) -> Tensor:
    ndim = len(form_of(self).shape)
    if ndim == 1:
        raise OpError("tensor.mH is only supported on matrices or batches of matrices. Got 1-D tensor.")
    if ndim:
        return adjoint(self)
    caution_once(CONJUGATE.format("mH"))
    return _conjugated_number(self)


for _name, _turned in (
    ("T", _reversed), ("mT", _matrix_transposed), ("H", _conjugate_transposed), ("mH", _batch_conjugate_transposed),
):  # fmt: skip
    setattr(Tensor, _name, property(_turned))


@function(alias=("moveaxis",), method=True)
def movedim(input: Tensor, source: Any, destination: Any) -> Tensor:
    """A view with the dimensions ``source`` moved to ``destination``, the others in their old order.

    Raises:
        RuntimeError: if the two differ in length or repeat a dimension.

    >>> torch.zeros(2, 3, 4).movedim(0, -1).shape
    torch.Size([3, 4, 2])
    """
    ndim = len(form_of(input).shape)
    from_, to = ((d,) if isinstance(d, int) else tuple(d) for d in (source, destination))
    if len(from_) != len(to):
        raise OpError(
            f"movedim: Invalid source or destination dims: source ({list(from_)} dims) should contain the same number of "
            f"dims as destination ({list(to)} dims)"
        )
    from_, to = (tuple(wrap_dim(d, ndim) for d in dims) for dims in (from_, to))
    for name, dims in (("source", from_), ("destination", to)):
        if len(set(dims)) != len(dims):
            raise OpError(f"movedim: repeated dim in `{name}` ({list(dims)})")
    rest = iter(d for d in range(ndim) if d not in from_)
    target = dict(zip(to, from_, strict=True))
    return _permute(input, tuple(target[d] if d in target else next(rest) for d in range(ndim)))
