"""The clock of all measurements, in seconds: the wall's, or where ``run.py --one-core`` says so that of the process's CPU time."""

import os
import time

CPU_TIME = "FUNTORCH_BENCH_CPU_TIME"
clock = time.process_time if os.environ.get(CPU_TIME) else time.perf_counter


def since_start() -> float:
    """The moment now, to be compared with that of the process's start: `started` in its parent."""
    return time.process_time() if os.environ.get(CPU_TIME) else time.monotonic()


def started() -> float:
    """The moment at which a process is started: on the CPU's clock it begins at 0."""
    return 0.0 if os.environ.get(CPU_TIME) else time.monotonic()
