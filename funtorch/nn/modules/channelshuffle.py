"""Layer of images whose channels are dealt out anew."""

from __future__ import annotations

from typing import Any

from .. import functional as F
from ..module import Module

__all__ = ["ChannelShuffle"]


class ChannelShuffle(Module):
    """Channels dealt out anew (see `nn.functional.channel_shuffle`).

    Args:
        groups: divides the number of channels.
    """

    __constants__ = ["groups"]

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Any) -> Any:
        """input (N, C, *); z the same."""
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        return f"groups={self.groups}"
