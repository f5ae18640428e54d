"""Files that lie or call out: a clear error, nothing run, nothing large allocated."""

import io
import os
import pickle
import struct
import tracemalloc
import zipfile
from collections import OrderedDict

import pytest
import torch

import funtorch

RAN = []


class Calls:
    """Pickles as a call of ``function(*arguments)``."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


class Stateful:
    def __init__(self):
        self.x = 1

    def __setstate__(self, state):
        RAN.append(state)


def ran(*arguments):
    RAN.append(arguments)


def archived(data, records=(), byteorder=b"little", name="a"):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(f"{name}/data.pkl", data)
        archive.writestr(f"{name}/byteorder", byteorder)
        for key, value in records:
            archive.writestr(f"{name}/{key}", value)
    return buffer.getvalue()


def legacy(data, tail=b""):
    head = b"".join(pickle.dumps(value, 2) for value in (0x1950A86A20F9469CFC6C, 1001, {}))
    return head + data + tail


def refused(data, error=pickle.UnpicklingError, match=None, **options):
    RAN.clear()
    with pytest.raises(error, match=match):
        funtorch.load(io.BytesIO(data), **options)
    assert not RAN


CALLS = {
    "os.system": Calls(os.system, "echo never"),
    "eval": Calls(eval, "1/0"),
    "exec": Calls(exec, "raise SystemExit"),
    "getattr": Calls(getattr, "x", "upper"),
    "import": Calls(__import__, "antigravity"),
    "own": Calls(ran, 1),
    "deep": {"weights": [OrderedDict(w=Calls(ran, 1))]},
    "instance": Stateful(),
    "class": Stateful,
    "numpy's": Calls(torch.ones(1).numpy().__class__, (10**12,)),
}


@pytest.mark.parametrize("kind", CALLS)
@pytest.mark.parametrize("protocol", [2, 4])
def test_what_a_file_names_is_not_run(kind, protocol):
    data = pickle.dumps(CALLS[kind], protocol)
    for file in (archived(data), legacy(data)):
        refused(file, match="weights_only=False")


def test_the_refusal_says_what_and_how():
    with pytest.raises(pickle.UnpicklingError) as caught:
        funtorch.load(io.BytesIO(archived(pickle.dumps(CALLS["os.system"], 2))))
    text = str(caught.value)
    assert "`posix.system`" in text and "add_safe_globals([system])" in text and "safe_globals" in text


def test_no_module_of_the_file_is_imported(tmp_path, monkeypatch):
    (tmp_path / "trap.py").write_text("raise SystemExit('imported')")
    monkeypatch.syspath_prepend(tmp_path)
    refused(archived(b"\x80\x02ctrap\nThing\n."), match=r"trap\.Thing")


def g(module, name):
    return f"c{module}\n{name}\n".encode()


TENSOR = g("torch", "Tensor")
# Pickles that misuse what is admitted.
MISUSES = {
    "a class is called": TENSOR + b"M\xff\xff\x85R.",
    "a storage class is called": g("torch", "FloatStorage") + b"M\xff\xff\x85R.",
    "a tensor type is called": g("torch", "FloatTensor") + b"M\xff\xff\x85R.",
    "a dtype is called": g("torch", "float32") + b")R.",
    "a class gets attributes": TENSOR + b"N}X\x01\x00\x00\x00xK\x01s\x86b.",
    "a function gets attributes": g("torch._utils", "_rebuild_tensor") + b"}X\x01\x00\x00\x00xK\x01sb.",
    "a dict's methods are replaced": g("collections", "OrderedDict") + b")R}X\x05\x00\x00\x00itemsK\x01sb.",
    "a bytearray of any size": g("builtins", "bytearray") + b"\x8a\x06\x00\x00\x00\x00\x00\x01\x85R.",
    "another codec": g("_codecs", "encode") + b"X\x01\x00\x00\x00xX\x06\x00\x00\x00base64\x86R.",
    "an unknown call": b"K\x01)R.",
    "a list is called": b"])R.",
    "a tuple is new": b")\x29\x81.",
    "a Tensor of a string": g("torch._utils", "_rebuild_tensor_v2") + b"(X\x01\x00\x00\x00xK\x00))\x89NtR.",
    "a Tensor's class is not one": g("torch._tensor", "_rebuild_from_type_v2") + b"(" + g("torch", "device") + g("builtins", "set") + b")NtR.",
    "an indirect call": g("torch._tensor", "_rebuild_from_type_v2") + b"(" + TENSOR + TENSOR + b")NtR.",
    "extensions": b"\x82\x01.",
    "text opcodes": b"I1\n.",
    "instances": b"(i__main__\nX\n.",
    "objects": b"(" + TENSOR + b"o.",
    "textual ids": b"Pstorage\n.",
    "a persistent id that is a number": b"K\x01Q.",
    "a persistent id that is a list": b"]Q.",
    "a persistent id of another kind": b"(X\x06\x00\x00\x00moduleX\x01\x00\x00\x00aX\x01\x00\x00\x00aX\x01\x00\x00\x00aK\x01tQ.",
    "too little on the stack": b"K\x01\x86.",
    "no mark": b"K\x01t.",
    "an unknown memo": b"h\x07.",
    "two results": b"K\x01K\x02.",
    "an unhashable key": b"}]K\x01s.",
    "no protocol that there is": b"\x80\x63K\x01.",
    "a size of text": g("torch", "Size") + b"X\x01\x00\x00\x00x\x85\x85R.",
}  # fmt: skip


@pytest.mark.parametrize("kind", MISUSES)
def test_what_is_admitted_cannot_be_misused(kind):
    data = b"\x80\x02" + MISUSES[kind]
    for file in (archived(data), legacy(data)):
        refused(file, (pickle.UnpicklingError, RuntimeError), match=r"load\(")
    assert not hasattr(funtorch.Tensor, "x")


def test_an_attribute_of_a_tensor_replaces_nothing(exchange):
    for name in ("_payload", "_base", "tolist", "grad", "__class__"):
        tensor = torch.nn.Parameter(torch.ones(1))
        data = exchange.written(torch, tensor)
        state = b"}X" + struct.pack("<I", len(name)) + name.encode() + b"K\x01s"
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            pickled = archive.read("archive/data.pkl")
            records = [("data/0", archive.read("archive/data/0"))]
        refused(archived(pickled[:-1] + state + b"b.", records), RuntimeError, match="replace")


def test_deep_tuples_are_no_keys():
    # Python hashes nested tuples recursively, without a bound.
    deep = b")" + b"\x85" * 100_000
    refused(archived(b"\x80\x02}" + deep + b"K\x01s."), match="damaged")
    refused(archived(b"\x80\x02" + g("builtins", "set") + b"]" + deep + b"a\x85R."), match="damaged")


def test_keys_that_multiply():
    """A tuple of tuples of one tuple is hashed as often as it occurs: a few bytes could take hours."""
    thrice = b"".join(b"h%bh%bh%b\x87q%b" % (bytes([i]), bytes([i]), bytes([i]), bytes([i + 1])) for i in range(15))
    pairs = b"".join(b"((h%bN\x86t(h%bN\x86t\x91q%b" % (bytes([i]), bytes([i]), bytes([i + 1])) for i in range(60))
    for nested in (thrice, pairs):
        for data in (b"}(h\x0fK\x01u", g("builtins", "set") + b"]h\x0fa\x85R", b"(h\x0f\x91"):
            file = b"\x80\x04K\x01q\x00" + nested + b"0" + data + b"."
            refused(archived(file), (pickle.UnpicklingError, RuntimeError), match=r"load\(")
    key = tuple((i, (i, str(i))) for i in range(30))
    assert funtorch.load(io.BytesIO(archived(pickle.dumps({key: 1}, 2)))) == {key: 1}


def test_empty_ones_take_nothing():
    tracemalloc.start()
    for size in ((0, 2**30), (2**20, 0, 2**20)):
        strides = (1,) * len(size)
        read = funtorch.load(io.BytesIO(archived(of_tensor(size, strides), [("data/0", bytes(16))])))
        assert tuple(read.shape) == size and read.stride() == strides
    assert tracemalloc.get_traced_memory()[1] < 50e6
    tracemalloc.stop()


def test_truncated_anywhere():
    for zipped in (True, False):
        buffer = io.BytesIO()
        funtorch.save({"w": funtorch.ones(2), "n": 3}, buffer, _use_new_zipfile_serialization=zipped)
        data = buffer.getvalue()
        for end in range(len(data)):
            refused(data[:end], (pickle.UnpicklingError, RuntimeError, EOFError))


def of_tensor(size, stride, offset=0, count=4, name="FloatStorage", key="0", flag=b"\x89"):
    """The pickle of one Tensor."""

    def number(n):
        data = pickle.encode_long(n)
        return b"\x8b" + struct.pack("<i", len(data)) + data

    def text(s):
        return b"X" + struct.pack("<I", len(s)) + s.encode()

    def numbers(values):
        return b"(" + b"".join(map(number, values)) + b"t"

    storage = b"(" + text("storage") + g("torch", name) + text(key) + text("cpu") + number(count) + b"tQ"
    arguments = (
        b"(" + storage + number(offset) + numbers(size) + numbers(stride) + flag + g("collections", "OrderedDict") + b")Rt"
    )
    return b"\x80\x02" + g("torch._utils", "_rebuild_tensor_v2") + arguments + b"R."


def both(data, values):
    """The same Tensor in both formats."""
    tail = pickle.dumps(["0"], 2) + struct.pack("<q", len(values) // 4) + values
    return archived(data, [("data/0", values)]), legacy(data.replace(b"tQ", b"NtQ"), tail)


LIES = {
    "beyond the storage": of_tensor((5,), (1,)),
    "offset beyond": of_tensor((4,), (1,), 1),
    "strides beyond": of_tensor((2, 2), (3, 1)),
    "negative size": of_tensor((-1,), (1,)),
    "negative stride": of_tensor((2,), (-1,), 3),
    "negative offset": of_tensor((1,), (1,), -1),
    "huge size": of_tensor((2**70,), (0,)),
    "huge product": of_tensor((2**40, 2**40), (0, 0)),
    "huge empty": of_tensor((0, 2**61), (1, 1)),
    "huge expansion": of_tensor((2**38,), (0,)),
    "many dimensions": of_tensor((1,) * 70, (1,) * 70),
    "fewer strides": of_tensor((2, 2), (1,)),
    "huge storage": of_tensor((4,), (1,), count=2**40),
    "larger storage": of_tensor((4,), (1,), count=5),
    "smaller storage": of_tensor((3,), (1,), count=3),
    "negative storage": of_tensor((4,), (1,), count=-4),
    "other width": of_tensor((4,), (1,), name="DoubleStorage"),
    "missing storage": of_tensor((4,), (1,), key="1"),
    "storage outside": of_tensor((4,), (1,), key="../data.pkl"),
    "storage elsewhere": of_tensor((4,), (1,), key="/etc/passwd"),
    "gradient of integers": of_tensor((4,), (1,), name="IntStorage", flag=b"\x88"),
}


@pytest.mark.parametrize("kind", LIES)
def test_tensors_that_lie(kind):
    funtorch.load(io.BytesIO(good()))
    tracemalloc.start()
    for file in both(LIES[kind], struct.pack("<4f", 1, 2, 3, 4)):
        refused(file, (pickle.UnpicklingError, RuntimeError, EOFError))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**24


def test_the_same_tensor_without_lies():
    for file in both(of_tensor((2, 2), (1, 2)), struct.pack("<4f", 1, 2, 3, 4)):
        assert funtorch.load(io.BytesIO(file)).tolist() == [[1, 3], [2, 4]]


def test_many_views_of_one_storage_are_bounded():
    one = of_tensor((2**20,), (0,))[2:-1]  # 4 MiB of one number
    data = b"\x80\x02(" + one * 100 + b"t."
    refused(archived(data, [("data/0", bytes(16))]), RuntimeError, match="expanded")


def test_many_copies_of_one_value_are_bounded():
    large = b"(" + b"N" * 200_000 + b"lq\x00X" + struct.pack("<I", 10**6) + b"x" * 10**6 + b"q\x01"
    for call in (
        g("builtins", "set") + b"h\x00\x85R",
        g("torch", "Size") + b"h\x00\x85R",
        g("_codecs", "encode") + b"h\x01\x85R",
        g("collections", "OrderedDict") + b")R}h\x01Nsb",
    ):
        data = b"\x80\x02" + large + b"(" + call * 3000 + b"t\x86."
        refused(archived(data), (RuntimeError, pickle.UnpicklingError))


ANNOUNCED = [b"X\xff\xff\xff\xff", b"B\xff\xff\xff\xff", b"\x8b\xff\xff\xff\x7f", b"\x8d" + b"\xff" * 7 + b"\x0f", b"\x8e" + b"\xff" * 8, b"\x96" + b"\xff" * 8, b"T\xff\xff\xff\x7f"]  # fmt: skip


@pytest.mark.parametrize("opening", ANNOUNCED)
def test_lengths_beyond_the_file(opening):
    funtorch.load(io.BytesIO(good()))  # what is imported at the first load doesn't count
    tracemalloc.start()
    for data in (b"\x80\x02" + opening + b"abc.", b"\x80\x02K\x01r\xff\xff\xff\xff."):
        for file in (archived(data), legacy(data)):
            try:
                assert funtorch.load(io.BytesIO(file)) == 1
            except (EOFError, pickle.UnpicklingError):
                pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**24


def good(**options):
    buffer = io.BytesIO()
    funtorch.save({"w": funtorch.arange(100.0), "n": [1, "x"]}, buffer, **options)
    return buffer.getvalue()


def test_truncated(format):
    data = good(**format)
    for end in range(0, len(data) - 1, 7):
        refused(data[:end], (EOFError, pickle.UnpicklingError, RuntimeError), match=r"load\(")


def test_empty_and_foreign_files(tmp_path):
    refused(b"", EOFError, match="empty")
    refused(b"nonsense" * 10, match="neither a zip file nor")
    refused(pickle.dumps({"a": 1}), match="magic")
    refused(archived(b"N.", name="deep/er"), RuntimeError, match="data.pkl")
    refused(archived(b"N.", [("constants.pkl", b"N.")]), RuntimeError, match="TorchScript")
    refused(archived(b"N.", byteorder=b"middle"), RuntimeError, match="byteorder")
    with pytest.raises(FileNotFoundError):
        funtorch.load(tmp_path / "none.pt")


def test_wrong_checksums():
    data = bytearray(good())
    at = data.index(struct.pack("<3f", 1, 2, 3))
    data[at] ^= 1
    refused(bytes(data), RuntimeError, match="checksum")
    funtorch.serialization.set_crc32_options(False)
    try:
        assert funtorch.load(io.BytesIO(bytes(data)))["w"][0] == 0
    finally:
        funtorch.serialization.set_crc32_options(True)


def test_bombs():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a/data.pkl", pickle.dumps("x" * 10**7))
    refused(buffer.getvalue(), RuntimeError, match="compressed")


def test_directories_that_lie():
    data = bytearray(good())
    entry = data.index(b"PK\x01\x02")  # of data.pkl
    for at, value in ((20, 2**31), (24, 2**31), (42, 2**31), (42, 1), (10, 8), (8, 1)):
        lying = bytearray(data)
        struct.pack_into("<I" if at >= 20 else "<H", lying, entry + at, value)
        refused(bytes(lying), RuntimeError, match="zip|record")
    twice = data.replace(b"archive/data/0", b"archive/version"[:14])
    refused(bytes(twice), RuntimeError, match="one name|damaged|record")


def test_names_are_only_looked_up(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = archived(b"N.", [("../../evil", b"x"), ("data/../../evil", b"y")])
    assert funtorch.load(io.BytesIO(data)) is None
    assert not list(tmp_path.iterdir()) and not (tmp_path.parent / "evil").exists()


def test_one_storage_is_not_two(exchange):
    first, second = of_tensor((4,), (1,))[2:-1], of_tensor((2,), (1,), count=2, name="DoubleStorage")[2:-1]
    refused(archived(b"\x80\x02(" + first + second + b"t.", [("data/0", bytes(16))]), RuntimeError, match="at another")


def test_legacy_tails_that_lie():
    values = struct.pack("<4f", 1, 2, 3, 4)
    data = of_tensor((4,), (1,)).replace(b"tQ", b"NtQ")
    for keys, count in ((["0", "0"], 4), (["1"], 4), ([], 4), ("0", 4), (["0"], 3), (["0"], -1), (["0"], 2**60), ([0], 4)):
        refused(legacy(data, pickle.dumps(keys, 2) + struct.pack("<q", count) + values), (RuntimeError, EOFError))


def test_files_stay_closed_after_errors(tmp_path):
    path = tmp_path / "bad.pt"
    path.write_bytes(good()[:-30])
    with pytest.raises(RuntimeError):
        funtorch.load(path)
    path.unlink()
    assert not [link for link in os.listdir("/proc/self/fd") if _target(link).startswith(str(tmp_path))]


def _target(link):
    try:
        return os.readlink(f"/proc/self/fd/{link}")
    except OSError:
        return ""
