"""The tape: what was computed from what. A Node keeps an op, the values its VJP reads, and edges to where they came from."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from jax.interpreters import partial_eval

from ..errors import ArgumentTypeError, OpError
from .bounded import Bounded
from .engine import programs
from .gathered import gathers
from .gradients import hook_added, hook_leaf
from .handle import Handle, inference_made, make
from .node_names import Named, backward_name, named
from .op import Mask, Op, differentiable
from .selected import INDEXING, Traits, traits
from .state import state
from .tiers import Work

if TYPE_CHECKING:
    from .supports import Supported

_sequence = itertools.count()


def next_sequence() -> int:
    """A number that grows from node to node."""
    return next(_sequence)


FREED = ("freed",)
FREED_MESSAGE = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already been "
    "freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify "
    "retain_graph=True if you need to backward through the graph a second time or if you need to access saved tensors "
    "after calling backward."
)
INFERENCE_MESSAGE = (
    "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in computation "
    "tracked by autograd. To work around this, you can make a clone to get a normal tensor and use it in autograd, or use "
    "`torch.no_grad()` instead of `torch.inference_mode()`."
)


class Leaf(Named):
    """Where gradients end: the place of a leaf Tensor on the tape (PyTorch's AccumulateGrad)."""

    __slots__ = ("tensor", "level", "came", "__weakref__")
    edges: tuple = ()
    seq = -1
    is_named = True

    def __init__(self, tensor: Handle) -> None:
        self.tensor = tensor
        self.level = tensor._level

    def name(self) -> str:
        return "torch::autograd::AccumulateGrad"

    @property
    def variable(self) -> Handle:
        return self.tensor

    next_functions: tuple = ()

    def register_prehook(self, hook: Any) -> Any:
        """Call ``hook((grad,))`` when the leaf's gradient is there; a tuple that it returns replaces it."""
        return hook_leaf(self, before=hook)

    def register_hook(self, hook: Any) -> Any:
        """Call ``hook((), (grad,))`` when a gradient was accumulated in the leaf."""
        return hook_leaf(self, after=hook)


Leaf.__name__ = Leaf.__qualname__ = "AccumulateGrad"
Leaf.__module__ = Leaf.home


def leaf_of(tensor: Handle) -> Leaf:
    """The tape's place for a leaf. The tape keeps the leaf alive, not the other way round."""
    found = tensor._leaf() if tensor._leaf is not None else None
    if found is None:
        found = Leaf(tensor)
        tensor._leaf = weakref.ref(found)
    return found


def place_of(tensor: Handle) -> tuple[Any, int]:
    """The (node, output number) that a Tensor which requires grad has on the tape."""
    node = tensor._node
    return (node, tensor._output) if node is not None else (leaf_of(tensor), 0)


class Recipe:
    """What the tape knows of an op for arguments of given shapes and dtypes: made once, shared by all its nodes."""

    __slots__ = (
        "op", "mask", "vjp", "key", "reads", "avals", "outs", "blanks", "work", "marked", "unread", "gathers",
        "recent", "traits", "supported", "keeps", "__weakref__",
    )  # fmt: skip

    def __init__(self, op: Op, mask: Mask, avals: tuple, outs: tuple) -> None:
        self.op = op
        self.mask = mask
        self.vjp = op.vjp(mask)
        self.avals = avals
        self.outs = outs  # (shape, dtype) of each output; dtype None where it has no derivative
        self.key = (*avals, *(out for out in outs if out[1] is not None))  # of the vjp's arguments
        form = None if op.direct is None or op.direct.backward is None else op.direct.backward(mask, avals)
        if form is not None:
            self.reads, self.work = form.reads, DIRECT_WORK
            self.traits = Traits(form.leaves, any(form.reads) and not form.leaves)
        else:
            self.reads, self.work, self.traits = _examined(op, self.vjp, self.key, len(avals))
        self.supported: dict[tuple[int, ...], Supported] = {}  # the vjp with supports, by what comes in
        self.keeps = any(self.reads)
        self.marked = [i for i, marked in enumerate(mask) if marked]
        self.unread = [i for i, read in enumerate(self.reads) if not read]
        self.gathers = gathers(op.gathered, avals, outs)
        self.blanks = [None if read else placeholder(aval) for aval, read in zip(avals, self.reads, strict=True)]
        self.recent = True


# Over all ops; what nodes and plans still hold lives on.
recipes = Bounded(programs.limit)
DIRECT_WORK = 20.0  # microseconds on the host that a small call may take
MAX_TRACES = 8  # of one op, kept from when its recipes were made until they run


def _examined(op: Op, vjp: Op, key: tuple, inputs: int) -> tuple[tuple[bool, ...], float, Traits]:
    """Which of the op's inputs its VJP reads, for the others need not be kept alive; its work on the host; its traits."""
    trace = vjp.trace(key)
    if len(vjp.traces) >= MAX_TRACES:
        vjp.traces.clear()
    vjp.traces[key] = trace
    closed = trace[0]
    live, used = partial_eval.dce_jaxpr(closed.jaxpr, [True] * len(closed.jaxpr.outvars))
    return (
        tuple(used[:inputs]),
        Work().add(closed.jaxpr).host_microseconds(),
        traits(live, sum(used[:inputs]), op.name in INDEXING),
    )


class Node(Named):
    """One recorded call. ``saved`` holds the payloads that the VJP reads (None elsewhere)."""

    __slots__ = ("recipe", "saved", "edges", "seq", "level", "__dict__", "__weakref__")
    hooks: dict | None = None  # on the gradients that it gives
    prehooks: dict | None = None  # by output number, on the gradients that come in; under None those on all at once
    retained: dict | None = None  # by output number, Tensors that keep their gradient
    trace: Any = None
    packed = False  # whether what is saved went through hooks
    overwritten = False  # whether a result was given other values, but kept its place here

    def __init__(self, recipe: Recipe, saved: list, edges: list, level: int) -> None:
        self.recipe = recipe
        self.saved: Any = saved
        self.edges = edges
        self.seq = next(_sequence)
        self.level = level

    def name(self) -> str:
        recipe = self.recipe
        return backward_name(recipe.op.name, recipe.op.statics, recipe.avals)

    @property
    def next_functions(self) -> tuple:
        return tuple((named(edge[0]), edge[1]) if edge is not None else (None, 0) for edge in self.edges)

    @property
    def metadata(self) -> dict:
        return self.__dict__.setdefault("metadata", {})

    @property
    def outs(self) -> tuple:
        return self.recipe.outs

    def register_hook(self, hook: Any) -> Any:
        """Call ``hook(grad_inputs, grad_outputs)`` when this node's gradients are there."""
        self.hooks = {} if self.hooks is None else self.hooks
        return hook_added(self.hooks, hook)

    def register_prehook(self, hook: Any) -> Any:
        """Call ``hook(grad_outputs)`` when the gradients that come to this node are there; a tuple that it returns replaces them."""
        self.prehooks = {} if self.prehooks is None else self.prehooks
        return hook_added(self.prehooks.setdefault(None, {}), hook)

    def stepwise(self) -> bool:
        """Whether someone needs values midway, so that it can't be part of a composite."""
        return self.hooks is not None or self.prehooks is not None or self.retained is not None or self.packed

    def release(self) -> None:
        """Let go of the saved values."""
        if self.recipe.keeps:
            self.saved = FREED

    def is_freed(self) -> bool:
        return self.saved is FREED

    def inputs(self, with_places: bool) -> list[Any]:
        """The saved values as Tensors (zeros of the right shape where nothing was saved)."""
        edges = iter(self.edges)
        values = []
        for value, aval, marked in zip(self.saved, self.recipe.avals, self.recipe.mask, strict=True):
            edge = next(edges) if marked else None
            if value is None:  # what isn't read is no argument of the gradient
                value, edge = placeholder(aval), None
            elif self.packed:
                value = value.unpacked()._payload
            tensor = make(value)
            if with_places and edge is not None:
                set_place(tensor, *edge)
            values.append(tensor)
        return values

    def apply(self, incoming: list[Any], create_graph: bool) -> Sequence[Any]:
        """The gradients for each edge, from the cotangents of the outputs (None: zero)."""
        from .call import call

        full = [zeros(out) if c is None else c for c, out in zip(incoming, self.outs, strict=True) if out[1] is not None]
        return call(self.recipe.vjp, [*self.inputs(create_graph), *full], recording=create_graph)


class Packed:
    """A saved value that went through the hooks in force."""

    def __init__(self, tensor: Handle) -> None:
        pack, self.unpack = state.saved_hooks
        hooks, state.saved_hooks, grad, state.grad = state.saved_hooks, None, state.grad, False
        try:
            self.held = pack(tensor)
        finally:
            state.saved_hooks, state.grad = hooks, grad

    def unpacked(self) -> Any:
        """What the unpack hook gives."""
        tensor = self.unpack(self.held)
        if not isinstance(tensor, Handle):
            raise ArgumentTypeError(f"saved_tensors_hooks: the unpack hook must return a Tensor, not {type(tensor).__name__}")
        return tensor


class FreedNode(Named):
    """The place of a result whose graph was walked and freed inside compiled code."""

    __slots__ = ("seq", "hooks", "prehooks", "retained", "level", "__weakref__")
    edges = outs = next_functions = ()
    recipe = None

    def __init__(self) -> None:
        self.seq = next(_sequence)
        self.hooks = self.prehooks = self.retained = None
        self.level = 0

    def name(self) -> str:
        return "CompiledBackward"

    def stepwise(self) -> bool:
        return True

    def is_freed(self) -> bool:
        return True


def zeros(aval: tuple) -> Any:
    """A Tensor of zeros of the given shape and dtype."""
    return make(np.zeros(*aval))


def placeholder(aval: tuple) -> Any:
    """An array of the given shape and dtype that nobody reads: it takes no memory."""
    return np.broadcast_to(np.zeros((), aval[1]), aval[0])


def set_place(tensor: Handle, node: Any, output: int) -> None:
    """Put a Tensor at a place of the tape."""
    tensor._requires = True
    tensor._node = node
    tensor._output = output
    if node.level:
        tensor._level = node.level


def record_again(
    known: dict[int, Recipe | None], marks: int, op: Op, args: Sequence[Any], values: list[Any], avals: tuple, results: Any
) -> None:
    """`record` outside of transforms, the short way for a call like an earlier one; ``values`` becomes the node's.

    ``known`` has the recipes for these shapes and dtypes, by which arguments require grad (``marks``, a bit each).
    """
    recipe = known.get(marks)
    if recipe is None or inference_made or state.saved_hooks is not None or state.anomaly:
        known[marks] = record(op, args, values, avals, results, 0)
        return
    edges = []
    for i in recipe.marked:
        arg = args[i]
        if arg._level:
            record(op, args, values, avals, results, 0)
            return
        node = arg._node
        edges.append((node, arg._output) if node is not None else (leaf_of(arg), 0))
    recipe.recent = True
    for i in recipe.unread:
        values[i] = None
    node = Node(recipe, values, edges, 0)
    if type(results) is not list:
        results._requires = True
        results._node = node
        return
    for number, (out, meta) in enumerate(zip(results, recipe.outs, strict=True)):
        if meta[1] is not None:
            _on_tape(out, node, number, 0)


def record(op: Op, args: Sequence[Any], values: list[Any], avals: tuple, results: Any, depth: int) -> Recipe | None:
    """Put a call on the tape, if an argument that requires grad at this depth can reach a differentiable result.

    Returns what is kept for the next call like it.
    """
    mask, edges, level = [], [], depth
    for arg, aval in zip(args, avals, strict=True):
        marked = isinstance(arg, Handle) and arg._requires and differentiable[aval[1]]
        mask.append(marked)
        if marked:
            node = arg._node
            edges.append((node, arg._output) if node is not None else (leaf_of(arg), 0))
            if arg._level > level and not depth:
                level = arg._level
    key = (tuple(mask), avals)
    recipe = op.recipes.get(key)
    if recipe is None:
        outs = [out._payload for out in (results if isinstance(results, list) else (results,))]
        if not edges or not any(differentiable[out.dtype] for out in outs):
            return None
        metas = tuple((out.shape, out.dtype if differentiable[out.dtype] else None) for out in outs)
        recipe = Recipe(op, key[0], avals, metas)
        recipes.add(op.recipes, key, recipe)
    recipe.recent = True
    if inference_made:
        _check_saved(args, recipe.reads)
    if depth:
        values = [_with_tape(a, v, depth) for a, v in zip(args, values, strict=True)]
    saved = [v if read else None for v, read in zip(values, recipe.reads, strict=True)]
    node = Node(recipe, saved, edges, level)
    if state.saved_hooks is not None:
        node.saved = [v if v is None else Packed(make(v)) for v in saved]
        node.packed = True
    if state.anomaly:
        from .anomaly import note

        note(node)
    if isinstance(results, list):
        for number, (out, meta) in enumerate(zip(results, recipe.outs, strict=True)):
            if meta[1] is not None:
                _on_tape(out, node, number, level)
    else:
        _on_tape(results, node, 0, level)
    return recipe


def _with_tape(arg: Any, value: Any, depth: int) -> Any:
    """What a node at ``depth`` saves of an argument: one that is on a tape further out keeps its place there."""
    if not isinstance(arg, Handle) or not arg._requires or arg._level >= depth:
        return value
    level = getattr(value, "level", None)
    if level is not None and level.depth == depth:
        return value
    outer = make(value, arg._birth)
    set_place(outer, *place_of(arg))
    return state.levels[depth - 1].lifted(outer)


def _check_saved(args: Sequence[Any], reads: tuple[bool, ...]) -> None:
    if any(read and isinstance(a, Handle) and a._inference for a, read in zip(args, reads, strict=True)):
        raise OpError(INFERENCE_MESSAGE)


def _on_tape(out: Handle, node: Node, number: int, level: int) -> None:
    out._requires = True
    out._node = node
    if number:
        out._output = number
    if level:
        out._level = level


def check_not_freed(nodes: list[Any]) -> None:
    """Raise PyTorch's error where a node's saved values are gone."""
    if any([node.is_freed() for node in nodes]):
        raise OpError(FREED_MESSAGE)
