"""What there is to see and to change of the graph: nodes, edges, hooks on several gradients, hooks on saved Tensors."""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from ..core.backward import Graph, walk_listeners
from ..core.handle import Handle, make, value_of
from ..core.node_names import named
from ..core.python_node import PythonNode
from ..core.state import state
from ..core.tape import FreedNode, Leaf, place_of, placeholder, set_place
from ..core.tape import Node as TapeNode
from ..errors import ArgumentTypeError, ArgumentValueError, OpError
from ..utils.hooks import RemovableHandle

__all__ = [
    "GradientEdge", "Node", "allow_mutation_on_saved_tensors", "disable_saved_tensors_hooks", "get_gradient_edge", "increment_version",
    "register_multi_grad_hook", "save_on_cpu", "saved_tensors_hooks",
]  # fmt: skip


class Node(abc.ABC):  # noqa: B024  # nodes are registered, so that isinstance() knows them
    """What ``grad_fn`` is: ``name()``, ``next_functions``, ``register_hook(hook)``."""


for _kind in (TapeNode, PythonNode, FreedNode, Leaf):
    Node.register(_kind)


class GradientEdge(NamedTuple):
    """The place of a Tensor in the graph: output ``output_nr`` of ``node``."""

    node: Any
    output_nr: int
    ownership_token: Any = None


def get_gradient_edge(tensor: Any) -> GradientEdge:
    """The place of ``tensor`` in the graph, which outlives it. Raises RuntimeError if it does not require grad."""
    if not tensor.requires_grad:
        raise OpError("It is not possible to get the gradient edge for a Tensor that does not require gradients")
    node, output = place_of(tensor)
    return GradientEdge(named(node), output)


def tensor_at(target: Any) -> Any:
    """A Tensor as it is; for a `GradientEdge` one without values at that place."""
    if not isinstance(target, GradientEdge):
        return target
    if type(target.node) is Leaf:
        return target.node.tensor
    shape, dtype = target.node.outs[target.output_nr]
    new = make(placeholder((shape, dtype)))
    set_place(new, target.node, target.output_nr)
    return new


def increment_version(tensor: Any) -> None:
    """Say that Tensors were changed in a way that funtorch did not see."""
    for each in (tensor,) if isinstance(tensor, Handle) else tensor:
        base = each if each._base is None else each._base
        value_of(base)
        base._writes += 1


class saved_tensors_hooks:  # noqa: N801
    """Within: what nodes save goes through ``pack_hook``, and comes back through ``unpack_hook``.

    Args:
        pack_hook: a function of a Tensor to anything.
        unpack_hook: a function of that to a Tensor with the same values.

    >>> import funtorch as torch
    >>> x = torch.tensor(2.0, requires_grad=True)
    >>> with torch.autograd.graph.saved_tensors_hooks(lambda t: t.numpy(), torch.tensor):
    ...     y = x.detach() * x
    >>> y.backward(); x.grad
    tensor(2.)
    """

    def __init__(self, pack_hook: Callable, unpack_hook: Callable) -> None:
        self.pair = (pack_hook, unpack_hook)

    def __enter__(self) -> None:
        if state.no_saved_hooks is not None:
            raise OpError(state.no_saved_hooks)
        self.before = state.saved_hooks
        state.saved_hooks = self.pair

    def __exit__(self, *exc: object) -> None:
        state.saved_hooks = self.before


class save_on_cpu(saved_tensors_hooks):  # noqa: N801
    """Within: what nodes save is kept in the host's memory."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(lambda t: (t.device, t.cpu()), lambda packed: packed[1].to(packed[0]))


class allow_mutation_on_saved_tensors:  # noqa: N801
    """Within: values that the tape keeps may be written. They always may here: a gradient is that of the values as they were."""

    def __enter__(self) -> allow_mutation_on_saved_tensors:
        return self

    def __exit__(self, *exc: object) -> None:
        pass

    def clear(self) -> None:
        """Nothing: there are no copies to let go of."""


class disable_saved_tensors_hooks:  # noqa: N801
    """Within: hooks on saved Tensors raise RuntimeError with this message."""

    def __init__(self, error_message: str) -> None:
        self.message = error_message

    def __enter__(self) -> None:
        self.before = state.no_saved_hooks
        if state.saved_hooks is not None:
            raise OpError(self.message)
        state.no_saved_hooks = self.message

    def __exit__(self, *exc: object) -> None:
        state.no_saved_hooks = self.before


class _Several:
    """Gradients of several Tensors in one walk."""

    def __init__(self, tensors: Sequence[Any], fn: Callable, mode: str) -> None:
        self.places = [place_of(t) for t in tensors]
        self.fn, self.mode = fn, mode
        self.begin(None)

    def begin(self, graph: Graph | None) -> None:
        """A walk begins: which Tensors will get a gradient."""
        expected = [graph is not None and node in graph.index for node, _ in self.places]
        if graph is None or any(expected):
            self.left = sum(expected)
            self.grads: list[Any] = [None] * len(self.places)
            self.called = False

    def got(self, number: int, grad: Any) -> None:
        self.grads[number] = grad
        self.left -= 1
        if self.mode == "any" and not self.called:
            self.called = True
            self.fn(grad)
        elif self.mode == "all" and self.left == 0:
            self.fn(self.grads)


class _Handles:
    def __init__(self, several: _Several, handles: list[RemovableHandle]) -> None:
        self.several, self.handles = several, handles

    def remove(self) -> None:
        """Take the hooks away."""
        for handle in self.handles:
            handle.remove()
        if self.several.begin in walk_listeners:
            walk_listeners.remove(self.several.begin)

    def __enter__(self) -> _Handles:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


def register_multi_grad_hook(tensors: Iterable[Any], fn: Callable, *, mode: str = "all") -> _Handles:
    """Call ``fn`` when gradients of ``tensors`` are there.

    mode "all": ``fn(gradients)`` once all that a walk reaches are there, None for others; "any": ``fn(gradient)`` at the
    first. Returns a handle with ``remove()``. Raises ValueError for another mode.
    """
    if mode not in ("all", "any"):
        raise ArgumentValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    tensors = list(tensors)
    for tensor in tensors:
        if not isinstance(tensor, Handle):
            raise ArgumentTypeError(f"register_multi_grad_hook(): expected Tensors, got {type(tensor).__name__}")
    several = _Several(tensors, fn, mode)
    walk_listeners.append(several.begin)

    def hook(number: int) -> Callable:
        return lambda grad: several.got(number, grad)

    return _Handles(several, [t.register_hook(hook(i)) for i, t in enumerate(tensors)])
