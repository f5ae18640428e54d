"""Handle: the part of a Tensor that the core knows: its payload, its place on the tape, its base if it is a view.

The class attributes are the defaults; an instance only stores what differs, so that making one is cheap.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import OpError
from .state import state

if TYPE_CHECKING:
    from .tape import Leaf, Node
    from .views import Link


class Handle:
    """A mutable name for an immutable payload."""

    _payload: Any
    _requires = False  # whether gradients are recorded for it
    _node: Node | Leaf | None = None  # where it comes from, at its own tape level
    _output = 0  # which output of that node
    _level = 0  # the tape it belongs to: 0 outside of every transform
    _birth = 0  # how many transforms were open when it was made
    _writes = 0  # how often it was written: views compare it with what they have seen
    _uncounted = 0  # those of its writes that its version leaves out: what went through `.data`
    _counts = False  # whether it has a version of its own, though it is a view: `.data`
    _grad: Handle | None = None
    _leaf: weakref.ref[Leaf] | None = None
    _base: Handle | None = None  # the Tensor that this one is a view of
    _source: Any = None  # where its values are read before each use: its base, or memory that it shares with NumPy
    _chain: tuple[Link, ...] = ()  # the view ops that lead from the base here
    _place: tuple | None = None  # where its elements lie in its base, with the chain for which that was found
    _seen = 0  # the base's version when this view was last brought up to date
    _views: list[weakref.ref] | None = None  # the Tensors that are views of this one
    _detached = False  # a view that shares values, but no history (detach, .data)
    _retains = False
    _hooks: Any = None
    _inference = False
    _foreign = False  # whether the payload stands for several arrays (see foreign.py)
    _kept = False  # held by a node of the tape alone
    _siblings: str | None = None  # the op of which this is one of several view results
    _root: tuple | None = None  # what a traced one is the root of, see squares.py

    if TYPE_CHECKING:  # Tensor's methods are attached by the op files

        def __getattr__(self, name: str) -> Any: ...
        def __getitem__(self, index: Any) -> Any: ...
        def __setitem__(self, index: Any, value: Any) -> None: ...
        def __eq__(self, other: object) -> Any: ...
        def __hash__(self) -> int: ...
        def _unary(self) -> Any: ...
        def _binary(self, other: Any) -> Any: ...

        __neg__ = __pos__ = __abs__ = __invert__ = _unary
        __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _binary
        __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __matmul__ = __rmatmul__ = _binary
        __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = __lt__ = __le__ = __gt__ = __ge__ = _binary


_class: type[Handle] = Handle
# Whoever has to know of each Tensor that is made: recorders, inference mode.
watchers: list[Any] = []
# Holds an entry once a Tensor was made in inference mode: until then nothing needs to be checked.
inference_made: list[bool] = []


def _refresh(view: Handle) -> None:
    """Bring a view up to date with its base: said by `set_refresh`."""
    raise AssertionError("core.views was not imported")


def set_refresh(refresh: Callable[[Handle], None]) -> None:
    """Tell `value_of` how (called once, with what ``views.py`` says)."""
    global _refresh
    _refresh = refresh  # type: ignore[assignment]


def set_class(cls: type[Handle]) -> None:
    """Tell the core which class its results have (called once, by ``tensor.py``)."""
    global _class
    _class = cls


def make(payload: Any, birth: int = 0) -> Any:
    """A new Tensor without history around a payload."""
    new = object.__new__(_class)
    new._payload = payload
    if birth:
        new._birth = birth
    for watch in watchers:
        watch(new)
    return new


def make_all(payloads: Sequence[Any]) -> list[Any]:
    """A new Tensor without history around each payload."""
    if watchers:
        return [make(payload) for payload in payloads]
    new, cls, made = object.__new__, _class, []
    for payload in payloads:
        handle = new(cls)
        handle._payload = payload
        made.append(handle)
    return made


def announce(new: Handle) -> Any:
    """Tell the watchers of a Tensor that was made in another way, and return it."""
    for watch in watchers:
        watch(new)
    return new


def without_history(handle: Handle) -> Any:
    """A Tensor with the same payload that is on no tape at this level."""
    return handle.detach() if handle._foreign else make(handle._payload, handle._birth)


def value_of(handle: Handle) -> Any:
    """The payload of a Tensor, brought up to date if its base was written."""
    if handle._source is not None:
        _refresh(handle)
    return handle._payload


def form_of(handle: Handle) -> Any:
    """The payload of a Tensor for its shape and type alone: memory that it shares with NumPy is not read."""
    if handle._source is not None and not _keeps_form(handle):
        _refresh(handle)
    return handle._payload


def _keeps_form(handle: Handle) -> bool:
    """Whether a Tensor has no history, and its elements lie in memory that is shared with NumPy."""
    while handle._base is not None:
        if handle._requires:
            return False
        handle = handle._base
    return handle._source is not None and not handle._requires


def note_written(target: Handle) -> None:
    """Let NumPy see what a Tensor was given, if it shares memory with it."""
    if target._base is None and target._source is not None:
        target._source.write(target)


def in_place_allowed(target: Handle, name: str, grad_mode: bool) -> None:
    """Raise PyTorch's error for an in-place change of a leaf that requires grad, or of an inference Tensor outside."""
    if target._inference and not state.inference:
        raise OpError(
            f"{name}(): Inplace update to inference tensor outside InferenceMode is not allowed. You can make a clone to get "
            "a normal tensor before doing inplace update."
        )
    if not (grad_mode and target._requires):
        return
    if target._node is None and (target._base is None or target._detached):
        raise OpError(f"{name}(): a leaf Variable that requires grad is being used in an in-place operation.")
    base = target._base
    if base is not None and not target._detached and base._requires and base._node is None:
        raise OpError(f"{name}(): a view of a leaf Variable that requires grad is being used in an in-place operation.")
