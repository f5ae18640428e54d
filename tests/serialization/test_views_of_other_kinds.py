"""Views that a file describes and most programs never make: negated ones, empty ones, ones of another dtype than their storage's."""

import io

import pytest
import torch

import funtorch

pytestmark = pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")

Z = [1 + 2j, 3 - 4j, -5 + 0.5j]
NEGATED = {
    "imaginary part of a conjugate": lambda lib: lib.tensor(Z).conj().imag,
    "part of it": lambda lib: lib.tensor(Z).conj().imag[1:],
    "negated": lambda lib: lib._neg_view(lib.tensor([1.0, 2.0])),
    "negated conjugate": lambda lib: lib._neg_view(lib.tensor(Z).conj()),
}


def values(tensor):
    return tensor.detach().resolve_conj().resolve_neg().tolist()


@pytest.mark.parametrize("kind", NEGATED)
def test_negated_alone(pass_on, way, kind):
    read, expected = pass_on(NEGATED[kind]), NEGATED[kind](way[1])
    assert values(read) == values(expected)
    assert (read.is_neg(), read.is_conj(), read.stride()) == (expected.is_neg(), expected.is_conj(), expected.stride())


def test_marks_of_views():
    for lib in (torch, funtorch):
        x = lib.tensor(Z)
        views = [x.conj().imag, x.conj().real, x.conj().conj().imag, lib._neg_view(x.conj()).imag, lib._neg_view(x).real, x.imag]
        assert [v.is_neg() for v in views] == [True, False, False, False, True, False]
        assert not any(v.is_conj() for v in views) and x.conj().detach()[1:].is_conj()


def test_negated_ones_write_through(format, exchange):
    x = torch.arange(1.0, 4)
    a, b = exchange.read(funtorch, exchange.written(torch, [x, torch._neg_view(x[1:])], **format))
    b.mul_(2)
    assert a.tolist() == [1, 4, 6]
    a.zero_()
    assert b.tolist() == [0, 0]


def test_marked_parameters_require_grad(pass_on):
    read = pass_on(lambda lib: [lib.nn.Parameter(lib._neg_view(lib.ones(2))), lib.nn.Parameter(lib.tensor(Z).conj())])
    for parameter in read:
        assert parameter.requires_grad and parameter.is_leaf
        parameter.sum().abs().backward()
        assert parameter.grad is not None


EMPTY = {
    "rows": lambda lib: lib.zeros(3, 4)[:0],
    "columns": lambda lib: lib.zeros(3, 4)[:, 4:],
    "fresh": lambda lib: lib.empty(0, 3),
    "turned": lambda lib: lib.empty(0, 3).t(),
    "turned part": lambda lib: lib.zeros(3, 4)[:0].t(),
    "at the end": lambda lib: lib.zeros(4)[4:],
}


@pytest.mark.parametrize("kind", EMPTY)
def test_empty_ones_keep_their_strides(pass_on, way, exchange, kind):
    assert exchange.bits(pass_on(EMPTY[kind])) == exchange.bits(EMPTY[kind](way[1]))


def test_strides_without_values(pass_on):
    x = pass_on(lambda lib: lib.empty(2, 3, device="meta").t())
    assert x.is_meta and x.stride() == (1, 3) and tuple(x.shape) == (3, 2)


RETYPED = {
    "real part": lambda lib: lib.tensor(Z).real,
    "imaginary part": lambda lib: lib.tensor(Z).imag[1:],
    "bytes": lambda lib: lib.tensor([1.0, -2.0]).view(lib.uint8)[3:],
    "wider": lambda lib: lib.arange(12, dtype=lib.uint8).view(3, 4).view(lib.float32),
    "turned": lambda lib: lib.arange(24, dtype=lib.uint8).view(lib.int16).view(3, 4).t(),
    "float8": lambda lib: lib.arange(6, dtype=lib.uint8).view(lib.float8_e5m2).view(2, 3)[:, ::2],
}


@pytest.mark.parametrize("format", ["zip"], indirect=True)  # PyTorch's legacy reader takes no float8
@pytest.mark.parametrize("kind", RETYPED)
def test_ones_of_another_dtype(pass_on, way, exchange, kind):
    assert exchange.bits(pass_on(RETYPED[kind])) == exchange.bits(RETYPED[kind](way[1]))


def test_two_of_another_dtype_share(way, exchange):
    writer, reader = way
    x = writer.arange(24, dtype=writer.uint8).view(writer.int16)
    a, b = exchange.read(reader, exchange.written(writer, [x[:4], x[2:]]))
    a.zero_()
    assert b.tolist()[:2] == [0, 0] and b.tolist()[2] == x.tolist()[4]


def test_a_storage_of_two_dtypes_keeps_values(exchange):
    # PyTorch refuses to write them.
    x = funtorch.tensor(Z)
    a, b = exchange.read(funtorch, exchange.written(funtorch, [x, x.imag]))
    assert a.tolist() == Z and b.tolist() == [2, -4, 0.5]


def test_sparse_parameters():
    with pytest.raises(NotImplementedError, match="sparse_coo"):
        funtorch.nn.Parameter(funtorch.eye(2).to_sparse())
    buffer = io.BytesIO()
    torch.save(torch.nn.Parameter(torch.eye(2).to_sparse()), buffer)
    with pytest.raises(NotImplementedError, match="sparse Parameter"):
        funtorch.load(io.BytesIO(buffer.getvalue()))
