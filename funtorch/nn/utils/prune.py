"""Pruning: a mask of zeros and ones that is multiplied to a parameter before each call."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...errors import ArgumentTypeError, ArgumentValueError
from ...ops import registry
from .convert_parameters import parameters_to_vector
from .pruning_base import BasePruningMethod, PruningContainer, hooks_on
from .pruning_methods import (
    CustomFromMask,
    Identity,
    L1Unstructured,
    LnStructured,
    RandomStructured,
    RandomUnstructured,
)

__all__ = [
    "BasePruningMethod", "CustomFromMask", "Identity", "L1Unstructured", "LnStructured", "PruningContainer", "RandomStructured",
    "RandomUnstructured", "custom_from_mask", "global_unstructured", "identity", "is_pruned", "l1_unstructured", "ln_structured",
    "random_structured", "random_unstructured", "remove",
]  # fmt: skip

for _kind in (
    BasePruningMethod, CustomFromMask, Identity, L1Unstructured, LnStructured, PruningContainer, RandomStructured, RandomUnstructured,
):  # fmt: skip
    _kind.__module__ = __name__  # their public address, which files have
_torch = registry.names("torch")


def identity(module: Any, name: str) -> Any:
    """Make a parameter a pruned one (see `BasePruningMethod.apply`) without pruning it; returns the module."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Any, name: str, amount: Any) -> Any:
    """Prune a parameter by `RandomUnstructured`; returns the module."""
    RandomUnstructured.apply(module, name, amount=amount)
    return module


def l1_unstructured(module: Any, name: str, amount: Any, importance_scores: Any = None) -> Any:
    """Prune a parameter by `L1Unstructured`; returns the module."""
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: Any, name: str, amount: Any, dim: int) -> Any:
    """Prune a parameter by `RandomStructured`; returns the module."""
    RandomStructured.apply(module, name, amount=amount, dim=dim)
    return module


def ln_structured(module: Any, name: str, amount: Any, n: Any, dim: int, importance_scores: Any = None) -> Any:
    """Prune a parameter by `LnStructured`; returns the module."""
    LnStructured.apply(module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Any, name: str, mask: Any) -> Any:
    """Prune a parameter by a given mask; returns the module."""
    CustomFromMask.apply(module, name, mask=mask)
    return module


def global_unstructured(
    parameters: Iterable[tuple[Any, str]], pruning_method: type, importance_scores: Any = None, **kwargs: Any
) -> None:
    """Prune several parameters as if they were one.

    Args:
        parameters: (module, name) pairs.
        pruning_method: an unstructured method.
        importance_scores: by such pairs; else the parameters themselves.
        kwargs: what the method's constructor gets.

    Raises:
        TypeError: arguments of other types, or a structured method.
    """
    if not isinstance(parameters, Iterable):
        raise ArgumentTypeError("global_unstructured(): parameters is not an Iterable")
    scores = {} if importance_scores is None else importance_scores
    if not isinstance(scores, dict):
        raise ArgumentTypeError("global_unstructured(): importance_scores must be of type dict")
    pairs = list(parameters)
    method = pruning_method(**kwargs)
    if method.PRUNING_TYPE != "unstructured":
        raise ArgumentTypeError(
            f'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method {pruning_method} of type '
            f"{method.PRUNING_TYPE}"
        )
    method._tensor_name = "temp"
    container = PruningContainer(method)
    values = [scores.get((module, name), getattr(module, name)) for module, name in pairs]
    masks = [getattr(module, f"{name}_mask", None) for module, name in pairs]
    so_far = [_torch["ones_like"](v) if m is None else m for v, m in zip(values, masks, strict=True)]
    mask = container.compute_mask(parameters_to_vector(values), parameters_to_vector(so_far))
    for (module, name), part in zip(pairs, mask.split([v.numel() for v in values]), strict=True):
        custom_from_mask(module, name, mask=part.view_as(getattr(module, name)))


def is_pruned(module: Any) -> bool:
    """Whether a module, or one below it, has a pruned parameter."""
    return any(isinstance(h, BasePruningMethod) for m in module.modules() for h in m._forward_pre_hooks.values())


def remove(module: Any, name: str) -> Any:
    """Make a pruned tensor the parameter, for good; returns the module. Raises ValueError if it isn't pruned."""
    found = hooks_on(module, name)
    if not found:
        raise ArgumentValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")
    key, hook = found[0]
    hook.remove(module)
    del module._forward_pre_hooks[key]
    return module
