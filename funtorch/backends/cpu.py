"""What the processor can do."""

from __future__ import annotations

import numpy as np

# NumPy's names for what PyTorch's words need; newer ones group them by level.
_BEST_FIRST = (("AVX512", {"X86_V4", "AVX512F", "AVX512_SKX"}), ("AVX2", {"X86_V3", "AVX2"}), ("NEON", {"NEON", "ASIMD"}))


def get_cpu_capability() -> str:
    """The widest vectors that NumPy found, in PyTorch's words: "AVX512", "AVX2", "NEON", or "DEFAULT"."""
    found = np.show_config(mode="dicts")["SIMD Extensions"]
    names = {*found.get("baseline", ()), *found.get("found", ())}
    return next((word for word, features in _BEST_FIRST if features & names), "DEFAULT")
