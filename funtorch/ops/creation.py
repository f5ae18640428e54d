"""Making Tensors: from data, of a size, like another. On the CPU they are NumPy arrays: nothing is compiled."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np

from .. import dtypes
from ..core.batching import open_vmaps
from ..core.call import call
from ..core.engine import host_possible
from ..core.foreign import is_foreign
from ..core.forked import refuse_xla
from ..core.handle import make, value_of
from ..core.levels import WRAPPED
from ..core.meta import MetaArray
from ..core.op import Op
from ..core.views import concrete
from ..devices import CPU, defaults, jax_device
from ..devices import device as Device
from ..dtypes import FROM_NUMPY, as_dtype
from ..dtypes import dtype as DType
from ..errors import ArgumentTypeError, ArgumentValueError, OpError
from ..layouts import strided
from ..size import Size
from ..tensor import Tensor
from .assignment import cast
from .declare import function, static
from .number_ranges import check_array, check_fits


def get_default_device() -> Device:
    """The device on which new Tensors are made."""
    return defaults[-1]


def set_default_device(where: Any) -> None:
    """Make new Tensors on ``where`` (None: the CPU). Raises RuntimeError if it isn't there."""
    chosen = CPU if where is None else Device(where)
    if chosen.type != "meta":
        jax_device(chosen)
    defaults[0] = chosen


def place(array: np.ndarray, where: Any, requires_grad: bool = False) -> Tensor:
    """A new leaf with these values on a device."""
    chosen = defaults[-1] if where is None else Device(where)
    if chosen.type == "meta":
        return without_data(array.shape, array.dtype, requires_grad)
    if chosen.type == "cpu" and host_possible():
        return Tensor._of_numpy(array, requires_grad)
    refuse_xla(f"a Tensor on {chosen}")
    return Tensor._of_numpy(jax.device_put(array, jax_device(chosen)), requires_grad)


def without_data(shape: tuple[int, ...], dtype: Any, requires_grad: bool = False) -> Tensor:
    """A new leaf on the device "meta"."""
    made: Tensor = make(MetaArray(shape, dtype))
    return made.requires_grad_() if requires_grad else made


def on_meta(where: Any) -> bool:
    """Whether a Tensor made on a device (None: the default one) has no data."""
    return (defaults[-1] if where is None else Device(where)).type == "meta"


def size_of(sizes: tuple, name: str, named: Any = None) -> tuple[int, ...]:
    """A size given as several ints, as one sequence, or by name. Raises RuntimeError for a negative one, TypeError for none."""
    if named is not None:
        if sizes:
            raise ArgumentTypeError(f"{name}() got multiple values for argument 'size'")
        sizes = (named,)
    elif not sizes:
        raise ArgumentTypeError(f"{name}() missing 1 required positional arguments: \"size\"")
    if len(sizes) == 1 and not isinstance(sizes[0], (int, np.integer, Tensor)):
        sizes = tuple(sizes[0])
    found = []
    for size in sizes:
        value = size.item() if isinstance(size, Tensor) else size
        if isinstance(value, (float, str)) or value is None:
            raise ArgumentTypeError(
                f"{name}(): argument 'size' must be tuple of ints, but found element of type {type(value).__name__}"
            )
        if value < 0:
            raise OpError(f"{name}(): trying to create tensor with negative dimension {value}: {list(sizes)}")
        found.append(int(value))
    return tuple(found)


def _filled(size: tuple, value: Any, dtype: Any, device: Any, requires_grad: bool) -> Tensor:
    kind = dtypes.default() if dtype is None else as_dtype(dtype)
    if on_meta(device):  # which may be larger than memory
        return without_data(size, kind.numpy, requires_grad)
    return place(np.full(size, value, kind.numpy) if value else np.zeros(size, kind.numpy), device, requires_grad)


@function()
def zeros(
    *sizes: Any,
    size: Any = None,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Zeros of a size: ``zeros(2, 3)``. dtype: the default one unless given.

    >>> import funtorch as torch
    >>> torch.zeros(2)
    tensor([0., 0.])
    """
    if layout is not None and layout is not strided:
        from ..sparse.creation import zeros as sparse_zeros

        return sparse_zeros(size_of(sizes, "zeros", size), dtype, layout, requires_grad, device)
    return _out(out, _filled(size_of(sizes, "zeros", size), 0, dtype, device, requires_grad))


@function()
def ones(
    *sizes: Any,
    size: Any = None,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Ones of a size: ``ones(2, 3)``. dtype: the default one unless given."""
    return _out(out, _filled(size_of(sizes, "ones", size), 1, dtype, device, requires_grad))


@function()
def empty(
    *sizes: Any,
    size: Any = None,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """A Tensor of a size whose values nobody should read: here, zeros."""
    return _out(out, _filled(size_of(sizes, "empty", size), 0, dtype, device, requires_grad))


@function()
def full(
    size: Any,
    fill_value: Any,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """``fill_value`` everywhere. dtype: that of the value (int64, bool, the default float) unless given."""
    shape = size_of((size,), "full")
    if isinstance(fill_value, Tensor) and concrete(fill_value) is None:
        kind = fill_value.dtype if dtype is None else as_dtype(dtype)
        return cast(fill_value, kind).reshape(()).expand(shape).clone()
    value = fill_value.item() if isinstance(fill_value, (Tensor, np.generic)) else fill_value
    kind = (fill_value.dtype if isinstance(fill_value, Tensor) else dtypes.of_scalar(value)) if dtype is None else as_dtype(dtype)
    return _out(out, place(np.full(shape, _element(value, kind)), device, requires_grad))


def _element(value: Any, kind: DType) -> np.ndarray:
    """A Python number as an element of ``kind``. Raises RuntimeError if it overflows."""
    check_fits(value, kind)
    if isinstance(value, complex) and kind.category in (dtypes.INTEGER, dtypes.FLOAT):
        value = value.real
    return np.array(value).astype(kind.numpy)


def _out(out: Any, result: Tensor) -> Tensor:
    if out is None:
        return result
    from .assignment import into

    return into(out, result, "factory")


def _like(input: Tensor, value: Any, dtype: Any, device: Any, requires_grad: bool, name: str) -> Tensor:
    if not isinstance(input, Tensor):
        raise ArgumentTypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
    if is_foreign(input):
        from ..sparse.creation import zeros_like as sparse_zeros_like

        return sparse_zeros_like(input, dtype, requires_grad, name)
    kind = input.dtype if dtype is None else as_dtype(dtype)
    made = place(np.full(value_of(input).shape, _element(value, kind)), input.device if device is None else device)
    made = _batched_like(made, input)
    return made.requires_grad_() if requires_grad else made


_WITH_LANES = Op(lambda like, made: jax.numpy.broadcast_to(made, like.shape), "expand_lanes")


def _batched_like(made: Tensor, input: Tensor) -> Tensor:
    """``made``, mapped over the lanes that ``input`` is mapped over: writing to it in place then writes each lane's own."""
    return call(_WITH_LANES, (input.detach(), made)) if type(input._payload) in WRAPPED and open_vmaps() else made


@function(method=False)
def zeros_like(
    input: Tensor,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
    pin_memory: bool = False,
) -> Tensor:
    """Zeros of the size and dtype of ``input``."""
    return _like(input, 0, dtype, device, requires_grad, "zeros_like")


@function()
def ones_like(
    input: Tensor,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
    pin_memory: bool = False,
) -> Tensor:
    """Ones of the size and dtype of ``input``."""
    return _like(input, 1, dtype, device, requires_grad, "ones_like")


@function()
def empty_like(
    input: Tensor,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
    pin_memory: bool = False,
) -> Tensor:
    """A Tensor of the size and dtype of ``input`` whose values nobody should read: here, zeros."""
    return _like(input, 0, dtype, device, requires_grad, "empty_like")


@function()
def full_like(
    input: Tensor,
    fill_value: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
    pin_memory: bool = False,
) -> Tensor:
    """``fill_value`` everywhere, in the size and dtype of ``input``."""
    return _like(input, static(fill_value), dtype, device, requires_grad, "full_like")


@function()
def tensor(data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False) -> Tensor:
    """A new leaf with a copy of ``data``: numbers, nested lists, NumPy arrays.

    dtype: of Python floats the default one, of ints int64, of bools bool, of NumPy arrays their own.
    Raises ValueError for lists of unequal lengths, TypeError for what holds no numbers.

    >>> import funtorch as torch
    >>> torch.tensor([[1, 2], [3, 4]])
    tensor([[1, 2],
            [3, 4]])
    """
    if isinstance(data, Tensor):
        made = cast(data.detach(), data.dtype if dtype is None else as_dtype(dtype)).clone()
        return made.requires_grad_() if requires_grad else made
    return place(array_of(data, dtype), device, requires_grad)


def array_of(data: Any, dtype: Any) -> np.ndarray:
    """``data`` as a NumPy array of its own, in ``dtype`` or the one that PyTorch infers."""
    if isinstance(data, (np.ndarray, np.generic)):
        return _of_foreign(np.array(data), dtype)
    if hasattr(data, "__jax_array__") or isinstance(data, jax.Array):
        return _of_foreign(np.array(data), dtype)
    kind = None if dtype is None else as_dtype(dtype)
    if isinstance(data, (bool, int, float, complex)):
        kind = kind or dtypes.of_scalar(data)
        return _number_array(data, kind)
    plain = _plain(data)
    array = _list_array(plain)
    if kind is None:
        kind = _inferred(array, plain)
    check_array(array, kind)
    return array.astype(kind.numpy)


def _number_array(value: Any, kind: DType) -> np.ndarray:
    if type(value) is int and not -(1 << 63) <= value < 1 << 64:
        raise ArgumentValueError("tensor(): Overflow when unpacking long long")
    array = np.array(value)
    check_array(array, kind)
    return array.astype(kind.numpy)


def _of_foreign(array: np.ndarray, dtype: Any) -> np.ndarray:
    if array.dtype not in FROM_NUMPY and dtype is None:
        raise ArgumentTypeError(
            f"can't convert np.ndarray of type {array.dtype}. The only supported types are those of funtorch's dtypes."
        )
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    return array if dtype is None else array.astype(as_dtype(dtype).numpy)


def _plain(data: Any) -> Any:
    """Nested sequences with Tensors and NumPy scalars replaced by what Python has for them."""
    if isinstance(data, (list, tuple, range)):
        return [_plain(element) for element in data]
    if isinstance(data, Tensor):
        return data.tolist()
    if isinstance(data, (str, bytes)):
        raise ArgumentTypeError(f"new(): invalid data type '{type(data).__name__}'")
    if hasattr(data, "__array__"):
        return np.asarray(data)
    return data


def _list_array(plain: Any) -> np.ndarray:
    try:
        array = np.array(plain)
    except ValueError as error:
        raise ArgumentValueError(f"tensor(): expected sequences of equal length at each level ({error})") from None
    except OverflowError:
        raise ArgumentValueError("tensor(): Overflow when unpacking long long") from None
    if array.dtype == object:
        odd = next((x for x in np.ravel(array) if type(x) is not int), None)
        if odd is None and all(type(x) is int for x in np.ravel(array)):
            raise ArgumentValueError("tensor(): Overflow when unpacking long long")
        raise OpError(f"tensor(): Could not infer dtype of {type(odd).__name__}")
    return array


def _inferred(array: np.ndarray, plain: Any) -> DType:
    if array.size == 0:
        return dtypes.default()
    first = plain
    while isinstance(first, list):
        first = next((p for p in first if not (isinstance(p, list) and not p)), None)
    if isinstance(first, (np.ndarray, np.generic)):
        return functools.reduce(dtypes.promote_types, {_leaf_type(x) for x in _leaves(plain)})
    return {"b": dtypes.bool_, "i": dtypes.int64, "u": dtypes.int64, "c": dtypes.default().to_complex()}.get(
        array.dtype.kind, dtypes.default()
    )


def _leaves(plain: Any) -> Iterator:
    for each in plain:
        if isinstance(each, list):
            yield from _leaves(each)
        else:
            yield each


def _leaf_type(leaf: Any) -> DType:
    return FROM_NUMPY[leaf.dtype] if isinstance(leaf, np.ndarray) else dtypes.of_scalar(leaf)


@function(alias=("asarray",))
def as_tensor(
    data: Any, dtype: Any = None, device: Any = None, *, copy: bool | None = None, requires_grad: bool = False
) -> Tensor:
    """``data`` as a Tensor: itself if it is one of that dtype and device, otherwise a copy."""
    if isinstance(data, Tensor):
        result = data.to(device=device, dtype=dtype) if (dtype is not None or device is not None) else data
        result = result.clone() if copy else result
        return result.requires_grad_() if requires_grad else result
    return tensor(data, dtype=dtype, device=device, requires_grad=requires_grad)


@function()
def from_numpy(ndarray: np.ndarray) -> Tensor:
    """A Tensor with a copy of a NumPy array. Differs from PyTorch: later writes to the array are not seen."""
    if not isinstance(ndarray, np.ndarray):
        raise ArgumentTypeError(f"expected np.ndarray (got {type(ndarray).__name__})")
    return Tensor._of_numpy(_of_foreign(np.array(ndarray, order="C"), None))


@function()
def from_dlpack(ext_tensor: Any) -> Tensor:
    """A Tensor from anything that speaks DLPack."""
    return Tensor._of_numpy(jax.dlpack.from_dlpack(ext_tensor))


@function()
def frombuffer(buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False) -> Tensor:
    """A one-dimensional Tensor with a copy of a buffer's bytes. Raises ValueError for an empty or misfit buffer."""
    kind = as_dtype(dtype)
    if len(memoryview(buffer).cast("B")) - offset < kind.itemsize:
        raise ArgumentValueError(f"frombuffer(): both buffer length and count must not be 0, offset {offset}")
    return Tensor._of_numpy(np.frombuffer(buffer, kind.numpy, count, offset).copy(), requires_grad)


@function()
def scalar_tensor(
    s: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool = False, requires_grad: bool = False
) -> Tensor:
    """A Tensor without dimensions, in the default dtype unless given."""
    return tensor(static(s), dtype=dtypes.default() if dtype is None else dtype, device=device, requires_grad=requires_grad)


@function()
def arange(
    start: Any = None,
    end: Any = None,
    step: Any = 1,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """``start, start + step, ...`` below ``end``: shape (ceil((end - start) / step),).

    dtype: that of ``out``; int64 if all arguments are integers, otherwise the default. Raises RuntimeError for a step of
    zero or of the wrong sign, ValueError for one that an integer dtype rounds to zero.
    """
    start, end, step = static(start), static(end), static(step)
    if end is None:
        start, end = 0, start
    elif start is None:
        start = 0
    if end is None:
        raise ArgumentTypeError('arange() missing 1 required positional arguments: "end"')
    if step == 0:
        raise OpError("arange(): step must be nonzero")
    if (end - start) * step < 0:
        raise OpError(f"arange(): upper bound and lower bound inconsistent with step sign: start {start}, end {end}, step {step}")
    if not all(math.isfinite(v) for v in (start, end)):
        raise OpError(f"arange(): unsupported range: {start} -> {end}")
    whole = not any(isinstance(v, float) for v in (start, end, step))
    if dtype is None and out is not None:
        dtype = out.dtype
    kind = as_dtype(dtype) if dtype is not None else (dtypes.int64 if whole else dtypes.default())
    count = -((start - end) // step) if whole else max(0, math.ceil((end - start) / step))
    if kind.category == dtypes.INTEGER and not whole:
        start, end, step, whole = int(start), int(end), int(step), True
        if step == 0:
            raise ArgumentValueError("arange(): step must be nonzero")
        count = -((start - end) // step) if kind == dtypes.int64 else count
    wide = np.int64 if whole else np.float64
    values = wide(start) + np.arange(count, dtype=np.int64).astype(wide) * wide(step)
    return _out(out, place(values.astype(kind.numpy), device, requires_grad))


@function(name="range")
def range_(start: Any, end: Any = None, step: Any = 1, **options: Any) -> Tensor:
    """Deprecated in PyTorch: like `arange`, with ``end`` included, in the default dtype."""
    if end is None:
        start, end = 0, start
    count = math.floor((end - start) / step) + 1
    return tensor([start + i * step for i in range(count)], dtype=options.get("dtype") or dtypes.default())


def _spaced(start: Any, end: Any, steps: int, kind: DType) -> np.ndarray:
    """Evenly spaced values, from both ends to the middle as PyTorch computes them."""
    if steps == 1:
        return np.array([start]).astype(kind.numpy)
    wide = np.complex128 if kind.is_complex else np.float64
    numpy_type = kind.numpy if kind.category >= dtypes.FLOAT and kind.itemsize > 2 else np.dtype(wide)
    step = ((np.asarray(end, wide) - np.asarray(start, wide)) / max(steps - 1, 1)).astype(numpy_type)
    i = np.arange(steps)
    low = np.asarray(start).astype(numpy_type) + step * i.astype(numpy_type)
    high = np.asarray(end).astype(numpy_type) - step * (steps - 1 - i).astype(numpy_type)
    return np.where(i < steps // 2, low, high).astype(kind.numpy)


@function()
def linspace(
    start: Any,
    end: Any,
    steps: int,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """``steps`` evenly spaced values from ``start`` to ``end``, both included: shape (steps,).

    Raises RuntimeError for negative steps or for a Tensor with dimensions, TypeError for steps that are no integer.
    """
    start, end, steps = _ends("linspace", start, end, steps)
    kind = _space_dtype(start, end, dtype, out)
    if isinstance(start, Tensor) or isinstance(end, Tensor):
        return _out(out, call(_spacing(steps, kind, None), _as_tensors(start, end)))
    return _out(out, place(_spaced(start, end, steps, kind), device, requires_grad))


def _ends(name: str, start: Any, end: Any, steps: Any) -> tuple[Any, Any, int]:
    """Both ends, as Python numbers where their values are known, and the number of steps, checked."""
    if isinstance(steps, bool) or not hasattr(steps, "__index__"):
        raise ArgumentTypeError(
            f"{name}() received an invalid combination of arguments: steps must be int, not {type(steps).__name__}"
        )
    for x in (start, end):
        if isinstance(x, Tensor) and value_of(x).shape:
            raise OpError(f"{name} only supports 0-dimensional start and end tensors, got {list(value_of(x).shape)}")
    steps = operator.index(steps)
    if steps < 0:
        raise OpError(f"{name}(): number of steps must be non-negative, got {steps}")
    start, end = (x if isinstance(x, Tensor) and concrete(x) is None else static(x) for x in (start, end))
    return start, end, steps


def _as_tensors(*numbers: Any) -> list[Tensor]:
    return [x.detach() if isinstance(x, Tensor) else Tensor._of_numpy(np.array(x)) for x in numbers]


@functools.lru_cache(maxsize=1024, typed=True)
def _spacing(steps: int, kind: DType, base: float | None) -> Op:
    """Evenly spaced values between ends whose values are not known, or powers of ``base``."""
    wide = np.complex128 if kind.is_complex else np.float64

    def pure(start: Any, end: Any) -> Any:
        low, high = start.astype(wide), end.astype(wide)
        step = (high - low) / max(steps - 1, 1)
        i = np.arange(steps)
        spaced = jax.numpy.where((i < steps // 2) | (steps == 1), low + step * i, high - step * (steps - 1 - i))
        return (spaced if base is None else jax.numpy.power(wide(base), spaced)).astype(kind.numpy)

    return Op(pure, "linspace" if base is None else "logspace")


def _space_dtype(start: Any, end: Any, dtype: Any, out: Any) -> DType:
    if dtype is not None or out is not None:
        return as_dtype(out.dtype if dtype is None else dtype)
    is_complex = any(x.dtype.is_complex if isinstance(x, Tensor) else isinstance(x, complex) for x in (start, end))
    return dtypes.default().to_complex() if is_complex else dtypes.default()


@function()
def logspace(
    start: Any,
    end: Any,
    steps: int,
    base: float = 10.0,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """``steps`` values from base**start to base**end, evenly spaced on a logarithmic scale: shape (steps,).

    Raises as `linspace`.
    """
    start, end, steps = _ends("logspace", start, end, steps)
    kind = _space_dtype(start, end, dtype, out)
    if isinstance(start, Tensor) or isinstance(end, Tensor):
        return _out(out, call(_spacing(steps, kind, float(base)), _as_tensors(start, end)))
    wide = dtypes.complex128 if kind.is_complex else dtypes.float64
    values = np.power(np.asarray(base, wide.numpy), _spaced(start, end, steps, wide))
    return _out(out, place(values.astype(kind.numpy), device, requires_grad))


@function()
def eye(
    n: int,
    m: int | None = None,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Ones on the diagonal, zeros elsewhere: shape (n, m), or (n, n). Raises RuntimeError for a negative size."""
    size = size_of((n, n if m is None else m), "eye")
    kind = dtypes.default() if dtype is None else as_dtype(dtype)
    return _out(out, place(np.eye(*size, dtype=kind.numpy), device, requires_grad))


def _new(name: str, factory: Any) -> None:
    names = {"new_full": {"size", "fill_value"}, "new_tensor": {"data"}}.get(name, {"size"})

    def method(
        self: Tensor,
        *args: Any,
        dtype: Any = None,
        device: Any = None,
        requires_grad: bool = False,
        layout: Any = None,
        pin_memory: bool = False,
        **named: Any,
    ) -> Tensor:
        if named.keys() - names:
            raise ArgumentTypeError(f"{name}() got an unexpected keyword argument '{min(named.keys() - names)}'")
        return factory(
            *args,
            **named,
            dtype=self.dtype if dtype is None else dtype,
            device=self.device if device is None else device,
            requires_grad=requires_grad,
        )

    method.__name__ = name
    method.__doc__ = f"``{factory.__name__}`` with this Tensor's dtype and device."
    from . import registry

    registry.add_method(name, method)


for _name, _factory in (
    ("new_zeros", zeros),
    ("new_ones", ones),
    ("new_empty", empty),
    ("new_full", full),
    ("new_tensor", tensor),
):
    _new(_name, _factory)


def _new_old(self: Tensor, *args: Any) -> Tensor:
    """PyTorch's old ``x.new(...)``: a Tensor of the same dtype from sizes or data."""
    if len(args) == 1 and not isinstance(args[0], (int, Size)):
        return tensor(args[0], dtype=self.dtype)
    return empty(*args, dtype=self.dtype) if args else empty(0, dtype=self.dtype)


def _register_new() -> None:
    from . import registry

    registry.add_method("new", _new_old)


_register_new()


def is_tensor(obj: Any) -> bool:
    """Whether ``obj`` is a Tensor."""
    return isinstance(obj, Tensor)
