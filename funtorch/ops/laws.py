"""Random numbers whose law depends on the values of a Tensor: chances, weights, rates.

PyTorch's generator takes as many numbers as the values ask for, so that the values must be known. In a function that is being
compiled they are not: there coins and categories, for which the count is fixed, are decided inside of the program from numbers
that are drawn outside of it, the same ones as in eager code. The others make the function stay eager.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .. import dtypes
from ..core.batching import at_front, lift_draw, open_vmaps
from ..core.call import call
from ..core.generators import Generator
from ..core.handle import Handle, in_place_allowed, value_of
from ..core.levels import WRAPPED, Dual
from ..core.meta import constant_like, is_meta
from ..core.op import Op
from ..core.state import state
from ..core.strides import inverse, memory_order
from ..core.views import concrete
from ..core.writing import write
from ..errors import OpError, TracedValueError
from ..tensor import Tensor
from . import registry
from .arguments import tensor_argument
from .assignment import check_overlap, into
from .declare import function
from .random import DRAWN, bernoulli_mask, in_memory_order, sample, twister_of


def _inverted(weights: Any, u: Any) -> Any:
    """The first category up to which the weights' share reaches u: weights (*, C), u (*, n), z (*, n)."""
    kind = jnp.float64 if weights.dtype == jnp.float64 else jnp.float32
    rows = weights.reshape(-1, weights.shape[-1]).astype(kind)
    # One after the other, as eager code adds them: another order rounds otherwise.
    _, cumulated = jax.lax.scan(lambda total, w: (total + w, total + w), jnp.zeros(rows.shape[:1], kind), rows.T)
    shares = jnp.asarray(cumulated / cumulated[-1:]).at[-1].set(1).T.astype(jnp.float64)
    return jax.vmap(jnp.searchsorted)(shares, u.reshape(rows.shape[0], -1)).reshape(u.shape).astype(jnp.int64)


_PAIRS = Op(lambda *arrays: jnp.stack(jnp.broadcast_arrays(*arrays), -1), "pairs")
_COINS = Op(lambda p, u: jax.lax.stop_gradient((u < p.astype(u.dtype)).astype(p.dtype)), "bernoulli")
_CATEGORY = Op(lambda weights, e: jnp.argmax(weights / e, -1, keepdims=True), "multinomial")
_INVERTED = Op(_inverted, "multinomial")
_ORDER = Op(lambda weights, e: jnp.argsort(-(weights / e), -1, stable=True), "multinomial")
_ALIKE = Op(jnp.zeros_like, "drawn")  # what is drawn, of Tensors without data: a shape and a dtype
_FIRST_ALIKE = Op(lambda pairs: jnp.zeros_like(pairs[..., 0]), "drawn")


@functools.cache
def _choices(count: int) -> Op:
    return Op(lambda weights: jnp.zeros((*weights.shape[:-1], count), jnp.int64), "multinomial")


def _lanes_first(tensor: Tensor, name: str) -> tuple[Handle, list]:
    """A plain Tensor with the values in all lanes, lanes first, and the levels that they belong to."""
    current: Handle = tensor
    levels: list = []
    while type(value_of(current)) in WRAPPED:
        payload = current._payload
        if type(payload) is Dual:
            current = payload.primal
            continue
        if payload.level.randomness == "same":
            raise OpError(f"vmap: Vmap does not support {name} with randomness='same' on a mapped input")
        levels.append(payload.level)
        current = at_front(payload, payload.level.size)
    return current, levels


def _with_own_lanes(values: np.ndarray, levels: list) -> tuple[np.ndarray, list]:
    """The values, repeated for each lane of a vmap that they are not mapped over and whose lanes draw different numbers."""
    wanted = [level for level in open_vmaps() if level in levels or level.randomness == "different"]
    if len(wanted) == len(levels):
        return values, levels
    missing = tuple(axis for axis, level in enumerate(wanted) if level not in levels)
    shape = (*(level.size for level in wanted), *values.shape[len(levels) :])
    return np.broadcast_to(np.expand_dims(values, missing), shape), wanted[::-1]


def by_values(tensor: Tensor, name: str, sampler: Callable, alike: Op = _ALIKE) -> Tensor:
    """Draw numbers whose law depends on the values of a Tensor; ``alike`` gives zeros like them, for one without data."""
    if is_meta(tensor):
        made: Tensor = call(alike, (tensor,), recording=False)
        return made
    if any(level.randomness == "error" for level in open_vmaps()):
        lift_draw(lambda shape: np.zeros(shape), ())
    plain, levels = _lanes_first(tensor, name)
    if state.recorder is not None:
        state.recorder.decision(plain, name)
    values = concrete(plain)
    if values is None:
        raise TracedValueError(
            f"{name}: the probabilities are traced, and PyTorch's draws depend on them: leave this call outside of compiled code"
        )
    values, levels = _with_own_lanes(values, levels)
    drawn = sampler(values) if state.recorder is None else state.recorder.by_values(name, values, lambda: sampler(values))
    result: Tensor = Tensor._of_numpy(np.asarray(drawn))
    for level in reversed(levels):
        result = level.wrap(result, 0)
    return result


def _require(valid: Tensor, name: str, message: str) -> None:
    """Raise unless all is true; in a compiled function, a decision that its program checks; in a loop's, when the loop has run."""
    every = _lanes_first(valid, name)[0].all()
    if state.recorder is not None and state.recorder.check(value_of(every), OpError, message):
        return
    if not bool(every):
        raise OpError(message)


def _coins(input: Tensor, generator: Generator | None) -> Tensor:
    """`bernoulli` inside of a program."""
    _require((input >= 0) & (input <= 1), "bernoulli", "bernoulli expects every p to be in [0, 1]")
    kind = dtypes.float64 if input.dtype is dtypes.float64 else dtypes.float32
    return call(_COINS, (input, sample("uniform", tuple(input.shape), kind, generator)))


def _categories(input: Tensor, count: int, replacement: bool, generator: Generator | None) -> Tensor:
    """`multinomial` inside of a program: by inversion, or the greatest of weight / exponential."""
    message = "multinomial: probability tensor contains either `inf`, `nan` or element < 0"
    _require((input >= 0) & (input < float("inf")), "multinomial", message)
    _require((input > 0).any(-1), "multinomial", "invalid multinomial distribution (sum of probabilities <= 0)")
    if not replacement and count > 1:
        few = f"invalid multinomial distribution (without replacement, fewer than {count} categories of positive weight)"
        _require((input > 0).sum(-1) >= count, "multinomial", few)
    if replacement and count > 1:
        return call(_INVERTED, (input, sample("uniform", (*input.shape[:-1], count), dtypes.float64, generator)))
    noise = sample("exponential", tuple(input.shape), input.dtype, generator)
    return call(_CATEGORY, (input, noise)) if count == 1 else call(_ORDER, (input, noise))[..., :count]


@function(method=True)
def bernoulli(input: Tensor, p: float | None = None, *, generator: Generator | None = None, out: Any = None) -> Tensor:
    """One with the probability that ``input`` holds, zero otherwise: shape and dtype of ``input``.

    Raises RuntimeError for a probability outside [0, 1].
    """
    if not isinstance(input, Tensor):
        tensor_argument(input, "bernoulli", "input", 1)
    if p is not None and not is_meta(input):
        return bernoulli_mask(tuple(input.shape), p, input.dtype, generator)
    if (
        isinstance(out, Tensor)
        and memory_order(out) is not None
        and tuple(out.shape) == tuple(input.shape)
        and not (out.requires_grad or input.requires_grad)
    ):
        return _bernoulli_in_place(out, input, generator=generator)
    if state.recorder is not None and input.dtype.is_floating_point:
        made = _coins(input, generator)
    else:
        twister = twister_of(generator)
        made = by_values(input, "bernoulli", lambda v: twister.bernoulli(v.shape, v, dtype=v.dtype))
    made = call(DRAWN, (input, made))
    return made if out is None else into(out, made, "factory")


@function(method=True)
def multinomial(
    input: Tensor, num_samples: int, replacement: bool = False, *, generator: Generator | None = None, out: Any = None
) -> Tensor:
    """Indices drawn with the weights that ``input`` (C,) or (N, C) holds: (num_samples,) or (N, num_samples), int64.

    Raises RuntimeError for negative weights, all-zero rows, or too few categories of positive weight without replacement, where
    PyTorch gives ones of weight zero.
    """
    if input.dim() not in (1, 2):
        raise OpError(f"multinomial(): prob_dist must be 1 or 2 dim, got {list(input.shape)}")
    possible = num_samples >= 1 and (replacement or num_samples <= input.shape[-1])
    if state.recorder is not None and possible and input.dtype.is_floating_point:
        made = _categories(input, num_samples, replacement, generator)
    else:
        by_columns = memory_order(input) is not None
        made = by_values(input, "multinomial", _by_rows(num_samples, replacement, generator, by_columns), _choices(num_samples))
    return made if out is None else into(out, made, "multinomial")


def _by_rows(count: int, replacement: bool, generator: Generator | None, by_columns: bool) -> Callable:
    twister = twister_of(generator)

    def sampler(values: np.ndarray) -> np.ndarray:
        if values.ndim <= 2:
            return twister.multinomial(values, count, replacement, by_columns)
        rows = twister.multinomial(values.reshape(-1, values.shape[-1]), count, replacement)
        return rows.reshape(*values.shape[:-1], count)

    return sampler


@function()
def poisson(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Poisson numbers with the rates that ``input`` holds."""
    twister = twister_of(generator)
    return call(DRAWN, (input, by_values(input, "poisson", lambda v: twister.poisson(v))))


@function()
def binomial(count: Tensor, prob: Tensor, generator: Generator | None = None) -> Tensor:
    """Binomial numbers: of ``count`` trials with probability ``prob``.

    Raises RuntimeError for different dtypes.
    """
    twister = twister_of(generator)
    if count.dtype != prob.dtype:
        raise OpError(f"binomial: Found dtype {prob.dtype} but expected {count.dtype}")
    both = call(_PAIRS, (count, prob))
    made = by_values(both, "binomial", lambda v: twister.binomial(v[..., 0], v[..., 1]), _FIRST_ALIKE)
    return call(DRAWN, (count, prob, made))


def _bernoulli_in_place(self: Tensor, p: Any = 0.5, *, generator: Generator | None = None) -> Tensor:
    """Fill this Tensor with ones of probability ``p`` (a number or a Tensor), zeros otherwise."""
    in_place_allowed(self, "bernoulli_", state.grad)
    if not isinstance(p, Tensor) and not 0 <= p <= 1:
        raise OpError(f"bernoulli_ expects p to be in [0, 1], but got p={p}")
    if is_meta(self):
        write(self, constant_like(self, 0))
        return self
    check_overlap(self, "bernoulli_")
    if isinstance(p, Tensor):
        made = _coins_of(self, p, generator)
    else:
        made = in_memory_order(self, lambda shape: bernoulli_mask(shape, p, self.dtype, generator))
    write(self, made)
    return self


def _coins_of(like: Tensor, p: Tensor, generator: Generator | None) -> Tensor:
    """Coins with the chances ``p``, which broadcasts, for a Tensor: in the order in which it lies in memory."""
    twister, dtype, shape, order = twister_of(generator), like.dtype.numpy, tuple(like.shape), memory_order(like)
    if order is not None:
        p, shape = p.expand(shape).permute(order), tuple(shape[d] for d in order)
    elif tuple(p.shape) != shape:
        p = p.expand(shape)
    rank = p.dim()
    made = by_values(p, "bernoulli_", lambda v: twister.bernoulli((*v.shape[: v.ndim - rank], *shape), v, dtype=dtype))
    return made if order is None else made.permute(inverse(order))


registry.add_method("bernoulli_", _bernoulli_in_place)
