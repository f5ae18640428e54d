"""Two Tensors that change places."""

from __future__ import annotations

from ..errors import OpError
from ..tensor import Tensor

SHARED = "swap_tensors(): Cannot swap {} since {}"


def swap_tensors(t1: Tensor, t2: Tensor) -> None:
    """Give each of two Tensors all that the other is: its values, type, history, gradient and attributes.

    Args:
        t1, t2: Tensors of any shapes and dtypes.

    Raises:
        RuntimeError: one of them is a view, or has views: these would follow the other.

    >>> import funtorch
    >>> a, b = funtorch.ones(2), funtorch.zeros(1)
    >>> swap_tensors(a, b)
    >>> a
    tensor([0.])
    """
    for name, tensor in (("t1", t1), ("t2", t2)):
        if tensor._base is not None:
            raise OpError(SHARED.format(name, "it is a view"))
        if any(view() is not None for view in tensor._views or ()):
            raise OpError(SHARED.format(name, "there are views of it"))
    if t1.__class__ is not t2.__class__:
        t1.__class__, t2.__class__ = t2.__class__, t1.__class__
    first, second = dict(t1.__dict__), dict(t2.__dict__)
    for tensor, own in ((t1, second), (t2, first)):
        own.pop("_leaf", None)  # where a backward pass under way puts the gradient of the Tensor that was there
        tensor.__dict__.clear()
        tensor.__dict__.update(own)
