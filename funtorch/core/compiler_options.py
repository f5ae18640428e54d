"""Options of XLA's compiler for the CPU that make some ops' kernels faster. What a jaxlib doesn't know is left out."""

from __future__ import annotations

import functools

import jax
import numpy as np

from .processors import usable

Options = tuple[tuple[str, str], ...]

# Vectors of 16 floats where there are such, for elementwise code.
WIDE: Options = (("xla_cpu_prefer_vector_width", "512"),)
# Products by Eigen and not YNNPACK. Attention block by block (64 heads of 256 x 256 scores), forward and backward on two cores:
# 22.1 ms in place of 24.3.
EIGEN: Options = (("xla_cpu_experimental_ynn_fusion_type", "LIBRARY_FUSION_TYPE_REDUCE"),)


def of_loops() -> Options:
    """For loops of small products. The LSTM's way back (T 128, N 32, H 128): 12.7 ms without, 12.0 with them, on one core.

    On two cores Eigen takes longer for such than YNNPACK: 11.0 and 8.9 ms.
    """
    return WIDE if usable() != 1 else WIDE + EIGEN


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
