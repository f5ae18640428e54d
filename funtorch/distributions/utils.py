"""What distributions share: broadcast parameters, probabilities and log-odds, properties computed once, triangles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import funtorch as torch

from ..errors import ArgumentValueError
from ..tensor import Tensor
from ._validity import is_traced

__all__ = [
    "broadcast_all", "clamp_probs", "euler_constant", "lazy_property", "logits_to_probs", "probs_to_logits", "tril_matrix_to_vec",
    "vec_to_tril_matrix",
]  # fmt: skip

euler_constant = 0.57721566490153286060  # Euler-Mascheroni
NOT_VALUES = "Input arguments must all be instances of Number, torch.Tensor or objects implementing __torch_function__."


def broadcast_all(*values: Any) -> tuple[Tensor, ...]:
    """Tensors of one shape. Numbers take the dtype and device of the first Tensor, or else the default ones.

    Raises:
        ValueError: a value is neither a number nor a Tensor.
        RuntimeError: the shapes don't broadcast.

    >>> torch.distributions.utils.broadcast_all(1.0, torch.zeros(2))
    (tensor([1., 1.]), tensor([0., 0.]))
    """
    if not all(isinstance(v, (Tensor, int, float, bool)) for v in values):
        raise ArgumentValueError(NOT_VALUES)
    first = next((v for v in values if isinstance(v, Tensor)), None)
    options: dict[str, Any] = {"dtype": torch.get_default_dtype()}
    if first is not None:
        options = {"dtype": first.dtype, "device": first.device}
    tensors = [v if isinstance(v, Tensor) else torch.tensor(v, **options) for v in values]
    alike = all(t.shape == tensors[0].shape for t in tensors)
    return tuple(tensors) if alike else tuple(torch.broadcast_tensors(*tensors))


def _standard_normal(shape: Sequence[int], dtype: Any, device: Any) -> Tensor:
    return torch.empty(tuple(shape), dtype=dtype, device=device).normal_()


def _sum_rightmost(value: Tensor, dim: int) -> Tensor:
    """Sum over the ``dim`` rightmost dimensions."""
    return value if dim == 0 else value.reshape(*value.shape[:-dim], -1).sum(-1)


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """Probabilities of log-odds (binary), or of unnormalised logarithms along the last dimension. Same shape.

    >>> torch.distributions.utils.logits_to_probs(torch.tensor(0.0), is_binary=True)
    tensor(0.5000)
    """
    return torch.sigmoid(logits) if is_binary else torch.softmax(logits, dim=-1)


def clamp_probs(probs: Tensor) -> Tensor:
    """Probabilities no nearer to 0 and 1 than the precision of their dtype.

    >>> torch.distributions.utils.clamp_probs(torch.tensor([0.0, 0.5])) > 0
    tensor([True, True])
    """
    eps = torch.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """Log-odds (binary), or logarithms, of probabilities that are kept off 0 and 1. Same shape.

    >>> torch.distributions.utils.probs_to_logits(torch.tensor(0.5), is_binary=True)
    tensor(0.)
    """
    inside = clamp_probs(probs)
    return torch.log(inside) - torch.log1p(-inside) if is_binary else torch.log(inside)


class lazy_property:  # noqa: N801
    """A property that is computed once and kept in the instance, unless its value is traced.

    >>> torch.distributions.Bernoulli(logits=torch.tensor(0.0)).probs
    tensor(0.5000)
    """

    def __init__(self, wrapped: Callable) -> None:
        self.wrapped = wrapped
        self.__doc__, self.__name__ = wrapped.__doc__, wrapped.__name__

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        with torch.enable_grad():
            value = self.wrapped(instance)
        if not is_traced(value):
            setattr(instance, self.__name__, value)
        return value


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Tensor:
    """The lower triangle of ``mat`` (*, n, n), up to diagonal ``diag``, row by row: (*, number of entries).

    Raises:
        ValueError: there is no such diagonal.

    >>> torch.distributions.utils.tril_matrix_to_vec(torch.tensor([[1, 2], [3, 4]]))
    tensor([1, 3, 4])
    """
    n = mat.shape[-1]
    if not -n <= diag < n:
        raise ArgumentValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    rows, columns = torch.tril_indices(n, n, diag)
    return mat[..., rows, columns]


def _entries(n: int, diag: int) -> int:
    """How many entries a triangle of an (n, n) matrix has, up to diagonal ``diag``."""
    return sum(min(max(row + 1 + diag, 0), n) for row in range(n))


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Tensor:
    """The matrix (*, n, n) whose lower triangle up to diagonal ``diag`` is ``vec`` (*, k), zero elsewhere.

    Raises:
        ValueError: k is not the number of entries of such a triangle.

    >>> torch.distributions.utils.vec_to_tril_matrix(torch.tensor([1.0, 3.0, 4.0]))
    tensor([[1., 0.],
            [3., 4.]])
    """
    size, n = vec.shape[-1], abs(diag) if diag < 0 else 0
    while _entries(n, diag) < size:
        n += 1
    if _entries(n, diag) != size:
        raise ArgumentValueError(
            f"The size of last dimension is {size} which cannot be expressed as the lower triangular part of a square D x D matrix."
        )
    made = vec.new_zeros((*vec.shape[:-1], n, n))
    rows, columns = torch.tril_indices(n, n, diag)
    made[..., rows, columns] = vec
    return made
