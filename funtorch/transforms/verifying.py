"""``compile(f, verify=n)``: the first compiled calls run eagerly too, from the same state, and are compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.handle import Handle, value_of
from ..core.trees import flatten
from ..errors import OpError

TOLERANCES = {"float16": 1e-2, "bfloat16": 5e-2, "float32": 1e-4, "complex64": 1e-4}


def _observed(result: Any, written: list[Handle], slopes: list[Handle]) -> dict[str, np.ndarray]:
    """The values of results, of Tensors written, and of gradients written."""
    leaves, _ = flatten(result)
    found = {f"result {i}": np.asarray(value_of(o)) for i, o in enumerate(leaves) if isinstance(o, Handle)}
    found |= {f"written Tensor {i}": np.asarray(value_of(t)) for i, t in enumerate(written)}
    return found | {f"gradient {i}": np.asarray(value_of(t._grad)) for i, t in enumerate(slopes) if t._grad is not None}


def verified(name: str, variant: Any, tensors: list[Handle], eager: Callable[[], Any]) -> Any:
    """Run ``variant`` and then ``eager`` from the same state. Returns the eager result; RuntimeError where they differ."""
    written, slopes = variant.touches(tensors)
    held = {id(t): t for t in [*written, *slopes, *(t._grad for t in slopes if t._grad is not None)]}
    before = [(t, dict(t.__dict__)) for t in held.values()]
    generators = [(source, source.get_state()) for source in variant.generators]
    effects, variant.effects = variant.effects, []  # schedules move on once, in the eager call
    try:
        compiled = _observed(variant(tensors), written, slopes)
    finally:
        variant.effects = effects
    for target, fields in before:
        target.__dict__.clear()
        target.__dict__.update(fields)
    for source, at in generators:
        source.set_state(at)
    result = eager()
    expected = _observed(result, written, slopes)
    if compiled.keys() != expected.keys():
        raise OpError(f"compile({name}, verify=...): eager code gave {sorted(expected)}, compiled code {sorted(compiled)}")
    for what, value in expected.items():
        tolerance = TOLERANCES.get(value.dtype.name, 1e-8 if value.dtype.kind in "fc" else 0.0)
        if not np.allclose(
            compiled[what].astype(value.dtype), value, rtol=tolerance, atol=tolerance, equal_nan=value.dtype.kind in "fc"
        ):
            raise OpError(f"compile({name}, verify=...): {what} is {value} in eager code and {compiled[what]} in compiled code")
    return result
