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
    "factory",
    "modules.container",
    "modules.activation",
    "modules.adaptive",
    "modules.batchnorm",
    "modules.channelshuffle",
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
    "modules.linear_cross_entropy_options",
    "modules.loss",
    "modules.normalization",
    "modules.sparse",
    "modules.padding",
    "modules.pixelshuffle",
    "modules.pooling",
    "modules.rnn",
    "modules.transformer",
    "modules.upsampling",
)

for _file in _FILES:
    _found = _importlib.import_module(f"{__name__}.{_file}")
    globals().update({_name: getattr(_found, _name) for _name in _found.__all__})

# Layers that are public in another file of PyTorch's: how they are printed and pickled.
_HOMES = {
    "activation": ("attention", "rectifier", "softmax"),
    "batchnorm": ("lazy",),
    "container": ("parameter_container",),
    "conv": ("lazy",),
    "instancenorm": ("lazy",),
    "linear": ("lazy",),
    "loss": ("linear_cross_entropy", "margin_loss"),
    "pooling": ("fractional_pooling",),
    "rnn": ("rnn_base", "rnn_cells"),
    "transformer": ("transformer_layers",),
}


def _at_home(home: _Any, cls: _Any) -> None:
    cls.__module__ = home.__name__
    setattr(home, cls.__name__, cls)


for _file, _parts in _HOMES.items():
    _home = _importlib.import_module(f"{__name__}.modules.{_file}")
    _lazy = {f"Lazy{_name}" for _name in _home.__all__}
    for _part in _parts:
        _found = _importlib.import_module(f"{__name__}.modules.{_part}")
        for _name in _found.__all__:
            if (_part != "lazy" or _name in _lazy) and getattr(_found, _name).__module__ == _found.__name__:
                _at_home(_home, getattr(_found, _name))
_at_home(_importlib.import_module(f"{__name__}.modules.module"), Module)  # type: ignore[name-defined]  # noqa: F821

# ``torch.nn.modules`` hands on all layers too.
_all = [
    _name
    for _file in _FILES
    if _file.startswith("module")
    for _name in vars(_importlib.import_module(f"{__name__}.{_file}"))["__all__"]
]
vars(_importlib.import_module(f"{__name__}.modules")).update({_name: globals()[_name] for _name in _all}, __all__=sorted(_all))

if _TYPE_CHECKING:

    def __getattr__(name: str) -> _Any: ...
