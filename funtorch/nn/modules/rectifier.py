"""Layers of activation functions with a kink. Each calls the function of `nn.functional` of its name."""

from __future__ import annotations

from typing import Any

from ...cautions import caution
from ...ops import registry
from .. import functional as F
from .. import init as fill
from ..module import Module
from ..parameter import Parameter

__all__ = [
    "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "LeakyReLU", "PReLU", "RReLU", "ReLU", "ReLU6", "Softshrink", "Threshold",
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


class _Silent(ReLU):
    """A layer whose text does not show ``inplace``."""

    def extra_repr(self) -> str:
        return ""


def with_inplace(name: str, function: Any, formula: str, module: str, base: type[ReLU] = ReLU) -> type[Module]:
    """A layer of ``module`` whose only argument is ``inplace``."""

    def forward(self: Any, input: Any) -> Any:
        return function(input, self.inplace)

    forward.__doc__ = "input (*); z (*)."
    doc = f"{formula}\n\n    Args:\n        inplace: change the input.\n\n    input (*); z (*).\n    "
    return type(name, (base,), {"forward": forward, "__doc__": doc, "__module__": module})


Hardswish = with_inplace("Hardswish", F.hardswish, "z = x min(max(x + 3, 0), 6) / 6.", __name__, _Silent)
Hardsigmoid = with_inplace("Hardsigmoid", F.hardsigmoid, "z = min(max(x + 3, 0), 6) / 6.", __name__, _Silent)


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
    caution(f"keyword argument `{old}` is deprecated and renamed to `{new}`", FutureWarning)


class ReLU6(Hardtanh):
    """z = min(max(x, 0), 6).

    Args:
        inplace: change the input.
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


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
