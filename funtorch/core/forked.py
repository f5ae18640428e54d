"""What a process may do that was forked from one in which JAX may run.

XLA's threads do not live on in a forked child, and its locks stay as they were at that moment: tried, a kernel that needs a
thread waits for ever, and a second backend beside the first aborts in a lock. NumPy is made for it. So such a process keeps
to the host tier, traces ops but never compiles, and says so where NumPy can't do what is asked.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import OpError

_REFUSED = (
    "{} can't run in a worker process that was forked: only NumPy works there, and this needs XLA. Do it in the main process, "
    "or start the workers anew: DataLoader(..., multiprocessing_context='spawn')"
)


class Process:
    """Whether this process is such a child."""

    forked = False


process = Process()


def as_numpy(array: Any) -> np.ndarray:
    """A concrete array as NumPy's; in a forked child RuntimeError for one on an accelerator, which can't be reached there."""
    if process.forked and type(array) is not np.ndarray:
        where = next(iter(array.devices()))
        if where.platform != "cpu":
            refuse_xla(f"reading a Tensor on {where}")
    return np.asarray(array)


def refuse_xla(what: str) -> None:
    """Raise RuntimeError in a forked child: ``what`` needs XLA."""
    if process.forked:
        raise OpError(_REFUSED.format(what))
