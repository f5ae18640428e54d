"""Differentiable maps between regions, with their Jacobians' determinants."""

from .arrays import (
    CorrCholeskyTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    SoftmaxTransform,
    StickBreakingTransform,
)
from .composed import ComposeTransform, IndependentTransform, ReshapeTransform, identity_transform
from .elementwise import (
    AbsTransform,
    ExpTransform,
    PowerTransform,
    SigmoidTransform,
    SoftplusTransform,
    TanhTransform,
)
from .parameterised import AffineTransform, CumulativeDistributionTransform
from .side_by_side import CatTransform, StackTransform
from .transform import Transform, _InverseTransform  # noqa: F401

__all__ = [
    "AbsTransform", "AffineTransform", "CatTransform", "ComposeTransform", "CorrCholeskyTransform", "CumulativeDistributionTransform",
    "ExpTransform", "IndependentTransform", "LowerCholeskyTransform", "PositiveDefiniteTransform", "PowerTransform", "ReshapeTransform",
    "SigmoidTransform", "SoftplusTransform", "TanhTransform", "SoftmaxTransform", "StackTransform", "StickBreakingTransform", "Transform",
    "identity_transform",
]  # fmt: skip

for _found in list(globals().values()):
    if isinstance(_found, type) and _found.__module__.startswith(f"{__name__}."):
        _found.__module__ = __name__  # how they are printed and pickled
del _found
