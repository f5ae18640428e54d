"""Random numbers: drawn on the host, in PyTorch's order; for each lane of a vmap, and anew at each call of compiled code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from .. import dtypes
from ..core.batching import lift_draw
from ..core.call import call
from ..core.generators import Generator, default_generator
from ..core.handle import make, value_of
from ..core.meta import is_meta
from ..core.op import Op
from ..core.state import state
from ..core.strides import inverse, memory_order
from ..core.views import concrete, of_all_lanes
from ..core.watcher import draw
from ..devices import CPU
from ..dtypes import as_dtype
from ..errors import ArgumentTypeError, MissingError, OpError
from ..tensor import Tensor
from .arguments import check_broadcast, tensor_argument
from .assignment import TYPE_NAMES, into
from .declare import function
from .placing import check_out_device, get_default_device, on_meta, place, size_of, without_data


def twister_of(generator: Generator | None) -> Any:
    """The twister of a generator, or of the global one. Raises TypeError for what is no generator."""
    if generator is None:
        return default_generator.twister
    if not isinstance(generator, Generator):
        raise ArgumentTypeError(f"argument 'generator' must be torch.Generator, not {type(generator).__name__}")
    return generator.twister


def sample(kind: str, shape: tuple, dtype: Any, generator: Generator | None, *parameters: Any, **named: Any) -> Tensor:
    """Draw by the generator's method ``kind``: a Tensor of ``shape``, with numbers of its own in each lane of a vmap."""
    method = getattr(twister_of(generator), kind)

    def numbers(full: tuple) -> np.ndarray:
        if kind == "bernoulli":
            return method(full, *parameters, dtype=dtype.numpy, **named)
        return method(full, dtype.numpy, *parameters, **named)

    return drawn(generator, numbers, shape, kind, dtype.name, parameters, tuple(named.items()))


def drawn(
    generator: Generator | None, numbers: Callable[[tuple], np.ndarray], shape: tuple, kind: str, *signature: Any
) -> Tensor:
    """A Tensor of ``numbers(shape)``: in compiled code they're inputs, which the signature tells apart; each lane has its own."""
    if state.recorder is None and not state.levels:  # nobody asks how they were drawn, and there are no lanes
        return make(numbers(shape))
    source = generator or default_generator
    return lift_draw(lambda full: draw(source, lambda: numbers(full), (kind, full, *signature)), shape)


def _new(kind: str, size: tuple, name: str, generator: Any, options: dict, *parameters: Any) -> Tensor:
    if options.get("out") is not None:
        return filled(size, name, options, f"{kind}_", parameters, generator)
    dtype = dtypes.default() if options.get("dtype") is None else as_dtype(options["dtype"])
    if dtype.category < dtypes.FLOAT:
        raise MissingError(f'{name}(): "{kind}" not implemented for {TYPE_NAMES[dtype.name]!r}')
    if on_meta(options.get("device")):
        return without_data(size, dtype.numpy, bool(options.get("requires_grad")))
    return placed(sample(kind, size, dtype, generator, *parameters), options)


def placed(made: Tensor, options: dict) -> Tensor:
    """What was drawn on the host, on the device asked for, and a leaf that requires grad if asked for."""
    where = get_default_device() if options.get("device") is None else options["device"]
    if where is not CPU:
        made = place(value_of(made), where) if concrete(made) is not None else made
    return made.requires_grad_() if options.get("requires_grad") else made


def filled(size: tuple, name: str, options: dict, method: str, parameters: tuple, generator: Any) -> Tensor:
    """``out`` in the size asked for, filled by its own method: in its dtype and in the order in which it lies in memory."""
    out, wanted = options["out"], options.get("dtype")
    if not isinstance(out, Tensor):
        raise ArgumentTypeError(f"{name}(): argument 'out' must be Tensor, not {type(out).__name__}")
    if wanted is not None and as_dtype(wanted) is not out.dtype:
        want, have = (TYPE_NAMES[kind.name] for kind in (as_dtype(wanted), out.dtype))
        raise OpError(f"{name}(): dtype {want} does not match dtype of out parameter ({have})")
    if state.grad and out.requires_grad:
        raise OpError(
            f"{name}(): functions with out=... arguments don't support automatic differentiation, and out requires grad"
        )
    check_out_device(out, options.get("device"))
    if tuple(out.shape) == size:
        target = out
    else:
        target = without_data(size, out.dtype.numpy) if is_meta(out) else make(np.empty(size, out.dtype.numpy))
    getattr(target, method)(*parameters, generator=generator)
    if target is not out:
        into(out, target, "factory")
    return out.requires_grad_() if options.get("requires_grad") else out


_ALLOWED = frozenset({"dtype", "device", "requires_grad", "layout", "pin_memory", "out", "memory_format", "names"})


def checked(options: dict, name: str) -> dict:
    """The options. Raises TypeError for one that there is not."""
    unknown = set(options) - _ALLOWED
    if unknown:
        raise TypeError(f"{name}() got an unexpected keyword argument '{sorted(unknown)[0]}'")
    return options


@function()
def rand(*sizes: Any, size: Any = None, generator: Generator | None = None, **options: Any) -> Tensor:
    """Uniform on [0, 1): ``rand(2, 3)``. Options: dtype, device, requires_grad, out."""
    return _new("uniform", size_of(sizes, "rand", size), "rand", generator, checked(options, "rand"))


@function()
def randn(*sizes: Any, size: Any = None, generator: Generator | None = None, **options: Any) -> Tensor:
    """Standard normal: ``randn(2, 3)``. Options: dtype, device, requires_grad, out."""
    return _new("normal", size_of(sizes, "randn", size), "randn", generator, checked(options, "randn"))


def in_memory_order(tensor: Tensor, drawn: Callable[[tuple], Tensor]) -> Tensor:
    """Numbers for the elements of a Tensor, drawn in the order in which PyTorch's would lie in memory."""
    return _permuted(tuple(tensor.shape), memory_order(tensor), drawn)


_FORMATS = {"channels_last": (0, 2, 3, 1), "channels_last_3d": (0, 2, 3, 4, 1)}


def _order_asked(input: Tensor, options: dict) -> tuple[int, ...] | None:
    """The order of memory of a result that is like ``input``, or as the option ``memory_format`` says."""
    wanted = str(options.get("memory_format")).removeprefix("torch.")
    return memory_order(input) if wanted in ("None", "preserve_format") else _FORMATS.get(wanted)


def in_order_of(input: Tensor, options: dict, drawn: Callable[[tuple], Tensor]) -> Tensor:
    """`in_memory_order`, if the option ``memory_format`` does not say another."""
    return _permuted(tuple(input.shape), _order_asked(input, options), drawn)


def _permuted(shape: tuple, order: tuple[int, ...] | None, drawn: Callable[[tuple], Tensor]) -> Tensor:
    if order is None:
        return drawn(shape)
    return drawn(tuple(shape[d] for d in order)).permute(inverse(order))


def options_like(input: Tensor, options: dict) -> dict:
    """The options, with what ``input`` says where they don't."""
    return {
        "dtype": input.dtype,
        **({"device": "meta"} if is_meta(input) else {}),
        **{k: v for k, v in options.items() if v is not None},
    }


@function()
def rand_like(input: Tensor, *, generator: Generator | None = None, **options: Any) -> Tensor:
    """`rand` of the size and dtype of ``input``."""
    if not isinstance(input, Tensor):
        tensor_argument(input, "rand_like", "input", 1)
    return in_order_of(input, options, lambda shape: rand(shape, generator=generator, **options_like(input, options)))


@function()
def randn_like(input: Tensor, *, generator: Generator | None = None, **options: Any) -> Tensor:
    """`randn` of the size and dtype of ``input``."""
    if not isinstance(input, Tensor):
        tensor_argument(input, "randn_like", "input", 1)
    if _order_asked(input, options) is None:
        return randn(tuple(input.shape), generator=generator, **options_like(input, options))
    given = options_like(input, checked(options, "randn_like"))
    kind = as_dtype(given["dtype"])
    made = in_order_of(input, options, lambda shape: sample("normal", shape, kind, generator, 0.0, 1.0, contiguous=False))
    return placed(made, given)


def bernoulli_mask(shape: tuple, p: float, dtype: Any, generator: Generator | None = None) -> Tensor:
    """Ones with probability ``p``, zeros otherwise, in each lane anew."""
    return sample("bernoulli", tuple(shape), dtype, generator, float(p))


# A draw is on the tape of the Tensors that decide its law, with derivative 0 with respect to them, as in PyTorch.
DRAWN = Op(lambda *decided: jax.lax.stop_gradient(decided[-1]), "drawn")


@function()
def normal(
    mean: Any, std: Any = 1.0, size: Any = None, *, generator: Generator | None = None, out: Any = None, **options: Any
) -> Tensor:
    """Normal numbers; ``mean`` and ``std`` are numbers with a ``size``, or Tensors (broadcast together).

    Raises RuntimeError for a negative or complex std, and TypeError for a size that comes with a Tensor.
    """
    tensors = [t for t in (mean, std) if isinstance(t, Tensor)]
    if not isinstance(std, Tensor) and std < 0:
        raise OpError(f"normal expects std >= 0.0, but found std {std}")
    if not tensors:
        if isinstance(size, int):
            raise ArgumentTypeError("normal(): argument 'size' must be tuple of ints, not int")
        given = checked(options, "normal") if out is None else {**options, "out": out}
        return _new("normal", size_of((size,), "normal"), "normal", generator, given, float(mean), float(std))
    if size is not None:
        raise ArgumentTypeError("normal(): got a size as well as a Tensor, whose shape the result has")
    if isinstance(std, Tensor):
        _check_std(std)
    check_broadcast("normal", [tuple(t.shape) for t in tensors])
    shape = np.broadcast_shapes(*(tuple(t.shape) for t in tensors))
    kind = tensors[0].dtype
    if any(map(is_meta, tensors)):
        made = without_data(shape, kind.numpy)
    else:
        made = into_order_of(out, shape, lambda full, **named: sample("normal", full, kind, generator, 0.0, 1.0, **named))
    made = call(DRAWN, (*tensors, (made * std + mean).to(kind)))
    return made if out is None else into(out, made, "normal")


def into_order_of(out: Any, shape: tuple, numbers: Callable) -> Tensor:
    """Numbers of ``shape`` for a Tensor that is there already, if it is: drawn in the order in which it lies in memory."""
    if not isinstance(out, Tensor) or tuple(out.shape) != shape or out.is_contiguous():
        return numbers(shape)
    return in_memory_order(out, lambda full: numbers(full, contiguous=False))


def _check_std(std: Tensor) -> None:
    if std.dtype.is_complex:
        raise OpError("normal expects standard deviation to be non-complex")
    low = of_all_lanes(std)
    if low is not None and (low < 0).any():
        raise OpError("normal expects all elements of std >= 0.0")
