"""``import funtorch`` beside ``import jax``, each in a fresh interpreter, in turns.

Byte code goes to a folder of its own, so that both find theirs there whatever the surroundings say about writing it.
"""

import statistics
from collections.abc import Iterator, Mapping
from functools import partial

from processes import in_turns, output_of, with_byte_code
from timing import QUICK, Effort, Row

TARGET = 1.3
PROGRAM = "from clock import clock; start = clock(); import {}; print(clock() - start)"


def rows(effort: Effort) -> Iterator[Row]:
    with with_byte_code() as environment:
        run = {module: partial(milliseconds_to_import, module, environment) for module in ("funtorch", "jax")}
        in_turns(run, 1)  # warms the disk's cache and writes the byte code
        times = in_turns(run, 3 if effort == QUICK else 7)
    for label, summary, target in (("median", statistics.median, TARGET), ("minimum", min, None)):
        yield Row(f"import, {label}", summary(times["funtorch"]), "import jax", summary(times["jax"]), target)


def milliseconds_to_import(module: str, environment: Mapping[str, str]) -> float:
    return output_of(["-c", PROGRAM.format(module)], environment) * 1e3
