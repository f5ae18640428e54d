"""Functions of ``torch.nn.functional``: the ops that the op files declare for this namespace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..ops import registry

_names = registry.names("nn.functional")
__all__ = sorted(_names)
globals().update(_names)

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...
