"""Neural networks: `Module`, the layers, the losses, and their functional forms."""

from __future__ import annotations

import importlib as _importlib
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from . import functional, init, parallel, utils  # noqa: F401
from .parallel import DataParallel  # noqa: F401

# The files whose ``__all__`` is public here. A new file of layers is one more name.
_FILES = (
    "module",
    "parameter",
    "modules.container",
    "modules.activation",
    "modules.adaptive",
    "modules.batchnorm",
    "modules.conv",
    "modules.distance",
    "modules.dropout",
    "modules.flatten",
    "modules.fold",
    "modules.fractional_pooling",
    "modules.instancenorm",
    "modules.lazy",
    "modules.linear",
    "modules.linear_cross_entropy",
    "modules.loss",
    "modules.normalization",
    "modules.sparse",
    "modules.padding",
    "modules.pooling",
    "modules.rnn",
    "modules.transformer",
    "modules.upsampling",
)

for _file in _FILES:
    _found = _importlib.import_module(f"{__name__}.{_file}")
    globals().update({_name: getattr(_found, _name) for _name in _found.__all__})

if _TYPE_CHECKING:

    def __getattr__(name: str) -> _Any: ...
