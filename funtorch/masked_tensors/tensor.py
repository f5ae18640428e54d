"""MaskedTensor: values, and a mask that says which of them are there. What is masked out takes part in nothing."""

from __future__ import annotations

from typing import Any, final

import numpy as np

from ..composite_tensor import CompositeTensor
from ..core.foreign import PROCESSORS, is_foreign
from ..core.text import describe
from ..core.views import alias, concrete
from ..errors import ArgumentTypeError, ArgumentValueError, OpError
from ..tensor import Tensor
from . import text

SIZES = "data.size() must equal mask.size(): got {} and {}"


@final
class Masked:
    """``values`` (*) and ``mask`` (*) of bools: True where there is an element."""

    __slots__ = ("values", "mask")

    def __init__(self, values: Any, mask: Any) -> None:
        self.values = values
        self.mask = mask

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values._payload.shape

    @property
    def dtype(self) -> Any:
        return self.values._payload.dtype

    def with_values(self, values: Any) -> Masked:
        """The same mask with other values."""
        return Masked(values, self.mask)

    def with_tensors(self, change: Any) -> Masked:
        """``change`` applied to the Tensors that it holds."""
        return Masked(change(self.values), change(self.mask))


def _checked(data: Any, mask: Any) -> None:
    for name, given in (("data", data), ("mask", mask)):
        if not isinstance(given, Tensor):
            raise ArgumentTypeError(f"{name} must be a Tensor, not {type(given).__name__}")
    if is_foreign(data) or is_foreign(mask):
        raise ArgumentTypeError("masked_tensor: data and mask must be strided Tensors")
    if mask.dtype.name != "bool":
        raise ArgumentTypeError(f"mask must have dtype bool. Got {mask.dtype}")
    if data.shape != mask.shape:
        raise ArgumentValueError(SIZES.format(list(data.shape), list(mask.shape)))


@final
class MaskedTensor(CompositeTensor):
    """A Tensor with a mask: `masked_tensor` and `as_masked_tensor` make them.

    Element by element, operations leave the mask as it is, and two masks must agree; reductions pass over what is masked out.
    """

    def __new__(cls, data: Any, mask: Any, requires_grad: bool = False) -> Any:
        _checked(data, mask)
        made = cls.of(Masked(data.detach(), mask.detach()))
        return made.requires_grad_() if requires_grad else made

    def aligned(self, given: Any) -> Any:
        """The values of a gradient, 0 where it is masked out."""
        if given.shape != self.shape:
            raise OpError(SIZES.format(list(given.shape), list(self.shape)))
        return given.to_tensor(0) if isinstance(given, MaskedTensor) else given

    def get_data(self) -> Any:
        """All values, also those that are masked out."""
        return alias(self._payload.values, detached=False)

    def get_mask(self) -> Any:
        """The mask: True where there is an element."""
        return self._payload.mask

    def to_tensor(self, value: Any) -> Any:
        """The values, with ``value`` where they are masked out."""
        return self._payload.values.masked_fill(~self._payload.mask, value)

    def _host(self, asked: str) -> np.ndarray:
        raise OpError(f"{asked} is not there for masked Tensors: to_tensor(value) gives a plain one")

    def item(self) -> Any:
        return self.to_tensor(0).item()

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
        values, mask = concrete(self._payload.values), concrete(self._payload.mask)
        if values is None or mask is None:
            return f"MaskedTensor({describe(self._payload.values)}, {describe(self._payload.mask)})"
        return text.described(values, mask)

    def __getitem__(self, index: Any) -> Any:
        held = self._payload
        return MaskedTensor.of(Masked(held.values[index], held.mask[index]))

    def __deepcopy__(self, memo: dict) -> Any:
        import copy

        if id(self) not in memo:
            memo[id(self)] = MaskedTensor.of(self._payload.with_tensors(lambda t: copy.deepcopy(t, memo)))
        return memo[id(self)]

    def __reduce_ex__(self, protocol: Any) -> tuple:
        return MaskedTensor, (self._payload.values.detach(), self._payload.mask, self.requires_grad)


def masked_tensor(data: Any, mask: Any, requires_grad: bool = False) -> Any:
    """A masked Tensor with copies of neither: a leaf.

    Args:
        data: (*); mask: (*) of bools: True where there is an element.
        requires_grad: whether gradients are recorded.

    Raises:
        TypeError: what is no Tensor, or a mask of another dtype.
        ValueError: different sizes.

    >>> import funtorch as torch
    >>> x = torch.masked.masked_tensor(torch.tensor([1.0, 2.0]), torch.tensor([True, False]))
    >>> x.sum()
    MaskedTensor(  1.0000, True)
    """
    return MaskedTensor(data, mask, requires_grad)


def as_masked_tensor(data: Any, mask: Any) -> Any:
    """`masked_tensor`, through which gradients pass to ``data`` (*). mask (*). Raises TypeError and ValueError as it does."""
    _checked(data, mask)
    return MaskedTensor.of(Masked(alias(data, detached=False), mask))


def is_masked_tensor(obj: Any) -> bool:
    """Whether ``obj`` is a masked Tensor."""
    return isinstance(obj, MaskedTensor)


def _process(op: Any, args: Any) -> Any:
    from .rules import process

    return process(op, args)


PROCESSORS[Masked] = _process
