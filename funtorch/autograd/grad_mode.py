"""``autograd.grad_mode``: the modes under PyTorch's module name."""

from __future__ import annotations

from .modes import enable_grad, inference_mode, no_grad, set_grad_enabled

__all__ = ["enable_grad", "inference_mode", "no_grad", "set_grad_enabled", "set_multithreading_enabled"]


class set_multithreading_enabled:  # noqa: N801
    """Accepted as in PyTorch: the tape is walked on the calling thread."""

    asked = True

    def __init__(self, mode: bool) -> None:
        self.before, set_multithreading_enabled.asked = set_multithreading_enabled.asked, bool(mode)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        set_multithreading_enabled.asked = self.before


def is_multithreading_enabled() -> bool:
    """What `set_multithreading_enabled` was told; True at first."""
    return set_multithreading_enabled.asked


def is_view_replay_enabled() -> bool:
    """False: views are read again from their base, always."""
    return False
