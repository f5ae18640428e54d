"""Attention in one kernel: cuDNN's on a CUDA GPU and Pallas' flash attention on a TPU, both as JAX offers them.

A kernel gives the value and the first derivatives in reverse mode. All other derivatives, of either, are those of
the plain formula: a kernel has none. A place that the chosen kernel can't serve (see `_KERNELS`) runs the formula.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..core.op import Op
from ..core.state import state
from ..errors import OpError
from .declare import Array

LOWEST = -1e30  # added to a score in place of -inf, of which the kernels make NaN; exp of it is 0 as well
WIDEST_CUDNN, WIDEST_FLASH, TILE = 128, 128, 128


FUSED = frozenset({"FLASH_ATTENTION", "EFFICIENT_ATTENTION", "CUDNN_ATTENTION", "OVERRIDEABLE"})
EVERY = FUSED | {"MATH"}
# The names of PyTorch's kernels that may be used, as its only element: here there are a fused one and a plain one.
allowed: list[frozenset[str]] = [EVERY]
NO_KERNEL = "No available kernel.  Aborting execution."
NO_BACKEND = (
    "No viable backend for scaled_dot_product_attention was found. This is likely due to turning off both the math kernel and "
    "the fused kernels."
)


def allow(name: str, use: bool) -> None:
    """Say whether a kernel of PyTorch's may be used, by its name in ``EVERY``."""
    allowed[0] = allowed[0] | {name} if use else allowed[0] - {name}


class Plan(NamedTuple):
    """What is known of a call: ``platform`` of the kernel, and the op's statics."""

    platform: str
    causal: bool
    scale: float | None
    groups: bool


class Shapes(NamedTuple):
    """Of queries (B, H, L, D), keys (B, G, S, D), values (B, G, S, E) and the mask, None where there is none."""

    query: tuple[int, ...]
    key: tuple[int, ...]
    value: tuple[int, ...]
    mask: tuple[int, ...] | None


@functools.lru_cache(maxsize=1)
def platform_of_kernels() -> str | None:
    """The key in `_KERNELS` of the platform on which JAX runs, or None if there is no kernel for it."""
    return {"gpu": "cuda", "cuda": "cuda", "tpu": "tpu"}.get(jax.default_backend())


def plan_of(shapes: Shapes, dtype: Any, dropped: bool, causal: bool, scale: float | None, groups: bool) -> Plan | None:
    """The plan by which a kernel runs, or None for the formula.

    Raises RuntimeError where `sdpa_kernel` or a switch has excluded the formula and no other kernel can do this.
    """
    names, platform = allowed[0], platform_of_kernels()
    if platform is not None and not state.levels and not dropped and names & FUSED:
        plan = Plan(platform, causal, scale, groups)
        if served(shapes, dtype, plan):
            return plan
    if "MATH" not in names:
        _without_formula(names, platform, len(shapes.query) == 4 and not dropped)
    return None


def _without_formula(names: frozenset[str], platform: str | None, usual: bool) -> None:
    """On the CPU PyTorch has a flash kernel, for which the formula stands in here."""
    if platform is not None or ("FLASH_ATTENTION" in names and not usual):
        raise OpError(NO_KERNEL)
    if "FLASH_ATTENTION" not in names:
        raise OpError(NO_BACKEND)


def served(shapes: Shapes, dtype: Any, plan: Plan) -> bool:
    """Whether the kernel of the plan's platform can do this."""
    query, key, value, mask = shapes
    if any(len(shape) != 4 or 0 in shape for shape in shapes[:3]):
        return False
    heads = key[1] if not plan.groups or query[1] % key[1] else query[1]
    fits = query[0] == key[0] == value[0] and query[1] == heads and key[1:3] == value[1:3] and query[3] == key[3] == value[3]
    square = query[2] == key[2] or not plan.causal  # a causal mask begins in another corner in some kernels
    full = (query[0], query[1], query[2], key[2])
    return (
        fits
        and square
        and spreads(mask, full)
        and _KERNELS[plan.platform].takes(query[2], key[2], query[3], np.dtype(dtype).name)
    )


def spreads(mask: tuple[int, ...] | None, scores: tuple[int, ...]) -> bool:
    """Whether a mask's shape broadcasts to that of the scores; where there is none, it does."""
    return mask is None or (len(mask) <= len(scores) and all(m in (1, n) for m, n in zip(mask[::-1], scores[::-1], strict=False)))


def _cudnn_takes(queries: int, keys: int, width: int, dtype: str) -> bool:
    return dtype in ("float16", "bfloat16") and width % 8 == 0 and width <= WIDEST_CUDNN and queries % 2 == keys % 2 == 0


def _flash_takes(queries: int, keys: int, width: int, dtype: str) -> bool:
    return dtype in ("float32", "bfloat16") and queries % TILE == keys % TILE == 0 and width % 8 == 0 and width <= WIDEST_FLASH


def _cudnn(plan: Plan, query: Array, key: Array, value: Array, bias: Array | None) -> Array:
    q, k, v = (jnp.swapaxes(a, 1, 2) for a in (query, key, value))  # (B, L, H, D)
    bias = None if bias is None else bias.astype(query.dtype)
    made = jax.nn.dot_product_attention(q, k, v, bias, scale=plan.scale, is_causal=plan.causal, implementation="cudnn")
    return jnp.swapaxes(made, 1, 2)  # (B, H, L, D)


def _flash(plan: Plan, query: Array, key: Array, value: Array, bias: Array | None) -> Array:
    from jax.experimental.pallas.ops.tpu.flash_attention import flash_attention

    times = query.shape[1] // key.shape[1]
    k, v = (jnp.repeat(a, times, axis=1) for a in (key, value))
    scale = 1 / math.sqrt(query.shape[-1]) if plan.scale is None else plan.scale
    made: Array = flash_attention(query, k, v, bias, causal=plan.causal, sm_scale=scale)
    return made


class Kernel(NamedTuple):
    """``run(plan, query, key, value, bias)`` for what ``takes(L, S, D, dtype)``; ``wide``: it may be traced with 64 bits on."""

    run: Callable[..., Array]
    takes: Callable[..., bool]
    wide: bool


_KERNELS = {"cuda": Kernel(_cudnn, _cudnn_takes, True), "tpu": Kernel(_flash, _flash_takes, False)}


def _with_mask(plan: Plan, query: Array, key: Array, value: Array, mask: Array | None) -> Array:
    """The kernel with a mask of PyTorch's: bools or floats, of which a row may hide every key."""
    run = functools.partial(_KERNELS[plan.platform].run, plan)
    if mask is None:
        return run(query, key, value, None)
    full = (*query.shape[:3], key.shape[2])
    seen = mask if mask.dtype == bool else mask > -jnp.inf
    bias = jnp.where(seen, 0.0 if mask.dtype == bool else mask.astype(jnp.float32), LOWEST).astype(jnp.float32)
    bias = jnp.broadcast_to(bias, full)
    if query.dtype == jnp.float16:
        bias = jnp.maximum(bias, float(jnp.finfo(jnp.float16).min) / 2)
    some = jnp.any(jnp.broadcast_to(seen, full), axis=-1, keepdims=True)
    return jnp.where(some, run(query, key, value, bias), 0)


class FusedOp(Op):
    """Attention whose gradients of queries, keys and values are the kernel's too."""

    __slots__ = ("plan", "plain")

    def __init__(self, plan: Plan, plain: Callable[..., Array]) -> None:
        super().__init__(self._value(plan, plain), "scaled_dot_product_attention")
        self.plan, self.plain = plan, plain

    def vjp(self, mask: tuple[bool, ...]) -> Op:
        """As `Op.vjp`; the gradient of a mask of floats is the formula's."""
        if mask not in self._vjp:
            slow = Op(self.plain, self.name).vjp(mask).fn
            fast = _gradients_function(self.plan, mask, self.plain)
            self.set_vjp(mask, Op(_with_slow_slopes(_where(self.plan, fast, slow), slow), f"{self.name}_backward"))
        return super().vjp(mask)

    @staticmethod
    def _value(plan: Plan, plain: Callable[..., Array]) -> Callable:
        def fused(query: Array, key: Array, value: Array, mask: Array | None = None) -> Array:
            with _narrow(plan):
                return _with_mask(plan, query, key, value, mask)

        return _with_slow_slopes(_where(plan, fused, plain), plain)


def _narrow(plan: Plan) -> Any:
    return jax.enable_x64(_KERNELS[plan.platform].wide)


def _where(plan: Plan, fast: Callable, slow: Callable) -> Callable:
    """A Tensor on an accelerator's machine may be on its CPU: which it is, is known when the program is compiled."""
    return lambda *args: jax.lax.platform_dependent(*args, default=slow, **{plan.platform: fast})


def _with_slow_slopes(value: Callable, slow: Callable) -> Callable:
    """``value``, whose derivatives are those of ``slow``."""
    function = jax.custom_jvp(value)

    @function.defjvp
    def slopes(primals: tuple, tangents: tuple) -> tuple:
        return function(*primals), jax.jvp(slow, primals, tangents)[1]

    return function


def _gradients_function(plan: Plan, mask: tuple[bool, ...], plain: Callable) -> Callable:
    """From (query, key, value, mask, the result's gradient) to the gradients of the marked: the kernel's, for a mask the formula's."""
    marked = [i for i in range(3) if mask[i]]

    def gradients(*args: Array) -> tuple:
        inputs, g = list(args[:-1]), args[-1]
        given = inputs[3] if len(inputs) > 3 else None

        def run(*some: Array) -> Array:
            placed = inputs[:3]
            for i, each in zip(marked, some, strict=True):
                placed[i] = each
            return _with_mask(plan, placed[0], placed[1], placed[2], given)

        with _narrow(plan):
            found = jax.vjp(run, *[inputs[i] for i in marked])[1](g) if marked else ()
        if mask[3:] == (True,):
            found = (*found, *jax.vjp(lambda m: plain(*inputs[:3], m), given)[1](g))
        return tuple(found)

    return gradients


@functools.lru_cache(maxsize=256)
def fused_op(plan: Plan, plain: Callable[..., Array]) -> FusedOp:
    """The Op of a plan; ``plain(query, key, value, mask, plan)`` is the formula."""
    return FusedOp(plan, lambda q, k, v, mask=None: plain(q, k, v, mask, plan))
