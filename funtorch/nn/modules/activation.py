"""Layers of activation functions. Each calls the function of `nn.functional` of its name."""

from __future__ import annotations

import warnings
from typing import Any

from ...errors import ArgumentValueError
from ...ops import registry
from .. import functional as F
from .. import init as fill
from ..module import Module
from ..parameter import Parameter

__all__ = [
    "CELU", "ELU", "GELU", "GLU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "LeakyReLU", "LogSigmoid", "LogSoftmax",
    "Mish", "PReLU", "RReLU", "ReLU", "ReLU6", "SELU", "SiLU", "Sigmoid", "Softmax", "Softmax2d", "Softmin", "Softplus",
    "Softshrink", "Softsign", "Tanh", "Tanhshrink", "Threshold",
]  # fmt: skip


class ReLU(Module):
    """z = max(x, 0).

    Args:
        inplace: change the input.

    Example:
        >>> import funtorch
        >>> ReLU()(funtorch.tensor([-1.0, 2.0])).tolist()
        [0.0, 2.0]
    """

    __constants__ = ["inplace"]

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def forward(self, input: Any) -> Any:
        """input (*); z (*)."""
        return F.relu(input, self.inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


def _plain(name: str, function: Any, formula: str) -> type[Module]:
    """A layer without arguments."""

    def forward(self: Any, input: Any) -> Any:
        return function(input)

    forward.__doc__ = "input (*); z (*)."
    return type(
        name, (Module,), {"forward": forward, "__doc__": f"{formula}\n\n    input (*); z (*).\n    ", "__module__": __name__}
    )


class _Silent(ReLU):
    """A layer whose text does not show ``inplace``."""

    def extra_repr(self) -> str:
        return ""


def _with_inplace(name: str, function: Any, formula: str, base: type[ReLU] = ReLU) -> type[Module]:
    """A layer whose only argument is ``inplace``."""

    def forward(self: Any, input: Any) -> Any:
        return function(input, self.inplace)

    forward.__doc__ = "input (*); z (*)."
    doc = f"{formula}\n\n    Args:\n        inplace: change the input.\n\n    input (*); z (*).\n    "
    return type(name, (base,), {"forward": forward, "__doc__": doc, "__module__": __name__})


Sigmoid = _plain("Sigmoid", F.sigmoid, "z = 1 / (1 + e^-x).")
Tanh = _plain("Tanh", F.tanh, "z = tanh(x).")
Softsign = _plain("Softsign", F.softsign, "z = x / (1 + |x|).")
Tanhshrink = _plain("Tanhshrink", F.tanhshrink, "z = x - tanh(x).")
LogSigmoid = _plain("LogSigmoid", F.logsigmoid, "z = log(1 / (1 + e^-x)).")

SiLU = _with_inplace("SiLU", F.silu, "z = x / (1 + e^-x).")
Mish = _with_inplace("Mish", F.mish, "z = x tanh(log(1 + e^x)).")
SELU = _with_inplace("SELU", F.selu, "z = s x for x > 0, else s a (e^x - 1), with the constants that keep mean 0 and variance 1.")


Hardswish = _with_inplace("Hardswish", F.hardswish, "z = x min(max(x + 3, 0), 6) / 6.", _Silent)
Hardsigmoid = _with_inplace("Hardsigmoid", F.hardsigmoid, "z = min(max(x + 3, 0), 6) / 6.", _Silent)


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


class LeakyReLU(Module):
    """z = x for x > 0, else slope x.

    Args:
        negative_slope: the slope below 0.
        inplace: change the input.
    """

    __constants__ = ["inplace", "negative_slope"]

    def __init__(self, negative_slope: float = 1e-2, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope = negative_slope
        self.inplace = inplace

    def forward(self, input: Any) -> Any:
        """input (*); z (*)."""
        return F.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self) -> str:
        return f"negative_slope={self.negative_slope}" + (", inplace=True" if self.inplace else "")


class RReLU(Module):
    """z = x for x > 0, else a x with a random slope a (in evaluation mode: the mean of its law).

    Args:
        lower, upper: the range of the slope.
        inplace: change the input.
    """

    __constants__ = ["lower", "upper", "inplace"]

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False) -> None:
        super().__init__()
        self.lower = lower
        self.upper = upper
        self.inplace = inplace

    def forward(self, input: Any) -> Any:
        """input (*); z (*)."""
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"lower={self.lower}, upper={self.upper}" + (", inplace=True" if self.inplace else "")


class Threshold(Module):
    """z = x where x > threshold, else ``value``.

    Args:
        threshold: up to which x is replaced.
        value: by what.
        inplace: change the input.
    """

    __constants__ = ["threshold", "value", "inplace"]

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold = threshold
        self.value = value
        self.inplace = inplace

    def forward(self, input: Any) -> Any:
        """input (*); z (*)."""
        return F.threshold(input, self.threshold, self.value, self.inplace)

    def extra_repr(self) -> str:
        return f"threshold={self.threshold}, value={self.value}" + (", inplace=True" if self.inplace else "")


class Hardtanh(Module):
    """z = x between ``min_val`` and ``max_val``, and these outside.

    Args:
        min_val, max_val: the ends.
        inplace: change the input.
        min_value, max_value: old names of the ends, with a warning.

    Raises:
        AssertionError: max_val <= min_val.
    """

    __constants__ = ["min_val", "max_val", "inplace"]

    def __init__(
        self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False, min_value: Any = None, max_value: Any = None
    ) -> None:
        super().__init__()
        for old, name, value in (("min_value", "min_val", min_value), ("max_value", "max_val", max_value)):
            if value is not None:
                _warn_renamed(old, name)
        self.min_val = min_val if min_value is None else min_value
        self.max_val = max_val if max_value is None else max_value
        self.inplace = inplace
        if self.max_val <= self.min_val:
            raise AssertionError(f"max_val ({self.max_val}) must be greater than min_val ({self.min_val})")

    def forward(self, input: Any) -> Any:
        """input (*); z (*)."""
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self) -> str:
        return f"min_val={self.min_val}, max_val={self.max_val}" + (", inplace=True" if self.inplace else "")


def _warn_renamed(old: str, new: str) -> None:
    warnings.warn(f"keyword argument `{old}` is deprecated and rename to `{new}`", FutureWarning, stacklevel=4)


class ReLU6(Hardtanh):
    """z = min(max(x, 0), 6).

    Args:
        inplace: change the input.
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


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


class _Shrink(Module):
    """What `Hardshrink` and `Softshrink` share: ``lambd``."""

    __constants__ = ["lambd"]

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def extra_repr(self) -> str:
        return f"{self.lambd}"


class Hardshrink(_Shrink):
    """z = x outside of [-lambda, lambda], 0 inside.

    Args:
        lambd: lambda.
    """

    def forward(self, input: Any) -> Any:
        """input (*); z (*)."""
        return F.hardshrink(input, self.lambd)


class Softshrink(_Shrink):
    """z = x - lambda above lambda, x + lambda below -lambda, 0 between.

    Args:
        lambd: lambda, not negative.
    """

    def forward(self, input: Any) -> Any:
        """input (*); z (*)."""
        return F.softshrink(input, self.lambd)


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


class _Along(Module):
    """What the softmax layers share: ``dim``."""

    __constants__ = ["dim"]

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def __setstate__(self, saved: dict[str, Any]) -> None:
        super().__setstate__(saved)
        self.__dict__.setdefault("dim", None)


class Softmax(_Along):
    """z_i = e^x_i / sum_j e^x_j along a dimension.

    Args:
        dim: the dimension; None: PyTorch's choice, with a warning.
    """

    def forward(self, input: Any) -> Any:
        """input (*); z (*)."""
        return F.softmax(input, self.dim, _stacklevel=5)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class LogSoftmax(_Along):
    """Logarithm of softmax.

    Args:
        dim: the dimension; None: PyTorch's choice, with a warning.
    """

    def forward(self, input: Any) -> Any:
        """input (*); z (*)."""
        return F.log_softmax(input, self.dim, _stacklevel=5)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class Softmin(_Along):
    """Softmax of -x.

    Args:
        dim: the dimension; None: PyTorch's choice, with a warning.
    """

    def forward(self, input: Any) -> Any:
        """input (*); z (*)."""
        return F.softmin(input, self.dim, _stacklevel=5)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class Softmax2d(Module):
    """Softmax over the channels of images.

    Raises:
        ValueError: an input of another rank than 3 or 4.
    """

    def forward(self, input: Any) -> Any:
        """input (N, C, H, W) or (C, H, W); z the same."""
        if input.dim() not in (3, 4):
            raise ArgumentValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead")
        return F.softmax(input, -3, _stacklevel=5)


class PReLU(Module):
    """z = x for x > 0, else a x, with a trained.

    Args:
        num_parameters: 1, or the number of channels.
        init: the first value of a.

    Attributes:
        weight: (num_parameters).

    Raises:
        RuntimeError: an input with another number of channels.
    """

    __constants__ = ["num_parameters"]

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.init = init
        self.weight = Parameter(registry.names("torch")["empty"](num_parameters, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the parameter to its first value."""
        fill.constant_(self.weight, self.init)

    def forward(self, input: Any) -> Any:
        """input (N, C, *); z the same."""
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"
