"""Times the calls of one contender of a subject in a process of its own; prints the median milliseconds of each.

``python alone.py SUBJECT CONTENDER``: the subject's module has ``calls(contender)``, pairs of a name and a function without
arguments, and imports no framework before that is called.
"""

import importlib
import json
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from statistics import median

from processes import environment, in_turns, output_of
from timing import QUICK, Effort, measure

EFFORT = Effort(warm_up=0.2, turn=0.02, rounds=9, limit=0.7)
SETTLING, SECONDS = 150, 4.0  # calls after which the engine has made up its mind, unless they take longer


def beside(subject: str, contenders: Sequence[str], effort: Effort) -> Mapping[str, dict[str, float]]:
    """For each contender the milliseconds of each of the subject's calls: medians over processes, which take turns."""
    run = {each: partial(output_of, ["alone.py", subject, each], environment()) for each in contenders}
    found = in_turns(run, 1 if effort == QUICK else 3)
    return {each: {name: median(one[name] for one in found[each]) for name in found[each][0]} for each in contenders}


def main(subject: str, contender: str) -> None:
    found = {}
    for name, call in importlib.import_module(subject).calls(contender):
        settle(call)
        found[name] = measure({"it": call}, EFFORT)["it"]
    print(json.dumps(found))


def settle(call) -> None:
    import time

    import jax

    end = time.perf_counter() + SECONDS
    for _ in range(SETTLING):
        jax.block_until_ready(call())
        if time.perf_counter() > end:
            return


if __name__ == "__main__":
    main(*sys.argv[1:])
