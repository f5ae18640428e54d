"""CompositeTensor: a Tensor that stands for several. Its place on the tape, and its gradient, are those of its values."""

from __future__ import annotations

from typing import Any, Self

from .core.handle import announce
from .core.state import state
from .tensor import Tensor

_SHARED = ("_requires", "_node", "_output", "_level", "_leaf", "_hooks", "_retains")


class CompositeTensor(Tensor):
    """What sparse and masked Tensors share. The payload has ``values``, a ``shape``, and ``with_values(values)``.

    A subclass says with `aligned` what a gradient of the whole is for the values.
    """

    _payload: Any
    _foreign = True

    @classmethod
    def of(cls, structure: Any) -> Self:
        """The Tensor with this structure."""
        new: Any = object.__new__(cls)
        new._payload = structure
        if state.levels:
            new._birth = len(state.levels)
        return announce(new)

    def like(self, values: Any) -> Any:
        """A Tensor of the same structure with other values."""
        return type(self).of(self._payload.with_values(values))

    def aligned(self, given: Any) -> Any:
        """The elements of a Tensor of the same size that belong to this one's values. Raises RuntimeError for another size."""
        raise NotImplementedError

    device = property(lambda self: self._payload.values.device)
    requires_grad = property(
        lambda self: self._payload.values.requires_grad, lambda self, value: self.requires_grad_(value) and None
    )
    is_leaf = property(lambda self: self._payload.values.is_leaf)
    grad_fn = property(lambda self: self._payload.values.grad_fn)

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Say whether gradients are recorded for this leaf."""
        self._payload.values.requires_grad_(requires_grad)
        return self

    @property
    def grad(self) -> Any:
        found = self._payload.values.grad
        return None if found is None else self.like(found)

    @grad.setter
    def grad(self, value: Any) -> None:
        self._payload.values.grad = None if value is None else self.aligned(value)

    def backward(self, gradient: Any = None, retain_graph: Any = None, create_graph: bool = False, inputs: Any = None) -> None:
        """Accumulate gradients in the leaves; ``gradient`` has this Tensor's size, and counts where it has values."""
        given = None if gradient is None else self.aligned(gradient)
        self._payload.values.backward(given, retain_graph, create_graph, inputs)


def _delegated(name: str) -> property:
    def put(self: CompositeTensor, value: Any) -> None:
        setattr(self._payload.values, name, value)

    return property(lambda self: getattr(self._payload.values, name), put)


for _name in _SHARED:
    setattr(CompositeTensor, _name, _delegated(_name))
