"""30 training steps of which each has shapes or a structure of its own, and the same again, beside torch's."""

import os
import statistics
from collections.abc import Iterator
from functools import partial
from tempfile import TemporaryDirectory

from changing_pass import SUBJECTS
from processes import in_turns, output_of
from timing import Effort, Row, agree

FIRST_TARGET, SECOND_TARGET = 1.5, 1.0


def rows(effort: Effort) -> Iterator[Row]:
    for subject in SUBJECTS:
        run = {framework: partial(passes, framework, subject) for framework in ("funtorch", "torch")}
        found = in_turns(run, effort.processes)
        agree(subject, {framework: each[0]["losses"] for framework, each in found.items()})
        for number, (name, target) in enumerate((("first pass", FIRST_TARGET), ("second pass", SECOND_TARGET))):
            times = {f: statistics.median(each["milliseconds"][number] for each in found[f]) for f in found}
            yield Row(f"{subject}, {name}", times["funtorch"], "torch", times["torch"], target)


def passes(framework: str, subject: str) -> dict:
    """What `changing_pass` prints, with nothing on disk."""
    with TemporaryDirectory() as empty:
        return output_of(["changing_pass.py", framework, subject], {**os.environ, "FUNTORCH_CACHE_DIR": empty})
