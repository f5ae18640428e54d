"""How many threads there are. XLA and NumPy choose theirs when they start, from the processors that the process may use."""

from __future__ import annotations

from .cautions import caution
from .core.processors import usable
from .errors import OpError

_NO_EFFECT = (
    "{}({}): JAX has started its {} threads already. To use fewer, start Python on fewer processors (taskset), or set "
    "OMP_NUM_THREADS before it starts for what NumPy does"
)


def get_num_threads() -> int:
    """The processors that this process may use, which is how many threads XLA runs."""
    return usable()


get_num_interop_threads = get_num_threads


def _checked(name: str, number: int) -> None:
    if isinstance(number, bool) or not isinstance(number, int):
        raise OpError(f"{name} expects an int, but got {type(number).__name__}")
    if number <= 0:
        raise OpError(f"{name} expects a positive integer, got {number}")
    if number != get_num_threads():
        caution(_NO_EFFECT.format(name, number, get_num_threads()))


def set_num_threads(number: int, /) -> None:
    """Warn that the number can't be changed now, if it differs. Raises RuntimeError for what is no positive int."""
    _checked("set_num_threads", number)


def set_num_interop_threads(number: int, /) -> None:
    """Warn that the number can't be changed now, if it differs. Raises RuntimeError for what is no positive int."""
    _checked("set_num_interop_threads", number)
