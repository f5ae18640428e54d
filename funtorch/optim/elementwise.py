"""What rules of optimisers share: numbers in double precision, as PyTorch's are, and complex parameters as pairs of real ones."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from .update import Rule


def exact(rule: Rule) -> Rule:
    """Mark a rule that takes its numbers in double precision, and casts what it makes of them by `in_type_of`."""
    rule.exact = True  # type: ignore[attr-defined]
    return rule


def prepared(numbers: Callable[[dict[str, Any], Any], dict[str, Any]]) -> Callable[[Rule], Rule]:
    """Mark a rule whose numbers are ``numbers(h, step)``: made once for all parameters in double precision, then cast."""

    def mark(rule: Rule) -> Rule:
        rule.prepare = numbers  # type: ignore[attr-defined]
        return rule

    return mark


def elementwise(rule: Rule) -> Rule:
    """Mark a rule as `exact`, and let it see the parts of a complex parameter as one more dimension."""

    @functools.wraps(rule)
    def on_parts(param: Any, grad: Any, state: dict, h: dict, **options: Any) -> tuple:
        if not jnp.iscomplexobj(param):
            return rule(param, grad, state, h, **options)
        new, changed = rule(_parts(param), _parts(grad), {key: _parts(value) for key, value in state.items()}, h, **options)
        return _joined(new, param), {key: _joined(value, state[key]) for key, value in changed.items()}

    return exact(on_parts)


def _parts(x: Any) -> Any:
    return jnp.stack([x.real, x.imag], -1) if jnp.iscomplexobj(x) else x


def _joined(x: Any, like: Any) -> Any:
    return x[..., 0] + 1j * x[..., 1] if jnp.iscomplexobj(like) else x


def in_type_of(param: Any) -> Callable[[Any], Any]:
    """A function that casts a double to the type in which ``param`` is computed: single precision for halves."""
    kind = param.dtype if param.dtype.itemsize > 2 else np.dtype(np.float32)
    return lambda number: number.astype(kind)


def steepest(param: Any, grad: Any, h: dict, maximize: bool, decay: bool) -> Any:
    """The gradient of what is minimised: with its sign turned to ascend, and with the decay's part."""
    g = -grad if maximize else grad
    return g + in_type_of(param)(h["weight_decay"]) * param if decay else g


def mixed(old: Any, new: Any, part: Any) -> Any:
    """``old`` moved by ``part`` of the way to ``new``."""
    return old + part * (new - old)
