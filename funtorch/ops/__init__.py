"""The ops, by family: importing this package declares them all."""

import importlib
import pkgutil

for _found in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_found.name}")

from .deprecated import install  # noqa: E402  (when all are declared)
from .registry import name_publicly  # noqa: E402  (when all are declared)

install()
name_publicly()
