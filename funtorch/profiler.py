"""Names for parts of a program in JAX's profiles (`jax.profiler.trace` makes one)."""

from __future__ import annotations

import contextlib
from typing import Any

import jax

__all__ = ["record_function"]


class record_function(contextlib.ContextDecorator):  # noqa: N801
    """``with record_function("forward"): ...``, or as a decorator: the part has this name in a profile.

    Args:
        name: what the profile shows.
        args: more text for it, if any.
    """

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name, self.args = name, args
        self.open: list[Any] = []

    def __enter__(self) -> record_function:
        annotation = jax.profiler.TraceAnnotation(self.name, **({} if self.args is None else {"args": self.args}))
        annotation.__enter__()
        self.open.append(annotation)
        return self

    def __exit__(self, *exc: object) -> None:
        self.open.pop().__exit__(None, None, None)
