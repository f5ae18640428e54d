"""Kernels on disk: kept between processes, shared by many, bounded, and made anew where they are damaged."""

from __future__ import annotations

import os
import subprocess
import sys
import zlib

import pytest

from funtorch.core import disk_cache

# Compiles, whatever it costs, and says how many kernels were read from the folder.
PROGRAM = """
import jax
seen = []
jax.monitoring.register_event_listener(lambda event, **_: seen.append(event))
import funtorch as torch
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
torch.set_engine("kernel")
x = torch.arange(6.0, requires_grad=True).reshape(2, 3)
y = torch.softmax(x @ x.T, -1).sum() + torch.nn.functional.gelu(x).mean()
y.backward()
print(round(y.item(), 4), seen.count("/jax/compilation_cache/cache_hits"), seen.count("/jax/compilation_cache/cache_misses"))
"""


def environment(folder, **more):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("FUNTORCH_", "JAX_"))}
    return {**kept, "FUNTORCH_CACHE_DIR": str(folder), "JAX_PLATFORMS": "cpu", "OMP_NUM_THREADS": "1", **more}


def start(folder, **more):
    command = [sys.executable, "-W", "error", "-W", "ignore::DeprecationWarning", "-c", PROGRAM]
    return subprocess.Popen(command, env=environment(folder, **more), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def result(process):
    """The value, hits and misses; nothing may be written to the error stream."""
    out, error = process.communicate(timeout=240)
    assert (process.returncode, error) == (0, "")
    value, hits, misses = out.split()
    return float(value), int(hits), int(misses)


def entries(folder):
    return sorted(folder.glob("*-cache"))


def test_kernels_come_from_disk_and_damaged_ones_are_made_anew(tmp_path):
    """A later process reads; garbage, a half and nothing in place of an entry cost a compilation, and are written again."""
    value, hits, misses = result(start(tmp_path))
    files = entries(tmp_path)
    assert hits < misses
    assert len(files) >= 5
    value_again, hits_again, misses_again = result(start(tmp_path))
    assert (value_again, misses_again) == (value, 0)
    assert hits_again == hits + misses
    whole = {file: file.read_bytes() for file in files}
    for number, file in enumerate(files):
        file.write_bytes([b"garbage" * 9, whole[file][: len(whole[file]) // 2], b""][number % 3])
    assert result(start(tmp_path))[0] == value
    assert not [file for file in entries(tmp_path) if disk_cache.is_damaged(file)]
    result(start(tmp_path))
    assert entries(tmp_path) == files
    assert result(start(tmp_path)) == (value, hits_again, 0)


def test_many_processes_share_a_fresh_folder(tmp_path):
    found = [result(process) for process in [start(tmp_path) for _ in range(4)]]
    assert len({value for value, _, _ in found}) == 1
    assert not [file for file in entries(tmp_path) if disk_cache.is_damaged(file)]
    assert result(start(tmp_path))[2] == 0


def test_the_cache_can_be_off_or_impossible(tmp_path):
    assert result(start(tmp_path, FUNTORCH_CACHE="0"))[1] == 0
    assert entries(tmp_path) == []
    occupied = tmp_path / "a file"
    occupied.write_text("")
    assert result(start(occupied / "folder"))[1] == 0


def test_the_folder_is_bounded_by_a_setting(tmp_path):
    large = tmp_path / "large-cache"
    large.write_bytes(zlib.compress(os.urandom(2 << 20)))
    os.utime(large, (1e9, 1e9))
    result(start(tmp_path, FUNTORCH_CACHE_MEGABYTES="1"))
    assert not large.exists()
    assert 0 < sum(file.stat().st_size for file in entries(tmp_path)) <= 1 << 20


def test_what_was_used_longest_ago_goes_first(tmp_path):
    for name, age in (("new", 10), ("read", 900), ("old", 500)):
        file = tmp_path / f"{name}-cache"
        file.write_bytes(zlib.compress(b"x" * 100))
        os.utime(file, (1e9 if name == "read" else 1e9 - age, 1e9 - age))
    size = (tmp_path / "old-cache").stat().st_size
    disk_cache.trim(tmp_path, 2 * size)
    assert [file.name for file in entries(tmp_path)] == ["new-cache", "read-cache"]


def test_who_found_all_on_disk_does_not_tidy(tmp_path):
    wanting = disk_cache.Wanting()
    file = tmp_path / "one-cache"
    file.write_bytes(b"damaged")
    for event in (disk_cache.ASKED, disk_cache.FOUND, "/jax/other"):
        wanting(event)
    wanting.tidy(tmp_path, 100)
    assert file.exists()
    wanting(disk_cache.ASKED, name="something that jax adds")
    wanting.tidy(tmp_path, 100)
    assert not file.exists()


def test_tidying_twice_looks_once(tmp_path, monkeypatch):
    looked = []
    monkeypatch.setattr(disk_cache, "is_damaged", lambda file: looked.append(file) or False)
    (tmp_path / "one-cache").write_bytes(b"x")
    os.utime(tmp_path / "one-cache", (1e9, 1e9))
    disk_cache.tidy(tmp_path, 100)
    disk_cache.tidy(tmp_path, 100)
    disk_cache.tidy(tmp_path, 100)
    assert len(looked) == 1


def test_tidying_a_folder_that_is_gone_is_nothing(tmp_path):
    disk_cache.tidy(tmp_path / "gone", 1)


@pytest.mark.parametrize("text", ["0", "-1", "much"])
def test_a_bound_must_be_a_positive_number(text, monkeypatch):
    monkeypatch.setenv("FUNTORCH_CACHE_MEGABYTES", text)
    with pytest.raises(ValueError, match=f"FUNTORCH_CACHE_MEGABYTES must be a positive whole number, got '{text}'"):
        disk_cache.limit()


def test_where_kernels_are_kept(monkeypatch, tmp_path):
    monkeypatch.delenv("FUNTORCH_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert disk_cache.folder() == tmp_path / "funtorch" / "kernels"
    monkeypatch.setenv("FUNTORCH_CACHE_DIR", "elsewhere")
    assert str(disk_cache.folder()) == "elsewhere"
    monkeypatch.setenv("FUNTORCH_CACHE", "0")
    assert disk_cache.folder() is None
