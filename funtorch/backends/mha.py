"""PyTorch's fast path of encoders in evaluation mode: its results are given here, unless it is switched off."""

from ..ops.multihead_attention import fast


def get_fastpath_enabled() -> bool:
    """Whether `nn.TransformerEncoder` may leave padding out in evaluation mode without gradients."""
    return fast[0]


def set_fastpath_enabled(value: bool) -> None:
    """Say so."""
    fast[0] = value
