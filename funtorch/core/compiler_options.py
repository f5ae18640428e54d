"""Options of XLA's compiler for the CPU that make some ops' kernels faster. What a jaxlib doesn't know is left out."""

from __future__ import annotations

import functools

import jax
import numpy as np

Options = tuple[tuple[str, str], ...]

# For loops of small products and elementwise code over some hundred kB. The LSTM layer's way back (T 128, N 32, H 128): 12.7 ms without,
# 12.0 with them. Vectors of 16 floats where there are such; products by Eigen, which takes less time for small ones than YNNPACK.
LOOPS: Options = (
    ("xla_cpu_prefer_vector_width", "512"),
    ("xla_cpu_experimental_ynn_fusion_type", "LIBRARY_FUSION_TYPE_REDUCE"),
)


@functools.cache
def accepted(options: Options) -> dict[str, str] | None:
    """Those of ``options`` that the compiler in use accepts, or None where there are none."""
    if not options or jax.default_backend() != "cpu":
        return None
    return {name: value for name, value in options if _known(name, value)} or None


def _known(name: str, value: str) -> bool:
    try:
        jax.jit(lambda x: x, compiler_options={name: value}).lower(np.float32(0)).compile()
    except Exception:
        return False
    return True
