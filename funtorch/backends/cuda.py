"""Switches of CUDA's libraries: TF32 is JAX's precision of matrix products; which attention runs is XLA's choice."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from ..cuda import is_available as _gpu_there
from ..matmul_precision import get_float32_matmul_precision, set_float32_matmul_precision


class MatmulSwitches:
    """``torch.backends.cuda.matmul``."""

    allow_fp16_reduced_precision_reduction = True
    allow_bf16_reduced_precision_reduction = True
    allow_fp16_accumulation = False

    @property
    def allow_tf32(self) -> bool:
        """Whether float32 matrices may be multiplied less precisely (see `set_float32_matmul_precision`)."""
        return get_float32_matmul_precision() != "highest"

    @allow_tf32.setter
    def allow_tf32(self, value: bool) -> None:
        set_float32_matmul_precision("high" if value else "highest")


matmul = MatmulSwitches()
_attention = {"flash": True, "math": True, "mem_efficient": True, "cudnn": True}


def is_built() -> bool:
    """Whether this JAX has a GPU to serve."""
    return _gpu_there()


def flash_sdp_enabled() -> bool:
    """What `enable_flash_sdp` was told."""
    return _attention["flash"]


def enable_flash_sdp(enabled: bool) -> None:
    """Kept, and read back: one form of attention serves all."""
    _attention["flash"] = enabled


def math_sdp_enabled() -> bool:
    """What `enable_math_sdp` was told."""
    return _attention["math"]


def enable_math_sdp(enabled: bool) -> None:
    """Kept, and read back: one form of attention serves all."""
    _attention["math"] = enabled


def mem_efficient_sdp_enabled() -> bool:
    """What `enable_mem_efficient_sdp` was told."""
    return _attention["mem_efficient"]


def enable_mem_efficient_sdp(enabled: bool) -> None:
    """Kept, and read back: one form of attention serves all."""
    _attention["mem_efficient"] = enabled


def cudnn_sdp_enabled() -> bool:
    """What `enable_cudnn_sdp` was told."""
    return _attention["cudnn"]


def enable_cudnn_sdp(enabled: bool) -> None:
    """Kept, and read back: one form of attention serves all."""
    _attention["cudnn"] = enabled


@contextlib.contextmanager
def sdp_kernel(
    enable_flash: bool = True, enable_math: bool = True, enable_mem_efficient: bool = True, enable_cudnn: bool = True,
) -> Iterator[None]:  # fmt: skip
    """The four switches as given, inside; as they were, after."""
    before = dict(_attention)
    _attention.update(flash=enable_flash, math=enable_math, mem_efficient=enable_mem_efficient, cudnn=enable_cudnn)
    try:
        yield
    finally:
        _attention.update(before)
