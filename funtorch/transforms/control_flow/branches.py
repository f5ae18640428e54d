"""cond, switch: one of several functions, chosen by a value that need not be known in Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from ...core.call import call
from ...core.handle import Handle, value_of
from ...core.op import Op
from ...core.trees import flatten
from ...errors import ArgumentTypeError, OpError, describe
from .applying import Parts, apply, check_function, followed, kept
from .lanes import Choice
from .lifting import Body, trace
from .meeting import Met

_TO_INDEX = Op(lambda pred: (pred.reshape(()) != 0).astype(jnp.int32), "cond_index")
_AS_INDEX = Op(lambda index: index.reshape(()).astype(jnp.int32), "switch_index")
NOT_BOOL = "Expected pred to be bool or tensor, but got {}."
NOT_SINGLE = "Expected pred to be bool or single-element tensor, but got {}."
NO_TUPLE = "Expect operands to be a tuple of possibly nested dict/list/tuple that only consists of tensor leaves, but got {}."


def cond(pred: Any, true_fn: Callable, false_fn: Callable, operands: Sequence[Any] = ()) -> Any:
    """``true_fn(*operands) if pred else false_fn(*operands)``, where ``pred`` is a Tensor whose value stays in the program.

    Both functions are traced; one runs. Under ``vmap`` with a batched ``pred`` both run, and each lane takes its own result.

    Args:
        pred: a Tensor of one element; with a Python bool, int or float the chosen function is simply called.
        true_fn, false_fn: functions of the operands to Tensors in nested containers, of the same structure, shapes and dtypes.
            They may read and write Tensors from outside, and draw random numbers.
        operands: a tuple or list of Tensors in nested containers.

    Returns:
        What the chosen function returns. Derivatives go to the operands and to all else that the functions read.

    Raises:
        RuntimeError: ``pred`` has several elements; the functions' results differ in structure, shape or dtype; an operand is
            changed in place, or holds no Tensor.

    >>> import funtorch as torch
    >>> torch.cond(torch.tensor(True), torch.neg, torch.abs, (torch.tensor(2.0),))
    tensor(-2.)
    """
    check_function("cond", "true_fn", true_fn)
    check_function("cond", "false_fn", false_fn)
    if isinstance(pred, (bool, int, float)):
        return (true_fn if pred else false_fn)(*operands)
    if not isinstance(pred, Handle):
        raise OpError(NOT_BOOL.format(pred))
    if _size(pred) != 1:
        raise OpError(NOT_SINGLE.format(pred))
    if not isinstance(operands, (tuple, list)):
        raise OpError(NO_TUPLE.format(operands))
    index = call(_TO_INDEX, (pred,), recording=False)
    return _chosen("cond", index, [false_fn, true_fn], tuple(operands), ("false_fn", "true_fn"))


def switch(index: Any, branches: Sequence[Callable], *operands: Any) -> Any:
    """``branches[index](*operands)``, where ``index`` is a Tensor; one out of range means the first or the last branch.

    Args:
        index: a Tensor of one integer, or a Python int.
        branches: functions as in `cond`.

    Raises:
        RuntimeError: no branches, or as in `cond`.

    >>> import funtorch as torch
    >>> torch.func.switch(torch.tensor(1), [torch.neg, torch.exp], torch.tensor(0.0))
    tensor(1.)
    """
    functions = list(branches)
    if not functions:
        raise OpError("switch(): expected at least one branch")
    for number, function in enumerate(functions):
        check_function("switch", f"branch {number}", function)
    if not isinstance(index, Handle):
        return functions[min(max(int(index), 0), len(functions) - 1)](*operands)
    if _size(index) != 1 or value_of(index).dtype.kind not in "iub":
        raise OpError(f"switch(): expected index to be a single integer, got {describe(value_of(index))}")
    chosen = call(_AS_INDEX, (index,), recording=False)
    return _chosen("switch", chosen, functions, operands, [f"branch {n}" for n in range(len(functions))])


def _size(tensor: Handle) -> int:
    size = 1
    for each in value_of(tensor).shape:
        size *= each
    return size


def _chosen(name: str, index: Any, functions: Sequence[Callable], operands: tuple, names: Sequence[str]) -> Any:
    leaves, spec = flatten(operands)
    for leaf in leaves:
        if not isinstance(leaf, Handle):
            raise OpError(NO_TUPLE.format(operands))
    avals, requires, met = list(map(value_of, leaves)), followed(leaves), Met(name, functions)
    bodies = met.settled(lambda: [trace(met, f, spec, avals, requires) for f in functions])
    for body, which in zip(bodies[1:], names[1:], strict=True):
        _check_alike(name, bodies[0], names[0], body, which)
    results = apply(met, len(functions), bodies, [index, *leaves], _build, Choice)
    follows = [any(each) for each in zip(*(body.follows for body in bodies), strict=True)]
    return bodies[0].result(kept(results, follows))


def _build(runners: list[Callable]) -> Callable:
    def choose(parts: Parts) -> Any:
        index, *operands = parts.own
        inputs = (*operands, *parts.written, *parts.outer, *parts.keys)
        branches = [
            lambda *given, run=run, constants=constants: run(constants, *given)
            for run, constants in zip(runners, parts.constants, strict=True)
        ]
        return jax.lax.switch(index, branches, *inputs)

    return choose


def _check_alike(name: str, first: Body, one: str, second: Body, other: str) -> None:
    """Raise RuntimeError unless two functions give results of the same structure, shapes and dtypes."""
    if first.spec != second.spec:
        raise OpError(f"{name}(): {one} and {other} must return the same structure, got {first.spec} and {second.spec}")
    if first.leaves != second.leaves:
        pairs = zip(first.leaves, second.leaves, strict=True)
        found = [tuple("a Tensor" if leaf is None else repr(leaf.value) for leaf in pair) for pair in pairs]
        differ = ", ".join(f"{a} and {b}" for a, b in found if a != b)
        raise OpError(f"{name}(): {one} and {other} must return the same values where these are no Tensors, got {differ}")
    for number, (a, b) in enumerate(zip(first.avals, second.avals, strict=True)):
        if a.shape != b.shape or a.dtype != b.dtype:
            what = "dtype" if a.shape == b.shape else "shape"
            raise OpError(
                f"When merging two branches' output in torch.{name}, expected same {what} but got {describe(a)} from {one} and "
                f"{describe(b)} from {other} in result {number}"
            )


def check_leaves(name: str, which: str, leaves: Sequence[Any]) -> None:
    """Raise TypeError for leaves that are no Tensors."""
    for leaf in leaves:
        if not isinstance(leaf, Handle):
            raise ArgumentTypeError(f"{name}(): {which} must hold Tensors only, got {type(leaf).__name__}")
