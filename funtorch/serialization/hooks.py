"""Hooks of Modules as PyTorch pickles them."""

from __future__ import annotations

import weakref
from typing import Any


class WrappedHook:
    """A hook that gets its Module first, if it was registered so; reads ``torch.nn.modules.module._WrappedHook``."""

    def __init__(self) -> None:
        self.hook: Any = None
        self.module: Any = None

    def __setstate__(self, saved: dict[str, Any]) -> None:
        self.hook = saved["hook"]
        self.module = weakref.ref(saved["module"]) if saved.get("with_module") else None

    def __getstate__(self) -> dict[str, Any]:
        own = {"hook": self.hook, "with_module": self.module is not None}
        return own | ({"module": self.module()} if self.module is not None else {})

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.hook(*args, **kwargs) if self.module is None else self.hook(self.module(), *args, **kwargs)
