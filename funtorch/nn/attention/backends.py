"""sdpa_kernel: which of PyTorch's attention kernels may be used; here there are a plain formula and the accelerator's kernel."""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Iterator

from ...ops.fused_attention import EVERY, allowed

WARN_FOR_UNFUSED_KERNELS = False


class SDPBackend(enum.IntEnum):
    """PyTorch's kernels of `scaled_dot_product_attention`."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4

    def __str__(self) -> str:
        return f"SDPBackend.{self.name}"


def _cur_sdpa_kernel_backends(with_priority: bool = False) -> list[SDPBackend]:
    """Those that may be used."""
    return [backend for backend in SDPBackend if backend.name in allowed[0]]


@contextlib.contextmanager
def sdpa_kernel(backends: list[SDPBackend] | SDPBackend, set_priority: bool = False) -> Iterator[None]:
    """Say which kernels attention may use inside: with MATH alone it is the plain formula on every device.

    Differs from PyTorch: an accelerator has one fused kernel here, which is used if any but MATH is allowed; on the CPU the
    formula stands in for FLASH_ATTENTION. Attention raises RuntimeError inside where no kernel is left. The switches of
    ``torch.backends.cuda`` (`enable_flash_sdp` and its like) are the same ones: they show what was chosen.

    Raises:
        AssertionError: for anything but an SDPBackend or a list of such.

    >>> import funtorch as torch
    >>> with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
    ...     torch.nn.functional.scaled_dot_product_attention(*[torch.ones(1, 1, 1)] * 3)
    tensor([[[1.]]])
    """
    chosen = [backends] if isinstance(backends, SDPBackend) else backends
    if not isinstance(chosen, list) or not all(isinstance(b, SDPBackend) for b in chosen):
        found = [type(b).__name__ for b in chosen] if isinstance(chosen, list) else type(chosen).__name__
        raise AssertionError(f"Backend must be an instance of SDPBackend or a list of SDPBackend instances, got {found}")
    before = allowed[0]
    allowed[0] = EVERY & {backend.name for backend in chosen}
    try:
        yield
    finally:
        allowed[0] = before
