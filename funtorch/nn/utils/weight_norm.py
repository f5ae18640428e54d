"""The older form of weight normalisation, by a hook before each call."""

from __future__ import annotations

from typing import Any

from ...cautions import caution
from ...errors import ArgumentValueError, OpError
from ...ops import registry
from ..parameter import Parameter, is_lazy

__all__ = ["WeightNorm", "remove_weight_norm", "weight_norm"]

_torch = registry.names("torch")
OLD = "`torch.nn.utils.weight_norm` is deprecated in favor of `torch.nn.utils.parametrizations.weight_norm`."
LAZY = (
    "The module passed to `WeightNorm` can't have uninitialized parameters. Make sure to run the dummy forward before applying "
    "weight normalization"
)


class WeightNorm:
    """A hook that computes a weight, g v / |v|, before each call.

    Args:
        name: the weight's name.
        dim: one length for each index along it; -1: one for all.
    """

    def __init__(self, name: str, dim: int) -> None:
        self.name = name
        self.dim = -1 if dim is None else dim

    def compute_weight(self, module: Any) -> Any:
        """The weight."""
        g, v = getattr(module, f"{self.name}_g"), getattr(module, f"{self.name}_v")
        return _torch["_weight_norm"](v, g, self.dim)

    @staticmethod
    def apply(module: Any, name: str, dim: int) -> WeightNorm:
        """Put the hook on a module. Raises RuntimeError if it's there, ValueError for a weight without values."""
        if any(isinstance(hook, WeightNorm) and hook.name == name for hook in module._forward_pre_hooks.values()):
            raise OpError(f"Cannot register two weight_norm hooks on the same parameter {name}")
        hook = WeightNorm(name, dim)
        weight = getattr(module, name)
        if is_lazy(weight):
            raise ArgumentValueError(LAZY)
        del module._parameters[name]
        module.register_parameter(f"{name}_g", Parameter(_torch["norm_except_dim"](weight, 2, hook.dim).data))
        module.register_parameter(f"{name}_v", Parameter(weight.data))
        setattr(module, name, hook.compute_weight(module))
        module.register_forward_pre_hook(hook)
        return hook

    def remove(self, module: Any) -> None:
        """Make the weight a parameter again."""
        weight = self.compute_weight(module)
        delattr(module, self.name)
        del module._parameters[f"{self.name}_g"], module._parameters[f"{self.name}_v"]
        setattr(module, self.name, Parameter(weight.data))

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: Any, name: str = "weight", dim: int = 0) -> Any:
    """Train a weight's lengths ``<name>_g`` and directions ``<name>_v`` instead of the weight, with a warning.

    Args:
        module: which has the weight.
        name: its name.
        dim: one length for each index along it; None: one for all.

    Returns:
        The module.

    Raises:
        RuntimeError: the second time for a weight.

    Source: Salimans and Kingma, "Weight Normalization", 2016. `parametrizations.weight_norm` is the newer form.
    """
    caution(OLD, FutureWarning)
    WeightNorm.apply(module, name, dim)
    return module


def remove_weight_norm(module: Any, name: str = "weight") -> Any:
    """Take back `weight_norm`. Raises ValueError if the module hasn't got it."""
    for key, hook in list(module._forward_pre_hooks.items()):
        if isinstance(hook, WeightNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ArgumentValueError(f"weight_norm of '{name}' not found in {module}")
