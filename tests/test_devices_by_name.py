"""The CPU as a device among others: its namespace, streams and events, types, and other small modules of PyTorch's."""

from __future__ import annotations

import typing

import numpy as np
import pytest
import torch

import funtorch

BOTH = pytest.mark.parametrize("t", [torch, funtorch], ids=["torch", "funtorch"])


@BOTH
def test_cpu(t):
    cpu = t.cpu
    assert (cpu.current_device(), cpu.device_count(), cpu.is_available(), cpu.is_initialized()) == ("cpu", 1, True, True)
    cpu.synchronize()
    cpu.set_device("cpu")
    with cpu.stream(cpu.Stream()) as entered:
        assert entered is None
    assert isinstance(cpu.current_stream(), cpu.Stream)
    assert cpu.get_capabilities()["architecture"]
    event = cpu.Event()
    event.record()
    assert event.query() in (True, None)


@BOTH
def test_device_modules(t):
    assert t.get_device_module() is t.cpu and t.get_device_module("cpu") is t.cpu
    assert t.get_device_module(t.device("cuda:0")) is t.cuda
    for wrong in ("foo", 3):
        with pytest.raises(RuntimeError):
            t.get_device_module(wrong)


def test_streams_and_events():
    start, end = funtorch.Event(enable_timing=True), funtorch.Event(enable_timing=True)
    with funtorch.Stream() as stream:
        start.record()
        (funtorch.ones(100, 100) @ funtorch.ones(100, 100)).sum()
        end.record(stream)
    end.synchronize()
    assert start.elapsed_time(end) > 0 and end.query() and stream.query()
    assert stream.device == funtorch.device("cpu")
    assert stream.record_event().query()
    with pytest.raises(RuntimeError, match="must be recorded"):
        start.elapsed_time(funtorch.Event(enable_timing=True))
    with pytest.raises(RuntimeError, match="enable_timing=True"):
        start.elapsed_time(funtorch.Event())
    with pytest.raises(RuntimeError):
        funtorch.Stream("cuda:7")
    assert issubclass(funtorch.cuda.Event, funtorch.Event) and issubclass(funtorch.cuda.Stream, funtorch.Stream)


@pytest.mark.filterwarnings("ignore:.*torch.cpu.amp.autocast:FutureWarning")
@BOTH
def test_autocast_under_its_older_name(t):
    x = t.ones(2, 2)
    with t.cpu.amp.autocast():
        assert (x @ x).dtype is t.bfloat16
    with t.cpu.amp.autocast(enabled=False):
        assert (x @ x).dtype is t.float32
    assert t.GradScaler is t.amp.GradScaler and issubclass(t.cpu.amp.GradScaler, t.GradScaler)


@BOTH
def test_types(t):
    assert t.types.Number == int | float | bool
    assert set(typing.get_args(t.types.Device)) == {t.device, str, int, type(None)}
    assert t.types._dtype is t.dtype and t.types._int is int
    assert isinstance([1, 2], list) and t.Size in typing.get_args(t.types._size)


@BOTH
def test_dlpack_under_its_older_name(t):
    capsule = t.to_dlpack(t.arange(3))
    assert "dltensor" in repr(capsule)
    assert t.to_dlpack is t.utils.dlpack.to_dlpack


@BOTH
def test_an_int_or_a_pair(t):
    check = t.nn.functional.assert_int_or_pair
    check(3, "kernel", "{}: an int or a pair")
    check([1, 2], "kernel", "{}: an int or a pair")
    with pytest.raises(AssertionError, match="^kernel: an int or a pair$"):
        check([1], "kernel", "{}: an int or a pair")


@pytest.mark.filterwarnings("ignore:.*__array_wrap__.*:DeprecationWarning")
@BOTH
def test_numpy_makes_tensors_of_tensors(t):
    x = t.tensor([[1.0, 4.0], [9.0, 16.0]], dtype=t.float64)
    root = np.sqrt(x)
    assert isinstance(root, t.Tensor) and root.dtype is t.float64 and root.tolist() == [[1, 2], [3, 4]]
    assert isinstance(np.linalg.inv(x), t.Tensor)
    assert np.isfinite(x).dtype is t.uint8


@pytest.mark.parametrize("dimension", [1, 2, 7])
def test_sobol_points_are_those_of_torch(dimension):
    mine, theirs = (t.quasirandom.SobolEngine(dimension) for t in (funtorch, torch))
    for count in (1, 3, 4, 8, 1):
        got, expected = mine.draw(count), theirs.draw(count)
        np.testing.assert_array_equal(got.numpy(), expected.numpy())
    assert got.dtype is funtorch.float32 and mine.num_generated == theirs.num_generated == 17
    mine.fast_forward(6), theirs.fast_forward(6)
    np.testing.assert_array_equal(mine.draw(2, dtype=funtorch.float64).numpy(), theirs.draw(2, dtype=torch.float64).numpy())
    mine.reset(), theirs.reset()
    out = funtorch.empty(0)
    assert mine.draw_base2(3, out=out) is out
    np.testing.assert_array_equal(out.numpy(), theirs.draw_base2(3).numpy())
    assert repr(mine) == repr(theirs)


def test_scrambled_sobol_points():
    engine = funtorch.quasirandom.SobolEngine(3, scramble=True, seed=5)
    points = engine.draw(64)
    assert 0 <= points.min() and points.max() < 1
    for axis in range(3):  # each of 64 equal parts has one point
        assert sorted((points[:, axis] * 64).long().tolist()) == list(range(64))
    np.testing.assert_array_equal(engine.reset().draw(64).numpy(), points.numpy())
    with pytest.raises(ValueError, match="2 points were drawn"):
        funtorch.quasirandom.SobolEngine(1).fast_forward(2).draw_base2(2)
    for wrong in (0, 30000):
        with pytest.raises(ValueError, match=r"\[1, 21201\]"):
            funtorch.quasirandom.SobolEngine(wrong)
