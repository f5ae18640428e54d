"""Modules as functions of their parameters, under the older name."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from ...transforms.modules import functional_call as _functional_call

__all__ = ["functional_call"]

OLD = (
    "This API is deprecated as of PyTorch 2.0 and will be removed in a future version of PyTorch. Please use "
    "torch.func.functional_call instead which is a drop-in replacement."
)


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
    warnings.warn(OLD, FutureWarning, stacklevel=2)
    return _functional_call(module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict)
