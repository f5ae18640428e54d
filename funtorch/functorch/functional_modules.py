"""Modules whose parameters are arguments, by position: functorch's form of `func.functional_call`."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from ..errors import OpError
from ..nn import Module
from ..tensor import Tensor
from ..transforms.modules import functional_call, stack_module_state

Tensors = tuple[Tensor, ...]


class FunctionalModuleWithBuffers(Module):
    """A copy of a module, called as ``f(params, buffers, *args, **kwargs)``.

    Args:
        stateless: the module, whose own Tensors are not used.
        param_names, buffer_names: the names for which the Tensors are given, in their order.
    """

    def __init__(self, stateless: Module, param_names: Sequence[str], buffer_names: Sequence[str]) -> None:
        super().__init__()
        self.stateless_model = stateless
        self.param_names = tuple(param_names)
        self.buffer_names = tuple(buffer_names)

    def forward(self, params: Sequence[Tensor], buffers: Sequence[Tensor], *args: Any, **kwargs: Any) -> Any:
        """The module's result. Raises ValueError unless there is one Tensor for each name."""
        values = dict(zip(self.param_names, params, strict=True)) | dict(zip(self.buffer_names, buffers, strict=True))
        return functional_call(self.stateless_model, values, args, kwargs)


class FunctionalModule(FunctionalModuleWithBuffers):
    """The same for a module without buffers: ``f(params, *args, **kwargs)``."""

    def forward(self, params: Sequence[Tensor], *args: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        """The module's result. Raises ValueError unless there is one Tensor for each name."""
        return super().forward(params, (), *args, **kwargs)


def _parts(model: Module, disable_autograd_tracking: bool) -> tuple[Module, list[str], Tensors, list[str], Tensors]:
    stateless = copy.deepcopy(model)
    names, params = zip(*model.named_parameters(), strict=True) if list(model.parameters()) else ((), ())
    if disable_autograd_tracking:
        params = tuple(p.detach() for p in params)
    buffers = dict(model.named_buffers())
    return stateless, list(names), tuple(params), list(buffers), tuple(buffers.values())


def make_functional(model: Module, disable_autograd_tracking: bool = False) -> tuple[FunctionalModule, Tensors]:
    """A module as a function ``f(params, *args)``, and its parameters.

    Args:
        disable_autograd_tracking: give parameters that don't require grad.

    Raises:
        RuntimeError: the module has buffers.

    >>> import funtorch as torch
    >>> f, params = torch.functorch.make_functional(torch.nn.Linear(2, 1, bias=False))
    >>> f([torch.ones(1, 2)], torch.tensor([3.0, 4.0])).item()
    7.0
    """
    stateless, names, params, buffer_names, _ = _parts(model, disable_autograd_tracking)
    if buffer_names:
        raise OpError(
            f"make_functional(): {type(model).__name__} has buffers ({', '.join(buffer_names)}); use make_functional_with_buffers"
        )
    return FunctionalModule(stateless, names, ()), params


def make_functional_with_buffers(
    model: Module, disable_autograd_tracking: bool = False
) -> tuple[FunctionalModuleWithBuffers, Tensors, Tensors]:
    """A module as a function ``f(params, buffers, *args)``, its parameters, and its buffers.

    Args:
        disable_autograd_tracking: give parameters that don't require grad.
    """
    stateless, names, params, buffer_names, buffers = _parts(model, disable_autograd_tracking)
    return FunctionalModuleWithBuffers(stateless, names, buffer_names), params, buffers


def combine_state_for_ensemble(models: Sequence[Module]) -> tuple[FunctionalModuleWithBuffers, Tensors, Tensors]:
    """Several modules of one class as one function for `vmap`, with their parameters and buffers stacked in a new first dimension.

    Raises:
        RuntimeError: no modules, or of different classes or training modes.
    """
    params, buffers = stack_module_state(models)
    function = FunctionalModuleWithBuffers(copy.deepcopy(models[0]), list(params), list(buffers))
    return function, tuple(params.values()), tuple(buffers.values())
