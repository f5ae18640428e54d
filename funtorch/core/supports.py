"""A gradient with its support (see `core.selected`): the op's own gradient, computed step by step, each step with its support."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from . import jaxpr_classes as classes
from .call import call
from .engine import host_possible, run
from .forked import as_numpy
from .halves import bound
from .op import Op
from .selected import CHOSEN, LEAVING, MOVING, PASSING, SCALING, chosen, inner_of, linear_outputs
from .tape import Node, zeros

WHOLE = "whole"  # the support of what all elements of the result may depend on; None is that of what is no cotangent
Support = Any
ABSENT, PART, ALL = range(3)  # of a cotangent: it has not come; it comes with a support; it comes without


Number = tuple[int, int]  # a node's number in a walk, and which of its outputs
_EITHER = Op(jnp.logical_or, "logical_or")
_SUPPORTED = Op(lambda value, support: guarded(value, support), "where")
_ANY_NAN = Op(lambda *arrays: jnp.any(jnp.stack([jnp.isnan(array).any() for array in arrays])), "isnan")


def any_nan(grads: Sequence[Any]) -> bool:
    """Whether one of the Tensors of concrete arrays (or None) has a NaN."""
    payloads = [grad._payload for grad in grads if grad is not None]
    if not host_possible():
        return bool(run(_ANY_NAN, payloads))
    return any([bool(np.isnan(as_numpy(payload)).any()) for payload in payloads])


class Supports:
    """The supports of the cotangents in a walk, by their places; None is that of what all elements may depend on."""

    def __init__(self, roots: Sequence[Number]) -> None:
        self.at: dict[Number, Any] = dict.fromkeys(roots)

    def spread(self, edges: Sequence[Number | None], supports: Sequence[Any]) -> None:
        """Add those of a node's gradients to what is known of their places."""
        for place, support in zip(edges, supports, strict=True):
            if place is None:
                continue
            if place not in self.at:
                self.at[place] = support
            elif (held := self.at[place]) is not None:
                self.at[place] = None if support is None else call(_EITHER, (held, support), recording=False)

    def widen(self, i: int, came: Sequence[Any], changed: Sequence[Any]) -> None:
        """Forget the supports of what hooks have put others in the place of."""
        for k, (before, after) in enumerate(zip(came, changed, strict=True)):
            if before is not after:
                self.at[i, k] = None

    def apply(self, i: int, node: Any, incoming: list[Any], create_graph: bool) -> tuple[Sequence[Any], list[Any]]:
        """A node's gradients, and their supports."""
        known = [self.at.pop((i, k), None) for k in range(len(incoming))]
        if not isinstance(node, Node):
            given = known if any([s is not None for s in known]) else ()
            grads = node.apply(incoming, create_graph, given) if given else node.apply(incoming, create_graph)
            return grads, [None] * len(grads)
        recipe = node.recipe
        if not (recipe.traits.selects or any([s is not None for s in known])):
            grads = node.apply(incoming, create_graph)
            return grads, [None] * len(grads)
        pairs = [(c, s) for c, s, out in zip(incoming, known, node.outs, strict=True) if out[1] is not None]
        coming = tuple([ABSENT if c is None else ALL if s is None else PART for c, s in pairs])
        found = recipe.supported.get(coming)
        if found is None:
            moves = recipe.traits.selects and not recipe.traits.multiplies
            found = recipe.supported[coming] = Supported(recipe.vjp, len(recipe.avals), coming, moves)
        outs = [out for out in node.outs if out[1] is not None]
        full = [zeros(out) if c is None else c for (c, _), out in zip(pairs, outs, strict=True)]
        given = [*node.inputs(create_graph), *full, *[s for _, s in pairs if s is not None]]
        results = call(found.op, given, recording=create_graph)
        rest = iter(results[len(node.edges) :])
        return results[: len(node.edges)], [next(rest) if goes else None for goes in found.going]


def supported(tensors: Sequence[Any], supports: Sequence[Any]) -> list[Any]:
    """Tensors, of which only the elements in the supports count where there is one: the others are selected out."""
    if not supports:
        return list(tensors)
    return [t if s is None else call(_SUPPORTED, (t, s)) for t, s in zip(tensors, supports, strict=True)]


class Supported:
    """The Op ``(*inputs, *cotangents, *supports of those that have one) -> (*gradients, *supports of those that have one)``.

    ``coming`` says of each cotangent which it is; ``going``, known once the Op was traced, which gradients have a support.
    """

    def __init__(self, pull: Op, inputs: int, coming: tuple[int, ...], moves: bool) -> None:
        self.pull = pull
        self.inputs = inputs
        self.coming = coming
        self.moves = moves  # whether what it leaves out by moving elements counts as selected out
        self.going: tuple[bool, ...] = ()
        self.op = Op(self._run, pull.name)
        self.op.options = pull.options

    def _run(self, *args: Any) -> tuple:
        count = self.inputs + len(self.coming)
        values, given = args[:count], iter(args[count:])
        closed, _ = self.pull.trace(tuple([(np.shape(v), v.dtype) for v in values]))
        supports: list[Support] = [None] * self.inputs
        for value, kind in zip(values[self.inputs :], self.coming, strict=True):
            supports.append(WHOLE if kind == ALL else next(given) if kind == PART else jnp.zeros(value.shape, bool))
        grads, found = _Steps(self.moves).run(closed, values, supports)
        self.going = tuple([support is not WHOLE for support in found])
        return (*grads, *[_mask(grad, support) for grad, support in zip(grads, found, strict=True) if support is not WHOLE])


class _Steps:
    """The interpreter: ``values`` with their supports, equation by equation. ``leaving``: what is left out is selected out."""

    def __init__(self, leaving: bool, choosing: bool = False) -> None:
        self.leaving = leaving
        self.choosing = choosing  # within `chosen`

    def run(self, closed: Any, values: Sequence[Any], supports: Sequence[Support]) -> tuple[list[Any], list[Support]]:
        jaxpr = closed.jaxpr
        known: dict[Any, tuple[Any, Support, bool]] = {}
        for v, value in zip(jaxpr.constvars, closed.consts, strict=True):
            known[v] = value, None, True
        for v, value, support in zip(jaxpr.invars, values, supports, strict=True):
            known[v] = value, support, False

        def read(v: Any) -> tuple[Any, Support, bool]:
            return (v.val, None, True) if isinstance(v, classes.Literal) else known[v]

        for eqn in jaxpr.eqns:
            given = [read(v) for v in eqn.invars]
            constant = all([c for _, _, c in given])
            outs, found = self._step(eqn, [g[0] for g in given], [g[1] for g in given], [g[2] for g in given])
            for v, value, support in zip(eqn.outvars, outs, found, strict=True):
                known[v] = value, support, constant
        return [read(v)[0] for v in jaxpr.outvars], [read(v)[1] for v in jaxpr.outvars]

    def _step(
        self, eqn: Any, values: list[Any], supports: list[Support], constants: list[bool]
    ) -> tuple[Sequence[Any], Sequence[Support]]:
        if all([s is None for s in supports]):
            return bound(eqn, values), [None] * len(eqn.outvars)
        name, inner = eqn.primitive.name, inner_of(eqn)
        if inner is not None:
            chooses = eqn.params.get("name") == CHOSEN
            return _Steps(self.leaving or chooses, self.choosing or chooses).run(inner, values, supports)
        if name == "select_n" and self.choosing:
            return self._chosen(eqn, values, supports)
        if name in _BODIES:
            return _BODIES[name](eqn, values, supports, self.leaving)
        if name in MOVING:
            outs = bound(eqn, values)
            if all([s is None or s is WHOLE for s in supports]) and not (self.leaving and name in LEAVING):
                return outs, [WHOLE] * len(outs)
            return outs, [moved != 0 for moved in bound(eqn, _as_numbers(values, supports))]
        rule = _RULES.get(name)
        if rule is None or all([s is None or s is WHOLE for s in supports]):
            outs = bound(eqn, values)
            return outs, [WHOLE] * len(outs)
        out, support = rule(eqn, values, supports, constants)
        return [out], [support]

    def _chosen(self, eqn: Any, values: list[Any], supports: list[Support]) -> tuple[Sequence[Any], Sequence[Support]]:
        which, *cases = values
        index = which.astype(np.int32)
        masks = [_mask(case, support) for case, support in zip(cases, supports[1:], strict=True)]
        support = jax.lax.select_n(index if len(cases) > 2 else which, *masks)
        if len(cases) == 2 and which.dtype == bool:
            return [chosen(which, cases[1], cases[0])], [support]
        return bound(eqn, values), [support]


def _mask(value: Any, support: Support) -> Any:
    """A support as an array of bools; what is no cotangent is a zero that the op itself puts there."""
    if support is None or support is WHOLE:
        return jnp.full(np.shape(value), support is WHOLE, bool)
    return support


def _is_mask(support: Support) -> bool:
    return support is not None and support is not WHOLE


def _as_numbers(values: Sequence[Any], supports: Sequence[Support]) -> list[Any]:
    """The supports as numbers of their cotangents' types, which sum to more than 0 where one is there; indices as they are."""
    return [
        value if support is None and not jnp.issubdtype(value.dtype, jnp.inexact) else _mask(value, support).astype(value.dtype)
        for value, support in zip([jnp.asarray(v) for v in values], supports, strict=True)
    ]


def guarded(value: Any, support: Any) -> Any:
    """A value where the support is, and 0 elsewhere."""
    return chosen(support, value, jnp.zeros(value.shape, value.dtype))


def _passed(eqn: Any, values: list[Any], supports: list[Support], constants: list[bool]) -> tuple[Any, Support]:
    """What is elementwise in the cotangents: their supports together."""
    (out,) = bound(eqn, values)
    given = [s for s in supports if s is not None]
    if any([s is WHOLE for s in given]):
        return out, WHOLE
    together = given[0]
    for each in given[1:]:
        together = together | each
    return out, together


def _scaled(eqn: Any, values: list[Any], supports: list[Support], constants: list[bool]) -> tuple[Any, Support]:
    """A cotangent times data."""
    (out,) = bound(eqn, values)
    at = 0 if supports[0] is not None else 1
    if supports[1 - at] is not None:  # what a loop gives may be data beside cotangents
        return out, WHOLE
    support = jnp.broadcast_to(supports[at], out.shape)
    return (out if constants[1 - at] else guarded(out, support)), support


def _product(eqn: Any, values: list[Any], supports: list[Support], constants: list[bool]) -> tuple[Any, Support]:
    """A matrix product of a cotangent and data: data that meet no support at all count as 0."""
    at = 0 if supports[0] is not None else 1
    if supports[1 - at] is not None:
        return bound(eqn, values)[0], WHOLE
    support, data = supports[at], values[1 - at]
    contracting, batch = eqn.params["dimension_numbers"]
    own, others = (*contracting[at], *batch[at]), (*contracting[1 - at], *batch[1 - at])
    met = jnp.any(support, [d for d in range(support.ndim) if d not in own])  # its dimensions in their order here
    order = sorted(own)
    placed = {others[own.index(d)]: k for k, d in enumerate(order)}
    met = met.transpose([placed[d] for d in sorted(placed)])
    met = met.reshape([n if d in placed else 1 for d, n in enumerate(data.shape)])
    cleaned = [values[0], values[1]]
    cleaned[1 - at] = guarded(data, jnp.broadcast_to(met, data.shape))
    (out,) = bound(eqn, cleaned)
    ones = jnp.any(support, tuple(contracting[at]), keepdims=True).astype(np.float32)
    shape = [1 if d in contracting[1 - at] else n for d, n in enumerate(data.shape)]
    pair: list[Any] = [ones, jnp.ones(shape, np.float32)]
    reach = jax.lax.dot_general(pair[at], pair[1 - at], eqn.params["dimension_numbers"])
    return guarded(out, reach != 0), reach != 0


def _branches(eqn: Any, values: list[Any], supports: list[Support], leaving: bool) -> tuple[Sequence[Any], Sequence[Support]]:
    """One program of several: cotangents have supports in each."""
    programs, linear = eqn.params["branches"], [s is not None for s in supports[1:]]
    states = [linear_outputs(closed.jaxpr, linear) for closed in programs]
    going = [any(each) for each in zip(*states, strict=True)]

    def branch(closed: Any) -> Callable:
        def made(*given: Any) -> tuple:
            outs, found = _Steps(leaving).run(closed, given, supports[1:])
            return (*outs, *[_mask(out, s) for out, s, goes in zip(outs, found, going, strict=True) if goes])

        return made

    results = jax.lax.switch(values[0], [branch(closed) for closed in programs], *values[1:])
    rest = iter(results[len(going) :])
    return results[: len(going)], [next(rest) if goes else None for goes in going]


def _loop(eqn: Any, values: list[Any], supports: list[Support], leaving: bool) -> tuple[Sequence[Any], Sequence[Support]]:
    """A loop, with supports inside of each of its steps. (Those of what is carried from step to step are not followed.)"""
    closed, consts = eqn.params["jaxpr"], eqn.params["num_consts"]
    start = consts + eqn.params["num_carry"]
    inside = [None if s is None else WHOLE if consts <= k < start else s for k, s in enumerate(supports)]
    for _ in range(start - consts):  # a carried value that becomes a cotangent in one step is one in the next
        given = linear_outputs(closed.jaxpr, [s is not None for s in inside])
        for k in range(consts, start):
            inside[k] = WHOLE if given[k - consts] else inside[k]
    masks = [k for k in range(start, len(values)) if _is_mask(inside[k])]
    going: list[Support] = []  # of what each step makes; a mask stands for those that come with it

    def body(carry: tuple, x: tuple) -> tuple:
        own, known = x[: len(values) - start], list(inside)
        for k, mask in zip(masks, x[len(own) :], strict=True):
            known[k] = mask
        outs, found = _Steps(leaving).run(closed, [*values[:consts], *carry, *own], known)
        going[:] = found[start - consts :]
        return tuple(outs[: start - consts]), (*outs[start - consts :], *filter(_is_mask, going))

    named = {name: eqn.params[name] for name in ("length", "reverse", "unroll")}
    over = (*values[start:], *[inside[k] for k in masks])
    results: Any = jax.lax.scan(body, tuple(values[consts:start]), over, **named)
    last, made = results
    rest = iter(made[len(going) :])
    return [*last, *made[: len(going)]], [*inside[consts:start], *[next(rest) if _is_mask(s) else s for s in going]]


_BODIES: dict[str, Callable] = {"scan": _loop, "cond": _branches}
_Rule = Callable[[Any, list, list, list], tuple]
_RULES: dict[str, _Rule] = dict.fromkeys(PASSING, _passed) | dict.fromkeys(SCALING, _scaled) | {"dot_general": _product}
