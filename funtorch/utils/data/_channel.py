"""A line between two processes that carries Python objects; large ones travel in memory that both share.

That memory has no name (an anonymous file, whose descriptor goes with the message): whatever dies, and however, the system
takes it back with the last process that holds it. Nothing is pickled on another thread: an object that can't be pickled
raises where it is sent.
"""

from __future__ import annotations

import errno
import io
import mmap
import os
import pickle
import select
import socket
import struct
import tempfile
import time
from collections.abc import Sequence
from multiprocessing.reduction import ForkingPickler
from typing import Any

# Messages up to here go through the socket, which is then never too full for one (`Channel.has_room`).
INLINE = 4000
# Buffers from here on go beside the pickle, so that who receives them need not copy them.
LARGE_BUFFER = 1024
_ALIGNED = 64
_HEAD = struct.Struct("<qq")  # length of the pickle; number of buffers beside it, -1 where all is in the message
_SIZE = struct.Struct("<q")


class Channel:
    """One end of the line.

    Args:
        end: one of a pair of connected Unix sockets.
    """

    def __init__(self, end: socket.socket) -> None:
        self.end = end

    def fileno(self) -> int:
        """The descriptor to wait on."""
        return self.end.fileno()

    def close(self) -> None:
        """Hang up: the other end's `receive` raises EOFError, once it has read what is on its way."""
        self.end.close()

    def has_room(self) -> bool:
        """Whether a message can be sent without waiting for the other end to read."""
        poll = select.poll()
        poll.register(self.end, select.POLLOUT)
        return bool(poll.poll(0))

    def send(self, message: Any) -> None:
        """Send an object. Raises what pickling it raises, before anything is sent; OSError where nobody listens."""
        buffers: list[memoryview] = []
        stream = _pickled(message, buffers)
        if not buffers and len(stream) <= INLINE:
            self.end.sendall(_HEAD.pack(len(stream), -1) + stream)
            return
        file = _shared_file()
        try:
            _write(file, [*buffers, stream, b"".join(_SIZE.pack(b.nbytes) for b in buffers)])
            self._send_with(file, _HEAD.pack(len(stream), len(buffers)))
        finally:
            os.close(file)

    def receive(self) -> Any:
        """The next object, for which it waits. Raises EOFError where the other end has hung up or died."""
        try:
            head, files, _, _ = socket.recv_fds(self.end, _HEAD.size, 1)
            length, count = _HEAD.unpack(head + self._exactly(_HEAD.size - len(head), not head))
            if count < 0:
                return pickle.loads(self._exactly(length))
        except ConnectionResetError:
            raise EOFError from None
        try:
            return _read(files[0], length, count)
        finally:
            os.close(files[0])

    def _send_with(self, file: int, head: bytes) -> None:
        while True:
            try:
                socket.send_fds(self.end, [head], [file])
                return
            except OSError as error:
                if error.errno != errno.ETOOMANYREFS:
                    raise
                time.sleep(0.005)  # until some of those on their way have arrived

    def _exactly(self, count: int, ended: bool = False) -> bytes:
        data = b""
        while len(data) < count:
            more = b"" if ended else self.end.recv(count - len(data))
            if not more:
                raise EOFError
            data += more
        return data


def pair() -> tuple[Channel, Channel]:
    """The two ends of a new line."""
    one, other = socket.socketpair()
    return Channel(one), Channel(other)


def _pickled(message: Any, buffers: list[memoryview]) -> memoryview:
    """The pickle of a message; large buffers are put into ``buffers`` instead."""

    def stays(buffer: pickle.PickleBuffer) -> bool:
        raw = buffer.raw()
        if raw.nbytes < LARGE_BUFFER:
            return True
        buffers.append(raw)
        return False

    stream = io.BytesIO()
    ForkingPickler(stream, pickle.HIGHEST_PROTOCOL, True, stays).dump(message)
    return stream.getbuffer()


def _shared_file() -> int:
    """The descriptor of a new file in memory that has no name."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("funtorch-batch")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def _padded(size: int) -> int:
    return -(-size // _ALIGNED) * _ALIGNED


def _write(file: int, parts: Sequence[bytes | memoryview]) -> None:
    place = 0
    for part in parts:
        rest = memoryview(part).cast("B") if len(part) else memoryview(b"")
        end = place + _padded(rest.nbytes)
        while rest.nbytes:
            written = os.pwrite(file, rest, place)
            rest, place = rest[written:], place + written
        place = end


def _read(file: int, length: int, count: int) -> Any:
    """The object in a file that `Channel.send` wrote. Its arrays lie in that memory, and keep it."""
    memory = memoryview(mmap.mmap(file, os.fstat(file).st_size))
    sizes = memory[len(memory) - count * _SIZE.size :] if count else memory[:0]
    place, buffers = 0, []
    for (size,) in _SIZE.iter_unpack(sizes):
        buffers.append(memory[place : place + size])
        place += _padded(size)
    return pickle.loads(memory[place : place + length], buffers=buffers)
