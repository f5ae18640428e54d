"""Dropout layers: active in training mode only."""

from __future__ import annotations

from typing import Any

from ...errors import ArgumentValueError
from .. import functional as F
from ..module import Module

__all__ = ["AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "FeatureAlphaDropout"]


class _DropoutNd(Module):
    """What the dropout layers share.

    Args:
        p: the probability of a zero.
        inplace: change the input.
    """

    __constants__ = ["p", "inplace"]

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if p < 0 or p > 1:
            raise ArgumentValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p
        self.inplace = inplace

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


def _layer(name: str, sizes: str) -> type[_DropoutNd]:
    """The layer of the function of `nn.functional` that is called ``name``."""
    function = getattr(F, name)

    def forward(self: Any, input: Any) -> Any:
        return function(input, self.p, self.training, self.inplace)

    forward.__doc__ = f"input {sizes}; z of the same shape."
    title = "".join(part.capitalize() for part in name.split("_")).replace("dropout", "Dropout")
    doc = (
        f"Layer of `nn.functional.{name}`.\n\n    Args:\n        p: the probability of a zero, in [0, 1].\n"
        "        inplace: change the input.\n\n    Raises:\n        ValueError: p outside [0, 1].\n    "
    )
    return type(title, (_DropoutNd,), {"forward": forward, "__doc__": doc, "__module__": __name__})


Dropout = _layer("dropout", "(*)")
Dropout1d = _layer("dropout1d", "(N, C, L) or (C, L)")
Dropout2d = _layer("dropout2d", "(N, C, H, W) or (N, C, L)")
Dropout3d = _layer("dropout3d", "(N, C, D, H, W) or (C, D, H, W)")


class AlphaDropout(_DropoutNd):
    """Layer of `nn.functional.alpha_dropout`.

    Args:
        p: the probability of SELU's floor, in [0, 1].
        inplace: has no effect, as in PyTorch.

    Raises:
        ValueError: p outside [0, 1].
    """

    def forward(self, input: Any) -> Any:
        """input (*); z (*)."""
        return F.alpha_dropout(input, self.p, self.training)


class FeatureAlphaDropout(_DropoutNd):
    """Layer of `nn.functional.feature_alpha_dropout`.

    Args:
        p: the probability of SELU's floor for a channel, in [0, 1].
        inplace: has no effect, as in PyTorch.

    Raises:
        ValueError: p outside [0, 1].
    """

    def forward(self, input: Any) -> Any:
        """input (N, C, *); z (N, C, *)."""
        return F.feature_alpha_dropout(input, self.p, self.training)
