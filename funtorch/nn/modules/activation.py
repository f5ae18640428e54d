"""Layers of smooth activation functions. Each calls the function of `nn.functional` of its name."""

from __future__ import annotations

from typing import Any

from .. import functional as F
from ..module import Module
from .attention import MultiheadAttention
from .rectifier import (
    Hardshrink,
    Hardsigmoid,
    Hardswish,
    Hardtanh,
    LeakyReLU,
    PReLU,
    ReLU,
    ReLU6,
    RReLU,
    Softshrink,
    Threshold,
    with_inplace,
)
from .softmax import LogSoftmax, Softmax, Softmax2d, Softmin

__all__ = [
    "CELU", "ELU", "GELU", "GLU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "LeakyReLU", "LogSigmoid", "LogSoftmax",
    "Mish", "MultiheadAttention", "PReLU", "RReLU", "ReLU", "ReLU6", "SELU", "SiLU", "Sigmoid", "Softmax", "Softmax2d", "Softmin",
    "Softplus", "Softshrink", "Softsign", "Tanh", "Tanhshrink", "Threshold",
]  # fmt: skip


def _plain(name: str, function: Any, formula: str) -> type[Module]:
    """A layer without arguments."""

    def forward(self: Any, input: Any) -> Any:
        return function(input)

    forward.__doc__ = "input (*); z (*)."
    return type(
        name, (Module,), {"forward": forward, "__doc__": f"{formula}\n\n    input (*); z (*).\n    ", "__module__": __name__}
    )


Sigmoid = _plain("Sigmoid", F.sigmoid, "z = 1 / (1 + e^-x).")
Tanh = _plain("Tanh", F.tanh, "z = tanh(x).")
Softsign = _plain("Softsign", F.softsign, "z = x / (1 + |x|).")
Tanhshrink = _plain("Tanhshrink", F.tanhshrink, "z = x - tanh(x).")
LogSigmoid = _plain("LogSigmoid", F.logsigmoid, "z = log(1 / (1 + e^-x)).")

SiLU = with_inplace("SiLU", F.silu, "z = x / (1 + e^-x).", __name__)
Mish = with_inplace("Mish", F.mish, "z = x tanh(log(1 + e^x)).", __name__)
SELU = with_inplace(
    "SELU", F.selu, "z = s x for x > 0, else s a (e^x - 1), with the constants that keep mean 0 and variance 1.", __name__
)


class _Scaled(Module):
    """What `ELU` and `CELU` share: ``alpha`` and ``inplace``."""

    __constants__ = ["alpha", "inplace"]

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha = alpha
        self.inplace = inplace

    def extra_repr(self) -> str:
        return f"alpha={self.alpha}" + (", inplace=True" if self.inplace else "")


class ELU(_Scaled):
    """z = x for x > 0, else alpha (e^x - 1).

    Args:
        alpha: the limit below, without its sign.
        inplace: change the input.
    """

    def forward(self, input: Any) -> Any:
        """input (*); z (*)."""
        return F.elu(input, self.alpha, self.inplace)


class CELU(_Scaled):
    """z = x for x > 0, else alpha (e^(x / alpha) - 1).

    Args:
        alpha: the limit below, without its sign; not 0.
        inplace: change the input.
    """

    def forward(self, input: Any) -> Any:
        """input (*); z (*)."""
        return F.celu(input, self.alpha, self.inplace)


class GELU(Module):
    """z = x P(X <= x) for a standard normal X.

    Args:
        approximate: "none", or "tanh" for a faster formula.
    """

    __constants__ = ["approximate"]

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Any) -> Any:
        """input (*); z (*)."""
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class Softplus(Module):
    """z = log(1 + e^(beta x)) / beta, and x where beta x > threshold.

    Args:
        beta: how sharp the bend is.
        threshold: from where the function is taken as linear.
    """

    __constants__ = ["beta", "threshold"]

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta = beta
        self.threshold = threshold

    def forward(self, input: Any) -> Any:
        """input (*); z (*)."""
        return F.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        return f"beta={self.beta}, threshold={self.threshold}"


class GLU(Module):
    """z = x / (1 + e^-y) for the halves x and y of the input along a dimension.

    Args:
        dim: the dimension.
    """

    __constants__ = ["dim"]

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Any) -> Any:
        """input (*, 2 K, *); z (*, K, *)."""
        return F.glu(input, self.dim)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"
