"""Calls with ever-new shapes: memory stays bounded."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

# Each round makes four calls: an op, a sum, and the gradients of both, for a shape never seen before.
PROGRAM = """
import gc, os, sys
import funtorch as torch
from funtorch.core.engine import programs

OPS = [lambda x: x * x, lambda x: torch.softmax(x, -1), lambda x: torch.tanh(x).sum(0), lambda x: x @ x.T]

def resident():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

for call in range(0, 10_001, 4):
    if call in (2_000, 10_000):
        print(resident(), len(programs))
    number = call // 4
    x = torch.ones(number % 499 + 1, number // 499 + 2, requires_grad=True)
    OPS[number % 4](x).sum().backward()
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="reads Linux's figures")
@pytest.mark.timeout(900)
@pytest.mark.parametrize("mode", ["auto", "host"])
def test_ten_thousand_calls_with_new_shapes(mode):
    """8,000 further calls may take what JAX keeps of its own, bounded too, but not what so many programs would."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("FUNTORCH_")}
    environment = {**kept, "FUNTORCH_PROGRAMS": "256", "FUNTORCH_ENGINE": mode, "OMP_NUM_THREADS": "1", "JAX_PLATFORMS": "cpu"}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True)
    (early, few), (late, many) = (map(int, line.split()) for line in done.stdout.splitlines())
    assert few <= 256
    assert many <= 256
    assert late - early < 120e6
