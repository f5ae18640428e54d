"""A Module whose call is compiled."""

from __future__ import annotations

from typing import Any

_OWN = frozenset({"_orig_mod", "_compiled_call"})


class CompiledModule:
    """Stands for a Module: calls run compiled, all else (parameters, ``state_dict``, ``train``, ...) is the Module's own."""

    def __init__(self, module: Any, call: Any) -> None:
        object.__setattr__(self, "_orig_mod", module)
        object.__setattr__(self, "_compiled_call", call)

    # isinstance(compiled, nn.Module) holds, and so does isinstance with the Module's own class.
    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return type(self._orig_mod)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._compiled_call(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._orig_mod, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._orig_mod, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._orig_mod, name)

    # Python looks these up in the class.

    def __getitem__(self, index: Any) -> Any:
        return self._orig_mod[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self._orig_mod[index] = value

    def __len__(self) -> int:
        return len(self._orig_mod)

    def __iter__(self) -> Any:
        return iter(self._orig_mod)

    def __contains__(self, key: Any) -> bool:
        return key in self._orig_mod

    def __bool__(self) -> bool:
        return True

    def __dir__(self) -> list[str]:
        return sorted({*dir(self._orig_mod), *_OWN})

    def __repr__(self) -> str:
        return f"Compiled{self._orig_mod!r}"
