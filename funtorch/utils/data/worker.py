"""What the code of a dataset can learn of the process that it runs in."""

from __future__ import annotations

__all__ = ["get_worker_info"]


def get_worker_info() -> None:
    """Describe the loader's worker process that the call is made in: None, as in the main process, which
    loads all.

    Example:
        >>> get_worker_info() is None
        True
    """
    return None
