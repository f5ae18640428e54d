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
from ..core.handle import in_place_allowed, make, value_of
from ..core.meta import is_meta
from ..core.op import Op
from ..core.state import state
from ..core.strides import memory_order
from ..core.views import concrete, write
from ..core.watcher import draw
from ..devices import CPU
from ..dtypes import as_dtype
from ..errors import ArgumentTypeError, OpError
from ..tensor import Tensor
from . import registry
from .arguments import static
from .assignment import into
from .declare import function
from .placing import get_default_device, on_meta, place, size_of, without_data


def sample(kind: str, shape: tuple, dtype: Any, generator: Generator | None, *parameters: Any, **named: Any) -> Tensor:
    """Draw by the generator's method ``kind``: a Tensor of ``shape``, with numbers of its own in each lane of a vmap."""
    source = generator or default_generator
    method = getattr(source.twister, kind)

    def numbers(full: tuple) -> np.ndarray:
        if kind == "bernoulli":
            return method(full, *parameters, dtype=dtype.numpy, **named)
        return method(full, dtype.numpy, *parameters, **named)

    if state.recorder is None and not state.levels:  # nobody asks how they were drawn, and there are no lanes
        return make(numbers(shape))
    signature = (dtype.name, parameters, tuple(named.items()))
    return lift_draw(lambda full: draw(source, lambda: numbers(full), (kind, full, *signature)), shape)


def _new(kind: str, size: tuple, name: str, generator: Any, options: dict, *parameters: Any) -> Tensor:
    dtype = dtypes.default() if options.get("dtype") is None else as_dtype(options["dtype"])
    if dtype.category < dtypes.FLOAT:
        raise OpError(f'"{kind}" not implemented for {dtype.name!r} in {name}()')
    if on_meta(options.get("device")):
        return without_data(size, dtype.numpy, bool(options.get("requires_grad")))
    return _placed(sample(kind, size, dtype, generator, *parameters), options)


def _placed(made: Tensor, options: dict) -> Tensor:
    where = get_default_device() if options.get("device") is None else options["device"]
    if where is not CPU:
        made = place(value_of(made), where) if concrete(made) is not None else made
    result = made if options.get("out") is None else into(options["out"], made, "random")
    return result.requires_grad_() if options.get("requires_grad") else result


_ALLOWED = frozenset({"dtype", "device", "requires_grad", "layout", "pin_memory", "out", "memory_format", "names"})


def _checked(options: dict, name: str) -> dict:
    unknown = set(options) - _ALLOWED
    if unknown:
        raise TypeError(f"{name}() got an unexpected keyword argument '{sorted(unknown)[0]}'")
    return options


@function()
def rand(*sizes: Any, size: Any = None, generator: Generator | None = None, **options: Any) -> Tensor:
    """Uniform on [0, 1): ``rand(2, 3)``. Options: dtype, device, requires_grad, out."""
    return _new("uniform", size_of(sizes, "rand", size), "rand", generator, _checked(options, "rand"))


@function()
def randn(*sizes: Any, size: Any = None, generator: Generator | None = None, **options: Any) -> Tensor:
    """Standard normal: ``randn(2, 3)``. Options: dtype, device, requires_grad, out."""
    return _new("normal", size_of(sizes, "randn", size), "randn", generator, _checked(options, "randn"))


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
    low = 0 if low is None else low
    low, high = static(low), static(high)
    _checked(options, "randint")
    dtype = dtypes.int64 if options.get("dtype") is None else as_dtype(options["dtype"])
    if low >= high:
        raise OpError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    if on_meta(options.get("device")):
        return without_data(size_of((size,), "randint"), dtype.numpy)
    return _placed(_integers(low, high, size_of((size,), "randint"), dtype, generator), options)


def _integers(low: int, high: int, shape: tuple, dtype: Any, generator: Any) -> Tensor:
    source = generator or default_generator

    def drawn(full: tuple) -> Any:
        return draw(
            source, lambda: source.twister.randint(low, high, full, dtype=dtype.numpy), ("randint", full, dtype.name, low, high)
        )

    return lift_draw(drawn, shape)


@function()
def randperm(n: int, *, generator: Generator | None = None, **options: Any) -> Tensor:
    """A random order of 0 ... n - 1: shape (n,), int64 unless given."""
    if n < 0:
        raise OpError(f"randperm(): n must be non-negative, got {n}")
    dtype = dtypes.int64 if _checked(options, "randperm").get("dtype") is None else as_dtype(options["dtype"])
    if on_meta(options.get("device")):
        return without_data((n,), dtype.numpy)
    source = generator or default_generator

    def drawn(full: tuple) -> Any:
        rows = int(np.prod(full[:-1], dtype=np.int64))
        return draw(
            source,
            lambda: np.stack([source.twister.randperm(n, dtype=dtype.numpy) for _ in range(rows)]).reshape(full),
            ("randperm", full, dtype.name),
        )

    return _placed(lift_draw(drawn, (n,)), options)


def in_memory_order(tensor: Tensor, drawn: Callable[[tuple], Tensor]) -> Tensor:
    """Numbers for the elements of a Tensor, drawn in the order in which PyTorch's would lie in memory."""
    return _permuted(tuple(tensor.shape), memory_order(tensor), drawn)


_FORMATS = {"channels_last": (0, 2, 3, 1), "channels_last_3d": (0, 2, 3, 4, 1)}


def _order_asked(input: Tensor, options: dict) -> tuple[int, ...] | None:
    """The order of memory of a result that is like ``input``, or as the option ``memory_format`` says."""
    wanted = str(options.get("memory_format")).removeprefix("torch.")
    return memory_order(input) if wanted in ("None", "preserve_format") else _FORMATS.get(wanted)


def _in_order_of(input: Tensor, options: dict, drawn: Callable[[tuple], Tensor]) -> Tensor:
    return _permuted(tuple(input.shape), _order_asked(input, options), drawn)


def _permuted(shape: tuple, order: tuple[int, ...] | None, drawn: Callable[[tuple], Tensor]) -> Tensor:
    if order is None:
        return drawn(shape)
    return drawn(tuple(shape[d] for d in order)).permute(sorted(range(len(order)), key=order.__getitem__))


def _like(input: Tensor, options: dict) -> dict:
    return {
        "dtype": input.dtype,
        **({"device": "meta"} if is_meta(input) else {}),
        **{k: v for k, v in options.items() if v is not None},
    }


@function()
def rand_like(input: Tensor, *, generator: Generator | None = None, **options: Any) -> Tensor:
    """`rand` of the size and dtype of ``input``."""
    return _in_order_of(input, options, lambda shape: rand(shape, generator=generator, **_like(input, options)))


@function()
def randn_like(input: Tensor, *, generator: Generator | None = None, **options: Any) -> Tensor:
    """`randn` of the size and dtype of ``input``."""
    if _order_asked(input, options) is None:
        return randn(tuple(input.shape), generator=generator, **_like(input, options))
    given = _like(input, _checked(options, "randn_like"))
    kind = as_dtype(given["dtype"])
    made = _in_order_of(input, options, lambda shape: sample("normal", shape, kind, generator, 0.0, 1.0, contiguous=False))
    return _placed(made, given)


@function()
def randint_like(
    input: Tensor, low: Any = None, high: Any = None, *, generator: Generator | None = None, **options: Any
) -> Tensor:
    """`randint` of the size and dtype of ``input``: ``randint_like(input, high)`` or ``randint_like(input, low, high)``."""
    return _in_order_of(input, options, lambda shape: randint(low, high, shape, generator=generator, **_like(input, options)))


def bernoulli_mask(shape: tuple, p: float, dtype: Any, generator: Generator | None = None) -> Tensor:
    """Ones with probability ``p``, zeros otherwise, in each lane anew."""
    return sample("bernoulli", tuple(shape), dtype, generator, float(p))


# A draw is on the tape of the Tensors that decide its law, with derivative 0 with respect to them, as in PyTorch.
DRAWN = Op(lambda *decided: jax.lax.stop_gradient(decided[-1]), "drawn")


@function()
def normal(
    mean: Any = 0.0, std: Any = 1.0, size: Any = None, *, generator: Generator | None = None, out: Any = None, **options: Any
) -> Tensor:
    """Normal numbers; ``mean`` and ``std`` are numbers with a ``size``, or Tensors (broadcast together).

    Raises RuntimeError for a negative std.
    """
    tensors = [t for t in (mean, std) if isinstance(t, Tensor)]
    if not isinstance(std, Tensor) and std < 0:
        raise OpError(f"normal expects std >= 0.0, but found std {std}")
    if not tensors:
        shape = size_of((size,), "normal")
        made = _new("normal", shape, "normal", generator, _checked(options, "normal"), float(mean), float(std))
        return made if out is None else into(out, made, "normal")
    low = concrete(std) if isinstance(std, Tensor) else None
    if low is not None and (low < 0).any():
        raise OpError("normal expects all elements of std >= 0.0")
    shape = np.broadcast_shapes(*(tuple(t.shape) for t in tensors))
    made = call(DRAWN, (*tensors, sample("normal", shape, tensors[0].dtype, generator) * std + mean))
    return made if out is None else into(out, made, "normal")


def _filled_in_place(name: str, kind: str, parameters: Callable) -> None:
    def fill(self: Tensor, *args: Any, generator: Generator | None = None, **named: Any) -> Tensor:
        in_place_allowed(self, name, state.grad)
        given, extra = parameters(self, *args, **named)
        if is_meta(self):  # nothing to fill, and nothing to draw
            return self
        write(self, in_memory_order(self, lambda shape: sample(kind, shape, self.dtype, generator, *given, **extra)))
        return self

    fill.__name__ = name
    fill.__doc__ = f"Fill this Tensor with numbers drawn as ``{kind}``, and return it."
    registry.add_method(name, fill)


def _uniform(self: Tensor, from_: float = 0.0, to: float = 1.0, **named: Any) -> tuple:
    low, high = named.get("from", from_), named.get("to", to)
    if low > high:
        raise OpError(f"uniform_ expects to return a [from, to) range, but found from={low} > to={high}")
    return (float(low), float(high)), {}


def _normal(self: Tensor, mean: float = 0.0, std: float = 1.0) -> tuple:
    if std < 0:
        raise OpError(f"normal_ expects std >= 0.0, but found std {std}")
    return (float(mean), float(std)), {"contiguous": self.is_contiguous()}


def _exponential(self: Tensor, lambd: float = 1.0) -> tuple:
    if lambd <= 0:
        raise OpError(f"exponential_ expects lambda > 0.0, but found lambda={lambd}")
    return (float(lambd),), {}


_filled_in_place("uniform_", "uniform", _uniform)
_filled_in_place("normal_", "normal", _normal)
_filled_in_place("exponential_", "exponential", _exponential)
_filled_in_place("log_normal_", "log_normal", lambda self, mean=1.0, std=2.0: ((float(mean), float(std)), {}))
_filled_in_place("cauchy_", "cauchy", lambda self, median=0.0, sigma=1.0: ((float(median), float(sigma)), {}))
_filled_in_place("geometric_", "geometric", lambda self, p: ((float(p),), {}))


_NOT_GIVEN = object()  # random_(5) draws below 5, random_(5, None) from 5 on


def _random_in_place(
    self: Tensor, from_: Any = None, to: Any = _NOT_GIVEN, *, generator: Generator | None = None, **named: Any
) -> Tensor:
    """Fill this Tensor with integers: of the whole range of its dtype, below ``from_``, or in [from_, to), without an end if ``to`` is None."""
    in_place_allowed(self, "random_", state.grad)
    low = named.get("from", from_)
    if to is _NOT_GIVEN:
        low, to = (None, None) if low is None else (0, low)
    source = generator or default_generator
    dtype = self.dtype
    bounds: tuple[Any, Any] = (None if low is None else int(low), None if to is None else int(to))
    if None not in bounds and bounds[0] >= bounds[1]:
        raise OpError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={to}")

    if is_meta(self):
        return self

    def drawn(full: tuple) -> Any:
        return draw(
            source,
            lambda: source.twister.random(full, dtype=dtype.numpy, low=bounds[0], high=bounds[1]),
            ("random", full, dtype.name, bounds),
        )

    write(self, in_memory_order(self, lambda shape: lift_draw(drawn, shape)))
    return self


registry.add_method("random_", _random_in_place)
