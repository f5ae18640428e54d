"""Tensors between PyTorch and funtorch, in both formats and both ways: every type, views, sharing, attributes."""

import io
from collections import Counter, OrderedDict

import pytest
import torch

import funtorch

DTYPES = sorted(funtorch.dtypes.PUBLIC[name].name for name in {d.name for d in funtorch.dtypes.ALL})
SHAPES = [(), (0,), (1,), (3,), (2, 3), (0, 3), (2, 1, 2)]


def of_type(lib, name, shape):
    count = 1
    for n in shape:
        count *= n
    values = lib.arange(count) % 2 if name == "bool" else lib.arange(count)
    return values.reshape(shape).to(getattr(lib, name))


@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype_and_shape(pass_on, way, name, exchange):
    read = pass_on(lambda lib: [of_type(lib, name, shape) for shape in SHAPES])
    for tensor, shape in zip(read, SHAPES, strict=True):
        assert exchange.bits(tensor) == exchange.bits(of_type(way[1], name, shape))


VIEWS = {
    "transposed": lambda x: x.t(),
    "row": lambda x: x[1],
    "column": lambda x: x[:, 2],
    "steps": lambda x: x[::2, 1::2],
    "permuted": lambda x: x.view(3, 2, 2).permute(2, 0, 1),
    "tail": lambda x: x.view(-1)[5:],
    "diagonal": lambda x: x.diagonal(),
    "unfolded": lambda x: x.view(-1).unfold(0, 4, 3),
    "expanded": lambda x: x[:, :1].expand(3, 5),
    "expanded scalar": lambda x: x[1, 1].expand(2, 2),
    "windows": lambda x: x.as_strided((4, 3), (2, 1), 1),
    "detached part": lambda x: x[1:].detach()[:, 1:],
    "whole": lambda x: x.view(4, 3),
}


@pytest.mark.parametrize("kind", VIEWS)
def test_views(pass_on, way, kind, exchange):
    read = pass_on(lambda lib: VIEWS[kind](lib.arange(12.0).view(3, 4)))
    assert exchange.bits(read) == exchange.bits(VIEWS[kind](way[1].arange(12.0).view(3, 4)))


@pytest.mark.parametrize("first", VIEWS)
def test_views_of_one_storage_write_through_each_other(pass_on, way, first, exchange):
    kinds = [first, *(kind for kind in VIEWS if kind != first)]

    def make(lib):
        x = lib.arange(12.0).view(3, 4)
        return [VIEWS[kind](x) for kind in kinds]

    read, expected = pass_on(make), make(way[1])
    assert len({t.untyped_storage().data_ptr() for t in read}) == 1
    for number in (kinds.index("transposed"), kinds.index("tail"), kinds.index("steps"), kinds.index("whole")):
        for tensors in (read, expected):
            tensors[number].mul_(2)
            tensors[number][0] -= 1
        assert [exchange.bits(t) for t in read] == [exchange.bits(t) for t in expected], kinds[number]


def test_sharing_tensors_have_gradients_of_their_own(pass_on, way):
    def make(lib):
        x = lib.arange(4.0)
        part = lib.nn.Parameter(x[1:3])
        return {"x": x.requires_grad_(), "part": part, "again": x.detach()}

    read = pass_on(make)
    assert isinstance(read["part"], way[1].nn.Parameter) and read["x"].is_leaf and read["part"].is_leaf
    (read["x"].sum() * 2 + read["part"].sum()).backward()
    assert read["x"].grad.tolist() == [2, 2, 2, 2] and read["part"].grad.tolist() == [1, 1] and not read["again"].requires_grad


def test_parameters_that_share_write_through(exchange):
    flat = torch.arange(6.0)
    parameters = [torch.nn.Parameter(flat[:4].view(2, 2)), torch.nn.Parameter(flat[2:])]
    a, b = exchange.read(funtorch, exchange.written(torch, parameters))
    with funtorch.no_grad():
        a.fill_(9)
    assert type(a) is type(b) is funtorch.nn.Parameter
    assert b.tolist() == [9, 9, 4, 5] and a.requires_grad and b.requires_grad and b.is_leaf


def test_tied_handles_are_one(pass_on, way):
    def make(lib):
        w = lib.nn.Parameter(lib.ones(2))
        return {"a": w, "b": [w, w.detach()]}

    read = pass_on(make)
    assert read["a"] is read["b"][0] and read["b"][1] is not read["a"]
    with way[1].no_grad():
        read["a"].zero_()
    assert read["b"][1].tolist() == [0, 0]


def test_copies_do_not_share(exchange):
    x = funtorch.ones(2)
    twin = funtorch.Tensor._make_subclass(funtorch.Tensor, x)  # the same array, for now
    a, b = exchange.read(torch, exchange.written(funtorch, [x, twin]))
    a.zero_()
    assert b.tolist() == [1, 1]


def test_types_of_one_storage(exchange):
    base = torch.arange(4, dtype=torch.int16).view(torch.uint16)
    data = exchange.written(torch, [base, base.view(torch.float8_e5m2)])
    a, b = exchange.read(funtorch, data)
    assert a.tolist() == [0, 1, 2, 3]
    b.zero_()
    assert a.tolist() == [0, 0, 0, 0] and b.dtype is funtorch.float8_e5m2


PARTS = {
    "real": lambda lib: lib.view_as_real(lib.tensor([1 + 2j, 3 - 1j]))[..., 0],
    "imaginary": lambda lib: lib.tensor([1 + 2j, 3 - 1j]).imag,
    "conjugate": lambda lib: lib.tensor([1 + 2j, 3 - 1j]).conj().resolve_conj(),
    "bits": lambda lib: lib.tensor([1.0, -2.0]).view(lib.int32),
    "halves": lambda lib: lib.tensor([1.0, -2.0]).view(lib.int16)[1:],
}


@pytest.mark.parametrize("kind", PARTS)
def test_parts_of_elements_keep_their_values(kind, format, exchange):
    for writer, reader in ((torch, funtorch), (funtorch, torch)):
        data = exchange.written(writer, PARTS[kind](writer), **format)
        read, expected = exchange.read(reader, data), PARTS[kind](reader)
        assert read.dtype == expected.dtype and read.tolist() == expected.tolist()


def test_results_of_operations_become_leaves(pass_on):
    read = pass_on(lambda lib: lib.ones(2, requires_grad=True) * 3)
    assert read.requires_grad and read.is_leaf and read.tolist() == [3, 3]


def test_containers_and_plain_values(pass_on, way):
    def make(lib):
        return {
            "plain": [None, True, -1, 2**70, -(2**70), 1.5, float("inf"), 1 + 2j, "text ü \ud800", b"\x00\xff", bytearray(b"x")],
            "kinds": (
                lib.float16,
                lib.bool,
                lib.bfloat16,
                lib.device("cpu"),
                lib.device("cuda", 1),
                lib.Size([1, 2]),
                lib.strided,
            ),
            (1, "key"): {1, 2},
            "ordered": OrderedDict(x=1, y=(OrderedDict(), Counter("aab"))),
            "nested": [[[[[{}]]]]],
            "long": list(range(3000)),
        }

    read, expected = pass_on(make), make(way[1])
    assert read == expected and type(read["kinds"][5]) is way[1].Size and type(read["ordered"]["y"][1]) is Counter
    assert repr(read["kinds"]) == repr(expected["kinds"])


def test_circles(pass_on):
    def make(lib):
        a = [lib.ones(1)]
        a.append(a)
        return a

    read = pass_on(make)
    assert read[1] is read and read[0].tolist() == [1]


def test_state_dicts_keep_their_versions(pass_on, way):
    read = pass_on(lambda lib: lib.nn.Sequential(lib.nn.Linear(2, 3), lib.nn.BatchNorm1d(3)).state_dict())
    own = way[1].nn.Sequential(way[1].nn.Linear(2, 3), way[1].nn.BatchNorm1d(3))
    assert type(read) is OrderedDict and read._metadata == own.state_dict()._metadata
    own.load_state_dict(read)


def test_attributes_and_buffers(pass_on, way):
    def make(lib):
        x, w = lib.ones(2), lib.nn.Parameter(lib.ones(1), requires_grad=False)
        x.note, w._no_decay = "kept", True
        return x, w, lib.nn.Buffer(lib.zeros(2), persistent=False)

    x, w, buffer = pass_on(make)
    assert x.note == "kept" and w._no_decay is True and isinstance(w, way[1].nn.Parameter) and not w.requires_grad
    assert isinstance(buffer, way[1].nn.Buffer) and buffer.persistent is False and not isinstance(w, way[1].nn.Buffer)


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
def test_storages(pass_on, way):
    read = pass_on(lambda lib: [lib.arange(3.0).untyped_storage(), lib.arange(3.0)])
    assert bytes(read[0].tolist()) == bytes(way[1].arange(3.0).untyped_storage().tolist())


@pytest.mark.parametrize("format", ["zip"], indirect=True)  # in the legacy format the state would come before its bytes
def test_generators(pass_on, way):
    def make(lib):
        generator = lib.Generator().manual_seed(7)
        lib.rand(3, generator=generator)
        return generator

    read, expected = pass_on(make, weights_only=False), make(way[1])
    assert way[1].rand(4, generator=read).tolist() == way[1].rand(4, generator=expected).tolist()
    assert read.initial_seed() == 7


def test_meta(pass_on, way, exchange, format):
    def make(lib):
        return [lib.empty(2, 3, device="meta"), lib.nn.Parameter(lib.empty(4, dtype=lib.bfloat16, device="meta"))]

    x, w = pass_on(make)
    assert x.is_meta and tuple(x.shape) == (2, 3) and w.is_meta and w.dtype == way[1].bfloat16 and w.requires_grad
    data = exchange.written(way[0], {"w": way[0].ones(2, 3).t(), "u": way[0].ones(2).to(way[0].uint16)}, **format)
    read = exchange.read(way[1], data, map_location="meta")
    assert tuple(read["w"].shape) == (3, 2) and read["u"].is_meta and read["u"].dtype == way[1].uint16


SPARSE = {
    "coo": lambda lib: lib.eye(3).to_sparse(),
    "uncoalesced": lambda lib: lib.sparse_coo_tensor(lib.tensor([[0, 0, 1]]), lib.tensor([1.0, 2.0, 3.0]), (4,)),
    "with dense parts": lambda lib: lib.sparse_coo_tensor(lib.tensor([[2, 0]]), lib.ones(2, 3), (4, 3)),
    "csr": lambda lib: lib.eye(3)[:2].to_sparse_csr(),
    "csc": lambda lib: lib.eye(3)[:2].to_sparse_csc(),
}


@pytest.mark.filterwarnings("ignore:Sparse")
@pytest.mark.parametrize("kind", SPARSE)
def test_sparse(pass_on, way, kind):
    read, expected = pass_on(SPARSE[kind]), SPARSE[kind](way[1])
    assert read.layout == expected.layout and read.shape == expected.shape
    assert read.to_dense().tolist() == expected.to_dense().tolist()
    if kind in ("coo", "uncoalesced"):
        assert read.is_coalesced() == (kind == "coo") and read._indices().tolist() == expected._indices().tolist()


def test_sparse_that_lies(exchange, format):
    lies = {
        "size": torch.sparse_coo_tensor(torch.tensor([[0, 9]]), torch.ones(2), (3,), check_invariants=False),
        "negative": torch.sparse_coo_tensor(torch.tensor([[-1]]), torch.ones(1), (3,), check_invariants=False),
        "sorted": torch.sparse_coo_tensor(torch.tensor([[1, 0]]), torch.ones(2), (3,), is_coalesced=True, check_invariants=False),
        "twice": torch.sparse_coo_tensor(torch.tensor([[1, 1]]), torch.ones(2), (3,), is_coalesced=True, check_invariants=False),
        "rows": torch.sparse_csr_tensor(torch.tensor([0, 9]), torch.tensor([0]), torch.ones(1), (1, 3), check_invariants=False),
    }
    for kind, tensor in lies.items():
        with pytest.raises(RuntimeError):
            exchange.read(funtorch, exchange.written(torch, tensor, **format))
            raise AssertionError(kind)
    assert exchange.read(funtorch, exchange.written(torch, torch.ones(1))).tolist() == [1]  # nothing is left behind


@pytest.mark.filterwarnings("ignore:ComplexHalf", "ignore:torch.quantize")
def test_what_funtorch_does_not_have(format, exchange):
    kinds = {
        "quantized": torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.quint8),
        "torch.complex32": torch.ones(2, dtype=torch.complex32),
        "torch.bits8": torch.ones(2, dtype=torch.uint8).view(torch.bits8),
        "torch.float4_e2m1fn_x2": torch.ones(2, dtype=torch.uint8).view(torch.float4_e2m1fn_x2),
    }
    for word, obj in kinds.items():
        data = exchange.written(torch, obj, **format)
        for weights_only in (True, False):
            with pytest.raises(NotImplementedError, match=word + ".*In PyTorch, save"):
                exchange.read(funtorch, data, weights_only=weights_only)


@pytest.mark.parametrize("zipped", [True, False], ids=["zip", "legacy"])
@pytest.mark.parametrize("writer, reader", [(torch, funtorch), (funtorch, torch), (funtorch, funtorch)])
def test_conjugates(writer, reader, zipped):
    """A file holds the elements that a conjugate shows, and a mark."""
    x = writer.tensor([[1 + 2j, 3 - 4j], [5j, 6 + 0j]])
    for value in (x.conj(), x.conj()[1:], x.mH, x.conj().conj(), writer.nn.Parameter(x.conj())):
        file = io.BytesIO()
        writer.save({"x": x, "value": value}, file, _use_new_zipfile_serialization=zipped)
        file.seek(0)
        read = reader.load(file)["value"]
        assert read.detach().resolve_conj().tolist() == value.detach().resolve_conj().tolist()
