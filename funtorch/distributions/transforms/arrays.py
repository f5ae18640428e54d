"""Transforms of vectors and matrices: to the simplex, and to triangular, correlation and definite matrices."""

from __future__ import annotations

import math
from typing import Any

import funtorch as torch

from ...errors import ArgumentValueError
from ...nn.functional import pad, softplus
from ...size import Size
from ...tensor import Tensor
from .. import constraints
from ..utils import tril_matrix_to_vec, vec_to_tril_matrix
from .transform import Transform

__all__ = [
    "CorrCholeskyTransform", "LowerCholeskyTransform", "PositiveDefiniteTransform", "SoftmaxTransform", "StickBreakingTransform",
]  # fmt: skip

TOO_FEW = "Too few dimensions on input"


def needs_dimensions(shape: Any, count: int) -> None:
    """Raise ValueError for a shape with fewer dimensions."""
    if len(shape) < count:
        raise ArgumentValueError(TOO_FEW)


class SoftmaxTransform(Transform):
    """y = softmax(x), which is not bijective; as inverse serves the logarithm.

    >>> torch.distributions.SoftmaxTransform()(torch.tensor([1.0, 1.0]))
    tensor([0.5000, 0.5000])
    """

    domain = constraints.real_vector
    codomain = constraints.simplex

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SoftmaxTransform)

    __hash__ = Transform.__hash__

    def _call(self, x: Tensor) -> Tensor:
        shares = (x - x.max(-1, True)[0]).exp()
        return shares / shares.sum(-1, True)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def forward_shape(self, shape: Any) -> Size:
        needs_dimensions(shape, 1)
        return shape

    def inverse_shape(self, shape: Any) -> Size:
        needs_dimensions(shape, 1)
        return shape


class StickBreakingTransform(Transform):
    r"""From K - 1 numbers to K shares: a share :math:`z_i = \sigma(x_i - \log(K - i))` is broken off what is left.

    x = 0 gives equal shares.

    >>> torch.distributions.StickBreakingTransform()(torch.zeros(1))
    tensor([0.5000, 0.5000])
    """

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StickBreakingTransform)

    __hash__ = Transform.__hash__

    @staticmethod
    def _left(x: Tensor) -> Tensor:
        """log(K - 1), ..., log 1: how many shares are left after each."""
        return torch.arange(x.shape[-1], 0, -1, dtype=x.dtype, device=x.device).log()

    def _call(self, x: Tensor) -> Tensor:
        info = torch.finfo(x.dtype)
        z = torch.sigmoid(x - self._left(x)).clamp(min=info.tiny, max=1 - info.eps)  # as SigmoidTransform
        rest = (1 - z).cumprod(-1)
        return pad(z, [0, 1], value=1) * pad(rest, [1, 0], value=1)

    def _inverse(self, y: Tensor) -> Tensor:
        shares = y[..., :-1]
        rest = (1 - shares.cumsum(-1)).clamp(min=torch.finfo(y.dtype).tiny)
        return shares.log() - rest.log() + self._left(shares)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        off = x - self._left(x)
        # dy_i/dx_i = y_i (1 - z_i)
        return (y[..., :-1].log() - softplus(off)).sum(-1)

    def forward_shape(self, shape: Any) -> Size:
        needs_dimensions(shape, 1)
        return Size((*shape[:-1], shape[-1] + 1))

    def inverse_shape(self, shape: Any) -> Size:
        needs_dimensions(shape, 1)
        return Size((*shape[:-1], shape[-1] - 1))


class LowerCholeskyTransform(Transform):
    """The lower triangle of a matrix, with the exponential of its diagonal.

    >>> torch.distributions.LowerCholeskyTransform()(torch.zeros(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LowerCholeskyTransform)

    __hash__ = Transform.__hash__

    def _call(self, x: Tensor) -> Tensor:
        return x.tril(-1) + torch.diag_embed(x.diagonal(dim1=-2, dim2=-1).exp())

    def _inverse(self, y: Tensor) -> Tensor:
        return y.tril(-1) + torch.diag_embed(y.diagonal(dim1=-2, dim2=-1).log())


class PositiveDefiniteTransform(Transform):
    """L L^T, with L from the `LowerCholeskyTransform`.

    >>> torch.distributions.PositiveDefiniteTransform()(torch.zeros(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PositiveDefiniteTransform)

    __hash__ = Transform.__hash__

    def _call(self, x: Tensor) -> Tensor:
        root = LowerCholeskyTransform()(x)
        return root @ root.mT

    def _inverse(self, y: Tensor) -> Tensor:
        return LowerCholeskyTransform().inv(torch.linalg.cholesky(y))


class CorrCholeskyTransform(Transform):
    r"""From n (n - 1) / 2 numbers to the Cholesky factor of a correlation matrix (n, n), whose rows have length one.

    tanh of the numbers fills the triangle below the diagonal row by row, and each entry is the share, with its sign, of the
    length that those to its left have left.

    >>> torch.distributions.CorrCholeskyTransform()(torch.zeros(1))
    tensor([[1., 0.],
            [0., 1.]])
    """

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Tensor) -> Tensor:
        eps = torch.finfo(x.dtype).eps
        r = vec_to_tril_matrix(torch.tanh(x).clamp(min=-1 + eps, max=1 - eps), diag=-1)  # (*, n, n)
        left = (1 - r * r).sqrt().cumprod(-1)
        return (r + torch.eye(r.shape[-1], dtype=r.dtype, device=r.device)) * pad(left[..., :-1], [1, 0], value=1)

    def _inverse(self, y: Tensor) -> Tensor:
        used = torch.cumsum(y * y, dim=-1)
        left = (1 - pad(used[..., :-1], [1, 0], value=0)).clamp(min=torch.finfo(y.dtype).tiny).sqrt()
        ratio = tril_matrix_to_vec(y, diag=-1) / tril_matrix_to_vec(left, diag=-1)
        return (torch.log1p(ratio) - torch.log1p(-ratio)) / 2

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        # An entry is tanh(x) times what is left of its row: the first has a log-derivative by x, the other adds to it.
        left = 1 - (y * y).cumsum(-1)
        scales = 0.5 * tril_matrix_to_vec(left, diag=-2).log().sum(-1)
        slopes = -2 * (x + softplus(-2 * x) - math.log(2.0)).sum(-1)
        return scales + slopes

    def forward_shape(self, shape: Any) -> Size:
        needs_dimensions(shape, 1)
        count = shape[-1]
        n = round((0.25 + 2 * count) ** 0.5 + 0.5)
        if n * (n - 1) // 2 != count:
            raise ArgumentValueError("Input is not a flattened lower-diagonal number")
        return Size((*shape[:-1], n, n))

    def inverse_shape(self, shape: Any) -> Size:
        needs_dimensions(shape, 2)
        if shape[-2] != shape[-1]:
            raise ArgumentValueError("Input is not square")
        n = shape[-1]
        return Size((*shape[:-2], n * (n - 1) // 2))
