"""Single eager calls, warm and without gradients, beside torch's and beside kernels alone; one process each, in turns."""

import os
import statistics
from collections.abc import Iterator
from functools import partial

import numpy as np
import torch
from eager_calls import CALLS, bound
from processes import in_turns, output_of
from timing import QUICK, Effort, Row, agree

import funtorch

TARGETS = {"a + b, 32x32": 1.5}  # beside torch
KERNEL_TARGET = 1.1
PEERS = {"torch": ["torch"], "auto": ["funtorch", "auto"], "kernel": ["funtorch", "kernel"]}


def rows(effort: Effort) -> Iterator[Row]:
    for name, call, shapes in CALLS:
        runs = [bound(peer, call, shapes, np.random.default_rng(0)) for peer in (funtorch, torch)]
        agree(name, {peer: [np.asarray(run())] for peer, run in zip(("funtorch", "torch"), runs, strict=True)})
    run = {peer: partial(output_of, ["eager_calls.py", *arguments], os.environ) for peer, arguments in PEERS.items()}
    found = in_turns(run, 1 if effort == QUICK else 3)
    times = {peer: [statistics.median(each) for each in zip(*found[peer], strict=True)] for peer in PEERS}
    for number, (name, _, _) in enumerate(CALLS):
        ours = times["auto"][number]
        yield Row(f"eager: {name}", ours, "torch", times["torch"][number], TARGETS.get(name))
        yield Row(f"eager: {name}", ours, "kernel tier alone", times["kernel"][number], KERNEL_TARGET)
