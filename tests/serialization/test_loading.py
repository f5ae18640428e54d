"""Where files are, where storages go, and the other options of load and save."""

import datetime
import gc
import io
import os
import pathlib
import pickle
import struct
import warnings
import zipfile

import numpy as np
import pytest
import torch

import funtorch
from funtorch import serialization


class Pipe:
    """A file that can only be read, or written, from its start to its end."""

    def __init__(self, data=b""):
        self.buffer = io.BytesIO(data)

    def read(self, count=-1):
        return self.buffer.read(count)

    def write(self, data):
        return self.buffer.write(data)


def content(lib):
    return {"w": lib.arange(6.0).view(2, 3).t(), "n": 1}


def same(read):
    assert read["n"] == 1 and read["w"].tolist() == [[0, 3], [1, 4], [2, 5]]


def test_paths(tmp_path, format):
    for path in (tmp_path / "a.b.pt", str(tmp_path / "c")):
        funtorch.save(content(funtorch), path, **format)
        same(funtorch.load(path))
        same(torch.load(path))
        torch.save(content(torch), path, **format)
        same(funtorch.load(path))
    with pytest.raises(RuntimeError, match="Parent directory .* does not exist"):
        funtorch.save(1, tmp_path / "none" / "a.pt")


def test_the_records_are_pytorchs(tmp_path):
    names = {}
    for lib in (torch, funtorch):
        path = tmp_path / lib.__name__ / "model.pt"
        path.parent.mkdir()
        lib.save([lib.ones(300), lib.zeros(2, dtype=lib.int8)], path)
        with zipfile.ZipFile(path) as archive:
            names[lib] = archive.namelist()
            for record in ("version", "byteorder", ".format_version", ".storage_alignment", "data/1"):
                assert archive.read(f"model/{record}") == {
                    "version": b"3\n", "byteorder": b"little", ".format_version": b"1", ".storage_alignment": b"64", "data/1": b"\0\0"
                }[record]  # fmt: skip
        data = path.read_bytes()
        assert data.index(struct.pack("<300f", *[1.0] * 300)) % 64 == 0
    assert names[torch] == names[funtorch]


def test_file_objects(tmp_path, format):
    pipe = Pipe()
    funtorch.save(content(funtorch), pipe, **format)
    data = pipe.buffer.getvalue()
    for file in (io.BytesIO(data), Pipe(data)):
        same(funtorch.load(file))
    same(torch.load(io.BytesIO(data)))
    path = tmp_path / "x"
    path.write_bytes(data)
    with open(path, "rb") as file, open(path, "rb", buffering=0) as bare:
        same(funtorch.load(file))
        same(funtorch.load(bare))
    with open(path, encoding="latin1") as file, pytest.raises(TypeError, match="rb"):
        funtorch.load(file)
    with pytest.raises(TypeError, match="path"):
        funtorch.load(3)
    for error in (TypeError, AttributeError):  # PyTorch raises the second
        with pytest.raises(error, match="path"):
            funtorch.save(1, 3)


def test_several_legacy_files_in_one():
    file = io.BytesIO()
    for number in range(3):
        funtorch.save([number, funtorch.full((2,), number)], file, _use_new_zipfile_serialization=False)
    file.seek(0)
    for number in range(3):
        read = funtorch.load(file)
        assert read[0] == number and read[1].tolist() == [number, number]


def test_what_cannot_be_saved_leaves_the_file_alone(tmp_path):
    path = tmp_path / "kept.pt"
    funtorch.save(1, path)
    for error in (pickle.PicklingError, AttributeError):
        with pytest.raises(error, match="local object"):
            funtorch.save([funtorch.ones(1), lambda: 0], path)
    for zipped in (True, False):
        with pytest.raises(RuntimeError, match="vmap"):
            funtorch.vmap(lambda x, zipped=zipped: funtorch.save(x, path, _use_new_zipfile_serialization=zipped))(
                funtorch.ones(2)
            )
    assert funtorch.load(path) == 1


class Full(io.RawIOBase):
    """A disk with room for 2000 bytes."""

    room = 2000

    def writable(self):
        return True

    def write(self, data):
        self.room -= len(data)
        if self.room < 0:
            raise OSError(28, "No space left on device")
        return len(data)


@pytest.mark.filterwarnings("error::pytest.PytestUnraisableExceptionWarning")
def test_a_full_disk(format):
    with pytest.raises(OSError, match="No space"):
        funtorch.save(funtorch.ones(5000), Full(), **format)


# Places


def from_gpu(format):
    """A file like one that was saved from a GPU."""
    data = io.BytesIO()
    torch.save({"w": torch.arange(4.0), "v": torch.arange(4.0)[1:3]}, data, **format)
    if format["_use_new_zipfile_serialization"]:
        made = io.BytesIO()
        with zipfile.ZipFile(data) as old, zipfile.ZipFile(made, "w") as new:
            for name in old.namelist():
                new.writestr(name, old.read(name).replace(b"X\x03\0\0\0cpu", b"X\x06\0\0\0cuda:0"))
        return made.getvalue()
    return data.getvalue().replace(b"X\x03\0\0\0cpu", b"X\x06\0\0\0cuda:0")


PLACES = {
    "name": "cpu",
    "bytes": b"cpu",
    "device": funtorch.device("cpu"),
    "dict": {"cuda:0": "cpu"},
    "dict of devices": {"cuda:0": funtorch.device("cpu")},
    "function": lambda storage, location: storage,
    "moving": lambda storage, location: storage.cpu(),
    "copying": lambda storage, location: storage.clone(),
}


@pytest.mark.parametrize("kind", PLACES)
@pytest.mark.parametrize("weights_only", [True, False])
def test_map_location(kind, format, weights_only):
    read = funtorch.load(io.BytesIO(from_gpu(format)), PLACES[kind], weights_only=weights_only)
    assert read["w"].tolist() == [0, 1, 2, 3] and read["v"].tolist() == [1, 2] and read["w"].device == funtorch.device("cpu")


def test_functions_for_places(format):
    seen = []

    def place(storage, location):
        seen.append((location, storage.size(), storage.nbytes()))
        return storage

    funtorch.load(io.BytesIO(from_gpu(format)), place)
    assert seen[0] == ("cuda:0", 4, 16)
    data = io.BytesIO()
    funtorch.save(funtorch.ones(2), data)
    assert funtorch.load(io.BytesIO(data.getvalue()), lambda storage, location: None).tolist() == [1, 1]
    for weights_only in (True, False):
        with pytest.raises(ZeroDivisionError):
            funtorch.load(io.BytesIO(data.getvalue()), lambda storage, location: 1 / 0, weights_only=weights_only)
        with pytest.raises(KeyError):
            funtorch.load(io.BytesIO(data.getvalue()), lambda storage, location: {}["x"], weights_only=weights_only)
    for wrong in (lambda storage, location: "cpu", lambda storage, location: funtorch.ones(3).untyped_storage()):
        with pytest.raises(RuntimeError, match="map_location"):
            funtorch.load(io.BytesIO(data.getvalue()), wrong)


def test_no_such_place(format):
    if funtorch.cuda.is_available():
        pytest.skip("there is a GPU")
    for place in (None, {"cpu": "cuda:1"}, lambda storage, location: None):
        with pytest.raises(RuntimeError, match="map_location='cpu'"):
            funtorch.load(io.BytesIO(from_gpu(format)), place)
    strange = from_gpu(format).replace(b"cuda:0", b"moon:0")
    with pytest.raises(RuntimeError, match="moon:0|checksum"):
        funtorch.load(io.BytesIO(strange))


def test_places_of_ones_own():
    data = io.BytesIO()
    serialization.register_package(1, lambda storage: "moon" if storage.size() == 7 else None, lambda storage, location: None)
    serialization.register_package(2, lambda storage: None, lambda storage, location: storage if location == "moon" else None)
    try:
        funtorch.save([funtorch.ones(7), funtorch.ones(2)], data)
        assert b"moon" in data.getvalue() and b"cpu" in data.getvalue()
        assert funtorch.load(io.BytesIO(data.getvalue()))[0].tolist() == [1] * 7
    finally:
        del serialization.locations._packages[:2]
    with pytest.raises(RuntimeError, match="moon"):
        funtorch.load(io.BytesIO(data.getvalue()))


# Memory maps


def test_mmap(tmp_path):
    path = tmp_path / "x.pt"
    for lib in (torch, funtorch):
        lib.save({**content(lib), "e": lib.ones(0), "bf": lib.ones(3, dtype=lib.bfloat16), "u": lib.ones(2).to(lib.uint16)}, path)
        read = funtorch.load(path, mmap=True)
        same(read)
        assert read["e"].shape == (0,) and read["bf"].tolist() == [1, 1, 1] and read["u"].tolist() == [1, 1]
        before = path.read_bytes()
        read["w"].zero_()
        read["bf"].add_(1)
        assert path.read_bytes() == before and read["w"].sum() == 0 and read["bf"].tolist() == [2, 2, 2]
    with pytest.raises(ValueError, match="file name"):
        funtorch.load(io.BytesIO(path.read_bytes()), mmap=True)
    funtorch.save(1, path, _use_new_zipfile_serialization=False)
    with pytest.raises(RuntimeError, match="mmap"):
        funtorch.load(path, mmap=True)


def test_mmap_reads_what_is_looked_at(tmp_path):
    path = tmp_path / "large.pt"
    funtorch.save({"large": funtorch.zeros(2**24), "small": funtorch.ones(2)}, path)
    read = funtorch.load(path, mmap=True)
    array = read["large"]._payload
    while array.base is not None and isinstance(array.base, np.ndarray):
        array = array.base
    assert not array.flags.owndata and not array.flags.writeable and read["small"].tolist() == [1, 1]


# Orders of bytes


def other_order(data):
    """The file as a machine of the other order writes it."""
    made = io.BytesIO()
    widths = {"data/0": 8, "data/1": 4, "data/2": 2, "data/3": 4, "data/4": 1, "data/5": 2}
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(made, "w") as new:
        for name in old.namelist():
            content, record = old.read(name), name.partition("/")[2]
            if record in widths:
                content = np.frombuffer(content, f"u{widths[record]}").byteswap().tobytes()
            new.writestr(name, b"big" if record == "byteorder" else content)
    return made.getvalue()


def test_byteorder():
    tensors = [
        torch.arange(3), torch.tensor([1.5, 2]), torch.ones(2, dtype=torch.bfloat16), torch.tensor([1 + 2j]), torch.ones(3).bool(),
        torch.arange(3, dtype=torch.int16).view(torch.uint16),
    ]  # fmt: skip
    buffer = io.BytesIO()
    torch.save(tensors, buffer)
    data = other_order(buffer.getvalue())
    for weights_only in (True, False):
        read = funtorch.load(io.BytesIO(data), weights_only=weights_only)
        assert [t.tolist() for t in read] == [t.tolist() for t in tensors]


def test_files_that_do_not_tell_their_order():
    made, buffer = io.BytesIO(), io.BytesIO()
    torch.save(torch.arange(3), buffer)
    with zipfile.ZipFile(buffer) as old, zipfile.ZipFile(made, "w") as new:
        for name in old.namelist():
            if not name.endswith("byteorder"):
                new.writestr(name, old.read(name))
    assert funtorch.load(io.BytesIO(made.getvalue())).tolist() == [0, 1, 2]
    serialization.set_default_load_endianness(serialization.LoadEndianness.BIG)
    try:
        assert funtorch.load(io.BytesIO(made.getvalue())).tolist() == [0, 2**56, 2**57]
        assert serialization.get_default_load_endianness() is serialization.LoadEndianness.BIG
    finally:
        serialization.set_default_load_endianness(None)
    with pytest.raises(TypeError, match="LoadEndianness"):
        serialization.set_default_load_endianness("big")


# What is admitted


def test_safe_globals():
    data = io.BytesIO()
    funtorch.save({"took": datetime.timedelta(1), "path": pathlib.PurePosixPath("a/b")}, data)

    def read():
        return funtorch.load(io.BytesIO(data.getvalue()))

    serialization.clear_safe_globals()
    with pytest.raises(pickle.UnpicklingError, match=r"datetime\.timedelta"):
        read()
    with serialization.safe_globals([datetime.timedelta]):
        with pytest.raises(pickle.UnpicklingError, match="PurePosixPath"):
            read()
        serialization.add_safe_globals([pathlib.PurePosixPath])
        assert serialization.get_safe_globals() == [datetime.timedelta, pathlib.PurePosixPath]
        assert read()["took"] == datetime.timedelta(1)
    assert serialization.get_safe_globals() == []
    serialization.add_safe_globals([(str, "datetime.timedelta"), (str, "pathlib.PurePosixPath")])
    assert serialization.get_safe_globals()[0] == (str, "datetime.timedelta")
    serialization.clear_safe_globals()
    for wrong in (3, (str, 3), (str,)):
        with pytest.raises(TypeError, match="add_safe_globals"):
            serialization.add_safe_globals([wrong])


def test_numpy_values_are_pytorchs_refusals():
    data = io.BytesIO()
    funtorch.save({"loss": np.float64(1.5)}, data)
    for lib in (torch, funtorch):
        with pytest.raises(pickle.UnpicklingError, match="numpy"):
            lib.load(io.BytesIO(data.getvalue()))
        assert lib.load(io.BytesIO(data.getvalue()), weights_only=False) == {"loss": 1.5}
    with serialization.safe_globals([np._core.multiarray.scalar, np.dtype, np.dtypes.Float64DType]):
        assert funtorch.load(io.BytesIO(data.getvalue())) == {"loss": 1.5}


def test_names_that_pytorch_admits_are_admitted():
    from torch._weights_only_unpickler import _get_allowed_globals

    from funtorch.serialization.admitted import Admitted

    admitted = Admitted()
    missing = []
    for full in _get_allowed_globals():
        module, _, name = full.rpartition(".")
        try:
            admitted.find(module, name)
        except NotImplementedError:
            continue  # types that funtorch does not have say so
        except pickle.UnpicklingError:
            missing.append(full)
    unknown = {name for name in missing if "sparse." not in name}
    assert unknown == {"torch._utils._rebuild_nested_tensor", "torch._utils._rebuild_wrapper_subclass"}


def test_unsafe_globals_are_listed(exchange):
    data = exchange.written(funtorch, {"a": datetime.timedelta(1), "w": funtorch.ones(1), "m": funtorch.nn.Linear(1, 1)})
    ours = serialization.get_unsafe_globals_in_checkpoint(io.BytesIO(data))
    assert sorted(ours) == sorted(torch.serialization.get_unsafe_globals_in_checkpoint(io.BytesIO(data)))
    assert "datetime.timedelta" in ours
    data = exchange.written(funtorch, [datetime.timedelta(1), datetime.timedelta(2)], pickle_protocol=4)
    assert serialization.get_unsafe_globals_in_checkpoint(io.BytesIO(data)) == ["datetime.timedelta"]


def test_texts_of_python_2():
    data = b"\x80\x02}U\x03\xe9abK\x01s."
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("a/data.pkl", data)
    for weights_only in (True, False):
        for options, key in (({"encoding": "latin1"}, "éab"), ({"encoding": "bytes"}, b"\xe9ab"), ({"errors": "ignore"}, "ab")):
            assert funtorch.load(io.BytesIO(archive.getvalue()), weights_only=weights_only, **options) == {key: 1}
        with pytest.raises((pickle.UnpicklingError, UnicodeDecodeError), match="utf-8"):
            funtorch.load(io.BytesIO(archive.getvalue()), weights_only=weights_only)


def test_arguments():
    data = io.BytesIO()
    funtorch.save(1, data)
    with pytest.raises(TypeError, match="unexpected keyword argument 'nope'"):
        funtorch.load(io.BytesIO(data.getvalue()), nope=1)
    assert funtorch.load(io.BytesIO(data.getvalue()), weights_only=False, encoding="latin1") == 1


def test_nothing_leaks(tmp_path):
    path = tmp_path / "x.pt"
    funtorch.save(content(funtorch), path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            funtorch.load(path)
        gc.collect()
    assert not [f for f in os.listdir("/proc/self/fd") if os.path.realpath(f"/proc/self/fd/{f}") == str(path)]
