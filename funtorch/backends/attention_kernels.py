"""``torch.backends.cuda``: which of its kernels attention may use, and could."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..cautions import caution
from ..ops.fused_attention import Plan, Shapes, allow, allowed, platform_of_kernels, served

OLD_CONTEXT = (
    "`torch.backends.cuda.sdp_kernel()` is deprecated. In the future, this context manager will be removed. Please see "
    "`torch.nn.attention.sdpa_kernel()` for the new context manager, with updated signature."
)
_KERNELS = {"flash": "FLASH_ATTENTION", "math": "MATH", "mem_efficient": "EFFICIENT_ATTENTION", "cudnn": "CUDNN_ATTENTION"}
_halves = [True]


def flash_sdp_enabled() -> bool:
    """Whether `scaled_dot_product_attention` may use this kernel (see `nn.attention.sdpa_kernel`)."""
    return _KERNELS["flash"] in allowed[0]


def enable_flash_sdp(enabled: bool) -> None:
    """Say so."""
    allow(_KERNELS["flash"], enabled)


def math_sdp_enabled() -> bool:
    """Whether `scaled_dot_product_attention` may use this kernel (see `nn.attention.sdpa_kernel`)."""
    return _KERNELS["math"] in allowed[0]


def enable_math_sdp(enabled: bool) -> None:
    """Say so."""
    allow(_KERNELS["math"], enabled)


def mem_efficient_sdp_enabled() -> bool:
    """Whether `scaled_dot_product_attention` may use this kernel (see `nn.attention.sdpa_kernel`)."""
    return _KERNELS["mem_efficient"] in allowed[0]


def enable_mem_efficient_sdp(enabled: bool) -> None:
    """Say so."""
    allow(_KERNELS["mem_efficient"], enabled)


def cudnn_sdp_enabled() -> bool:
    """Whether `scaled_dot_product_attention` may use this kernel (see `nn.attention.sdpa_kernel`)."""
    return _KERNELS["cudnn"] in allowed[0]


def enable_cudnn_sdp(enabled: bool) -> None:
    """Say so."""
    allow(_KERNELS["cudnn"], enabled)


def fp16_bf16_reduction_math_sdp_allowed() -> bool:
    """What `allow_fp16_bf16_reduction_math_sdp` was told."""
    return _halves[0]


def allow_fp16_bf16_reduction_math_sdp(enabled: bool) -> None:
    """Kept, and read back: the plain formula sums in float32."""
    _halves[0] = enabled


@contextlib.contextmanager
def sdp_kernel(
    enable_flash: bool = True, enable_math: bool = True, enable_mem_efficient: bool = True, enable_cudnn: bool = True,
) -> Iterator[None]:  # fmt: skip
    """The four switches as given, inside; as they were, after. Deprecated, as in PyTorch: use `nn.attention.sdpa_kernel`."""
    caution(OLD_CONTEXT, FutureWarning)
    before = allowed[0]
    switches = {"flash": enable_flash, "math": enable_math, "mem_efficient": enable_mem_efficient, "cudnn": enable_cudnn}
    for name, use in switches.items():
        allow(_KERNELS[name], use)
    try:
        yield
    finally:
        allowed[0] = before


class SDPAParams(NamedTuple):
    """A call of attention, of which is asked whether a kernel can do it."""

    query: Any
    key: Any
    value: Any
    attn_mask: Any
    dropout: float
    is_causal: bool
    enable_gqa: bool


def is_flash_attention_available() -> bool:
    """Whether there is a GPU with a fused kernel."""
    return platform_of_kernels() == "cuda"


def can_use_flash_attention(params: SDPAParams, debug: bool = False) -> bool:
    """Whether the fused kernel of a GPU can do a call."""
    inputs = params[:4]
    shapes = Shapes(*(None if t is None else tuple(t.shape) for t in inputs))  # type: ignore[arg-type]
    plan = Plan("cuda", params.is_causal, None, params.enable_gqa)
    return is_flash_attention_available() and not params.dropout and served(shapes, params.query.dtype.numpy, plan)


can_use_efficient_attention = can_use_cudnn_attention = can_use_flash_attention
