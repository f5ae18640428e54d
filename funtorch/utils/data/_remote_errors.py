"""An exception on its way from a worker to the main process: the class, and the text of its traceback."""

from __future__ import annotations

import pickle
import traceback
from typing import NoReturn

from ...errors import OpError


class RemoteError:
    """What was raised in another process.

    Args:
        error: the exception, as it was caught.
        where: the place in words, "in DataLoader worker process 0".
    """

    def __init__(self, error: BaseException, where: str) -> None:
        self.kind = _portable(type(error))
        lines = "".join(traceback.format_exception(error))
        self.text = f"Caught {type(error).__name__} {where}.\nOriginal {lines}"

    def raise_here(self) -> NoReturn:
        """Raise an exception of the same class with the worker's traceback as its text; RuntimeError where it takes no text."""
        try:
            kind: type = pickle.loads(self.kind)
            error = kind(_Plain(self.text) if issubclass(kind, KeyError) else self.text)
        except Exception:
            raise OpError(self.text) from None
        try:
            raise error
        finally:
            del error  # which holds this frame, and so the loader with its workers, until garbage is collected


class _Plain(str):
    """A text that is shown as it is by KeyError, which shows the ``repr`` of others."""

    def __repr__(self) -> str:
        return str(self)


def _portable(kind: type) -> bytes:
    """The class as a pickle; of a class that can't be, the nearest base that can."""
    for base in kind.__mro__:
        try:
            return pickle.dumps(base)
        except Exception:
            continue
    return pickle.dumps(RuntimeError)
