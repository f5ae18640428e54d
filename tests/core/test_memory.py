"""What arrays leave stays in the process, where the C library is glibc."""

import ctypes
import os
import subprocess
import sys

import pytest

PROGRAM = """
import resource
import funtorch
import jax
import numpy as np

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

double = jax.jit(lambda x: x * 2)
x = jax.device_put(np.ones(12_000_000, np.float32))
for _ in range(12):  # every thread that allocates has to find its way to the one heap
    double(x).block_until_ready()
before = faults()
for _ in range(3):
    double(x).block_until_ready()
print(faults() - before)
"""


def page_faults(keep: str) -> int:
    """Of three results of 48 MB, after a dozen like them."""
    environment = {**os.environ, "FUNTORCH_KEEP_MEMORY": keep}
    done = subprocess.run([sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True, env=environment)
    return int(done.stdout)


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "gnu_get_libc_version"), reason="only glibc has the setting")
def test_freed_memory_is_kept() -> None:
    assert page_faults(keep="1") < 1000
    assert page_faults(keep="0") > 10000  # 48 MB are 11,719 pages
