"""The chi-squared distribution."""

from __future__ import annotations

from typing import Any

from ..tensor import Tensor
from . import constraints
from .gamma import Gamma
from .utils import broadcast_all

__all__ = ["Chi2"]


class Chi2(Gamma):
    r"""The sum of squares of ``df`` standard normals: a `Gamma` of concentration df / 2 and rate 1/2.

    Args:
        df: degrees of freedom (B), positive, a number or a floating-point Tensor.

    Raises:
        ValueError: ``df`` is not positive.

    >>> torch.distributions.Chi2(3.0).mean
    tensor(3.)
    """

    arg_constraints = {"df": constraints.positive}
    _expanded = Gamma._expanded

    def __init__(self, df: Any, validate_args: bool | None = None) -> None:
        (df,) = broadcast_all(df)
        super().__init__(0.5 * df, 0.5, validate_args=validate_args)

    @property
    def df(self) -> Tensor:
        """Degrees of freedom."""
        return self.concentration * 2
