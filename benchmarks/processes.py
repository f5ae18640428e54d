"""Programs in processes of their own, which take turns: for what happens once in a process, or needs a process without peers."""

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

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
