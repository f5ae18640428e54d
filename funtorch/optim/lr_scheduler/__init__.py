"""Schedules of learning rates: each changes ``lr`` in an optimiser's groups, one `step` an epoch."""

from ..optimizer import Optimizer  # noqa: F401
from .base import EPOCH as EPOCH_DEPRECATION_WARNING  # noqa: F401
from .base import LRScheduler, _LRScheduler
from .composed import ChainedScheduler, SequentialLR
from .cosine import CosineAnnealingLR, CosineAnnealingWarmRestarts
from .cyclic import CyclicLR
from .decay import ExponentialLR, LinearLR, PolynomialLR
from .lambdas import LambdaLR, MultiplicativeLR
from .one_cycle import OneCycleLR
from .plateau import ReduceLROnPlateau
from .steps import ConstantLR, MultiStepLR, StepLR

__all__ = [
    "ChainedScheduler", "ConstantLR", "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "CyclicLR", "ExponentialLR", "LRScheduler",
    "LambdaLR", "LinearLR", "MultiStepLR", "MultiplicativeLR", "OneCycleLR", "PolynomialLR", "ReduceLROnPlateau", "SequentialLR",
    "StepLR", "_LRScheduler",
]  # fmt: skip

for _name in __all__:
    globals()[_name].__module__ = __name__  # how they are printed and pickled
