"""Results that go into an existing Tensor: in-place forms and ``out=``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..cautions import caution, caution_once
from ..core import casting
from ..core.call import call
from ..core.handle import Handle, in_place_allowed
from ..core.op import Op
from ..core.state import state
from ..core.writing import write
from ..dtypes import FROM_NUMPY, INTEGER, bool_, can_cast, dtype
from ..errors import ArgumentTypeError, OpError
from .across_meta import check_same_place

TYPE_NAMES = {
    "float16": "Half", "bfloat16": "BFloat16", "float32": "Float", "float64": "Double", "int8": "Char", "int16": "Short",
    "int32": "Int", "int64": "Long", "uint8": "Byte", "bool": "Bool", "complex64": "ComplexFloat",
    "complex128": "ComplexDouble", "uint16": "UInt16", "uint32": "UInt32", "uint64": "UInt64",
    "float8_e4m3fn": "Float8_e4m3fn", "float8_e5m2": "Float8_e5m2",
    "float8_e4m3fnuz": "Float8_e4m3fnuz", "float8_e5m2fnuz": "Float8_e5m2fnuz", "float8_e8m0fnu": "Float8_e8m0fnu",
}  # fmt: skip


# What ``out=`` may be, by function, where it isn't any type that the result can be cast to: only the result's type (and uint8,
# an old kind of bool, for tests), or any type at all.
EXACT = frozenset(
    """matmul mm bmm dot mv argmax argmin index_select where isposinf isneginf norm amax amin softmax
    log_softmax nonzero take masked_select cross tril triu diag bitwise_not clamp round floor ceil
    trunc sign neg conj_physical heaviside addmm addmv baddbmm vector_norm matrix_norm inv inverse
    cholesky det solve eigvalsh tensordot bucketize searchsorted isin histc renorm nan_to_num
    float_power linalg_vector_norm quantile multi_dot matrix_power vecdot multinomial index_add
    scatter scatter_add take_along_dim mode median kthvalue sort topk max min cummax cummin frexp qr
    eigh svd slogdet lu lu_unpack any all""".split()
)
ANY = frozenset("sum prod cumsum cumprod factory".split())
ONLY_REAL = "Casting complex values to real discards the imaginary part."
RESIZED = (
    "An output with one or more elements was resized since it had shape {}, which does not match the required output shape {}. This is "
    "deprecated: give one of no elements, which out.resize_(0) makes, if it is to be resized."
)
QUIET = frozenset(("factory", "multinomial"))  # which resize ``out`` without a warning
JOINED = frozenset("cat stack hstack vstack dstack column_stack".split())


@functools.lru_cache(maxsize=None)
def cast_op(to: dtype) -> Op:
    """The Op that converts an array to ``to``."""
    return Op(lambda x: _converted(x, to), "to_copy")


def _converted(x: Any, to: dtype) -> Any:
    import jax.numpy as jnp

    if to.name == "bool":
        return x != 0
    if jnp.iscomplexobj(x) and not to.is_complex:
        x = x.real
    if to.category == INTEGER and to.itemsize < 4 and jnp.issubdtype(x.dtype, jnp.floating):
        x = x.astype(jnp.int32)  # whose lower bits stay, where XLA would give the nearest number in range
    special = _OWN_ROUNDING.get(to.name)
    return x.astype(to.numpy) if special is None else special(x)


def _saturated(x: Any) -> Any:
    """As float8_e4m3fn, which has no infinity: what is too large becomes the largest number, where XLA gives nan."""
    import jax.numpy as jnp

    real = x if jnp.issubdtype(x.dtype, jnp.floating) else x.astype(jnp.float32)
    return jnp.clip(real, -448, 448).astype(jnp.float8_e4m3fn)


def _powers_of_two(x: Any) -> Any:
    """The nearest powers of two as float8_e8m0fnu, signs left out: 0 becomes the least of them, where XLA gives nan."""
    import jax.numpy as jnp
    from jax import lax

    bits = lax.bitcast_convert_type(x.astype(jnp.float32), jnp.int32)
    exponent, rest = (bits >> 23) & 255, bits & 0x7FFFFF
    up = (exponent < 255) & (rest >= jnp.where(exponent == 0, 0x400001, 0x400000))  # half-way goes up, but for 2**-127
    return lax.bitcast_convert_type((exponent + up).astype(jnp.uint8), jnp.float8_e8m0fnu)


_OWN_ROUNDING: dict[str, Callable] = {"float8_e4m3fn": _saturated, "float8_e8m0fnu": _powers_of_two}


def cast(x: Handle, to: dtype) -> Any:
    """``x`` as ``to``; ``x`` itself if it has that type."""
    have = x._payload.dtype
    if have == to.numpy:
        return x
    if have.kind == "c" and not to.is_complex and to is not bool_:
        caution_once(ONLY_REAL)
    return call(cast_op(to), (x,))


def assign(target: Handle, result: Any, name: str) -> Any:
    """Write the result of an in-place op ``name`` into ``target``, and return ``target``.

    Raises RuntimeError if ``target`` is a leaf that requires grad, if it would have to be broadcast, or if the result's
    type is of a higher category than the target's, or if one of the two has no data.
    """
    in_place_allowed(target, name, state.grad)
    result = _in_layout_of(target, result, name)
    check_same_place(target, result, name)
    have, new = target._payload, result._payload
    if new.shape != have.shape:
        raise OpError(f"{name}(): output with shape {list(have.shape)} doesn't match the broadcast shape {list(new.shape)}")
    result = _fitting(result, have.dtype, name)
    check_overlap(target, name)
    write(target, result)
    return target


def _in_layout_of(target: Handle, result: Handle, name: str) -> Handle:
    """A sparse result that goes into a dense Tensor as one. Raises RuntimeError for the other way round."""
    if target._foreign and not result._foreign:
        raise OpError(f"{name}(): a strided result can't be written into a Tensor of layout {target.layout}")
    return result.to_dense() if result._foreign and not target._foreign else result


def _fitting(result: Handle, want: Any, name: str) -> Handle:
    have = result._payload.dtype
    if have == want:
        return result
    from_, to = FROM_NUMPY[have], FROM_NUMPY[want]
    if not can_cast(from_, to):
        raise (ArgumentTypeError if name in JOINED else OpError)(
            f"{name}(): result type {TYPE_NAMES[from_.name]} can't be cast to the desired output type {TYPE_NAMES[to.name]}"
        )
    return cast(result, to)


def _same_type(out: Any, result: Handle, name: str) -> None:
    if isinstance(out, Handle) and out._payload.dtype != result._payload.dtype:
        if name in ("any", "all") and out.dtype.name == "uint8":
            return
        want, found = (TYPE_NAMES[FROM_NUMPY[x._payload.dtype].name].lower() for x in (result, out))
        raise OpError(f"{name}(): Expected out tensor to have dtype {want}, but got {found} instead")


def check_overlap(target: Handle, name: str) -> None:
    """Raise RuntimeError for a target of which several elements are one place in memory."""
    if target._base is None:
        return
    from ..core.strides import layout

    strides, _ = layout(target)
    if any(stride == 0 and size > 1 for stride, size in zip(strides, target._payload.shape, strict=True)):
        raise OpError(
            f"{name}(): unsupported operation: more than one element of the written-to tensor refers to a single memory "
            "location. Please clone() the tensor before performing the operation."
        )


def overwrite(fn: Callable, name: str) -> Callable:
    """The in-place form of ``fn``: its result goes into its first argument."""

    def in_place(input: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(input, Handle):
            raise ArgumentTypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
        in_place_allowed(input, name, state.grad)
        found = casting.uncast(fn, input, *args, **kwargs) if casting.active else fn(input, *args, **kwargs)
        return assign(input, found, name)

    in_place.__name__ = in_place.__qualname__ = name
    in_place.__module__ = fn.__module__
    in_place.__doc__ = f"In-place form of ``{fn.__name__}``."
    return in_place


def into(out: Any, result: Any, name: str, exact: bool = False) -> Any:
    """Write a result, or each of several, into ``out=``; an ``out`` of another shape is resized.

    Raises RuntimeError if the result can't be cast to the type of ``out``, (``exact``) is of another type, or has data where
    ``out`` has none.
    """
    exact = exact or name.lstrip("_") in EXACT
    if isinstance(result, tuple):
        if not isinstance(out, (tuple, list)) or len(out) != len(result):
            raise ArgumentTypeError(f"{name}(): argument 'out' must be tuple of {len(result)} Tensors")
        if exact:
            for o, r in zip(out, result, strict=True):
                _same_type(o, r, name)
        written = [into(o, r, name) for o, r in zip(out, result, strict=True)]
        return type(result)(*written) if hasattr(result, "_fields") else tuple(written)
    if not isinstance(out, Handle):
        raise ArgumentTypeError(f"{name}(): argument 'out' must be Tensor, not {type(out).__name__}")
    if state.grad and (out._requires or result._requires):
        raise OpError(
            f"{name}(): functions with out=... arguments don't support automatic differentiation, but one of the "
            "arguments requires grad."
        )
    result = _in_layout_of(out, result, name)
    check_same_place(out, result, name)
    if exact:
        _same_type(out, result, name)
    result = cast(result, out.dtype) if name in ANY else _fitting(result, out._payload.dtype, name)
    if result._payload.shape == out._payload.shape:
        write(out, result)
    else:
        if out.numel() and name not in QUIET:
            caution(RESIZED.format(list(out._payload.shape), list(result._payload.shape)))
        out._payload = result._payload
        out._base, out._source, out._chain = None, None, ()
        out._writes += 1
    return out
