"""The older form of spectral normalisation, by a hook before each call."""

from __future__ import annotations

from typing import Any

from ...autograd.modes import no_grad
from ...errors import ArgumentValueError, OpError
from ...ops import registry
from .. import functional as F
from ..module import Module
from ..parameter import Parameter, is_lazy
from .parametrizations import as_matrix, outputs_dim

__all__ = ["SpectralNorm", "remove_spectral_norm", "spectral_norm"]

_torch = registry.names("torch")
LAZY = (
    "The module passed to `SpectralNorm` can't have uninitialized parameters. Make sure to run the dummy forward before applying "
    "spectral normalization"
)


class SpectralNorm:
    """A hook that computes a weight, divided by its largest singular value, before each call.

    Args:
        name: the weight's name.
        n_power_iterations: how many steps of the power iteration each call in training mode makes.
        dim: which counts the outputs.
        eps: keeps lengths away from 0.

    Raises:
        ValueError: no iterations.
    """

    _version = 1

    def __init__(self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        if n_power_iterations <= 0:
            raise ArgumentValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.name = name
        self.dim = dim
        self.n_power_iterations = n_power_iterations
        self.eps = eps

    def reshape_weight_to_matrix(self, weight: Any) -> Any:
        """The weight as a matrix, a row for each output."""
        return as_matrix(weight, self.dim)

    def _unit(self, x: Any) -> Any:
        return F.normalize(x, dim=0, eps=self.eps)

    def compute_weight(self, module: Module, do_power_iteration: bool) -> Any:
        """The weight, after further steps of the power iteration or not."""
        weight, u, v = (getattr(module, f"{self.name}_{part}") for part in ("orig", "u", "v"))
        matrix = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            still = matrix.detach()  # u and v are constants in forward mode too, which heeds no no_grad
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(self._unit(_torch["mv"](still.t(), u)))
                    u.copy_(self._unit(_torch["mv"](still, v)))
            # Copies: the next call changes these in place, and the gradient of this one still reads them.
            u, v = u.clone(), v.clone()
        return weight / _torch["dot"](u, _torch["mv"](matrix, v))

    def remove(self, module: Any) -> None:
        """Make the weight a parameter again."""
        with no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        for part in ("", "_u", "_v", "_orig"):
            delattr(module, self.name + part)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, do_power_iteration=module.training))

    @staticmethod
    def apply(module: Any, name: str, n_power_iterations: int, dim: int, eps: float) -> SpectralNorm:
        """Put the hook on a module. Raises RuntimeError if it's there, ValueError for a weight without values."""
        if any(isinstance(hook, SpectralNorm) and hook.name == name for hook in module._forward_pre_hooks.values()):
            raise OpError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
        hook = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ArgumentValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
        if is_lazy(weight):
            raise ArgumentValueError(LAZY)
        with no_grad():
            u, v = (hook._unit(weight.new_empty(n).normal_(0, 1)) for n in hook.reshape_weight_to_matrix(weight).shape)
        delattr(module, name)
        module.register_parameter(f"{name}_orig", weight)
        # The weight itself is a plain attribute from now on: initialisation may look for it.
        setattr(module, name, weight.data)
        module.register_buffer(f"{name}_u", u)
        module.register_buffer(f"{name}_v", v)
        module.register_forward_pre_hook(hook)
        module._register_state_dict_hook(SpectralNormStateDictHook(hook))
        module._register_load_state_dict_pre_hook(SpectralNormLoadStateDictPreHook(hook))
        return hook

    def _solve_v_and_rescale(self, matrix: Any, u: Any, target_sigma: Any) -> Any:
        """v such that u is the direction of W v, and u W v the given number."""
        v = (matrix.t().mm(matrix).pinverse() @ (matrix.t() @ u.unsqueeze(1))).squeeze(1)
        return v * (target_sigma / _torch["dot"](u, _torch["mv"](matrix, v)))


class SpectralNormStateDictHook:
    """Notes the version in a state dict."""

    def __init__(self, fn: SpectralNorm) -> None:
        self.fn = fn

    def __call__(self, module: Any, state_dict: Any, prefix: str, local_metadata: dict[str, Any]) -> None:
        versions = local_metadata.setdefault("spectral_norm", {})
        key = f"{self.fn.name}.version"
        if key in versions:
            raise OpError(f"Unexpected key in metadata['spectral_norm']: {key}")
        versions[key] = self.fn._version


class SpectralNormLoadStateDictPreHook:
    """Finds v in a state dict of before PyTorch 1.0, which has the weight instead."""

    def __init__(self, fn: SpectralNorm) -> None:
        self.fn = fn

    def __call__(
        self, state_dict: dict[str, Any], prefix: str, local_metadata: dict[str, Any], strict: bool, missing_keys: list[str],
        *rest: Any,
    ) -> None:  # fmt: skip
        version = local_metadata.get("spectral_norm", {}).get(f"{self.fn.name}.version")
        key = prefix + self.fn.name
        newest = version is None and key not in state_dict and all(key + part in state_dict for part in ("_orig", "_u", "_v"))
        if newest or (version is not None and version >= 1):
            return
        missing = [key + part for part in ("_orig", "", "_u") if key + part not in state_dict]
        if missing:
            missing_keys += missing if strict else []
            return
        with no_grad():
            original, u = state_dict[f"{key}_orig"], state_dict[f"{key}_u"]
            sigma = (original / state_dict.pop(key)).mean()
            matrix = self.fn.reshape_weight_to_matrix(original)
            state_dict[f"{key}_v"] = self.fn._solve_v_and_rescale(matrix, u, sigma)


def spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Any:
    """Divide a weight, before each call, by its largest singular value, which a power iteration estimates.

    Args:
        module: which has the weight; ``<name>_orig`` is trained instead.
        name: its name.
        n_power_iterations: how many steps each call in training mode makes.
        eps: keeps lengths away from 0.
        dim: which counts the outputs; None: 0, or 1 for transposed convolutions.

    Returns:
        The module.

    Raises:
        RuntimeError: the second time for a weight. ValueError: no iterations, or a weight without values.

    Source: Miyato et al., "Spectral Normalization for Generative Adversarial Networks", 2018.
    `parametrizations.spectral_norm` is the newer form.
    """
    SpectralNorm.apply(module, name, n_power_iterations, outputs_dim(module) if dim is None else dim, eps)
    return module


def remove_spectral_norm(module: Any, name: str = "weight") -> Any:
    """Take back `spectral_norm`. Raises ValueError if the module hasn't got it."""
    for key, hook in list(module._forward_pre_hooks.items()):
        if isinstance(hook, SpectralNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            break
    else:
        raise ArgumentValueError(f"spectral_norm of '{name}' not found in {module}")
    for table, kind in (
        (module._state_dict_hooks, SpectralNormStateDictHook),
        (module._load_state_dict_pre_hooks, SpectralNormLoadStateDictPreHook),
    ):
        for key, held in list(table.items()):
            if isinstance(held, kind) and held.fn.name == name:
                del table[key]
    return module
