"""Forward mode by hand: Tensors with a tangent, inside a ``dual_level``."""

from __future__ import annotations

import weakref
from typing import Any, NamedTuple

from ..core.forward_mode import JvpLevel
from ..core.handle import Handle, value_of, watchers
from ..core.levels import Dual
from ..core.state import state
from ..core.tape import place_of, set_place
from ..core.views import take
from ..errors import ArgumentValueError, OpError

__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual"]

_open: list[_DualLevel] = []


class UnpackedDualTensor(NamedTuple):
    """A value and its tangent (None: there is none)."""

    primal: Any
    tangent: Any


class _DualLevel(JvpLevel):
    """A level whose Tensors become their primals when it ends."""

    __slots__ = ("made",)

    def __init__(self) -> None:
        super().__init__()
        self.made: list[weakref.ref] = []

    def watch(self, new: Handle) -> None:
        payload = new._payload
        if type(payload) is Dual and payload.level is self:
            self.made.append(weakref.ref(new))

    def close(self) -> None:
        self.settle()
        watchers.remove(self.watch)
        if state.levels and state.levels[-1] is self:
            self.__exit__()
        for ref in self.made:
            tensor = ref()
            if tensor is not None and type(tensor._payload) is Dual and tensor._payload.level is self:
                take(tensor, tensor._payload.primal)


def enter_dual_level() -> int:
    """Open a level, and return its number. Raises RuntimeError if one is open: they don't nest, as in PyTorch."""
    if _open:
        raise OpError("Nested forward mode AD is not supported at the moment")
    level = _DualLevel()
    level.__enter__()
    watchers.append(level.watch)
    _open.append(level)
    return 0


def exit_dual_level(*, level: int | None = None) -> None:
    """Close the level: its Tensors keep their primals and lose their tangents."""
    if not _open or level not in (None, 0):
        raise OpError("Trying to exit a forward AD level that was not the last one that was created. This is not supported.")
    _open.pop().close()


class dual_level:  # noqa: N801
    """Within: `make_dual` gives Tensors with tangents, and what is computed from them has tangents too.

    >>> import funtorch as torch
    >>> with torch.autograd.forward_ad.dual_level():
    ...     x = torch.autograd.forward_ad.make_dual(torch.tensor(3.0), torch.tensor(1.0))
    ...     torch.autograd.forward_ad.unpack_dual(x * x).tangent
    tensor(6.)
    """

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(self, *exc: object) -> None:
        exit_dual_level()


def make_dual(tensor: Any, tangent: Any, *, level: int | None = None) -> Any:
    """``tensor`` with a tangent of its shape and dtype.

    Raises ValueError for integers, RuntimeError outside of a level or for another shape.
    """
    if not _open:
        raise OpError("Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first.")
    for what, each in (("primal", tensor), ("tangent", tangent)):
        if not (each.is_floating_point() or each.is_complex()):
            raise ArgumentValueError(f"Expected {what} to be floating point or complex, but got: {each.dtype}")
    if tensor.shape != tangent.shape:
        raise OpError(
            "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not supported. "
            f"Tensor is of size {list(tensor.shape)} while the given forward gradient is of size {list(tangent.shape)}."
        )
    if tensor.dtype != tangent.dtype:
        raise OpError(f"Expected tangent to have dtype {tensor.dtype}, but got: {tangent.dtype}")
    made = _open[-1].wrap(tensor, tangent)
    if tensor.requires_grad:  # the same place, so that gradients by either are found
        set_place(made, *place_of(tensor))
    return made


def unpack_dual(tensor: Any, *, level: int | None = None) -> UnpackedDualTensor:
    """The primal and the tangent of a Tensor."""
    payload = value_of(tensor)
    if _open and type(payload) is Dual and payload.level is _open[-1]:
        return UnpackedDualTensor(payload.primal, payload.tangent)
    return UnpackedDualTensor(tensor, None)
