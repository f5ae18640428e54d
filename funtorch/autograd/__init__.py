"""Gradients from the tape: ``backward``, ``grad``, custom functions, checks, grad modes."""

from . import anomaly_mode, forward_ad, functional, grad_mode, graph
from .anomaly_mode import detect_anomaly, set_detect_anomaly
from .checks import GradcheckError, gradcheck, gradgradcheck
from .context import FunctionCtx
from .engine import backward, grad
from .function import Function, once_differentiable
from .grad_mode import is_multithreading_enabled, is_view_replay_enabled, set_multithreading_enabled
from .modes import enable_grad, inference_mode, no_grad, set_grad_enabled
from .variable import Variable

__all__ = [
    "Function", "FunctionCtx", "GradcheckError", "Variable", "anomaly_mode", "backward", "detect_anomaly", "enable_grad",
    "forward_ad", "functional", "grad", "grad_mode", "gradcheck", "gradgradcheck", "graph", "inference_mode", "is_multithreading_enabled", "is_view_replay_enabled", "no_grad",
    "once_differentiable", "set_detect_anomaly", "set_grad_enabled", "set_multithreading_enabled",
]  # fmt: skip
