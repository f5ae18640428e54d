"""Side-by-side timing: contenders take turns in one process; the medians of their turns make a row."""

import random
import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import jax
import numpy as np
from clock import clock
from rich.table import Table


@dataclass(frozen=True)
class Effort:
    """How long to measure: seconds of a contender's warm-up and of its turns, and the number of rounds, fewer where calls are slow."""

    warm_up: float
    turn: float
    rounds: int
    limit: float  # seconds that all turns of a contender may take, unless that is less than `FEWEST` rounds
    processes: int = 1  # of each contender, for what is measured in processes of its own


FEWEST = 3
FULL = Effort(warm_up=0.6, turn=0.02, rounds=21, limit=1.5, processes=2)
QUICK = Effort(warm_up=0.3, turn=0.005, rounds=5, limit=0.5)


@dataclass(frozen=True)
class Row:
    """One comparison: our milliseconds, a peer's, and the ratio not to exceed, where there is one."""

    name: str
    ours_ms: float
    peer: str
    peer_ms: float
    target: float | None = None

    @property
    def ratio(self) -> float:
        return self.ours_ms / self.peer_ms

    @property
    def verdict(self) -> str:
        if self.target is None:
            return ""
        return "[green]reached[/]" if self.ratio <= self.target else "[red]missed[/]"


def measure(contenders: Mapping[str, Callable[[], object]], effort: Effort) -> dict[str, float]:
    """Median milliseconds per call of each contender.

    Every contender warms up alone. Then, in each round, all take a turn of as many calls as fill
    ``effort.turn``, in an order drawn anew, since the threads that one leaves behind slow the next one down.
    """
    quickest = {name: warmed_up(call, effort) for name, call in contenders.items()}
    calls = {name: max(1, round(effort.turn * 1e3 / max(best, 1e-3))) for name, best in quickest.items()}
    slowest = max(quickest[name] * (1 + calls[name]) for name in contenders) / 1e3
    rounds = max(FEWEST, min(effort.rounds, round(effort.limit / slowest)))
    names, turns = list(contenders), {name: [] for name in contenders}
    order = random.Random(0)
    for _ in range(rounds):
        for name in order.sample(names, len(names)):
            jax.block_until_ready(contenders[name]())
            turns[name].append(turn(contenders[name], calls[name]))
    return {name: statistics.median(times) for name, times in turns.items()}


def warmed_up(call: Callable[[], object], effort: Effort) -> float:
    """Milliseconds of the quickest of the calls that fill the warm-up."""
    end = clock() + effort.warm_up
    last = turn(call, 3)
    while clock() < end:
        last = min(last, turn(call, 1))
    return last


def turn(call: Callable[[], object], calls: int) -> float:
    """Milliseconds per call, over ``calls`` calls in a row and until the results of the last are there."""
    start = clock()
    for _ in range(calls):
        result = call()
    jax.block_until_ready(result)
    return (clock() - start) / calls * 1e3


def agree(name: str, results: Mapping[str, list], tolerance: float = 1e-3) -> None:
    """Raises RuntimeError where contenders' results, lists of arrays, differ: times would mean nothing."""
    (first, expected), *others = results.items()
    for other, got in others:
        for a, b in zip(expected, got, strict=True):
            if not np.allclose(a, b, rtol=tolerance, atol=tolerance):
                raise RuntimeError(f"{name}: {first} and {other} differ by {np.abs(np.subtract(a, b)).max():.2e}")


def table(rows: list[Row], caption: str) -> Table:
    """All rows, and which of them reach their target."""
    result = Table(title="funtorch beside its peers: median milliseconds a call", caption=caption)
    for column in ("what", "funtorch", "peer", "peer's", "ratio", "target", ""):
        result.add_column(column, justify="left" if column in ("what", "peer", "") else "right")
    for row in rows:
        target = "" if row.target is None else f"{row.target:.2f}"
        times = f"{row.ours_ms:.4f}", row.peer, f"{row.peer_ms:.4f}"
        result.add_row(row.name, *times, f"{row.ratio:.2f}", target, row.verdict)
    return result
