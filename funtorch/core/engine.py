"""The engine: only it runs an Op on concrete arrays."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..errors import FuntorchError, OpError, describe
from .disk_cache import use_disk_cache
from .op import Op

jax.config.update("jax_enable_x64", True)
use_disk_cache()

ArrayImpl = type(jnp.zeros(()))
CONCRETE = frozenset({np.ndarray, ArrayImpl})
_CPU_IS_DEFAULT = jax.default_backend() == "cpu"


def run(op: Op, values: list[Any]) -> Any:
    """Run ``op`` on concrete arrays: an array or a tuple of arrays.

    Raises what the op's own checks raise; an error of JAX's becomes RuntimeError with the op and its arguments.
    """
    try:
        return op.kernel(*values)
    except FuntorchError:
        raise
    except (TypeError, ValueError, ZeroDivisionError) as error:
        raise explained(op, values, error) from error


def run_traced(op: Op, values: list[Any]) -> Any:
    """Run ``op`` in place on JAX tracers, as part of whatever traces them."""
    try:
        return op.fn(*values)
    except FuntorchError:
        raise
    except (TypeError, ValueError, ZeroDivisionError) as error:
        if isinstance(error, jax.errors.JAXTypeError):
            raise
        raise explained(op, values, error) from error


def explained(op: Op, values: list[Any], error: Exception) -> OpError:
    """JAX's complaint about ``op``, as a RuntimeError that shows the arguments."""
    return OpError(f"{op.name}({', '.join(map(describe, values))}): {error}")
