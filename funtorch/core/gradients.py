"""What a Tensor is asked about its gradient: to keep it, to call hooks when it is there, to take another one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import ArgumentTypeError, OpError
from .handle import Handle
from .meta import is_meta


def check_gradient(tensor: Any, value: Any) -> None:
    """Raise TypeError for a ``.grad`` that is no Tensor, RuntimeError for one of another shape or dtype than ``tensor``, or without data."""
    if not isinstance(value, Handle):
        raise ArgumentTypeError(f"assigned grad expected to be a Tensor or None but got grad of type {type(value).__name__}")
    if value.shape != tensor.shape:
        raise OpError(
            f"attempting to assign a gradient of size '{list(value.shape)}' to a tensor of size '{list(tensor.shape)}'. "
            "Please ensure that the gradient and the tensor are the same size"
        )
    if is_meta(value) != is_meta(tensor):
        raise OpError(
            f"attempting to assign a gradient with device type '{value.device.type}' to a tensor with device type "
            f"'{tensor.device.type}'. Please ensure that the gradient and the tensor are on the same device"
        )
    if value.dtype != tensor.dtype:
        raise OpError(f"attempting to assign a gradient with dtype '{value.dtype}' to a tensor with dtype '{tensor.dtype}'")


def hooked(hook: Any, gradient: Any) -> Any:
    """What ``hook`` makes of a gradient: that itself where it returns None.

    Raises TypeError for what is no Tensor, RuntimeError for one of another shape or dtype.
    """
    return _replacement(hook, gradient, hook(gradient))


def replacements(hook: Any, gradients: Sequence[Any], changed: Sequence[Any]) -> list[Any]:
    """``changed``, which a hook on a node has returned for its gradients. Raises as `hooked`, and RuntimeError for another number."""
    if len(changed) != len(gradients):
        got = f"got {len(changed)}, but expected {len(gradients)}"
        raise OpError(f"hook '{_name(hook)}' has returned an incorrect number of values ({got})")
    return [_replacement(hook, gradient, new) for gradient, new in zip(gradients, changed, strict=True)]


def _name(hook: Any) -> str:
    return getattr(hook, "__name__", type(hook).__name__)


def _replacement(hook: Any, gradient: Any, changed: Any) -> Any:
    if changed is None or changed is gradient:
        return gradient
    if not isinstance(changed, Handle):
        raise ArgumentTypeError(f"expected Variable, but hook returned '{type(changed).__name__}'")
    if gradient is not None and changed.shape != gradient.shape:
        raise OpError(f"hook '{_name(hook)}' has changed the size of value")
    if gradient is not None and (changed.dtype != gradient.dtype or is_meta(changed) != is_meta(gradient)):
        raise OpError(f"hook '{_name(hook)}' has changed the type of value (was {gradient.type()} got {changed.type()})")
    return changed


def retain_gradient(tensor: Any) -> None:
    """Have the gradient of a non-leaf kept in ``.grad``. Raises RuntimeError if it requires none."""
    if not tensor.requires_grad:
        raise OpError("can't retain_grad on Tensor that has requires_grad=False")
    node = tensor._node
    if node is None or tensor._retains:
        return
    tensor._retains = True
    node.retained = {} if node.retained is None else node.retained
    node.retained[tensor._output] = tensor


def hook_gradient(tensor: Any, hook: Any) -> Any:
    """Have ``hook(grad)`` called at each backward pass: a handle to remove it. Raises RuntimeError if there is no gradient."""
    if not tensor.requires_grad:
        raise OpError("cannot register a hook on a tensor that doesn't require gradient")
    node = tensor._node
    if node is None:
        tensor._hooks = {} if tensor._hooks is None else tensor._hooks
        return hook_added(tensor._hooks, hook)
    node.prehooks = {} if node.prehooks is None else node.prehooks
    return hook_added(node.prehooks.setdefault(tensor._output, {}), hook)


def hook_accumulation(tensor: Any, hook: Any) -> Any:
    """Have ``hook(tensor)`` called after ``.grad`` of a leaf has changed: a handle to remove it. Raises RuntimeError for others."""
    if not tensor.requires_grad or tensor._node is not None:
        raise OpError("post accumulate grad hooks cannot be registered on non-leaf tensors")
    return hook_added(tensor.__dict__.setdefault("_after_hooks", {}), hook)


def hook_added(hooks: dict, hook: Any, others: dict | None = None) -> Any:
    """Put a hook into a dict of them: a handle to remove it, and what ``others`` has under its id."""
    from ..utils.hooks import RemovableHandle

    removable = RemovableHandle(hooks, extra_dict=others)
    hooks[removable.id] = hook
    return removable


def hook_leaf(leaf: Any, before: Any = None, after: Any = None) -> Any:
    """Hooks on the accumulation in a leaf of the tape: ``before((grad,))``, which may replace the gradient, and ``after((), (grad,))``.

    Returns a handle to remove them.
    """
    tensor = leaf.tensor

    def first(gradient: Any) -> Any:
        changed = None if before is None else before((gradient,))
        leaf.came = gradient if changed is None else replacements(before, (gradient,), changed)[0]
        return leaf.came

    tensor._hooks = {} if tensor._hooks is None else tensor._hooks
    if after is None:
        return hook_added(tensor._hooks, first)
    afterwards = tensor.__dict__.setdefault("_after_hooks", {})
    handle = hook_added(tensor._hooks, first, afterwards)
    afterwards[handle.id] = lambda _: after((), (leaf.came,))
    return handle
