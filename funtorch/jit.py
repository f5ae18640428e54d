"""``funtorch.jit``: scripted code runs as the Python it is, which is its meaning in PyTorch too; traced code is compiled.

There is no other language and no file format of it: `save`, `load` and `freeze` raise NotImplementedError.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, Final

from .compiler import is_compiling
from .errors import MissingError
from .futures import Future, fork, wait
from .nn.module import Module
from .transforms.compiling import compile

__all__ = [
    "Final", "Attribute", "Future", "ScriptFunction", "ScriptModule", "TracerWarning", "annotate", "export", "fork", "freeze", "fuser", "ignore",
    "interface", "is_scripting", "is_tracing", "isinstance", "load", "optimize_for_inference", "optimized_execution", "save", "script",
    "script_if_tracing", "script_method", "trace", "trace_module", "unused", "wait",
]  # fmt: skip

_is = isinstance
NO_FILES = "torch.jit.{}(): there is no TorchScript here; save the state_dict with torch.save, and compile with torch.compile"


class ScriptModule(Module):
    """The class that PyTorch's scripted modules have. Nothing here is one: `script` returns the module itself."""

    def __init__(self) -> None:
        raise MissingError("ScriptModule(): there is no TorchScript here; derive from torch.nn.Module")


class ScriptFunction:
    """The class that PyTorch's scripted functions have. Nothing here is one: `script` returns the function itself."""

    def __init__(self) -> None:
        raise MissingError("ScriptFunction(): there is no TorchScript here; use the function itself, or torch.compile")


class TracerWarning(Warning):
    """What PyTorch's tracer warns with; never issued here."""


def script(obj: Any, optimize: Any = None, _frames_up: int = 0, _rcb: Any = None, example_inputs: Any = None) -> Any:
    """The function, class or module itself."""
    return obj


def _itself(obj: Any) -> Any:
    """What is marked, unchanged."""
    return obj


script_if_tracing = _script_if_tracing = script_method = export = unused = interface = _itself
_overload = _overload_method = _itself


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """A mark for a function, as ``@ignore``, ``@ignore()`` or ``@ignore(drop=True)``: it stays as it is."""
    return drop if callable(drop) else _itself


def trace(
    func: Callable,
    example_inputs: Any = None,
    *,
    example_kwarg_inputs: dict | None = None,
    check_trace: bool = True,
    strict: bool = True,
) -> Any:
    """``func`` compiled, once it has run on the example inputs (see `funtorch.compile`).

    Differs from PyTorch: branches on values are followed in later calls too, as in eager code.

    Args:
        func: a function or a Module.
        example_inputs: a tuple of arguments, or a single one.
        example_kwarg_inputs: arguments by name, in place of the others.

    Raises: what ``func`` raises.
    """
    if example_kwarg_inputs is not None:
        func(**example_kwarg_inputs)
    elif example_inputs is not None:
        func(*(example_inputs if _is(example_inputs, (tuple, list)) else (example_inputs,)))
    return compile(func)


def trace_module(mod: Module, inputs: dict[str, Any], *, check_trace: bool = True, strict: bool = True) -> Any:
    """A Module compiled, once its methods have run on example inputs by method name."""
    for name, given in inputs.items():
        getattr(mod, name)(*(given if _is(given, (tuple, list)) else (given,)))
    return compile(mod)


def is_scripting() -> bool:
    """False: code is never read as TorchScript."""
    return False


def is_tracing() -> bool:
    """Whether the code that asks is being traced into a program."""
    return is_compiling()


def annotate(the_type: Any, the_value: Any) -> Any:
    """The value."""
    return the_value


def Attribute(value: Any, type: Any) -> Any:  # noqa: N802
    """The value."""
    return value


def isinstance(obj: Any, target_type: Any) -> bool:
    """Python's own ``isinstance``; of a container such as ``list[int]``, the container's type."""
    kinds = target_type if _is(target_type, tuple) else (target_type,)
    return _is(obj, tuple(getattr(kind, "__origin__", kind) for kind in kinds))


@contextlib.contextmanager
def fuser(name: str) -> Iterator[None]:
    """XLA fuses by itself: nothing changes inside."""
    yield


@contextlib.contextmanager
def optimized_execution(should_optimize: bool) -> Iterator[None]:
    """XLA optimises by itself: nothing changes inside."""
    yield


def optimize_for_inference(mod: Module, other_methods: Any = None) -> Any:
    """A Module compiled in evaluation mode."""
    return compile(mod.eval())


def save(m: Any, f: Any, _extra_files: Any = None) -> None:
    """Raises NotImplementedError."""
    raise MissingError(NO_FILES.format("save"))


def load(f: Any, map_location: Any = None, _extra_files: Any = None, _restore_shapes: bool = False) -> Any:
    """Raises NotImplementedError."""
    raise MissingError(NO_FILES.format("load"))


def freeze(mod: Any, preserved_attrs: Any = None, optimize_numerics: bool = True, preserve_parameters: bool = False) -> Any:
    """Raises NotImplementedError."""
    raise MissingError(NO_FILES.format("freeze"))


del annotations  # the name of a module in PyTorch
