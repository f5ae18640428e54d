"""Random whole numbers: randint, randint_like, randperm."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import dtypes
from ..core.generators import Generator
from ..core.meta import is_meta
from ..dtypes import as_dtype
from ..errors import ArgumentTypeError, ArgumentValueError, OpError
from ..tensor import Tensor
from .arguments import static, tensor_argument
from .assignment import into
from .declare import function
from .placing import check_out_device, on_meta, size_of, without_data
from .random import checked, drawn, filled, in_order_of, options_like, placed, twister_of


@function()
def randint(low: Any = None, high: Any = None, size: Any = None, *, generator: Generator | None = None, **options: Any) -> Tensor:
    """Integers in [low, high): ``randint(high, size)`` or ``randint(low, high, size)``. dtype: int64 unless given.

    Raises RuntimeError if low >= high, TypeError without a size or a bound.
    """
    if size is None:
        low, high, size = None, low, high
    elif high is None:
        low, high = None, low
    if high is None or size is None:
        raise ArgumentTypeError(f"randint(): needs high and size, got high={high}, size={size}")
    low, high = 0 if low is None else whole("randint", "low", low), whole("randint", "high", high)
    if isinstance(size, int):
        raise ArgumentTypeError("randint(): argument 'size' must be tuple of ints, not int")
    if low >= high:
        raise OpError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    size = size_of((size,), "randint")
    if checked(options, "randint").get("out") is not None:
        return filled(size, "randint", options, "random_", (low, high), generator)
    dtype = dtypes.int64 if options.get("dtype") is None else as_dtype(options["dtype"])
    if on_meta(options.get("device")):
        return without_data(size, dtype.numpy, bool(options.get("requires_grad")))
    twister = twister_of(generator)
    made = drawn(
        generator, lambda full: twister.randint(low, high, full, dtype=dtype.numpy), size, "randint", dtype.name, low, high
    )
    return placed(made, options)


def whole(name: str, parameter: str, value: Any) -> int:
    """A whole number of 64 bits. Raises TypeError for a bool or what is no whole number, ValueError for a longer one."""
    value = static(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ArgumentTypeError(f"{name}(): argument '{parameter}' must be int, not {type(value).__name__}")
    if not -(2**63) <= value < 2**63:
        raise ArgumentValueError(f"{name}(): {parameter}={value} is more than 64 bits hold")
    return value


@function()
def randperm(n: int, *, generator: Generator | None = None, **options: Any) -> Tensor:
    """A random order of 0 ... n - 1: shape (n,), int64 unless given."""
    n = whole("randperm", "n", n)
    if n < 0:
        raise OpError(f"randperm(): n must be non-negative, got {n}")
    out = checked(options, "randperm").get("out")
    asked = out.dtype if isinstance(out, Tensor) else options.get("dtype")
    dtype = dtypes.int64 if asked is None else as_dtype(asked)
    if isinstance(out, Tensor):
        check_out_device(out, options.get("device"))
        options = options | {"device": out.device} if is_meta(out) else options
    if on_meta(options.get("device")):
        made = without_data((n,), dtype.numpy, bool(options.get("requires_grad")))
        return made if out is None else into(out, made, "factory")
    twister = twister_of(generator)

    def numbers(full: tuple) -> np.ndarray:
        lanes = full[:-1]
        rows = [twister.randperm(n, dtype=dtype.numpy) for _ in range(math.prod(lanes))]
        if not lanes:
            return rows[0]
        # The outermost vmap's lanes change fastest, as in PyTorch.
        inner_first = np.reshape(rows, (*reversed(lanes), n))
        return np.ascontiguousarray(inner_first.transpose((*reversed(range(len(lanes))), len(lanes))))

    made = placed(drawn(generator, numbers, (n,), "randperm", dtype.name), options)
    return made if out is None else into(out, made, "factory")


@function()
def randint_like(
    input: Tensor, low: Any = None, high: Any = None, *, generator: Generator | None = None, **options: Any
) -> Tensor:
    """`randint` of the size and dtype of ``input``: ``randint_like(input, high)`` or ``randint_like(input, low, high)``."""
    if not isinstance(input, Tensor):
        tensor_argument(input, "randint_like", "input", 1)
    return in_order_of(
        input, options, lambda shape: randint(low, high, shape, generator=generator, **options_like(input, options))
    )
