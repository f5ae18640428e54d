"""``funtorch.futures``: a result that another thread will give, what is to be done with it then, and waiting for many."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from .errors import OpError

__all__ = ["Future", "collect_all", "fork", "wait", "wait_all"]

T = TypeVar("T")
S = TypeVar("S")


class Future(Generic[T]):
    """A result that is not there yet.

    Args:
        devices: accepted, without effect.

    Example:
        >>> future = torch.futures.Future(); doubled = future.then(lambda done: 2 * done.value())
        >>> future.set_result(21); doubled.wait()
        42
    """

    def __init__(self, *, devices: Sequence[Any] | None = None) -> None:
        self._ready = threading.Condition()
        self._outcome: tuple[Any, BaseException | None] | None = None
        self._callbacks: list[Callable[[Future[T]], Any]] = []

    def done(self) -> bool:
        """Whether there is a result, or an exception in its place."""
        return self._outcome is not None

    def wait(self) -> T:
        """The result, once it is there. Raises the exception that stands in its place."""
        with self._ready:
            self._ready.wait_for(self.done)
        return self.value()

    def value(self) -> T:
        """The result. Raises RuntimeError if it is not there yet, or the exception that stands in its place."""
        if self._outcome is None:
            raise OpError("Future.value(): there is no result yet; wait() waits for it")
        value, error = self._outcome
        if error is not None:
            raise error
        return value

    def set_result(self, result: T) -> None:
        """Give the result. Raises RuntimeError if there is one."""
        self._complete(result, None)

    def set_exception(self, result: BaseException) -> None:
        """Give an exception in place of the result. Raises RuntimeError if there is one, AssertionError if it's no exception."""
        assert isinstance(result, Exception), f"{result} is of type {type(result)}, not an Exception."
        self._complete(None, result)

    def _complete(self, value: Any, error: BaseException | None) -> None:
        with self._ready:
            if self._outcome is not None:
                raise OpError("Attempting to mark a completed Future as complete again. A Future can be completed only once.")
            self._outcome = (value, error)
            callbacks, self._callbacks = self._callbacks, []
            self._ready.notify_all()
        for callback in callbacks:
            callback(self)

    def add_done_callback(self, callback: Callable[[Future[T]], Any]) -> None:
        """Call ``callback(self)`` once there is a result: at once if it is there."""
        with self._ready:
            if self._outcome is None:
                self._callbacks.append(callback)
                return
        callback(self)

    def then(self, callback: Callable[[Future[T]], S]) -> Future[S]:
        """The future of ``callback(self)``, which is called once there is a result; what it raises goes there too."""
        following: Future[S] = Future()

        def run(done: Future[T]) -> None:
            try:
                result = callback(done)
            except Exception as error:
                following.set_exception(error)
            else:
                following.set_result(result)

        self.add_done_callback(run)
        return following


def collect_all(futures: Sequence[Future]) -> Future[list[Future]]:
    """The future of a list of futures: done when all of them are.

    Returns:
        A future of the list itself.
    """
    kept = list(futures)
    together: Future[list[Future]] = Future()
    left = [len(kept)]
    lock = threading.Lock()

    def one_more(_: Future) -> None:
        with lock:
            left[0] -= 1
            last = left[0] == 0
        if last:
            together.set_result(kept)

    if not kept:
        together.set_result(kept)
    for future in kept:
        future.add_done_callback(one_more)
    return together


def wait_all(futures: Sequence[Future]) -> list:
    """The results of several futures, once all are there. Raises the exception of the first that has one."""
    return [future.wait() for future in collect_all(futures).wait()]


def fork(func: Callable[..., T], *args: Any, **kwargs: Any) -> Future[T]:
    """The future of ``func(*args, **kwargs)``, which is called at once: JAX works by itself while Python goes on.

    What it raises is raised by `wait`.
    """
    future: Future[T] = Future()
    try:
        future.set_result(func(*args, **kwargs))
    except Exception as error:
        future.set_exception(error)
    return future


def wait(future: Future[T]) -> T:
    """The result of a future, once it is there. Raises the exception that stands in its place."""
    return future.wait()
