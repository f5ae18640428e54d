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
from ..core.meta import MetaArray, is_meta
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
    prepare = getattr(rule, "prepare", None)  # what it makes of its numbers before it sees a parameter (see `elementwise.py`)
    exact = prepare is not None or getattr(rule, "exact", False)  # whether it takes its numbers in double precision

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
        prepared: dict[tuple, dict[str, Any]] = {}
        for i in range(count):
            mine = {key: states[key][i] for key in keys}
            if steps:
                mine["step"] = counters[shared[i]]
            h = casts[kinds[i]]
            if prepare is not None:
                kind: tuple = (_real(params[i].dtype), *shared[i : i + 1])
                if kind not in prepared:
                    prepared[kind] = {name: _in(value, kind[0]) for name, value in prepare(h, mine.get("step")).items()}
                h = prepared[kind]
            param, changed = rule(params[i], grads[i], mine, h, **dict(options))
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
    parts = [[i] for i in range(len(params))] if len(set(map(id, params))) < len(params) else _apart(params)
    if parts:  # one that is there twice takes two steps, one after the other
        for part in parts:
            ours, theirs = [params[i] for i in part], [states[i] for i in part]
            apply_rule(rule, group, ours, theirs, keys, numbers, options, differentiable, [grads[i] for i in part])
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
    _write_back(targets, call(op, args, recording=differentiable), counts, is_meta(params[0]), differentiable)


def _apart(params: Sequence[Tensor]) -> list[list[int]]:
    """The numbers of the parameters that have data, and of those that have none (the device "meta"), if there are both."""
    kinds = [type(p._payload) for p in params]
    if MetaArray not in kinds or len(set(kinds)) == 1:
        return []
    return [[i for i, kind in enumerate(kinds) if (kind is MetaArray) is without] for without in (False, True)]


def _write_back(targets: list[Any], results: Sequence[Any], counts: Counters, nowhere: bool, differentiable: bool) -> None:
    """Write a step's results; ``nowhere``: those of parameters without data, of which the counters alone are known."""
    moved = len(targets) - len(counts.leaders)
    with set_grad_enabled(differentiable):
        for target, new in zip(targets[:moved], results, strict=False):
            if is_meta(target) or not is_meta(new):  # a number of the CPU stays: what becomes of it nobody knows
                write(target, new)
    with no_grad():
        counts.write([each + 1 for each in counts.leaders] if nowhere else results[moved:])


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
