"""``autograd.grad_mode``: the modes under PyTorch's module name."""

from __future__ import annotations

from .modes import enable_grad, inference_mode, no_grad, set_grad_enabled

__all__ = ["enable_grad", "inference_mode", "no_grad", "set_grad_enabled", "set_multithreading_enabled"]


class set_multithreading_enabled:  # noqa: N801
    """Accepted as in PyTorch: the tape is walked on the calling thread."""

    def __init__(self, mode: bool) -> None:
        self.mode = bool(mode)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        pass
