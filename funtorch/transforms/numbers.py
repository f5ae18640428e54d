"""Hyperparameters as arguments of a program."""

from __future__ import annotations

import functools
from typing import Any

import jax.numpy as jnp
import numpy as np


@functools.lru_cache(maxsize=1024, typed=True)
def _kept(value: Any) -> Any:
    return jnp.asarray(value, jnp.float64)


def as_array(value: Any) -> Any:
    """A hyperparameter as an array; a Python number that stays the same is moved to the device once."""
    return _kept(value) if isinstance(value, (int, float)) else np.asarray(value, np.float64)
