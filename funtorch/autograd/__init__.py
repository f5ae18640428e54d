"""Gradients from the tape: ``backward``, ``grad``, custom functions, checks, grad modes."""

from .engine import backward, grad
from .function import Function, FunctionCtx, once_differentiable
from .modes import enable_grad, inference_mode, no_grad, set_grad_enabled

__all__ = ["Function", "FunctionCtx", "backward", "enable_grad", "grad", "inference_mode", "no_grad", "once_differentiable", "set_grad_enabled"]
