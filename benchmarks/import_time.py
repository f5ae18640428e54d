"""``import funtorch`` beside ``import jax``, each in a fresh interpreter, in turns."""

import statistics
import subprocess
import sys
from collections.abc import Iterator

from timing import QUICK, Effort, Row

TARGET = 1.3
MODULES = ("funtorch", "jax")
PROGRAM = "import time; start = time.perf_counter(); import {}; print(time.perf_counter() - start)"


def rows(effort: Effort) -> Iterator[Row]:
    times = {module: [] for module in MODULES}
    for module in MODULES:
        seconds_to_import(module)  # warms the disk's cache and writes the byte code
    for _ in range(3 if effort == QUICK else 11):
        for module in MODULES:
            times[module].append(seconds_to_import(module) * 1e3)
    for label, summary, target in (("median", statistics.median, TARGET), ("minimum", min, None)):
        yield Row(f"import, {label}", summary(times["funtorch"]), "import jax", summary(times["jax"]), target)


def seconds_to_import(module: str) -> float:
    command = [sys.executable, "-c", PROGRAM.format(module)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
