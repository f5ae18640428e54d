"""Walking the tape: gradients of roots with respect to targets, in one composite Op where the structure repeats.

A graph is walked once and gets a key of its structure. A structure met for the first time runs node by node; one that
comes back gets a composite: one Op from all saved values to all gradients. Hooks, retained gradients, anomaly mode and
nodes written in Python need values midway, and run node by node too.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from .call import call
from .engine import CONCRETE, mode_in_force, run
from .gradients import hooked, replacements
from .handle import Handle, make
from .op import Op
from .rescaling import any_rescaled, check_rescaled
from .schedule import BARE, Schedule
from .selected import Traits, selection_meets_product
from .state import state
from .straightening import straightened
from .supports import Supports, any_nan
from .tape import Leaf, Node, Recipe, check_not_freed, place_of
from .tiers import composite_patience
from .views import alias

Place = tuple[Any, int]  # (node, output number)
Number = tuple[int, int]  # the same with the node's number in a walk
_by_sequence = operator.attrgetter("seq")
ADD = Op(jnp.add, "add")
OPAQUE = Traits()  # of a node written in Python
MAX_PLANS = 512
walk_listeners: list[Any] = []  # called with the graph when a walk begins


class Graph:
    """The part of the tape that roots can reach: nodes newest first, leaves, and edges as numbers.

    Node i has number i; leaf j has number -1 - j.
    """

    __slots__ = ("nodes", "leaves", "index", "edges", "key")

    def __init__(self, places: Sequence[Place]) -> None:
        seen: set = set()
        stack = [node for node, _ in places]
        nodes: list[Any] = []
        while stack:
            node = stack.pop()
            if node in seen or type(node) is Leaf:
                continue
            seen.add(node)
            nodes.append(node)
            stack.extend([edge[0] for edge in node.edges if edge is not None])
        nodes.sort(key=_by_sequence, reverse=True)
        self.nodes = nodes
        self.index: dict[Any, int] = {node: i for i, node in enumerate(nodes)}
        self.leaves: list[Leaf] = []
        self.edges: list[list[Number | None]] = []  # each node's
        key: list[Any] = []
        self.key = key
        index, leaves = self.index, self.leaves
        for node in nodes:
            edges: list[Number | None] = []
            for edge in node.edges:
                if edge is None:
                    edges.append(None)
                    continue
                number = index.get(edge[0])
                if number is None:  # as in `number`
                    number = index[edge[0]] = -1 - len(leaves)
                    leaves.append(edge[0])
                edges.append((number, edge[1]))
            self.edges.append(edges)
            key.append(node.recipe)
            key += edges
        for node, _ in places:
            self.number(node)

    def number(self, node: Any) -> int:
        """The number of a node or leaf in this walk; a leaf gets one when it is first met."""
        found = self.index.get(node)
        if found is None:
            found = self.index[node] = -1 - len(self.leaves)
            self.leaves.append(node)
        return found

    def put(self, i: int, node: Node) -> None:
        """Put another node in the place of node i."""
        at = sum([1 + len(edges) for edges in self.edges[:i]])
        edges = [None if edge is None else (self.number(edge[0]), edge[1]) for edge in node.edges]
        self.key[at : at + 1 + len(self.edges[i])] = [node.recipe, *edges]
        self.nodes[i], self.edges[i], self.index[node] = node, edges, i

    def needed(self, targets: Sequence[tuple[int, int]]) -> list[int]:
        """The nodes that lie between the roots and a target, newest first."""
        wanted = set(targets)
        if len(wanted) == len(self.leaves) and max(wanted)[0] < 0 and set(map(type, self.nodes)) == {Node}:
            return list(range(len(self.nodes)))  # every leaf is wanted, and a node is there since it leads to one
        reach = [False] * len(self.nodes)
        for i in range(len(self.nodes) - 1, -1, -1):
            reach[i] = any(e is not None and (e in wanted or (e[0] >= 0 and reach[e[0]])) for e in self.edges[i])
        return [i for i, r in enumerate(reach) if r]


class Plan:
    """What is kept of a graph's structure: which nodes to run, and the composite Op once there is one."""

    __slots__ = (
        "steps",
        "edges",
        "recipes",
        "roots",
        "targets",
        "accumulate",
        "present",
        "composite",
        "uses",
        "patience",
        "leaves",
        "selective",
        "_schedule",
    )

    def __init__(self, graph: Graph, roots: list[Number], targets: list[Number], accumulate: tuple[bool, ...]) -> None:
        self.steps = graph.needed(targets)
        self.edges = {i: graph.edges[i] for i in self.steps}
        self.recipes: dict[int, Recipe] = {i: graph.nodes[i].recipe for i in self.steps}
        self.roots = roots
        self.targets = targets
        self.leaves = len(graph.leaves)
        self.accumulate = accumulate
        self.selective = is_selective(graph, self.steps, roots)
        self.present: tuple[bool, ...] = ()  # which targets are reached; known once the composite has been traced
        self.composite: Op | None = None
        self.uses = 0
        self._schedule: Schedule | None = None
        self.patience = 1
        if mode_in_force() != "kernel":
            self.patience = composite_patience([recipe.work for recipe in self.recipes.values()])

    def schedule(self) -> Schedule:
        """How the structure is run node by node."""
        if self._schedule is None:
            self._schedule = Schedule(self.steps, self.edges, self.recipes, self.roots, self.targets, self.leaves, ADD)
        return self._schedule

    def backward(self, compiled: bool, *flat: Any) -> tuple:
        """The composite's pure function: saved values, cotangents of the roots, gradients to add to -> gradients."""
        values = iter(flat)
        saved = {i: [next(values) if read else None for read in self.recipes[i].reads] for i in self.steps}
        sums = Sums(self.targets, jnp.add)
        for place in self.roots:
            sums.add(place, next(values))
        for i in self.steps:
            recipe = self.recipes[i]
            incoming = sums.take(i, len(recipe.outs))
            if incoming is None:
                continue
            full = [
                jnp.zeros(*out) if c is None else c for c, out in zip(incoming, recipe.outs, strict=True) if out[1] is not None
            ]
            inputs = [jnp.zeros(*a) if v is None else v for v, a in zip(saved[i], recipe.avals, strict=True)]
            pull = compiled and recipe.vjp.compiled or recipe.vjp.fn
            for edge, grad in zip(self.edges[i], pull(*inputs, *full), strict=True):
                sums.add(edge, grad)
        grads = sums.captured()
        self.present = tuple(grad is not None for grad in grads)
        olds = [next(values) if accumulate else None for accumulate in self.accumulate]
        return tuple(g if old is None else old + g for g, old in zip(grads, olds, strict=True) if g is not None)


class Sums:
    """Cotangents on their way: summed by place, and kept aside for the targets."""

    def __init__(self, targets: Sequence[Number], add: Any) -> None:
        self.targets = targets
        self.pending: dict[Number, Any] = {}
        self.kept: dict[Number, Any] = {}
        self.plus = add

    def add(self, place: Number | None, value: Any) -> None:
        """Add a cotangent to what has come to ``place`` so far."""
        if place is None or value is None:
            return
        held = self.pending.get(place)
        self.pending[place] = value if held is None else self.plus(held, value)

    def take(self, i: int, outputs: int) -> list | None:
        """The cotangents of node i's outputs, or None if none has come."""
        incoming = [self.pending.pop((i, k), None) for k in range(outputs)]
        if all(c is None for c in incoming):
            return None
        for k, c in enumerate(incoming):
            if c is not None:
                self.kept[i, k] = c
        return incoming

    def captured(self) -> list:
        """What came to each target; None where nothing did."""
        return [self.pending.get(t, self.kept.get(t)) for t in self.targets]


_plans: OrderedDict[Any, Plan] = OrderedDict()


def _plan(graph: Graph, roots: list[Number], targets: list[Number], accumulate: tuple[bool, ...]) -> Plan:
    key = (tuple(graph.key), tuple(roots), tuple(targets), accumulate)
    found = _plans.get(key)
    if found is None:
        found = _plans[key] = Plan(graph, roots, targets, accumulate)
        if len(_plans) > MAX_PLANS:
            _plans.popitem(last=False)
    else:
        _plans.move_to_end(key)
    found.uses += 1
    return found


def differentiate(
    roots: Sequence[Handle],
    cotangents: Sequence[Handle],
    targets: Sequence[Place] | None,
    *,
    create_graph: bool,
    retain_graph: bool,
    olds: Any = None,
) -> tuple[list[Place], list[Any]]:
    """Pull ``cotangents`` of ``roots`` back to ``targets`` (places on the tape; None: every leaf that is reached).

    Returns the targets and their gradients as Tensors, None where a target isn't reached. ``olds(targets)`` may give
    for each target a Tensor that its gradient is to be added to, or None.
    """
    places = [place_of(root) for root in roots]
    graph = Graph(places)
    if targets is None:
        targets = [(leaf, 0) for leaf in graph.leaves]
    for begin in walk_listeners:
        begin(graph)
    again = create_graph or any([type(root._payload) not in CONCRETE for root in roots])
    replaced = straightened(graph, targets) if again else []
    numbers = [(graph.index.get(node, len(graph.nodes)), output) for node, output in targets]
    starts = [(graph.number(node), output) for node, output in places]
    held = olds(targets) if olds is not None else [None] * len(numbers)
    plan = None
    if graph.nodes and not state.anomaly and all([isinstance(node, Node) and not node.stepwise() for node in graph.nodes]):
        plan = _plan(graph, starts, numbers, tuple([old is not None for old in held]))
    steps = graph.needed(numbers) if plan is None else plan.steps
    nodes = [graph.nodes[i] for i in steps]
    check_not_freed(nodes)
    if any_rescaled:
        check_rescaled(nodes)
    if state.recorder is not None:
        state.recorder.walk(nodes)
    selective = plan.selective if plan is not None else is_selective(graph, steps, starts)
    # What is recorded or traced must not depend on how often the structure was met.
    repeated = plan is not None and steps and plan.uses > plan.patience and state.recorder is None
    kinds = None
    if plan is not None and not create_graph and state.recorder is None and (selective or not repeated):
        kinds = _kinds(nodes, cotangents)
    if plan is not None and repeated and (kinds is not None or not selective):
        grads = _run_composite(plan, nodes, cotangents, held, create_graph)
    elif plan is not None and kinds is not None:
        grads = _plus(held, plan.schedule().run(nodes, cotangents, kinds))
    else:
        grads = _plus(held, _run_stepwise(graph, steps, starts, numbers, cotangents, create_graph, selective))
        selective = False
    if selective and any_nan(grads):  # only then can supports make a difference
        grads = _plus(held, _run_stepwise(graph, steps, starts, numbers, cotangents, create_graph, True))
    if not retain_graph:
        for node in (*nodes, *replaced):
            node.release()
    if not create_graph and state.recorder is not None and state.recorder.cuts:
        grads = [g if g is None else alias(g, detached=True) for g in grads]
    return list(targets), grads


def is_selective(graph: Graph, steps: Sequence[int], roots: Sequence[Number]) -> bool:
    """Whether the walk may meet elements that were selected out where it multiplies by data. See `core.selected`."""
    known = [node.recipe.traits if isinstance(node, Node) else OPAQUE for node in graph.nodes]
    return selection_meets_product(steps, graph.edges, known, roots)


def _kinds(nodes: list[Node], cotangents: Sequence[Any]) -> set[type] | None:
    """The types of what a walk over these nodes works with, if all are arrays, so that it needs no Tensors."""
    kinds = set(map(type, itertools.chain.from_iterable([node.saved for node in nodes])))
    kinds.update([type(c._payload) for c in cotangents])
    return kinds if kinds <= BARE else None


def _sum(a: Any, b: Any) -> Any:
    return call(ADD, (a, b))


def _plus(olds: Sequence[Any], grads: Sequence[Any]) -> list:
    return [_sum(old, g) if old is not None and g is not None else g for old, g in zip(olds, grads, strict=True)]


def _run_composite(plan: Plan, nodes: list[Node], cotangents: Sequence[Handle], olds: list, create_graph: bool) -> list:
    if plan.composite is None:
        pulls = [recipe.vjp for recipe in plan.recipes.values()]
        plan.composite = Op(functools.partial(plan.backward, False), "graph_backward")
        plan.composite.options = tuple(dict.fromkeys([option for pull in pulls for option in pull.options]))
        if any([pull.compiled for pull in pulls]):
            plan.composite.compiled = functools.partial(plan.backward, True)
    extra = [*cotangents, *(old for old in olds if old is not None)]
    if not create_graph:
        values = [v for node in nodes for v in node.saved if v is not None]
        values += [tensor._payload for tensor in extra]
        if all([type(v) in CONCRETE for v in values]):
            return _spread(plan, [make(g) for g in run(plan.composite, values)])
    args = [tensor for node in nodes for tensor, read in zip(node.inputs(create_graph), node.recipe.reads, strict=True) if read]
    return _spread(plan, call(plan.composite, [*args, *extra], recording=create_graph))


def _spread(plan: Plan, grads: Sequence[Any]) -> list:
    given = iter(grads)
    return [next(given) if present else None for present in plan.present]


def _run_stepwise(
    graph: Graph,
    steps: list[int],
    starts: list[Number],
    targets: list[Number],
    cotangents: Sequence[Handle],
    create_graph: bool,
    selective: bool,
) -> list:
    """The walk node by node; ``selective``: with the supports of the cotangents (see `core.selected`)."""

    def plus(a: Any, b: Any) -> Any:
        return call(ADD, (a, b), recording=create_graph)

    sums = Sums(targets, plus)
    supports = Supports(starts) if selective else None
    for place, cotangent in zip(starts, cotangents, strict=True):
        sums.add(place, cotangent)
    for i in steps:
        node = graph.nodes[i]
        incoming = sums.take(i, len(node.outs))
        if incoming is None:
            continue
        came, incoming = incoming, _through_hooks(node, list(incoming))
        sums.kept.update({(i, k): c for k, c in enumerate(incoming) if c is not None})
        if supports is None:
            grads = _through_node_hooks(node, node.apply(incoming, create_graph), incoming)
        else:
            supports.widen(i, came, incoming)
            given, found = supports.apply(i, node, incoming, create_graph)
            grads = _through_node_hooks(node, given, incoming)
            supports.spread(graph.edges[i], found if grads is given else [None] * len(found))
        for edge, grad in zip(graph.edges[i], grads, strict=True):
            sums.add(edge, grad)
    return sums.captured()


def _through_hooks(node: Any, incoming: list) -> list:
    """Run the hooks on the gradients that come to a node's outputs, and keep those that ``retain_grad`` asked for."""
    for k, hooks in (node.prehooks or {}).items():
        for hook in list(hooks.values()):
            if k is not None and incoming[k] is not None:
                incoming[k] = hooked(hook, incoming[k])
    for hook in list(node.prehooks.get(None, {}).values()) if node.prehooks else ():
        incoming = list(_replaced(hook, hook(tuple(incoming)), incoming))
    for k, tensor in (node.retained or {}).items():
        if incoming[k] is not None:
            held = tensor._grad
            tensor._grad = incoming[k] if held is None else _sum(held, incoming[k])
    return incoming


def _replaced(hook: Any, changed: Any, grads: Sequence[Any]) -> Sequence[Any]:
    """What a hook on a node has returned, one gradient or a sequence of them; None leaves them as they are."""
    if changed is None:
        return grads
    return replacements(hook, grads, changed if isinstance(changed, (tuple, list)) else (changed,))


def _through_node_hooks(node: Any, grads: Sequence[Any], incoming: list) -> Sequence[Any]:
    for hook in list((node.hooks or {}).values()):
        grads = _replaced(hook, hook(tuple(grads), tuple(incoming)), grads)
    if state.anomaly:
        from .anomaly import check

        check(node, grads)
    return grads
