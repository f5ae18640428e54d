"""Switches of CUDA's libraries: TF32 is JAX's precision of matrix products; which kernels attention may use."""

from __future__ import annotations

import enum
from typing import Any

from ..cuda import is_available as _gpu_there
from ..cuda.devices import GPUS
from ..errors import OpError
from ..matmul_precision import get_float32_matmul_precision, set_float32_matmul_precision
from .attention_kernels import (  # noqa: F401
    SDPAParams,
    allow_fp16_bf16_reduction_math_sdp,
    can_use_cudnn_attention,
    can_use_efficient_attention,
    can_use_flash_attention,
    cudnn_sdp_enabled,
    enable_cudnn_sdp,
    enable_flash_sdp,
    enable_math_sdp,
    enable_mem_efficient_sdp,
    flash_sdp_enabled,
    fp16_bf16_reduction_math_sdp_allowed,
    is_flash_attention_available,
    math_sdp_enabled,
    mem_efficient_sdp_enabled,
    sdp_kernel,
)

_WORDS = {"none": "", "ieee": "highest", "tf32": "high"}
_said = ["none"]


class MatmulSwitches:
    """``torch.backends.cuda.matmul``."""

    allow_fp16_reduced_precision_reduction = True
    allow_bf16_reduced_precision_reduction = True
    allow_fp16_accumulation = False

    def __setattr__(self, name: str, value: Any) -> None:
        if not hasattr(type(self), name):
            raise AttributeError(f"Unknown attribute {name}")
        super().__setattr__(name, value)

    @property
    def fp32_precision(self) -> str:
        """How float32 matrices are multiplied: "ieee", "tf32", or "none" as long as nothing was said."""
        return _said[0]

    @fp32_precision.setter
    def fp32_precision(self, value: str) -> None:
        if value not in _WORDS:
            raise OpError(f"Invalid precision: {value!r} is not one of {', '.join(map(repr, _WORDS))}")
        _said[0] = value
        if value != "none":
            set_float32_matmul_precision(_WORDS[value])

    @property
    def allow_tf32(self) -> bool:
        """Whether float32 matrices may be multiplied less precisely (see `set_float32_matmul_precision`)."""
        return get_float32_matmul_precision() != "highest"

    @allow_tf32.setter
    def allow_tf32(self, value: bool) -> None:
        set_float32_matmul_precision("high" if value else "highest")


matmul = MatmulSwitches()


def is_built() -> bool:
    """Whether this JAX has a GPU to serve."""
    return _gpu_there()


class _LinalgBackend(enum.Enum):
    Default, Cusolver, Magma = range(3)

    def __str__(self) -> str:
        return f"{type(self).__name__}.{self.name}"


class _BlasBackend(enum.Enum):
    Default, Cublas, Cublaslt, Ck = range(4)

    def __str__(self) -> str:
        return f"{type(self).__name__}.{self.name}"


_libraries: dict[type, Any] = {_LinalgBackend: _LinalgBackend.Default, _BlasBackend: _BlasBackend.Cublas}


def _preferred(kind: Any, backend: Any) -> Any:
    words = {each.name.lower(): each for each in kind}
    if isinstance(backend, str):
        if backend not in words:
            raise OpError(f"Unknown input value. Choose from: {', '.join(words)}.")
        backend = words[backend]
    if backend is not None:
        if not isinstance(backend, kind):
            raise OpError("Unknown input value type.")
        _libraries[kind] = backend
    return _libraries[kind]


def preferred_linalg_library(backend: Any = None) -> Any:
    """Kept, and read back: XLA chooses. Raises RuntimeError for a word that PyTorch does not know."""
    return _preferred(_LinalgBackend, backend)


def preferred_blas_library(backend: Any = None) -> Any:
    """Kept, and read back: XLA chooses. Raises RuntimeError for a word that PyTorch does not know."""
    return _preferred(_BlasBackend, backend)


class PlanCache:
    """``torch.backends.cuda.cufft_plan_cache``: XLA keeps its plans by itself. Every look raises RuntimeError without a GPU."""

    def __init__(self) -> None:
        self._most = 4096

    @property
    def size(self) -> int:
        """0."""
        GPUS.index()
        return 0

    @property
    def max_size(self) -> int:
        """What was set; 4096 at first."""
        GPUS.index()
        return self._most

    @max_size.setter
    def max_size(self, value: int) -> None:
        GPUS.index()
        self._most = value

    def clear(self) -> None:
        """Nothing."""
        GPUS.index()

    def __getitem__(self, device: Any) -> PlanCache:
        return self


cufft_plan_cache = PlanCache()
