"""What compiled functions did, counted over all of them; and a line for each compilation where the environment asks for it."""

from __future__ import annotations

import os
import sys
from collections import Counter

# "eager calls", "compiled calls", "guard failures", "traces", "programs" (compiled by XLA), "programs used again".
counters: Counter[str] = Counter()


def logs_recompiles() -> bool:
    """Whether ``FUNTORCH_LOGS`` (words with commas between) has the word "recompiles"."""
    return "recompiles" in os.environ.get("FUNTORCH_LOGS", "").split(",")


def log_compile(name: str, number: int, cause: str) -> None:
    """Print, on standard error, that a function became a program, and what had changed."""
    if logs_recompiles():
        print(f"[recompiles] {name}: program {number}: {cause}", file=sys.stderr, flush=True)
