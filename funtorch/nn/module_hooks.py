"""Functions called with the forward and backward passes of one Module, or of all: how they are registered.

The order at a call: forward pre-hooks, `forward`, forward hooks; those for all Modules before its own.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, MutableMapping
from typing import Any, cast

from ..errors import OpError
from ..utils.hooks import RemovableHandle
from .module_moves import ModuleMoves

TWO_KINDS = "Cannot use both regular backward hooks and full backward hooks on a single Module. Please use only one of them."
TWO_KINDS_EVERYWHERE = (
    "Cannot use both regular backward hooks and full backward hooks as a global Module hook. Please use only one of them."
)


class HooksForAll:
    """The hooks of all Modules. `any` holds the ids of those in force: one thing to check at a call."""

    def __init__(self) -> None:
        self.any: dict[int, bool] = OrderedDict()
        self.forward_pre: dict[int, Callable] = OrderedDict()
        self.forward: dict[int, Callable] = OrderedDict()
        self.forward_with_kwargs: dict[int, bool] = OrderedDict()
        self.forward_always_called: dict[int, bool] = OrderedDict()
        self.backward_pre: dict[int, Callable] = OrderedDict()
        self.backward: dict[int, Callable] = OrderedDict()
        self.full_backward: bool | None = None

    def add(self, hooks: MutableMapping[int, Callable], hook: Callable, *marks: MutableMapping[int, bool]) -> RemovableHandle:
        return _add(hooks, hook, (self.any, *marks))


FOR_ALL = HooksForAll()


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls ``hook(module, args)`` before the `forward` of any Module; its result replaces the arguments."""
    return FOR_ALL.add(FOR_ALL.forward_pre, hook)


def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Calls ``hook(module, args, output)`` after the `forward` of any Module; its result replaces the output.

    Args:
        hook: the function.
        with_kwargs: whether it is called as ``hook(module, args, kwargs, output)``.
        always_call: whether it is called also when `forward` raises.
    """
    marks = [FOR_ALL.forward_with_kwargs] * with_kwargs + [FOR_ALL.forward_always_called] * always_call
    return FOR_ALL.add(FOR_ALL.forward, hook, *marks)


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls ``hook(module, grad_output)`` before the gradients of any Module's inputs are computed."""
    return FOR_ALL.add(FOR_ALL.backward_pre, hook)


def register_module_full_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Calls ``hook(module, grad_input, grad_output)`` with the gradients of any Module's inputs."""
    return _add_backward_for_all(hook, full=True)


def register_module_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """The same as `register_module_full_backward_hook`, which PyTorch recommends in its place.

    Differs from PyTorch: `grad_input` holds the gradients of the module's inputs, not its last op's.
    """
    return _add_backward_for_all(hook, full=False)


def _add_backward_for_all(hook: Callable, full: bool) -> RemovableHandle:
    if FOR_ALL.backward and FOR_ALL.full_backward is not full:
        raise OpError(TWO_KINDS_EVERYWHERE)
    FOR_ALL.full_backward = full
    return FOR_ALL.add(FOR_ALL.backward, hook)


class ModuleHooks(ModuleMoves):
    """The part of Module that takes hooks on its calls."""

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Calls ``hook(module, args)`` before each `forward`.

        Args:
            hook: the function; a value or tuple that it returns replaces the positional arguments.
            prepend: whether it comes before the Module's other such hooks.
            with_kwargs: whether it is called as ``hook(module, args, kwargs)``, and returns None or both.

        Returns: a handle to remove it by.
        """
        marks = [self._forward_pre_hooks_with_kwargs] * with_kwargs
        return _add(self._forward_pre_hooks, hook, marks, prepend)

    def register_forward_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Calls ``hook(module, args, output)`` after each `forward`.

        Args:
            hook: the function; what it returns, if not None, replaces the output.
            prepend: whether it comes before the Module's other such hooks.
            with_kwargs: whether it is called as ``hook(module, args, kwargs, output)``.
            always_call: whether it is called also when `forward` raises.

        Returns: a handle to remove it by.

        Example:
            >>> import funtorch
            >>> layer = funtorch.nn.Linear(2, 3); seen = []
            >>> handle = layer.register_forward_hook(lambda module, args, output: seen.append(output.shape))
            >>> _ = layer(funtorch.zeros(4, 2)); seen
            [torch.Size([4, 3])]
        """
        marks = [self._forward_hooks_with_kwargs] * with_kwargs
        marks += [self._forward_hooks_always_called] * always_call
        return _add(self._forward_hooks, hook, marks, prepend)

    def register_full_backward_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Calls ``hook(module, grad_output)`` before the gradients of the inputs are computed.

        Args:
            hook: the function; a tuple or Tensor that it returns replaces `grad_output`.
            prepend: whether it comes before the Module's other such hooks.

        Returns: a handle to remove it by.
        """
        return _add(self._backward_pre_hooks, hook, (), prepend)

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Calls ``hook(module, grad_input, grad_output)`` when the gradients of the inputs are computed.

        Args:
            hook: the function; a tuple or Tensor that it returns replaces `grad_input`. It gets two tuples,
                as long as the positional arguments and the outputs; None stands for what is no Tensor.
            prepend: whether it comes before the Module's other such hooks.

        Returns: a handle to remove it by.

        Raises:
            RuntimeError: the Module has hooks by `register_backward_hook` already.
        """
        return self._add_backward(hook, full=True, prepend=prepend)

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """The same as `register_full_backward_hook`, which PyTorch recommends in its place.

        Differs from PyTorch: `grad_input` holds the gradients of the module's inputs, not its last op's.
        """
        return self._add_backward(hook, full=False, prepend=False)

    _is_full_backward_hook: bool | None
    _backward_pre_hooks: dict[int, Callable]
    _backward_hooks: dict[int, Callable]

    def _get_backward_hooks(self) -> tuple[list[Callable], list[Callable]]:
        """The backward hooks in force, of all Modules and its own: the full ones, and the older ones."""
        found: tuple[list[Callable], list[Callable]] = ([], [])
        for hooks, full in ((FOR_ALL.backward, FOR_ALL.full_backward), (self._backward_hooks, self._is_full_backward_hook)):
            if full is not None:
                found[0 if full else 1].extend(hooks.values())
        return found

    def _get_backward_pre_hooks(self) -> list[Callable]:
        """The hooks before the backward pass in force, of all Modules and its own."""
        return [*FOR_ALL.backward_pre.values(), *self._backward_pre_hooks.values()]

    def _add_backward(self, hook: Callable, full: bool, prepend: bool) -> RemovableHandle:
        if self._is_full_backward_hook is (not full):
            raise OpError(TWO_KINDS)
        self._is_full_backward_hook = full
        return _add(self._backward_hooks, hook, (), prepend)


def _add(
    hooks: MutableMapping[int, Callable],
    hook: Callable,
    marks: tuple[MutableMapping[int, bool], ...] | list[MutableMapping[int, bool]] = (),
    prepend: bool = False,
) -> RemovableHandle:
    """Puts a hook into a table, and its id into others."""
    handle = RemovableHandle(hooks, extra_dict=marks)
    hooks[handle.id] = hook
    if prepend:
        cast(OrderedDict, hooks).move_to_end(handle.id, last=False)
    for mark in marks:
        mark[handle.id] = True
    return handle
