"""Grad modes: whether calls are recorded on the tape."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from ..core.handle import Handle, inference_made, watchers
from ..core.state import state


class _Mode:
    """A context manager that is also a decorator, of functions and of generators."""

    def __call__(self, fn: Callable) -> Callable:
        if inspect.isgeneratorfunction(fn):
            return self._generator(fn)
        if inspect.isclass(fn):
            fn.__init__ = self(fn.__init__)  # type: ignore[method-assign]  # the class stays, and is made in this mode
            return fn

        @functools.wraps(fn)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with self.clone():
                return fn(*args, **kwargs)

        return inside

    def _generator(self, fn: Callable) -> Callable:
        @functools.wraps(fn)
        def inside(*args: Any, **kwargs: Any) -> Any:
            generator = fn(*args, **kwargs)
            step: Callable = lambda: next(generator)  # noqa: E731
            while True:
                try:
                    with self.clone():  # in force inside the generator only, not in the code that consumes it
                        value = step()
                except StopIteration as stop:
                    return stop.value
                try:
                    sent = yield value
                    step = functools.partial(generator.send, sent)
                except GeneratorExit:
                    with self.clone():
                        generator.close()
                    raise
                except BaseException as error:
                    step = functools.partial(generator.throw, error)

        return inside

    def clone(self) -> Any:
        """A context manager of the same mode."""
        return type(self)()


class no_grad(_Mode):  # noqa: N801
    """Record nothing on the tape: ``with no_grad(): ...`` or ``@no_grad()``.

    >>> import funtorch as torch
    >>> with torch.no_grad():
    ...     torch.is_grad_enabled()
    False
    """

    def __new__(cls, fn: Callable | None = None) -> Any:
        new = object.__new__(cls)
        return new if fn is None else new(fn)

    def __enter__(self) -> None:
        self.before = state.grad
        set_mode(False)

    def __exit__(self, *exc: object) -> None:
        set_mode(self.before)


class enable_grad(no_grad):  # noqa: N801
    """Record on the tape, also inside `no_grad`."""

    def __enter__(self) -> None:
        self.before = state.grad
        set_mode(True)


class set_grad_enabled(_Mode):  # noqa: N801
    """Switch recording on or off, at once; as a context manager, until its end."""

    def __init__(self, mode: bool) -> None:
        self.before = state.grad
        self.mode = bool(mode)
        set_mode(self.mode)

    def __call__(self, fn: Callable) -> Callable:
        set_mode(self.before)
        return super().__call__(fn)

    def __enter__(self) -> None:
        set_mode(self.mode)

    def __exit__(self, *exc: object) -> None:
        set_mode(self.before)

    def clone(self) -> Any:
        return set_grad_enabled(self.mode)


class inference_mode(_Mode):  # noqa: N801
    """`no_grad`, and Tensors made inside can't take part in recorded computations later."""

    def __new__(cls, mode: Any = True) -> Any:
        new: Any = object.__new__(cls)
        if callable(mode):
            new.__init__(True)
            return new(mode)
        return new

    def __init__(self, mode: Any = True) -> None:
        self.mode = mode is True or bool(mode)

    def __enter__(self) -> None:
        self.before = (state.grad, state.inference)
        watchers.append(_mark)
        if self.mode:
            set_mode(False)
            state.inference = True
        else:
            set_mode(True)
            state.inference = False

    def __exit__(self, *exc: object) -> None:
        watchers.remove(_mark)
        set_mode(self.before[0])
        state.inference = self.before[1]

    def clone(self) -> Any:
        return inference_mode(self.mode)


def _mark(new: Handle) -> None:
    """A Tensor was made; other threads may be in another mode."""
    if state.inference:
        new._inference = True
        if not inference_made:
            inference_made.append(True)


def set_mode(on: bool) -> None:
    """Switch recording; the recorder notes it."""
    state.grad = on


def is_grad_enabled() -> bool:
    """Whether calls are recorded on the tape now."""
    return state.grad


def is_inference_mode_enabled() -> bool:
    """Whether `inference_mode` is in force."""
    return state.inference
