"""Times the calls of one contender of a subject in a process of its own; prints the median milliseconds of each.

``python alone.py SUBJECT CONTENDER``: the subject's module has ``calls(contender)``, pairs of a name and a function without
arguments, and imports no framework before that is called.
"""

import importlib
import json
import sys
from collections.abc import Callable

import jax
from clock import clock
from timing import Effort, measure

EFFORT = Effort(warm_up=0.2, turn=0.02, rounds=9, limit=0.7)
# The calls after which the engine has settled, unless they take longer than so many seconds.
SETTLING, SECONDS = 150, 3.0


def main(subject: str, contender: str) -> None:
    found = {}
    for name, call in importlib.import_module(subject).calls(contender):
        settle(call)
        found[name] = measure({contender: call}, EFFORT)[contender]
    print(json.dumps(found))


def settle(call: Callable) -> None:
    end = clock() + SECONDS
    for _ in range(SETTLING):
        jax.block_until_ready(call())
        if clock() > end:
            break


if __name__ == "__main__":
    main(*sys.argv[1:])
