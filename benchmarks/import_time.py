"""``import funtorch`` beside ``import jax``, each in a fresh interpreter, in turns.

Byte code goes to a folder of its own, so that both find theirs there whatever the surroundings say about writing it.
"""

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator

from timing import QUICK, Effort, Row

TARGET = 1.3
MODULES = ("funtorch", "jax")
PROGRAM = "import time; start = time.perf_counter(); import {}; print(time.perf_counter() - start)"


def rows(effort: Effort) -> Iterator[Row]:
    times = {module: [] for module in MODULES}
    with tempfile.TemporaryDirectory() as byte_code:
        for module in MODULES:
            milliseconds_to_import(module, byte_code)  # warms the disk's cache and writes the byte code
        for _ in range(3 if effort == QUICK else 11):
            for module in MODULES:
                times[module].append(milliseconds_to_import(module, byte_code))
    for label, summary, target in (("median", statistics.median, TARGET), ("minimum", min, None)):
        yield Row(f"import, {label}", summary(times["funtorch"]), "import jax", summary(times["jax"]), target)


def milliseconds_to_import(module: str, byte_code: str) -> float:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = byte_code
    command = [sys.executable, "-c", PROGRAM.format(module)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return float(done.stdout) * 1e3
