"""How precisely float32 matrices are multiplied, in PyTorch's words, on JAX's setting."""

from __future__ import annotations

import jax

from .errors import ArgumentValueError

# On a GPU "high" is TF32; on a TPU three bfloat16 products, and "medium" is one. A CPU always computes in float32.
_TO_JAX = {"highest": "highest", "high": "high", "medium": "default"}
_FROM_JAX = {
    "highest": "highest", "float32": "highest", "high": "high", "tensorfloat32": "high", "bfloat16_3x": "high",
    "default": "medium", "fastest": "medium", "bfloat16": "medium",
}  # fmt: skip
_UNSET = {"cpu": "highest", "gpu": "high", "tpu": "medium"}  # what JAX does when nobody has said anything


def set_float32_matmul_precision(precision: str) -> None:
    """Choose "highest", "high" or "medium". Raises ValueError for another word, where PyTorch only warns."""
    if precision not in _TO_JAX:
        raise ArgumentValueError(f"set_float32_matmul_precision(): {precision!r} is not one of 'highest', 'high', or 'medium'")
    jax.config.update("jax_default_matmul_precision", _TO_JAX[precision])


def get_float32_matmul_precision() -> str:
    """The choice in force: "highest", "high" or "medium"."""
    value = jax.config.jax_default_matmul_precision  # type: ignore[attr-defined]  # made when JAX starts
    if value is None:
        return _UNSET.get(jax.default_backend(), "medium")
    return _FROM_JAX.get(value, "medium")
