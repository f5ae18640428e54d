"""How a construct becomes one Op, and how that is applied: to its arguments, to what its functions take from outside, to keys."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from jax.extend.core import ClosedJaxpr, jaxpr_as_fun

from ...core.call import call
from ...core.handle import Handle, without_history
from ...core.op import Op
from ...core.state import state
from ...core.variables import depends
from ...core.writing import write
from ...errors import ArgumentTypeError
from ...ops.buffers import update
from .checking import require_none_failed
from .fingerprints import fingerprint, op_for
from .lanes import unmapped
from .lifting import Body
from .meeting import Met
from .printing import Printing, silent
from .sampling import key_from
from .unbounded import Unbounded, refusing

Array = Any


class Parts:
    """An Op's arrays in their groups: the construct's own, written Tensors, others from outside, keys, constants of each body."""

    __slots__ = ("own", "written", "outer", "keys", "constants")

    def __init__(self, arrays: Sequence[Array], counts: tuple[int, int, int], sizes: Sequence[int]) -> None:
        given = list(arrays)
        taken = [[given.pop() for _ in range(count)][::-1] for count in reversed((*counts, *sizes))]
        self.own = given
        self.written, self.outer, self.keys, *self.constants = reversed(taken)


def runner(jaxpr: Any) -> Callable:
    """The pure function ``(constants, *inputs) -> list of arrays`` of a body's jaxpr. It keeps the steps, and none of the values."""

    def run(constants: Sequence[Array], *inputs: Array) -> list[Array]:
        return jaxpr_as_fun(ClosedJaxpr(jaxpr, list(constants)))(*inputs)

    return run


def apply(
    met: Met, statics: Hashable, bodies: Sequence[Body], args: Sequence[Any], build: Callable[[list[Callable]], Callable],
    kind: Callable[[Callable, str], Op] = Op,
) -> list[Any]:  # fmt: skip
    """Call the construct's Op, commit what its functions write, look at their checks, and return the results' Tensors.

    ``build(runners)`` gives the pure function ``(parts: Parts) -> list of arrays``: results, written Tensors, and the number of
    the first failed check if there are any.
    """
    written = list(met.written.values())
    outer = met.inputs()[len(written) :]
    keys = [key_from(source) for source in met.sources.values()]
    constants = [list(body.closed.consts) for body in bodies]
    counts = (len(written), len(outer), len(keys))
    sizes = tuple(map(len, constants))
    form: Callable = Unbounded if met.unbounded else kind
    key = (met.name, statics, form, counts, bool(met.checks), tuple([fingerprint(body.closed) for body in bodies]))

    def make_op() -> Op:
        jaxprs = [body.closed.jaxpr for body in bodies]
        op = made_of(jaxprs)
        if not any(jaxpr.effects for jaxpr in jaxprs):
            return op
        return Printing(op.fn, met.name, made_of(list(map(silent, jaxprs))))

    def made_of(jaxprs: Sequence[Any]) -> Op:
        function = build(list(map(runner, jaxprs)))
        return form(lambda *arrays: tuple(function(Parts(arrays, counts, sizes))), met.name)

    flat = [c for some in constants for c in some]
    op, given = op_for(key, make_op), [*args, *written, *outer, *keys, *flat]
    outs = list(call(op, given))
    if met.checks:
        require_none_failed(outs.pop(), met.checks)
    if form is Unbounded:
        refusing(outs)
    results = outs[: len(outs) - len(written)]
    for number, target in enumerate(written, len(results)):
        new = unmapped(op, given, number, outs[number])
        if id(target) in met.history and state.grad:
            write(target, new)
        else:
            update(target, new)
    return results


def kept(results: Sequence[Any], follows: Sequence[bool]) -> list[Any]:
    """Results, without history where the functions gave them none."""
    return [r if f else without_history(r) if r._requires else r for r, f in zip(results, follows, strict=True)]


def followed(tensors: Sequence[Handle]) -> list[bool]:
    """Whether derivatives go through each Tensor, and are recorded."""
    return [state.grad and depends(t) for t in tensors]


def check_function(name: str, which: str, function: Any) -> None:
    """Raise TypeError for what can't be called."""
    if not callable(function):
        raise ArgumentTypeError(f"{name}(): {which} must be a function, got {type(function).__name__}")
