"""The level of ``jvp``: an op on dual payloads is the op's forward derivative on primals and tangents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .batching import lowered
from .call import call
from .handle import Handle, make
from .levels import Batched, Dual, Level
from .op import Op, is_differentiable, outputs_of
from .squares import DualRoot, derived_again, dual_root


def mapped_levels(tensors: Sequence[Any]) -> set[int]:
    """The depths of the vmaps that map one of these Tensors, in its values or its tangents."""
    found: set[int] = set()
    left = [t for t in tensors if isinstance(t, Handle)]
    while left:
        payload = left.pop()._payload
        if type(payload) is Batched:
            left.append(payload.inner)
            if payload.axis is not None:
                found.add(payload.level.depth)
        elif type(payload) is Dual:
            left += [t for t in (payload.primal, payload.tangent) if t is not None]
    return found


class JvpLevel(Level):
    """An open ``jvp``: Tensors of this level carry a tangent beside their value."""

    __slots__ = ()
    name = "jvp"

    def wrap(self, primal: Handle, tangent: Handle | None) -> Any:
        """A Tensor of this level around a primal and a tangent of the level below."""
        return make(Dual(self, primal, tangent), self.depth)

    def lifted(self, tensor: Handle) -> Dual:
        """A payload of this level without a tangent."""
        return Dual(self, tensor, None)

    def process(self, op: Op, args: Sequence[Any]) -> Any:
        primals, tangents = [], []
        for arg in args:
            payload = arg._payload if isinstance(arg, Handle) else None
            if type(payload) is Dual and payload.level is self:
                primals.append(payload.primal)
                tangents.append(payload.tangent)
            else:
                primals.append(lowered(arg, self.depth))
                tangents.append(None)
        mask = tuple(t is not None for t in tangents)
        below = self.depth - 1
        if not any(mask):
            outs = call(op, primals, ceiling=below)
            wrapped = [Dual(self, out, None) for out in (outs if isinstance(outs, tuple) else (outs,))]
            return tuple(wrapped) if isinstance(outs, tuple) else wrapped[0]
        root = dual_root(op, [arg._payload if isinstance(arg, Handle) else None for arg in args]) if op.squares else None
        if root is not None:
            (dot,) = call(root.op.push(root.mask), root.args, ceiling=below)
            return Dual(self, call(op, primals, ceiling=below), dot)
        args = [*primals, *(t for t in tangents if t is not None)]
        rooted = op.squared is not None and derived_again(primals)
        if rooted or mapped_levels(tangents) - mapped_levels(primals):
            # The tangents are mapped (as in jacfwd) and the primals are not: keep the primals so. Or the primals are to
            # know that they are a root.
            outs = call(op, primals, ceiling=below)
            dots = call(op.push(mask), args, ceiling=below)
            op.several = isinstance(outs, tuple)
            duals = self._pair(outs if op.several else (outs,), dots)
            if rooted and op.squared is not None:
                duals[0].root = DualRoot(op.squared, mask, args)
        else:
            both = call(op.jvp(mask), args, ceiling=below)
            count = outputs_of(both, [b._payload.dtype for b in both])
            duals = self._pair(both[:count], both[count:])
        return tuple(duals) if op.several else duals[0]

    def _pair(self, outs: tuple, dots: tuple) -> list[Dual]:
        """Outputs with the tangents of those that are differentiable."""
        given = iter(dots)
        return [Dual(self, out, next(given) if is_differentiable(out._payload.dtype) else None) for out in outs]

    def write_outer(self, target: Handle, new: Handle) -> None:
        """A Tensor from outside is written: when the transform returns it keeps the primal value."""
        self.written.setdefault(id(target), target)

    def settle(self) -> None:
        """On the way out: outer Tensors that were written keep their primal values."""
        for target in self.written.values():
            payload = target._payload
            if type(payload) is Dual and payload.level is self:
                target._payload = payload.primal._payload
