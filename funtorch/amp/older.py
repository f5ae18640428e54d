"""The names of mixed precision under ``torch.cuda.amp`` and ``torch.cpu.amp``: they warn."""

from __future__ import annotations

from ..cautions import caution

OLD = "`torch.{0}.amp.{1}(args...)` is deprecated. Please use `torch.amp.{1}('{0}', args...)` instead."
OLD_DECORATOR = "`torch.{0}.amp.{1}(args...)` is deprecated. Please use `torch.amp.{1}(args..., device_type='{0}')` instead."


def warn_of_older(kind: str, name: str, text: str = OLD) -> None:
    """Warn at the caller of the caller that a name of ``torch.<kind>.amp`` is old."""
    caution(text.format(kind, name), FutureWarning)
