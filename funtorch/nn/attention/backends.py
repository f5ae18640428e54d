"""sdpa_kernel: which of PyTorch's attention kernels may be used; here there are a plain formula and the accelerator's kernel."""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Iterator, Sequence

from ...errors import ArgumentTypeError, ArgumentValueError, OpError
from ...ops.fused_attention import allowed

WARN_FOR_UNFUSED_KERNELS = False


class SDPBackend(enum.IntEnum):
    """PyTorch's kernels of `scaled_dot_product_attention`."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


_allowed: list[list[SDPBackend]] = [[backend for backend in SDPBackend if backend is not SDPBackend.ERROR]]


def _cur_sdpa_kernel_backends(with_priority: bool = False) -> list[SDPBackend]:
    """Those that may be used."""
    return list(_allowed[-1])


@contextlib.contextmanager
def sdpa_kernel(backends: Sequence[SDPBackend] | SDPBackend, set_priority: bool = False) -> Iterator[None]:
    """Say which kernels attention may use inside: with MATH alone it is the plain formula on every device.

    Differs from PyTorch: an accelerator has one fused kernel here, which is used if any but MATH is allowed; on the CPU the
    formula stands in for FLASH_ATTENTION. Attention raises RuntimeError inside where no kernel is left.

    Raises:
        TypeError: for anything but SDPBackend or a sequence of such. ValueError: for none.

    >>> import funtorch as torch
    >>> with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
    ...     torch.nn.functional.scaled_dot_product_attention(*[torch.ones(1, 1, 1)] * 3)
    tensor([[[1.]]])
    """
    chosen = [backends] if isinstance(backends, SDPBackend) else backends
    if not isinstance(chosen, (list, tuple)) or not all(isinstance(b, SDPBackend) for b in chosen):
        raise ArgumentTypeError(f"sdpa_kernel(): backends must be SDPBackend or a list of such, got {backends!r}")
    if not chosen:
        raise ArgumentValueError("sdpa_kernel(): at least one backend is needed")
    if SDPBackend.ERROR in chosen:
        raise OpError("sdpa_kernel(): SDPBackend.ERROR is no kernel")
    _allowed.append(list(dict.fromkeys(chosen)))
    allowed.append(frozenset(backend.name for backend in chosen))
    try:
        yield
    finally:
        allowed.pop()
        _allowed.pop()
