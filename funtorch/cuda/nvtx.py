"""Named ranges for a profiler, through JAX's."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import jax

_open: list[jax.profiler.TraceAnnotation] = []


def range_push(msg: str) -> int:
    """Open a range, and return how many were open before."""
    annotation = jax.profiler.TraceAnnotation(msg)
    annotation.__enter__()
    _open.append(annotation)
    return len(_open) - 1


def range_pop() -> int:
    """Close the range that was opened last, and return how many were open around it; -1 where none is."""
    if not _open:
        return -1
    _open.pop().__exit__(None, None, None)
    return len(_open)


def mark(msg: str) -> None:
    """A range of no length."""
    with jax.profiler.TraceAnnotation(msg):
        pass


@contextlib.contextmanager
def range(msg: str) -> Iterator[None]:
    """``with range("forward"): ...``, or as a decorator."""
    range_push(msg)
    try:
        yield
    finally:
        range_pop()
