"""Hashes of Tensors: of their bits, so that two Tensors can be compared cheaply."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..core.dims import wrap_dims
from ..errors import MissingError, OpError, OutOfBoundsError
from .declare import Array, op
from .operands import is_floating


@op(exact_out=True)
def hash_tensor(input: Array, dim=(), *, keepdim=False, mode=0):
    """The exclusive or of all elements' bits, along dimensions.

    Args:
        input: (*), real. Floats are hashed as float64, integers and bools as int64.
        dim: one or several dimensions; () for all.
        keepdim: keep them, with size 1.
        mode: 0, the only one.

    Returns:
        input's shape without ``dim``, of uint64.

    Raises:
        RuntimeError: complex numbers, another mode, or an empty Tensor without ``dim``.
        IndexError: a dimension out of range or of size 0.
    """
    if mode != 0:
        raise OpError(f"Unknown hash_tensor mode: {mode}")
    if jnp.iscomplexobj(input):
        raise MissingError(f"hash_tensor: not implemented for {input.dtype}")
    dims = wrap_dims(None if dim == () else dim, input.ndim)
    axes = tuple(range(input.ndim)) if dims is None else (dims,) if isinstance(dims, int) else tuple(dims)
    if not input.size:
        if dim == ():
            raise OpError(
                "hash_tensor: Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' "
                "argument."
            )
        empty = [axis for axis in axes if not input.shape[axis]]
        if empty:
            raise OutOfBoundsError(f"hash_tensor: Expected reduction dim {empty[0]} to have non-zero size.")
    wide = input.astype(np.float64 if is_floating(input) else np.int64)
    bits = lax.bitcast_convert_type(wide, np.uint64)
    found = lax.reduce(bits, np.uint64(0), lax.bitwise_xor, axes)
    return jnp.expand_dims(found, axes) if keepdim else found
