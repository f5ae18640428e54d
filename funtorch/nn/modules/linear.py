"""Layers that multiply by a matrix."""

from __future__ import annotations

import math
from typing import Any

from ...errors import ArgumentValueError
from ...ops import registry
from .. import functional as F
from .. import init
from ..module import Module
from ..parameter import Parameter

__all__ = ["Bilinear", "Identity", "Linear"]

_empty = registry.names("torch")["empty"]


class Identity(Module):
    """Returns its input. Arguments are ignored.

    Example:
        >>> import funtorch
        >>> Identity(54)(funtorch.ones(2)).tolist()
        [1.0, 1.0]
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Any) -> Any:
        """input (*); z the same."""
        return input


class Linear(Module):
    """z = x W^T + b.

    Args:
        in_features: K.
        out_features: M.
        bias: whether there is b.

    Attributes:
        weight: (M, K), drawn uniformly from [-1/sqrt(K), 1/sqrt(K)).
        bias: (M), drawn likewise.

    Raises:
        RuntimeError: an input whose last size is not K.

    Example:
        >>> import funtorch
        >>> Linear(3, 2)(funtorch.zeros(5, 3)).shape
        torch.Size([5, 2])
    """

    __constants__ = ["in_features", "out_features"]
    in_features: int
    out_features: int

    def __init__(self, in_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = Parameter(_empty((out_features, in_features), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(_empty(out_features, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new parameters."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.in_features) if self.in_features > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Any) -> Any:
        """input (*, K); z (*, M)."""
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class NonDynamicallyQuantizableLinear(Linear):
    """The projection of attention's results. Its name is PyTorch's."""


class Bilinear(Module):
    """z_m = x^T W_m y + b_m.

    Args:
        in1_features: K.
        in2_features: L.
        out_features: M.
        bias: whether there is b.

    Attributes:
        weight: (M, K, L), drawn uniformly from [-1/sqrt(K), 1/sqrt(K)).
        bias: (M), drawn likewise.

    Raises:
        ValueError: K < 1.

    Example:
        >>> import funtorch
        >>> Bilinear(3, 4, 2)(funtorch.zeros(5, 3), funtorch.zeros(5, 4)).shape
        torch.Size([5, 2])
    """

    __constants__ = ["in1_features", "in2_features", "out_features"]

    def __init__(
        self, in1_features: int, in2_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        if in1_features <= 0:
            raise ArgumentValueError(f"in1_features must be > 0, but got (in1_features={in1_features})")
        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features
        self.weight = Parameter(_empty((out_features, in1_features, in2_features), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(_empty(out_features, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new parameters."""
        bound = 1 / math.sqrt(self.weight.size(1))
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Any, input2: Any) -> Any:
        """input1 (*, K), input2 (*, L); z (*, M)."""
        return F.bilinear(input1, input2, self.weight, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in1_features={self.in1_features}, in2_features={self.in2_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )
