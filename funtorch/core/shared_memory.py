"""Memory that a Tensor shares with NumPy: what is written to the array shows in the Tensor, and the other way round.

A Tensor's payload never changes, so it is a copy of the array as it was when it was last read. Each use compares the two,
and a write to the Tensor goes on to the array. Once nobody else can reach the array it is the payload itself.
"""

from __future__ import annotations

import sys
from typing import Any, final

import numpy as np

from .engine import CONCRETE
from .forked import as_numpy
from .handle import Handle, make
from .state import state, watched
from .strides import geometry
from .tape import Node

_FEW = 1 << 12  # bytes that are compared fastest as two strings
_BLOCK = 1 << 15  # words of 8 bytes compared at once: what they differ in stays in the cache
_NOTHING = bytes(16)


@final
class Memory:
    """A dense array that is the memory of a Tensor, its root: the one that is no view.

    ``writes`` is how often the Tensor had been written when the two last agreed, ``payload`` what it held then. ``known`` says
    whether that is what the array was; otherwise it has the shape and the type alone (`stand_in`), or is out of date.
    """

    __slots__ = ("array", "writes", "payload", "known")

    def __init__(self, array: np.ndarray, root: Handle | None, known: bool) -> None:
        self.array = array
        self.writes = 0 if root is None else root._writes
        self.payload = None if root is None else root._payload
        self.known = known

    def read(self, root: Handle) -> None:
        """Bring the Tensor up to date with the array, or the array with a Tensor that was written without its knowing."""
        if type(root._payload) not in CONCRETE or _traced(root):
            return
        if self.behind(root):
            self.write(root)
        elif _alone(self):
            self.end(root)
        elif not self.known:
            self._renew(root, np.array(self.array))
        elif not same_bytes(as_numpy(root._payload), self.array):
            self._renew(root, np.array(self.array))

    def behind(self, root: Handle) -> bool:
        """Whether the Tensor was given a value that the array doesn't have."""
        if self.writes == root._writes:
            return False
        if root._payload is not self.payload:
            return True
        self.writes = root._writes  # it was only counted as written, or was given back what it had
        return False

    def _agree(self, root: Handle) -> None:
        self.writes, self.payload, self.known = root._writes, root._payload, True

    def _renew(self, root: Handle, payload: np.ndarray) -> None:
        root._payload = payload
        if isinstance(root._node, Node):
            root._node.overwritten = True
        root._writes += 1
        root._uncounted += 1  # as in PyTorch, versions count what is written through Tensors
        self._agree(root)

    def end(self, root: Handle) -> None:
        """Make the array, which nobody else can reach, the payload."""
        root._source = None
        if not self.known or not same_bytes(as_numpy(root._payload), self.array):
            owner = self.array.base
            if owner is not None and owner.shape == self.array.shape and owner.flags.c_contiguous:
                self._renew(root, owner)  # it says itself that it owns its elements
            else:
                self._renew(root, self.array)

    def write(self, root: Handle) -> None:
        """Write what the Tensor was given to the array; inside a transform or a trace that has to wait.

        An array that is read-only stays as it is, and the Tensor has memory of its own from here on.
        """
        if state.levels or type(root._payload) not in CONCRETE or _traced(root):
            return
        if not self.array.flags.writeable or _alone(self):
            root._source = None
            return
        if state.recorder is not None and not state.recorder.is_outer(root):
            state.recorder.refuse("it writes to an array of NumPy's")
        np.copyto(self.array, as_numpy(root._payload))
        self._agree(root)

    def noted(self, root: Handle) -> None:
        """The array was just written in the Tensor's name."""
        self.known = False
        root._writes += 1
        self.writes = root._writes


def _traced(root: Handle) -> bool:
    """Whether a function's trace is being made, which takes values from outside as they were in the recording."""
    recorder = state.recorder
    return recorder is not None and recorder.traces and recorder.is_outer(root)


def stand_in(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """An array of this shape and type that takes no memory: the payload of a Tensor whose values were not read yet."""
    return np.ndarray(shape, dtype, _NOTHING, 0, (0,) * len(shape))


def same_bytes(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two arrays of one shape and type are the same to the bit."""
    if b.nbytes <= _FEW or not (a.flags.c_contiguous and b.flags.c_contiguous):
        return a.tobytes() == b.tobytes()
    x, y = a.reshape(-1).view(np.uint8), b.reshape(-1).view(np.uint8)
    whole = x.size & ~7
    if whole < x.size and x[whole:].tobytes() != y[whole:].tobytes():
        return False
    x, y = x[:whole].view(np.uint64), y[:whole].view(np.uint64)
    return all((x[at : at + _BLOCK] == y[at : at + _BLOCK]).all() for at in range(0, x.size, _BLOCK))


def _references(memory: Memory) -> tuple[int, int]:
    """How many references there are to the array, and to the one that owns its elements."""
    owner = memory.array.base
    return sys.getrefcount(memory.array), sys.getrefcount(owner)


_ONE, _ONE_OWNER = _references(Memory(np.empty(2)[:1], None, False))


def _alone(memory: Memory) -> bool:
    """Whether nothing else refers to the array, so that nobody could tell it from a copy."""
    references, of_owner = _references(memory)
    if references > _ONE:
        return False
    owner = memory.array.base
    if owner is None:
        return memory.array.flags.owndata
    return type(owner) is np.ndarray and of_owner <= _ONE_OWNER and owner.base is None and owner.flags.owndata


def share(array: np.ndarray) -> Any:
    """A new Tensor in the memory of a dense array."""
    new = make(stand_in(array.shape, array.dtype), len(state.levels))
    new._source = Memory(array.view(), new, False)  # its own flags, and counts of references
    return new


class Given:
    """How often a Tensor that had memory of its own came to share it: others may have noted that it did not."""

    count = 0


given = Given()


def _references_of_payload(handle: Handle) -> int:
    return sys.getrefcount(handle._payload)


_HELD_ONCE = _references_of_payload(make(np.empty(1)))


def memory_of(root: Handle) -> Memory:
    """The memory in which a Tensor that is no view lies, shared with NumPy from here on."""
    found = root._source
    if found is not None:
        if found.behind(root):
            found.write(root)
        return found if root._source is not None else memory_of(root)
    given.count += 1
    held = root._payload
    plain = type(held) is np.ndarray and held.flags.owndata and held.flags.writeable and held.flags.c_contiguous
    del held
    if plain and root._node is None and _references_of_payload(root) <= _HELD_ONCE:
        array = root._payload
        root._payload = stand_in(array.shape, array.dtype)
        root._source = Memory(array, root, False)
    else:
        root._source = Memory(np.array(as_numpy(root._payload), order="C"), root, True)
    return root._source


def sharing(tensor: Handle) -> tuple[Handle, Memory] | None:
    """The root and the memory of a Tensor whose elements may be read and written there by themselves.

    None where it isn't shared, has a history, is watched, or has been written in a way that the memory doesn't show yet.
    """
    root = tensor
    while root._base is not None:
        if root._requires:
            return None
        root = root._base
    memory = root._source
    if memory is None or watched or root._requires or type(root._payload) not in CONCRETE:
        return None
    if memory.behind(root) or _alone(memory):
        memory.read(root)
        return None if root._source is None else (root, memory)
    return root, memory


def window(tensor: Handle, memory: Memory) -> np.ndarray | None:
    """The part of its root's memory that a Tensor shows; None for one whose elements are no elements of it."""
    array = memory.array
    if tensor._base is None:
        return array
    found = geometry(tensor)
    if found is None or tensor._payload.dtype != array.dtype:
        return None
    shape, strides, offset = found
    if 0 in shape:
        return np.empty(shape, array.dtype)
    width = array.itemsize
    buffer = array if array.dtype.isbuiltin == 1 else array.reshape(-1).view(np.uint8)
    return np.ndarray(shape, array.dtype, buffer, offset * width, [step * width for step in strides])  # type: ignore[arg-type]


def shown_to_numpy(tensor: Handle) -> np.ndarray | None:
    """A Tensor's elements as a NumPy array that shares its memory; None where that isn't possible."""
    root = tensor
    while root._base is not None:
        root = root._base
    payload = root._payload
    if watched or tensor._foreign or type(payload) not in CONCRETE:
        return None
    if type(payload) is not np.ndarray and any([device.platform != "cpu" for device in payload.devices()]):
        return None
    del payload
    found = window(tensor, memory_of(root))
    return None if found is None else found.view()


def live(tensor: Handle) -> np.ndarray | None:
    """The elements of a Tensor as they lie in memory shared with NumPy, where they may be read there by themselves.

    Whoever asks must not keep the array: it changes.
    """
    if tensor._source is None:
        return None
    found = sharing(tensor)
    return None if found is None else window(tensor, found[1])
