"""One dispatch for a whole step: an algorithm's rule for one parameter, applied to all of them in a single Op.

A rule is a pure function ``rule(param, grad, state, numbers, **options) -> (param, state)`` of arrays: ``state`` has the arrays
that the algorithm keeps for the parameter, ``numbers`` the hyperparameters that may change between steps. Its attribute
``direct(options, count)``, if it has one, gives a step's `core.direct.Direct` for so many parameters, or None.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..autograd.modes import no_grad, set_grad_enabled
from ..core.call import call
from ..core.engine import CONCRETE, run
from ..core.foreign import is_foreign
from ..core.handle import Handle, in_place_allowed
from ..core.op import Op
from ..core.state import state as mode
from ..core.watcher import look_up, number
from ..core.writing import write
from ..errors import OpError
from ..tensor import Tensor
from .counters import Counters
from .pieces import Pieces, small_ones

Rule = Callable[..., tuple[Any, dict[str, Any]]]
SPELT = {"radam": "RAdam", "nadam": "NAdam", "rmsprop": "RMSprop", "asgd": "ASGD"}  # not their rules' names capitalised


@functools.lru_cache(maxsize=1024, typed=True)
def _step_op(
    rule: Rule, options: tuple, keys: tuple[str, ...], shared: tuple[int, ...], count: int, names: tuple[str, ...]
) -> Op:
    """The Op ``(*params, *grads, *states by key, *steps, *numbers) -> (*params, *states, *steps)``.

    ``shared`` has for each parameter the number of its step counter: those that always move together are one Tensor.
    """
    steps = max(shared, default=-1) + 1
    exact = getattr(rule, "exact", False)  # whether it takes its numbers in double precision (see `elementwise.py`)

    def step(*arrays: Any) -> tuple:
        given = iter(arrays)
        params = [next(given) for _ in range(count)]
        grads = [next(given) for _ in range(count)]
        states = {key: [next(given) for _ in range(count)] for key in keys}
        counters = [next(given) + 1 for _ in range(steps)]
        numbers = {name: value.reshape(()) if value.ndim else value for name, value in zip(names, given, strict=True)}
        new_params: list[Any] = []
        new_states: dict[str, list[Any]] = {key: [] for key in keys}
        kinds = [np.dtype(np.float64) if exact else _real(param.dtype) for param in params]
        casts = {kind: {name: _in(value, kind) for name, value in numbers.items()} for kind in set(kinds)}
        for i in range(count):
            mine = {key: states[key][i] for key in keys}
            if steps:
                mine["step"] = counters[shared[i]]
            param, changed = rule(params[i], grads[i], mine, casts[kinds[i]], **dict(options))
            new_params.append(_in(param, params[i].dtype))
            for key in keys:
                new_states[key].append(_in(changed[key], states[key][i].dtype))
        return (*new_params, *(s for key in keys for s in new_states[key]), *counters)

    made = Op(step, f"{name_of(rule)}_step")
    made.direct = rule.direct(dict(options), count) if hasattr(rule, "direct") else None
    return made


def grads_of(params: Sequence[Tensor]) -> list[Any]:
    """The parameters' gradients; a recorder is told that they are read."""
    return [p._grad for p in params] if mode.recorder is None else [p.grad for p in params]


def name_of(rule: Rule) -> str:
    """The algorithm that a rule is of."""
    return rule.__name__.removesuffix("_rule")


def _in(array: Any, dtype: np.dtype) -> Any:
    """An array in a type; NumPy would copy one that is in it already."""
    return array if array.dtype == dtype else array.astype(dtype)


def _real(dtype: np.dtype) -> np.dtype:
    """The type in which hyperparameters meet a parameter: single precision for halves, as PyTorch computes."""
    if dtype.kind == "c":
        return np.dtype(np.float64 if dtype.itemsize == 16 else np.float32)
    return dtype if dtype.itemsize > 2 else np.dtype(np.float32)


def apply_rule(
    rule: Rule,
    group: dict[str, Any],
    params: Sequence[Tensor],
    states: Sequence[dict[str, Any]],
    keys: Sequence[str],
    numbers: Sequence[str],
    options: dict[str, Any],
    differentiable: bool = False,
    grads: Sequence[Any] | None = None,
) -> None:
    """Change ``params`` and ``states`` in place by ``rule``, all in one call.

    Args:
        group: where the hyperparameters named by ``numbers`` are read; a Tensor there is differentiated through.
        states: for each parameter a dict with the Tensors named by ``keys``, and "step" if the algorithm counts.
        options: what the rule is specialised for; hashable.
        differentiable: put the step on the tape.
        grads: the gradients; the parameters' own unless given.
    """
    if not params:
        return
    if grads is None:
        grads = grads_of(params)
    if len(set(map(id, params))) < len(params):  # one that is there twice takes two steps, one after the other
        for i in range(len(params)):
            one = slice(i, i + 1)
            apply_rule(rule, group, params[one], states[one], keys, numbers, options, differentiable, grads[one])
        return
    if differentiable:
        for p in params:
            in_place_allowed(p, name_of(rule), True)
    counts = Counters(states)
    shared = counts.shared
    make_op = functools.partial(_step_op, rule, tuple(sorted(options.items())), tuple(keys))
    held = [s[key] for key in keys for s in states]
    values = [_number(group, name) for name in numbers]
    targets = [*params, *held, *counts.leaders]
    args = [*params, *grads, *held, *counts.leaders, *values]
    arrays = [a._payload if isinstance(a, Handle) else a for a in args]
    if not differentiable and mode.recorder is None and counts.plain and _are_plain(args, arrays):
        together = small_ones(params, grads) if getattr(rule, "separable", False) and len(counts.leaders) < 2 else []
        if together:
            pieces = Pieces(together, len(params))
            shared = (0,) * pieces.count if shared else ()
            op = make_op(shared, pieces.count, tuple(numbers))
            pieces.replace(op, targets, arrays)
        else:
            _replace(make_op(shared, len(params), tuple(numbers)), targets, arrays)
        counts.follow()
        return
    op = make_op(shared, len(params), tuple(numbers))
    if any(map(is_foreign, grads)):
        args[len(params) : 2 * len(params)] = [_strided(rule, grad, options, group) for grad in grads]
    results = call(op, args, recording=differentiable)
    moved = len(params) + len(held)
    with set_grad_enabled(differentiable):
        for target, new in zip(targets[:moved], results, strict=False):
            write(target, new)
    with no_grad():
        counts.write(results[moved:])


def _strided(rule: Rule, grad: Tensor, options: dict[str, Any], group: dict[str, Any]) -> Tensor:
    """A gradient for rules in which the elements that a sparse one lacks change nothing. Raises RuntimeError for other rules."""
    if not is_foreign(grad):
        return grad
    name = name_of(rule)
    if name != "adagrad":  # SGD takes them apart
        advice = ", please consider SparseAdam instead" if name == "adam" else ""
        raise OpError(f"{SPELT.get(name, name.capitalize())} does not support sparse gradients{advice}")
    if group.get("fused"):
        raise OpError("`fused` does not support sparse grad or complex param")
    if options.get("decay"):
        raise OpError(f"{name}: weight_decay option is not compatible with sparse gradients")
    return grad.to_dense()


def _are_plain(args: list[Any], arrays: list[Any]) -> bool:
    """Whether this is the common case, which needs no ceremony: plain arrays and no views."""
    return CONCRETE.issuperset(map(type, arrays)) and not any([a._source is not None for a in args if isinstance(a, Handle)])


def _replace(op: Op, targets: list[Tensor], arrays: list[Any]) -> None:
    for target, new in zip(targets, run(op, arrays), strict=True):
        target._payload = new
        target._writes += 1


def _number(group: dict[str, Any], name: str) -> Any:
    """A hyperparameter as an argument: a Tensor, an array inside compiled code, or a double."""
    path: tuple = (name,) if name in group else (name[:-1], int(name[-1]))  # "betas0" is group["betas"][0]
    value = look_up(group, path)
    if isinstance(value, Handle):
        return value
    value = number(group, *path)
    return value if hasattr(value, "dtype") else np.asarray(value, np.float64)


def safe_sqrt(x: Any) -> Any:
    """The square root, with derivative 0 at 0: a parameter that had no gradient yet gives no NaN further up."""
    positive = x > 0
    return jnp.where(positive, jnp.sqrt(jnp.where(positive, x, 1)), 0)
