"""Between Tensors with data and those on the device "meta": data can be dropped, and never come back."""

from __future__ import annotations

from typing import Any

from ..core.handle import Handle, make, value_of
from ..core.levels import WRAPPED
from ..core.meta import NO_DATA, MetaArray, is_meta
from ..core.python_node import apply_body
from ..core.state import state
from ..errors import MissingError, OpError


class _Dropping:
    """The body of the tape's node: the gradient would have to come back, and has no values."""

    name = "ToCopyBackward0"
    keeps = ()
    materialize = False

    def forward(self, x: Any) -> list[Any]:
        return [_without_history(x)]

    def backward(self, application: Any, cotangent: Any) -> list[Any]:
        raise MissingError(NO_DATA)

    def jvp(self, tangents: list[Any]) -> list[Any] | None:
        return self.forward(tangents[0])

    def differentiable(self, number: int) -> bool:
        return True


def _without_history(x: Handle) -> Any:
    return make(MetaArray(tuple(x._payload.shape), x._payload.dtype), len(state.levels))


def dropped(x: Handle) -> Any:
    """``x`` on the device "meta"; itself if it is there. Its gradient raises NotImplementedError."""
    if is_meta(x):
        return x
    wrapped = type(value_of(x)) in WRAPPED
    return apply_body(_Dropping(), (x,))[0] if wrapped or (state.grad and x._requires) else _without_history(x)


def beside(target: Handle, value: Any) -> Any:
    """``value`` where ``target`` is, to be copied into it. Raises NotImplementedError for a Tensor without data to one with them."""
    if is_meta(target):
        return dropped(value) if isinstance(value, Handle) else value
    if isinstance(value, Handle) and is_meta(value):
        raise MissingError(NO_DATA)
    return value


def check_same_place(target: Handle, result: Handle, name: str) -> None:
    """Raise RuntimeError where a result has data and what it is written into has none, or the other way round."""
    if is_meta(target) != is_meta(result):
        raise OpError(
            f"{name}(): Attempting to copy from device {result.device} to device {target.device}, but cross-device copies are "  # type: ignore[attr-defined]
            "not allowed!"
        )
