"""What optimisers that were copied from PyTorch's sources and changed call: helpers of `torch.optim.optimizer` that are not public."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

from .. import dtypes
from ..core.state import state as mode
from ..errors import OpError
from ..ops import registry
from ..tensor import Tensor
from ..utils._foreach_utils import _foreach_supported_types, _group_tensors_by_device_and_dtype  # noqa: F401

# Parts of docstrings.
_params_doc = 'params: Tensors, (name, Tensor) pairs, or dicts with a key "params" and options of their own'
_foreach_doc = "foreach (bool, optional): accepted; a step is always one dispatch"
_fused_doc = "fused (bool, optional): accepted; a step is always one dispatch"
_capturable_doc = "capturable (bool, optional): accepted, without effect (default: False)"
_differentiable_doc = "differentiable (bool, optional): put the step on the tape (default: False)"
_maximize_doc = "maximize (bool, optional): ascend (default: False)"


def _use_grad_for_differentiable(step: Callable) -> Callable:
    """``step`` with grad mode on exactly where the optimiser's default ``differentiable`` is true."""

    @functools.wraps(step)
    def with_mode(self: Any, *args: Any, **kwargs: Any) -> Any:
        before, mode.grad = mode.grad, bool(self.defaults.get("differentiable"))
        try:
            return step(self, *args, **kwargs)
        finally:
            mode.grad = before

    return with_mode


def _default_to_fused_or_foreach(params: Sequence[Any], differentiable: bool, use_fused: bool = False) -> tuple[bool, bool]:
    """Neither ``fused`` nor ``foreach``: what PyTorch chooses on a CPU."""
    return False, False


def _disable_dynamo_if_unsupported(single_tensor_fn: Callable | None = None) -> Callable:
    """A decorator that changes nothing: every step can be compiled."""
    return lambda step: step


def _device_dtype_check_for_fused(p: Any, cuda_unsupported: bool = False) -> None:
    """Raises RuntimeError for a parameter that is not of floating-point numbers."""
    if not p.is_floating_point():
        raise OpError(f"`fused=True` requires all the params to be floating point Tensors, got {p.dtype}")


def _get_value(x: Any) -> Any:
    """A number as it is, of a Tensor its one value."""
    return x.item() if isinstance(x, Tensor) else x


def _to_scalar(x: Any) -> Any:
    """A Tensor of one element without dimensions; a number as it is."""
    return x.squeeze() if isinstance(x, Tensor) and x.dim() else x


def _stack_if_compiling(x: Any) -> Any:
    """What was given, as in eager code."""
    return x


def _dispatch_sqrt(x: Any) -> Any:
    """The square root of a Tensor or of a number."""
    return x.sqrt() if isinstance(x, Tensor) else math.sqrt(x)


def _get_scalar_dtype(is_fused: bool | None = None) -> Any:
    """The dtype of step counters: float64 where that is the default, else float32."""
    return dtypes.float64 if not is_fused and dtypes.default() is dtypes.float64 else dtypes.float32


def _get_capturable_supported_devices(supports_xla: bool = True) -> list[str]:
    """The kinds of devices on which ``capturable`` has a meaning in PyTorch."""
    return ["cuda", "xpu", "hpu", "privateuseone", *(["xla"] if supports_xla else [])]


def _view_as_real(params: list[Any], *state_and_grads: list[Any]) -> None:
    """In the lists, complex Tensors become their real views, in place."""
    as_real = registry.names("torch")["view_as_real"]
    for number, param in enumerate(params):
        if param.is_complex():
            for each in (params, *state_and_grads):
                each[number] = as_real(each[number])


class CopiedSteps:
    """Methods of PyTorch's Optimizer that are not public, and that copied steps call."""

    def _accelerator_graph_capture_health_check(self) -> None:
        """Nothing: there are no graphs that are captured."""

    _cuda_graph_capture_health_check = _accelerator_graph_capture_health_check

    def _patch_step_function(self) -> None:
        """Nothing: a class's step has its hooks from when it was defined."""

    _group_tensors_by_device_and_dtype = staticmethod(_group_tensors_by_device_and_dtype)
