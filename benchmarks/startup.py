"""From the start of a process to the end of its first training step, without and with kernels on disk, beside torch's."""

import statistics
from collections.abc import Iterator, Mapping
from functools import partial
from tempfile import TemporaryDirectory

from clock import started
from networks import FIRST_STEPS
from processes import in_turns, output_of, with_byte_code
from timing import Effort, Row

TARGET = 0.7


def rows(effort: Effort) -> Iterator[Row]:
    with with_byte_code() as environment, TemporaryDirectory() as kept:
        warm = environment | {"FUNTORCH_CACHE_DIR": kept}
        for name in FIRST_STEPS:
            run = {
                "torch": partial(until_first_step, "torch", name, environment),
                "nothing on disk": partial(with_empty_cache, name, environment),
                "kernels on disk": partial(until_first_step, "funtorch", name, warm),
            }
            in_turns(run, 1)  # byte code, kernels, the disk's own cache
            times = {peer: statistics.median(found) for peer, found in in_turns(run, effort.processes).items()}
            for peer in ("nothing on disk", "kernels on disk"):
                yield Row(f"process start to first step, {peer}: {name}", times[peer], "torch", times["torch"], TARGET)


def until_first_step(framework: str, network: str, environment: Mapping[str, str]) -> float:
    """Milliseconds from the start of a process to the end of its first training step."""
    start = started()
    end, _ = output_of(["first_step.py", framework, network], environment)
    return (end - start) * 1e3


def with_empty_cache(network: str, environment: Mapping[str, str]) -> float:
    """`until_first_step` of funtorch, with nothing on disk."""
    with TemporaryDirectory() as empty:
        return until_first_step("funtorch", network, {**environment, "FUNTORCH_CACHE_DIR": empty})
