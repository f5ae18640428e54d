"""A pickle machine that runs nothing by itself: it makes plain values, and asks `Admitted` for all that a pickle names.

Python's own unpickler lets a pickle set attributes of any object it reaches, and allocates what it announces. This one knows
the opcodes of protocols 2 to 5 that data needs, in two tables: `literals`, and the methods here.
"""

from __future__ import annotations

import struct
from collections import Counter, OrderedDict
from collections.abc import Callable
from pickle import UnpicklingError
from typing import Any

from ..errors import MissingError, OpError
from .admitted import Admitted, check_key
from .literals import LITERALS, read_data, read_number
from .source import Source

_MOST_PROTOCOL = 5
_DAMAGED = "load(): the pickle in the file is damaged at byte {}: {}"
# What a wrong opcode or argument ends in, somewhere below; ValueError includes UnicodeDecodeError.
_FROM_DAMAGE = (
    IndexError,
    KeyError,
    TypeError,
    ValueError,
    AttributeError,
    OverflowError,
    struct.error,
    RecursionError,
    MemoryError,
)
OPCODES: dict[int, Callable[[Machine], None]] = {}


def opcode(code: bytes) -> Callable:
    """Enter a method in the table under this code."""

    def enter(method: Callable) -> Callable:
        OPCODES[code[0]] = method
        return method

    return enter


class Machine:
    """Runs one pickle.

    Args:
        source: where it is read from; left just behind its end.
        admitted: what it may name and call; None: nothing.
        persistent: makes a storage of a persistent id.
        encoding, errors: of texts that Python 2 pickled; "bytes" leaves them as they are.
    """

    def __init__(
        self,
        source: Source,
        admitted: Admitted | None,
        persistent: Callable[[Any], Any],
        encoding: str = "utf-8",
        errors: str = "strict",
    ) -> None:
        self.encoding, self.errors = encoding, errors
        self.source = source
        self.admitted = admitted
        self.persistent = persistent
        self.stack: list[Any] = []
        self.marks: list[int] = []
        self.memo: dict[int, Any] = {}

    def run(self) -> Any:
        """The value. Raises pickle.UnpicklingError for what is not admitted and for damage, EOFError where it ends too soon."""
        read = self.source.read
        try:
            while True:
                code = read(1)[0]
                if code == 0x2E:  # "."
                    return self._result()
                literal = LITERALS.get(code)
                if literal is not None:
                    self.stack.append(literal(self.source))
                    continue
                run = OPCODES.get(code)
                if run is None:
                    raise UnpicklingError(_DAMAGED.format(self.source.tell(), f"{code:#04x} is no opcode that data needs"))
                run(self)
        except (UnpicklingError, OpError, MissingError):
            raise
        except _FROM_DAMAGE as error:
            raise UnpicklingError(_DAMAGED.format(self.source.tell(), f"{type(error).__name__}: {error}")) from None

    def _result(self) -> Any:
        if len(self.stack) != 1 or self.marks:
            raise ValueError("it ends in mid-work")
        return self.stack.pop()

    def _pop(self) -> Any:
        if self.marks and len(self.stack) <= self.marks[-1]:
            raise IndexError("a value is missing")
        return self.stack.pop()

    def _top(self) -> Any:
        if self.marks and len(self.stack) <= self.marks[-1]:
            raise IndexError("a value is missing")
        return self.stack[-1]

    def _to_mark(self) -> list[Any]:
        start = self.marks.pop()
        values = self.stack[start:]
        del self.stack[start:]
        return values

    # Frame

    @opcode(b"\x80")
    def _protocol(self) -> None:
        number = read_number(self.source, "<B")
        if not 2 <= number <= _MOST_PROTOCOL:
            raise ValueError(f"protocol {number}; 2 to {_MOST_PROTOCOL} can be read")

    @opcode(b"\x95")
    def _frame(self) -> None:
        read_number(self.source, "<Q")

    @opcode(b"(")
    def _mark(self) -> None:
        self.marks.append(len(self.stack))

    @opcode(b"0")
    def _drop(self) -> None:
        self._pop()

    @opcode(b"1")
    def _drop_to_mark(self) -> None:
        self._to_mark()

    @opcode(b"2")
    def _double(self) -> None:
        self.stack.append(self._top())

    # Memo

    @opcode(b"q")
    def _put_byte(self) -> None:
        self.memo[read_number(self.source, "<B")] = self._top()

    @opcode(b"r")
    def _put_long(self) -> None:
        self.memo[read_number(self.source, "<I")] = self._top()

    @opcode(b"\x94")
    def _put_next(self) -> None:
        self.memo[len(self.memo)] = self._top()

    @opcode(b"h")
    def _get_byte(self) -> None:
        self.stack.append(self.memo[read_number(self.source, "<B")])

    @opcode(b"j")
    def _get_long(self) -> None:
        self.stack.append(self.memo[read_number(self.source, "<I")])

    # Texts of Python 2

    @opcode(b"U")
    def _old_short_text(self) -> None:  # Python 2's str
        self._old(read_data(self.source, "<B"))

    @opcode(b"T")
    def _old_text(self) -> None:
        self._old(read_data(self.source, "<i"))

    def _old(self, data: bytes) -> None:
        self.stack.append(data if self.encoding == "bytes" else str(data, self.encoding, self.errors))

    # Containers

    @opcode(b"\x85")
    def _tuple_of_1(self) -> None:
        self.stack.append((self._pop(),))

    @opcode(b"\x86")
    def _tuple_of_2(self) -> None:
        second, first = self._pop(), self._pop()
        self.stack.append((first, second))

    @opcode(b"\x87")
    def _tuple_of_3(self) -> None:
        third, second, first = self._pop(), self._pop(), self._pop()
        self.stack.append((first, second, third))

    @opcode(b"t")
    def _tuple(self) -> None:
        self.stack.append(tuple(self._to_mark()))

    @opcode(b"l")
    def _list(self) -> None:
        self.stack.append(self._to_mark())

    @opcode(b"a")
    def _append(self) -> None:
        value = self._pop()
        self._extend([value])

    @opcode(b"e")
    def _appends(self) -> None:
        self._extend(self._to_mark())

    def _extend(self, values: list[Any]) -> None:
        if type(self._top()) is not list:
            raise TypeError(f"values are appended to a {type(self._top()).__name__}")
        self.stack[-1].extend(values)

    @opcode(b"d")
    def _dict(self) -> None:
        values = self._to_mark()
        self.stack.append({})
        self._update(values)

    @opcode(b"s")
    def _set_item(self) -> None:
        value, key = self._pop(), self._pop()
        self._update([key, value])

    @opcode(b"u")
    def _set_items(self) -> None:
        self._update(self._to_mark())

    def _update(self, values: list[Any]) -> None:
        target = self._top()
        if type(target) not in (dict, OrderedDict, Counter) or len(values) % 2:
            raise TypeError(f"keys and values for a {type(target).__name__}")
        for key, value in zip(values[::2], values[1::2], strict=True):
            target[check_key(key)] = value

    @opcode(b"\x90")
    def _add_items(self) -> None:
        values = self._to_mark()
        if type(self._top()) is not set:
            raise TypeError(f"members for a {type(self._top()).__name__}")
        self.stack[-1].update(check_key(value) for value in values)

    @opcode(b"\x91")
    def _frozenset(self) -> None:
        self.stack.append(frozenset(check_key(value) for value in self._to_mark()))

    # Names, calls, states: `Admitted` decides

    def _admitted(self) -> Admitted:
        if self.admitted is None:
            raise ValueError("it names something where only plain values belong")
        return self.admitted

    @opcode(b"c")
    def _global(self) -> None:
        module, name = (self.source.readline()[:-1].decode("utf-8") for _ in range(2))
        self.stack.append(self._admitted().find(module, name))

    @opcode(b"\x93")
    def _stack_global(self) -> None:
        name, module = self._pop(), self._pop()
        if type(module) is not str or type(name) is not str:
            raise TypeError("a name that is no text")
        self.stack.append(self._admitted().find(module, name))

    @opcode(b"R")
    def _reduce(self) -> None:
        arguments, function = self._pop(), self._pop()
        self.stack.append(self._admitted().call(function, arguments))

    @opcode(b"\x81")
    def _new(self) -> None:
        arguments, cls = self._pop(), self._pop()
        self.stack.append(self._admitted().new(cls, arguments, {}))

    @opcode(b"\x92")
    def _new_with_names(self) -> None:
        named, arguments, cls = self._pop(), self._pop(), self._pop()
        self.stack.append(self._admitted().new(cls, arguments, named))

    @opcode(b"b")
    def _build(self) -> None:
        state = self._pop()
        self._admitted().build(self._top(), state)

    @opcode(b"Q")
    def _persistent(self) -> None:
        self.stack.append(self.persistent(self._pop()))
