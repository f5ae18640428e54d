"""Programs in processes of their own, which take turns: for what happens once in a process, or needs a process without peers."""

import importlib
import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from timing import Effort, agree

HERE = Path(__file__).parent


@contextmanager
def with_byte_code() -> Iterator[dict[str, str]]:
    """An environment in which programs write their byte code to a folder of their own and find it there."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with TemporaryDirectory() as folder:
        yield environment | {"PYTHONPYCACHEPREFIX": folder}


def output_of(arguments: list[str], environment: Mapping[str, str]) -> Any:
    """What ``python ARGUMENTS`` prints, read as JSON. Raises CalledProcessError if it fails."""
    command = [sys.executable, *arguments]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment, cwd=HERE)
    return json.loads(done.stdout)


def in_turns(run: Mapping[str, Any], rounds: int) -> dict[str, list]:
    """What each of ``run``'s functions gives, called once a round in an order drawn anew."""
    found: dict[str, list] = {name: [] for name in run}
    order = random.Random(0)
    for _ in range(rounds):
        for name in order.sample(list(run), len(run)):
            found[name].append(run[name]())
    return found


def beside(subject: str, contenders: Sequence[str], effort: Effort) -> dict[str, dict[str, float]]:
    """For each of a subject's contenders the milliseconds of its calls: medians over processes (`alone`), which take turns."""
    run = {each: partial(output_of, ["alone.py", subject, each], os.environ) for each in contenders}
    found = in_turns(run, effort.processes)
    return {each: {name: median(one[name] for one in found[each]) for name in found[each][0]} for each in contenders}


def check(subject: str, contenders: Sequence[str]) -> None:
    """Raise RuntimeError where the results of the contenders' calls differ."""
    calls = importlib.import_module(subject).calls
    for together in zip(*map(calls, contenders), strict=True):
        results = {each: [np.asarray(z) for z in call()] for each, (_, call) in zip(contenders, together, strict=True)}
        agree(together[0][0], results)
