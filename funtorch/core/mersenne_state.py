"""The Mersenne twister as a stream of words, with PyTorch's seeding and PyTorch's 5056 bytes of state."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np

from ..errors import ArgumentTypeError, ArgumentValueError, OpError
from .foreseen import IN_A_ROW, LENGTH, Foreseen

DEFAULT_SEED = 67280421310721
STATE = np.dtype(
    {
        "names": ["seed", "left", "seeded", "next", "key", "y", "y_set", "f", "f_set"],
        "formats": ["u8", "i4", "i4", "u8", ("u8", LENGTH), "f8", "i4", "f4", "?"],
        "offsets": [0, 8, 12, 16, 24, 5024, 5040, 5048, 5052],
        "itemsize": 5056,
    }
)
CHUNK = 2**16
# NumPy takes an array without dimensions faster than a number.
MASK24, MASK53, UNIT = np.array(2**24 - 1, np.int32), np.array(2**53 - 1), np.array(2.0**-24, np.float32)
FEW = 2**14  # words up to which NumPy's function without bounds, which gives 64 bits for each, is the faster one
FEW_PAIRS, HALF_WORD = 2**9, np.array(32, np.uint64)
BLOCKS = (64, 1024, 16384)


class MersenneState:
    """A seeded stream of 32-bit words and the second half of the last pair of normals.

    NumPy's bit generator makes the words. Its ``pos`` is PyTorch's ``next``, and 625 - ``pos`` is PyTorch's
    ``left``, except where no word was drawn since the twister was seeded: there PyTorch has ``next`` 0 and
    ``left`` 1.

    >>> MersenneState(0).words(2)
    array([2357136044, 2546248239], dtype=uint32)
    """

    __slots__ = ("_bits", "_fill", "_seed", "_resting_next", "cached_normal", "_cached_float", "_foreseen")

    def __init__(self, seed: int = DEFAULT_SEED) -> None:
        self._bits = np.random.MT19937(0)
        self._fill = np.random.Generator(self._bits).integers
        self._foreseen: Foreseen | None = None
        self.seed(seed)

    def seed(self, seed: int) -> None:
        """Start the stream of ``seed`` (-2**63 to 2**64 - 1; a negative one counts from 2**64 down).

        Raises:
            ValueError: ``seed`` is outside that range.
        """
        seed = int(seed)
        if not -(2**63) <= seed < 2**64:
            raise ArgumentValueError(f"manual_seed({seed}): seed must be from -2**63 to 2**64 - 1")
        self._seed = seed % 2**64
        # NumPy's legacy seeding is init_genrand (Matsumoto and Nishimura 2002) of 32 bits, as is PyTorch's.
        legacy = np.random.RandomState(self._seed & 0xFFFFFFFF).get_state(legacy=False)
        self._place(legacy["state"]["key"], LENGTH)
        self._resting_next: int | None = 0
        self.cached_normal: float | None = None
        self._cached_float: float | None = None

    def initial_seed(self) -> int:
        """The seed that the stream was started with, as an unsigned 64-bit number."""
        return self._seed

    def get_state(self) -> np.ndarray:
        """Everything the next draws depend on: uint8 (5056,), laid out as ``torch.Generator.get_state``."""
        key, pos = self._inner()
        state = np.zeros((), STATE)
        state["seed"], state["seeded"], state["key"] = self._seed, 1, key
        if self._resting_next is None:
            state["left"], state["next"] = LENGTH + 1 - pos, pos
        else:
            state["left"], state["next"] = 1, self._resting_next
        for value, field in ((self.cached_normal, "y"), (self._cached_float, "f")):
            if value is not None:
                state[field], state[field + "_set"] = value, True
        return np.frombuffer(state.tobytes(), np.uint8).copy()

    def set_state(self, state: np.ndarray) -> None:
        """Continue from ``state``: uint8 (5056,), from here or from ``torch.Generator.get_state``.

        Raises:
            TypeError: ``state`` is not uint8.
            RuntimeError: ``state`` has another size, or is no state of a twister.
        """
        state = np.asarray(state)
        if state.dtype != np.uint8:
            raise ArgumentTypeError(f"RNG state must be a torch.ByteTensor, got dtype {state.dtype}")
        if state.size != STATE.itemsize:
            raise OpError(
                f"Expected a CPUGeneratorImplState of size {STATE.itemsize} but found the input RNG state size to be {state.size}"
            )
        fields = np.frombuffer(state.tobytes(), STATE)[0]
        left, following = int(fields["left"]), int(fields["next"])
        if fields["seeded"] != 1 or not 0 < left <= LENGTH or following > LENGTH:
            raise OpError(f"Invalid mt19937 state: seeded {fields['seeded']}, left {left}, next {following}")
        self._seed = int(fields["seed"])
        self._place(fields["key"].astype(np.uint32), LENGTH if left == 1 else following)
        self._resting_next = following if left == 1 else None
        self.cached_normal = float(fields["y"]) if fields["y_set"] else None
        self._cached_float = float(fields["f"]) if fields["f_set"] else None

    def mark(self) -> tuple:
        """Where the stream is, to `go_back` to; much quicker than `get_state`."""
        return (self._where(), self._seed, self._resting_next, self.cached_normal, self._cached_float)

    def go_back(self, mark: tuple) -> None:
        """Continue from a place that `mark` gave."""
        place, self._seed, self._resting_next, self.cached_normal, self._cached_float = mark
        self._go_to(place)

    def copy(self) -> Self:
        """A second generator that draws the same numbers from here on."""
        twin = type(self)(0)
        twin.set_state(self.get_state())
        return twin

    def foreseen(self) -> Foreseen | None:
        """What is known of normals to come; None where the state can't be looked at."""
        if self._foreseen is None and _in_a_row():
            self._foreseen = Foreseen(self)
        return self._foreseen

    def words(self, n: int) -> np.ndarray:
        """The next ``n`` 32-bit words: uint32 (n,)."""
        if n:
            self._resting_next = None
        if n <= FEW:
            return self._bits.random_raw(n).astype(np.uint32)
        return self._fill(0, 2**32, size=n, dtype=np.uint32)

    def words64(self, n: int) -> np.ndarray:
        """The next ``n`` pairs of words, the first one on top: uint64 (n,)."""
        if n:
            self._resting_next = None
        if n > FEW_PAIRS:
            return self._fill(0, 2**64, size=n, dtype=np.uint64)
        words = self._bits.random_raw(2 * n)
        tops = np.left_shift(words[::2], HALF_WORD)
        return np.bitwise_or(tops, words[1::2], tops)

    def bits24(self, n: int) -> np.ndarray:
        """The lower 24 bits of the next ``n`` words: int32 (n,)."""
        bits = self.words(n).view(np.int32)
        return np.bitwise_and(bits, MASK24, bits)

    def bits53(self, n: int) -> np.ndarray:
        """The lower 53 bits of the next ``n`` pairs of words: int64 (n,)."""
        bits = self.words64(n).view(np.int64)
        return np.bitwise_and(bits, MASK53, bits)

    def doubles(self, n: int) -> np.ndarray:
        """Uniform on [0, 1) with 53 bits each, a pair of words apiece: float64 (n,)."""
        return self.bits53(n) * 2.0**-53

    def skip(self, n: int) -> None:
        """Go on behind the next ``n`` words."""
        if n:
            self._resting_next = None
            self._bits.random_raw(n, output=False)

    def fill_uniform(self, out: np.ndarray) -> None:
        """Uniform on [0, 1): 24 bits of a word into float32, 53 of two into float64."""
        if out.dtype == np.float64:
            out[:] = self.doubles(out.size)
            return
        np.copyto(out, self.bits24(out.size), casting="unsafe")
        np.multiply(out, UNIT, out)

    @contextmanager
    def one_by_one(self) -> Iterator[Iterator[float]]:
        """Doubles for samplers that do not know how many they need; what was not taken is not drawn."""
        taken, start = 0, self._where()
        resting = self._resting_next

        def doubles() -> Iterator[float]:
            nonlocal taken
            sizes = iter(BLOCKS)
            size = BLOCKS[0]
            while True:
                size = next(sizes, size)
                for value in self.doubles(size).tolist():
                    taken += 1
                    yield value

        try:
            yield doubles()
        finally:
            self._go_to(start)
            self._bits.random_raw(2 * taken, output=False)
            self._resting_next = None if taken else resting

    def _where(self) -> Any:
        """The place in the stream of words, to `_go_to`: NumPy's own account of it takes ten times as long."""
        return ctypes.string_at(self._bits.ctypes.state_address, IN_A_ROW) if _in_a_row() else self._bits.state

    def _go_to(self, place: Any) -> None:
        if _in_a_row():
            ctypes.memmove(self._bits.ctypes.state_address, place, IN_A_ROW)
        else:
            self._bits.state = place

    def _inner(self) -> tuple[np.ndarray, int]:
        """The twister's words, and how many of them were given."""
        if _in_a_row():
            row = np.frombuffer(self._where(), np.uint32)
            return row[:LENGTH], int(row[LENGTH])
        inner = self._bits.state["state"]
        return inner["key"], inner["pos"]

    def _place(self, key: np.ndarray, pos: int) -> None:
        self._bits.state = {"bit_generator": "MT19937", "state": {"key": key, "pos": pos}}


@functools.lru_cache(maxsize=1)
def _in_a_row() -> bool:
    """Whether NumPy's generator has its words and its position one after the other in memory."""
    bits = np.random.MT19937(3)
    bits.random_raw(5)
    inner = bits.state["state"]
    expected = inner["key"].astype(np.uint32).tobytes() + np.int32(inner["pos"]).tobytes()
    return ctypes.string_at(bits.ctypes.state_address, IN_A_ROW) == expected


def parts(out: np.ndarray) -> Iterable[np.ndarray]:
    """Consecutive pieces of a flat array, small enough for the cache."""
    if 0 < out.size <= CHUNK:
        return (out,)
    return (out[start : start + CHUNK] for start in range(0, out.size, CHUNK))
