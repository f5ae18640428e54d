"""Normalisation over the last dimensions, over groups of channels, and over neighbouring channels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...errors import ArgumentValueError
from ...ops import registry
from .. import functional as F
from .. import init
from ..module import Module
from ..parameter import Parameter

__all__ = ["CrossMapLRN2d", "GroupNorm", "LayerNorm", "LocalResponseNorm", "RMSNorm"]

_empty = registry.names("torch")["empty"]


class _Trailing(Module):
    """What the norms over the last dimensions share: their sizes, and a weight of these sizes."""

    __constants__ = ["normalized_shape", "eps", "elementwise_affine"]

    def _set_up(self, shape: int | Sequence[int], eps: float | None, affine: bool, bias: bool, where: dict[str, Any]) -> None:
        self.normalized_shape = (int(shape),) if isinstance(shape, (int, np.integer)) else tuple(shape)
        self.eps = eps
        self.elementwise_affine = affine
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            parameter = Parameter(_empty(self.normalized_shape, **where)) if wanted else None
            self.register_parameter(name, parameter)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the weight to 1 and the bias to 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)


class LayerNorm(_Trailing):
    """Mean 0 and variance 1 over the last dimensions: z = (x - mean) / sqrt(var + eps) w + b.

    Args:
        normalized_shape: S, their sizes.
        eps: keeps the root away from 0.
        elementwise_affine: whether there are w and b.
        bias: whether there is b.

    Attributes:
        weight: S, ones; bias: S, zeros.

    Raises:
        RuntimeError: an input that doesn't end in S.

    Example:
        >>> import funtorch
        >>> LayerNorm(4)(funtorch.zeros(2, 4)).shape
        torch.Size([2, 4])
    """

    def __init__(
        self, normalized_shape: int | Sequence[int], eps: float = 1e-5, elementwise_affine: bool = True, bias: bool = True,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self._set_up(normalized_shape, eps, elementwise_affine, bias, {"device": device, "dtype": dtype})

    def forward(self, input: Any) -> Any:
        """input (*, S); z (*, S)."""
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        )


class RMSNorm(_Trailing):
    """Mean square 1 over the last dimensions: z = x / sqrt(mean(x^2) + eps) w.

    Args:
        normalized_shape: S, their sizes.
        eps: keeps the root away from 0; None: the machine epsilon of the input's type.
        elementwise_affine: whether there is w.

    Attributes:
        weight: S, ones.

    Raises:
        RuntimeError: an input that doesn't end in S.
    """

    def __init__(
        self, normalized_shape: int | Sequence[int], eps: float | None = None, elementwise_affine: bool = True,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self._set_up(normalized_shape, eps, elementwise_affine, False, {"device": device, "dtype": dtype})
        del self._parameters["bias"]

    def reset_parameters(self) -> None:
        """Set the weight to 1."""
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, x: Any) -> Any:
        """x (*, S); z (*, S)."""
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class GroupNorm(Module):
    """Mean 0 and variance 1 in each group of channels of each sample.

    Args:
        num_groups: how many groups; divides C.
        num_channels: C.
        eps: keeps the root away from 0.
        affine: whether there are w and b.
        bias: whether there is b.

    Attributes:
        weight: (C), ones; bias: (C), zeros.

    Raises:
        ValueError: C is not divisible by ``num_groups``.
    """

    __constants__ = ["num_groups", "num_channels", "eps", "affine"]

    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, device: Any = None, dtype: Any = None,
        *, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        if num_channels % num_groups:
            raise ArgumentValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            parameter = Parameter(_empty(num_channels, device=device, dtype=dtype)) if wanted else None
            self.register_parameter(name, parameter)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the weight to 1 and the bias to 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Any) -> Any:
        """input (N, C, *); z the same."""
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, bias={self.bias is not None}"


class LocalResponseNorm(Module):
    """z = x / (k + alpha mean(x^2))^beta, with the mean over ``size`` neighbouring channels.

    Args:
        size: how many neighbours, itself included.
        alpha, beta, k: as in the formula.

    Raises:
        ValueError: an input of fewer than three dimensions.
    """

    __constants__ = ["size", "alpha", "beta", "k"]

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Any) -> Any:
        """input (N, C, *); z the same."""
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class CrossMapLRN2d(LocalResponseNorm):
    """`LocalResponseNorm` of images (N, C, H, W), with as many channels on either side: an even size counts one less.

    Differs from PyTorch: the window moves on from the first channel. PyTorch's never drops it, and its gradient is another's.

    Args:
        size, alpha, beta, k: as there.

    Raises:
        ValueError: an input of another rank.
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> None:
        super().__init__(size, alpha, beta, k)

    def forward(self, input: Any) -> Any:
        """input (N, C, H, W); z the same."""
        if input.dim() != 4:
            raise ArgumentValueError(f"CrossMapLRN2d: Expected input to be 4D, got {input.dim()}D instead.")
        # As many channels on either side: an even size counts one less, and still divides by the size.
        odd = (self.size - 1) // 2 * 2 + 1
        return F.local_response_norm(input, odd, self.alpha * odd / self.size, self.beta, self.k)
