"""Modules as functions of their parameters, under the older name."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

from ...cautions import caution
from ...transforms.modules import functional_call as _functional_call
from ...transforms.modules import swapped

__all__ = ["functional_call"]

OLD = (
    "`torch.nn.utils.stateless.functional_call` is deprecated since PyTorch 2.0 and will be removed from a later version: "
    "`torch.func.functional_call` takes its place, with the same arguments."
)


def _reparametrize_module(
    module: Any, parameters_and_buffers: Mapping[str, Any], tie_weights: bool = False, strict: bool = False, stack_weights: bool = False,
) -> contextlib.AbstractContextManager[None]:  # fmt: skip
    """A context in which the module has other Tensors; ``stack_weights`` has no effect."""
    return swapped(module, parameters_and_buffers, tie_weights, strict)


def functional_call(
    module: Any, parameters_and_buffers: Mapping[str, Any], args: Any = None, kwargs: Mapping[str, Any] | None = None, *,
    tie_weights: bool = True, strict: bool = False,
) -> Any:  # fmt: skip
    """`func.functional_call`, with a warning.

    Args:
        module: which is called.
        parameters_and_buffers: Tensors by name; names left out keep the module's own.
        args: the positional arguments of the call: a tuple, or a single one.
        kwargs: the others.
        tie_weights: a Tensor given for one name of a shared parameter stands for all its names.
        strict: the names must be exactly the module's.
    """
    caution(OLD, FutureWarning)
    return _functional_call(module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict)
