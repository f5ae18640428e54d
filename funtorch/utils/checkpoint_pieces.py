"""Pieces of PyTorch's checkpointing that other libraries make their own from: states of generators, arguments without history."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..cautions import caution
from ..core.handle import Handle
from ..errors import OpError

NO_GRADIENT = (
    "None of the inputs have requires_grad=True. With use_reentrant=True PyTorch gives no gradients then; here what the function reads "
    "from outside, such as a module's parameters, has them."
)


def check_backward_validity(inputs: Iterable[Any]) -> None:
    """Warn if no Tensor among ``inputs`` requires a gradient."""
    if not any(isinstance(x, Handle) and x._requires for x in inputs):
        caution(NO_GRADIENT)


def detach_variable(inputs: tuple) -> tuple:
    """The arguments with leaves in place of Tensors, of the same values, which require grad where those did.

    Raises RuntimeError if ``inputs`` is no tuple.
    """
    if not isinstance(inputs, tuple):
        raise OpError(f"Only tuple of tensors is supported. Got Unsupported input type: {type(inputs).__name__}")
    found: list[Any] = [x.detach() if isinstance(x, Handle) else x for x in inputs]  # type: ignore[attr-defined]
    for leaf, x in zip(found, inputs, strict=True):
        if isinstance(x, Handle):
            leaf.requires_grad = x._requires
    return tuple(found)


def get_device_states(*args: Any) -> tuple[list[int], list[Any]]:
    """The GPUs on which arguments are, and their generators' states: none, since the global generator draws for all devices."""
    return [], []


def set_device_states(devices: Sequence[int], states: Sequence[Any], *, device_type: str | None = None) -> None:
    """Put back what `get_device_states` gave: nothing."""


@contextlib.contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Accepted as in PyTorch: a part is always computed again as a whole."""
    yield


class DefaultDeviceType:
    """The kind of accelerator for arguments that say none: kept, without effect."""

    _default_device_type = "cuda"

    @staticmethod
    def set_device_type(device: str = "cuda") -> None:
        """Set it."""
        DefaultDeviceType._default_device_type = device

    @staticmethod
    def get_device_type() -> str:
        """What was set; "cuda" at first."""
        return DefaultDeviceType._default_device_type
