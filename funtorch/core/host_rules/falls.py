"""Equations without a NumPy rule: each is compiled by XLA by itself, once, and counted whenever it runs.

``FUNTORCH_LOGS=falls`` prints the counts at the end of a process.
"""

from __future__ import annotations

import atexit
import os
import sys
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import jax
import numpy as np

from ..forked import refuse_xla
from .lowering import is_key, spec

falls: Counter[str] = Counter()
KEPT = 512  # compiled equations that are kept for further programs


def lines() -> list[str]:
    """What is to be said of `falls`, the most frequent first."""
    return [f"{name}: {count} runs through XLA for want of a NumPy rule" for name, count in falls.most_common()]


def _log() -> None:
    for line in lines():
        print(f"[falls] {line}", file=sys.stderr)


if "falls" in os.environ.get("FUNTORCH_LOGS", "").split(","):
    atexit.register(_log)


def through_xla(eqn: Any) -> Callable:
    """A function of NumPy arrays that runs the equation ``eqn`` on the CPU, giving a list of NumPy arrays."""
    name, compiled = eqn.primitive.name, _Compiled(eqn)

    def run(*args: np.ndarray) -> Any:
        falls[name] += 1
        results = [np.asarray(r) for r in compiled(*args)]
        return results if len(results) != 1 else results[0]

    return run


class _Compiled:
    """Compiles at its first call, so that a branch never taken costs nothing."""

    def __init__(self, eqn: Any):
        self.eqn = eqn
        self.function: Callable | None = None

    def __call__(self, *args: np.ndarray) -> Any:
        refuse_xla(self.eqn.primitive.name)
        if self.function is None:
            self.function = _shared(_Signature(self.eqn))
        return self.function(*args)


class _Signature:
    """An equation, equal to others of the same primitive, parameters and avals."""

    def __init__(self, eqn: Any):
        self.eqn = eqn
        self.avals = tuple(v.aval for v in eqn.invars)
        self.key: tuple = (
            eqn.primitive.name,
            tuple(sorted(eqn.params.items(), key=lambda item: item[0])),
            self.avals,
        )
        try:
            self.hash = hash(self.key)
        except TypeError:  # some parameter has no hash: equal to nothing but itself
            self.key = (id(eqn),)
            self.hash = id(eqn)

    def __hash__(self) -> int:
        return self.hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Signature) and self.key == other.key


def _key_impl(aval: Any) -> Any:
    """The generator of a random key type, which JAX tells of a key only, not of its aval."""
    found: list[Any] = []

    def look(key: Any) -> Any:
        found.append(jax.random.key_impl(key))
        return jax.random.key_data(key)

    jax.eval_shape(look, jax.ShapeDtypeStruct((), aval.dtype))
    return found[0]


@lru_cache(maxsize=KEPT)
def _shared(signature: _Signature) -> Callable:
    eqn, avals = signature.eqn, signature.avals

    def on_words(*args: Any) -> list:
        """The equation, with random keys as arrays of their words at its border."""
        wrapped = [
            jax.random.wrap_key_data(x, impl=_key_impl(a)) if is_key(a.dtype) else x for x, a in zip(args, avals, strict=True)
        ]
        results = eqn.primitive.bind(*wrapped, **eqn.params)
        results = results if eqn.primitive.multiple_results else [results]
        return [jax.random.key_data(r) if is_key(r.dtype) else r for r in results]

    with jax.default_device(jax.local_devices(backend="cpu")[0]):
        shapes = [jax.ShapeDtypeStruct(s.shape, s.dtype) for s in map(spec, avals)]
        return jax.jit(on_words).lower(*shapes).compile()
