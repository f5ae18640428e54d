"""while_loop, fori_loop: a function applied again and again to what it gave before."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ... import dtypes
from ...core.handle import Handle
from ...core.op import Op
from ...core.trees import flatten, unflatten
from ...errors import ArgumentTypeError, ArgumentValueError, OpError, describe
from ...tensor import Tensor
from .applying import Parts, apply, check_function, kept
from .lanes import Choices
from .lifting import Body, trace
from .sampling import at_step
from .scans import avals_of, check_carry, scanned, settled_loop
from .unbounded import Unbounded

Array = Any


def while_loop(cond_fn: Callable, body_fn: Callable, carried_inputs: Sequence[Any], max_steps: int | None = None) -> Any:
    """``while cond_fn(*carry): carry = body_fn(*carry)``, as one program.

    Forward derivatives (``jvp``, ``jacfwd``) and ``vmap`` need no more. For gradients there has to be a bound on the number of
    steps: with ``max_steps`` about every sqrt(max_steps)-th carry is kept, and the steps between are run again.

    Args:
        cond_fn: from the carry's parts to a Tensor of one element, or a Python bool.
        body_fn: from the carry's parts to the next carry, a tuple of the same structure, shapes and dtypes.
        carried_inputs: a tuple or list of Tensors or numbers, in nested containers.
        max_steps: the loop ends after so many steps at the latest.

    Returns:
        The last carry, a tuple.

    Raises:
        RuntimeError: the carry changes its structure, a shape or a dtype; cond_fn does not give one element; a gradient is asked
            for, and there is no ``max_steps``.
        ValueError: ``max_steps`` is negative.
        TypeError: ``carried_inputs`` is no tuple or list, or holds neither Tensors nor numbers.

    >>> import funtorch as torch
    >>> torch.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * 2), (torch.tensor(0), torch.tensor(1.0)))
    (tensor(3), tensor(8.))
    """
    check_function("while_loop", "cond_fn", cond_fn)
    check_function("while_loop", "body_fn", body_fn)
    if not isinstance(carried_inputs, (tuple, list)):
        raise ArgumentTypeError(f"while_loop(): carried_inputs must be a tuple or list, got {type(carried_inputs).__name__}")
    if max_steps is not None and max_steps < 0:
        raise ArgumentValueError(f"while_loop(): max_steps must not be negative, got {max_steps}")
    return _looped("while_loop", cond_fn, body_fn, tuple(carried_inputs), max_steps, body_fn)


def fori_loop(lower: Any, upper: Any, body: Callable, init: Any, max_steps: int | None = None) -> Any:
    """``for i in range(lower, upper): value = body(i, value)``, beginning with ``init``, as one program.

    Args:
        lower, upper: Python ints, or Tensors of one integer. With ints there are gradients; with Tensors for ``max_steps`` only.
        body: from ``i`` (a Tensor, int64) and the value to the next value, of the same structure, shapes and dtypes.
        init: Tensors or numbers in nested containers.
        max_steps: as in `while_loop`.

    Returns:
        The last value.

    Raises:
        RuntimeError: as in `while_loop`. TypeError: ``init`` holds neither Tensors nor numbers.

    >>> import funtorch as torch
    >>> torch.func.fori_loop(0, 4, lambda i, total: total + i, torch.tensor(0))
    tensor(6)
    """
    check_function("fori_loop", "body", body)
    leaves, spec = flatten(init)
    values = [as_tensor("fori_loop", leaf) for leaf in leaves]
    if isinstance(lower, int) and isinstance(upper, int):
        numbers = Tensor._of_numpy(np.arange(lower, upper, dtype=np.int64))

        def step(value: Any, i: Any) -> tuple:
            return _with_tensors("fori_loop", body(i, value)), None

        return scanned("fori_loop", step, (values, spec), ([numbers], flatten(numbers)[1]), 0, False, None, body)[0]
    first, last = (as_tensor("fori_loop", bound).long() for bound in (lower, upper))

    def going(i: Any, end: Any, value: Any) -> Any:
        return i < end

    def counted(i: Any, end: Any, value: Any) -> tuple:
        return i + 1, end, body(i, value)

    return _looped("fori_loop", going, counted, (first, last, unflatten(spec, values)), max_steps, body)[2]


def as_tensor(name: str, leaf: Any) -> Any:
    """A part of a carry as a Tensor. Raises TypeError for what is neither Tensor nor number."""
    if isinstance(leaf, Handle):
        return leaf
    if isinstance(leaf, (bool, int)):
        return Tensor._of_numpy(np.asarray(leaf))
    if isinstance(leaf, float):
        return Tensor._of_numpy(np.asarray(leaf, dtypes.default().numpy))
    raise ArgumentTypeError(f"{name}(): the carry must hold Tensors or numbers, got {type(leaf).__name__}")


def _with_tensors(name: str, tree: Any) -> Any:
    leaves, spec = flatten(tree)
    return unflatten(spec, [as_tensor(name, leaf) for leaf in leaves])


def _looped(name: str, test: Callable, body: Callable, init: tuple, max_steps: int | None, whose: Callable) -> tuple:
    leaves, spec = flatten(init)
    carry = [as_tensor(name, leaf) for leaf in leaves]
    avals = avals_of(carry)

    def tested(*parts: Any) -> Any:
        return as_tensor(name, test(*parts))

    def stepped(*parts: Any) -> Any:
        found = body(*parts)
        return _with_tensors(name, tuple(found) if isinstance(found, (list, tuple)) else (found,))

    met, bodies = settled_loop(
        name,
        [whose],
        lambda met, requires: [trace(met, f, spec, avals, requires) for f in (tested, stepped)],
        carry,
        lambda b: check_carry(name, b, b.spec, spec, carry),
    )
    _check_test(name, bodies[0])

    def build(runners: list[Callable]) -> Callable:
        return lambda parts: _program(runners, parts, bool(met.checks), max_steps)

    kind: type[Op] = Unbounded if max_steps is None else Choices
    results = apply(met, max_steps, bodies, carry, build, kind)
    return bodies[1].result(kept(results, bodies[1].follows))


def _check_test(name: str, test: Body) -> None:
    if test.spec.kind != "leaf" or math.prod(test.avals[0].shape) != 1:
        found = ", ".join(map(describe, test.avals)) or "no Tensor"
        raise OpError(f"{name}(): cond_fn must return a single-element Tensor or a bool, got {found}")


def _program(runners: list[Callable], parts: Parts, checked: bool, max_steps: int | None) -> list[Array]:
    """The loop on arrays. Its state: the number of the step, whether to go on, the failed check, the carry, what is written."""
    test, step = runners
    written = len(parts.written)

    def apart(outs: list[Array], failed: Array) -> tuple[list[Array], list[Array], Array]:
        if checked:
            failed = jnp.where(failed == 0, outs[-1], failed)
            outs = outs[:-1]
        return outs[: len(outs) - written], outs[len(outs) - written :], failed

    def call(run: Callable, constants: list[Array], number: Array, carry: list[Array], held: list[Array]) -> list[Array]:
        keys = [at_step(k, number) for k in parts.keys]
        return run(constants, *carry, *held, *parts.outer, *keys)

    def look(number: Array, carry: list[Array], held: list[Array], failed: Array) -> tuple:
        (going,), held, failed = apart(call(test, parts.constants[0], 2 * number, carry, held), failed)
        return number, going.reshape(()) != 0, failed, carry, held

    def advance(now: tuple) -> tuple:
        number, _, failed, carry, held = now
        carry, held, failed = apart(call(step, parts.constants[1], 2 * number + 1, carry, held), failed)
        return look(number + 1, carry, held, failed)

    start = look(jnp.int32(0), list(parts.own), list(parts.written), jnp.int32(0))
    if max_steps is None:
        last = jax.lax.while_loop(lambda now: now[1], advance, start)
    else:
        last = _bounded(advance, start, max_steps)
    return [*last[3], *last[4], *([last[2]] if checked else [])]


def _bounded(advance: Callable, start: tuple, most: int) -> tuple:
    """At most ``most`` steps, in chunks of about sqrt(most): of each chunk its beginning is kept for the gradient."""
    chunk = max(math.isqrt(most), 1)

    def one(now: tuple, _: None) -> tuple:
        return jax.lax.cond(now[1] & (now[0] < most), advance, lambda same: same, now), None

    def several(now: tuple, _: None) -> tuple:
        return jax.lax.cond(now[1], lambda at: jax.lax.scan(one, at, length=chunk)[0], lambda same: same, now), None

    return jax.lax.scan(jax.checkpoint(several), start, length=-(-most // chunk))[0]
