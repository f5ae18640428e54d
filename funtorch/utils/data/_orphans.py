"""How a worker learns that the main process is gone, killed perhaps, and ends: at once, even in the middle of a sample.

The line to the main process tells: the other end is closed when its last owner is dead. It is closed as well where workers are
asked to end, who may then finish what they are at. So who hears it looks whether the main process is alive.
"""

from __future__ import annotations

import multiprocessing
import os
import select
import threading
import time
from collections.abc import Callable

_LOOK_AROUND = 0.5  # seconds between looks, from when the line is closed


def is_orphan(parent: int, forked: bool) -> bool:
    """Whether the main process is gone.

    Args:
        parent: its number.
        forked: whether this process is its child; one of the forkserver's is not.
    """
    if forked:  # the pipe that multiprocessing keeps for this is inherited by workers that were forked later
        return os.getppid() != parent
    main = multiprocessing.parent_process()
    return main is not None and not main.is_alive()


def end_with_parent(line: int, is_gone: Callable[[], bool]) -> None:
    """From now on, end this process when the main one is gone.

    Args:
        line: the descriptor of the line to it.
        is_gone: says whether it is.
    """
    threading.Thread(target=_watch, args=(line, is_gone), name="funtorch-orphan", daemon=True).start()


def _watch(line: int, is_gone: Callable[[], bool]) -> None:
    poll = select.poll()
    poll.register(line, getattr(select, "POLLRDHUP", 0))
    poll.poll()
    while not is_gone():
        time.sleep(_LOOK_AROUND)
    os._exit(1)
