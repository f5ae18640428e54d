"""Schedules of learning rates: each changes ``lr`` in an optimiser's groups, one `step` an epoch."""

from ..optimizer import Optimizer  # noqa: F401
from .base import EPOCH as EPOCH_DEPRECATION_WARNING  # noqa: F401
from .base import LRScheduler, _LRScheduler
from .base import per_group as _format_param  # noqa: F401
from .base import put as _update_param_group_val  # noqa: F401
from .base import values as _param_groups_val_list  # noqa: F401
from .base import warn_outside as _warn_get_lr_called_within_step  # noqa: F401
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
