"""JAX's own log stays out of a script's: below warnings it tells of the backends that it looked for and of each function traced."""

from __future__ import annotations

import logging

LOGGER = "jax"


def keep_to_warnings() -> None:
    """Let JAX log warnings and worse, unless its level was chosen: by ``JAX_LOGGING_LEVEL``, ``jax.config`` or ``logging``.

    A script that calls ``logging.basicConfig(level=logging.INFO)`` asks for its own messages, and would get JAX's as well.
    """
    logger = logging.getLogger(LOGGER)
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.WARNING)
