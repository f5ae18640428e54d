"""Layouts and memory formats: how a Tensor's elements are stored. They print as PyTorch's do, and know nothing of the rest."""

from __future__ import annotations


class layout:  # noqa: N801
    """How elements are stored: all of them (``strided``), or those that are not zero, with their places."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> tuple:
        return by_name, (self.name,)


class memory_format(layout):  # noqa: N801
    """The order of a strided Tensor's dimensions in memory. XLA chooses its own: these are accepted and change nothing."""

    __slots__ = ()


NAMES = ("strided", "sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc")
PUBLIC = {name: layout(name) for name in NAMES}
strided, sparse_coo, sparse_csr, sparse_csc, sparse_bsr, sparse_bsc = PUBLIC.values()
FORMATS = ("contiguous_format", "preserve_format", "channels_last", "channels_last_3d")
PUBLIC |= {name: memory_format(name) for name in FORMATS}


def by_name(name: str) -> layout:
    """The layout or memory format called ``name``."""
    return PUBLIC[name]
