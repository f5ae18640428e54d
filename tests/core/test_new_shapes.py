"""Ten thousand calls, each with shapes never seen before: memory stays bounded."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

# Each round makes four calls: an op, a sum, and the gradients of both.
PROGRAM = """
import gc, os, sys
import funtorch as torch
import jax
from funtorch.core.engine import programs

OPS = [lambda x: x * x, lambda x: torch.softmax(x, -1), lambda x: torch.tanh(x).sum(0), lambda x: x @ x.T]

def report():
    gc.collect()
    with open("/proc/self/statm") as file:
        resident = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    jax.clear_caches()  # JAX's own, which it bounds itself
    gc.collect()
    print(resident, len(programs), len(gc.get_objects()))

for round in range(2501):
    x = torch.ones(round % 499 + 1, round // 499 + 2, requires_grad=True)
    OPS[round % 4](x).sum().backward()
    if round in (600, 2500):  # by 600 all that is bounded is full
        report()
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="reads Linux's figures")
@pytest.mark.timeout(900)
def test_memory_is_bounded():
    kept = {k: v for k, v in os.environ.items() if not k.startswith("FUNTORCH_")}
    environment = {**kept, "FUNTORCH_PROGRAMS": "256", "OMP_NUM_THREADS": "1", "JAX_PLATFORMS": "cpu"}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True)
    (memory, programs, objects), (memory_later, programs_later, objects_later) = (
        map(int, line.split()) for line in done.stdout.splitlines()
    )
    assert programs == programs_later == 256
    assert objects_later < 1.5 * objects  # JAX keeps some 20 for each new shape; an op's program, times four, would be hundreds
    assert memory_later - memory < 100e6
