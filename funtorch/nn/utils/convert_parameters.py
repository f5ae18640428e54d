"""Parameters as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...autograd.modes import no_grad
from ...core.handle import Handle
from ...errors import ArgumentTypeError
from ...ops import registry

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def parameters_to_vector(parameters: Iterable[Any]) -> Any:
    """All parameters, one after the other, as a vector (their number of elements). It is on the tape.

    Example:
        >>> import funtorch
        >>> parameters_to_vector(funtorch.nn.Linear(2, 3).parameters()).shape
        torch.Size([9])
    """
    return registry.names("torch")["cat"]([p.reshape(-1) for p in parameters])


def vector_to_parameters(vec: Any, parameters: Iterable[Any]) -> None:
    """Give parameters the values that a vector holds, one after the other, as ``.data`` is assigned.

    Args:
        vec: a vector of at least as many elements.
        parameters: which are changed.

    Raises:
        TypeError: ``vec`` is no Tensor.
    """
    if not isinstance(vec, Handle):
        raise ArgumentTypeError(f"expected torch.Tensor, but got: {type(vec).__name__}")
    values: Any = vec
    start = 0
    for parameter in parameters:
        count = parameter.numel()
        with no_grad():
            parameter.data = values[start : start + count].view_as(parameter).clone()
        start += count
