"""The line between processes: what it carries, and what it leaves behind."""

import os
import pathlib
import pickle
import threading

import numpy as np
import pytest

from funtorch.utils.data._channel import pair


@pytest.fixture
def line():
    one, other = pair()
    yield one, other
    one.close(), other.close()


@pytest.mark.parametrize(
    "message",
    [None, b"", "x" * 3000, "x" * 10_000_000, [np.arange(10), np.zeros((0, 3))], np.ones((300, 1000)), [np.arange(2000)] * 3],
    ids=lambda message: type(message).__name__,
)
def test_there_and_back(line, message):
    one, other = line
    for sender, receiver in ((one, other), (other, one)):
        sender.send(message)
        assert pickle.dumps(receiver.receive()) == pickle.dumps(message)


def test_large_arrays_lie_in_shared_memory_as_long_as_they_are_needed(line):
    one, other = line

    def shared():
        return pathlib.Path("/proc/self/maps").read_text().count("memfd:funtorch-batch")

    files = len(os.listdir("/proc/self/fd"))
    one.send({"a": np.arange(100_000.0), "b": np.arange(100_000)})
    got = other.receive()
    assert shared() == 1 and got["a"].flags.writeable and not got["a"].flags.owndata
    b = got["b"]
    del got
    assert shared() == 1 and b.sum() == 4_999_950_000
    del b
    assert shared() == 0 and len(os.listdir("/proc/self/fd")) == files


class NoPickle:
    def __reduce__(self):
        raise TypeError("not to be pickled")


def test_what_cannot_be_pickled_raises_where_it_is_sent_and_leaves_the_line_clean(line):
    one, other = line
    with pytest.raises(TypeError, match="not to be pickled"):
        one.send([np.zeros(10_000), NoPickle()])
    one.send("next")
    assert other.receive() == "next"


def test_the_end(line):
    one, other = line
    one.send("last")
    one.close()
    assert other.receive() == "last"
    with pytest.raises(EOFError):
        other.receive()
    with pytest.raises(OSError):
        other.send("nobody listens")


def test_a_message_that_breaks_off(line):
    one, other = line
    one.end.sendall(b"half")
    one.close()
    with pytest.raises(EOFError):
        other.receive()


def test_room(line):
    one, other = line
    sent = 0
    while one.has_room():
        one.send(b"x" * 3900)
        sent += 1
    assert sent > 2
    assert [len(other.receive()) for _ in range(sent)] == [3900] * sent and one.has_room()


def test_many_on_their_way_at_once(line):
    one, other = line
    sender = threading.Thread(target=lambda: [one.send(np.full(1000, i)) for i in range(2000)])
    sender.start()
    assert [int(other.receive()[0]) for _ in range(2000)] == list(range(2000))
    sender.join()
