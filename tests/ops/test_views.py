"""View ops against torch: values, gradients, which results are views, and their strides and offsets."""

import numpy as np
import pytest
import torch

import funtorch

X = np.arange(24.0).reshape(2, 3, 4)
ONES = np.arange(6.0).reshape(1, 2, 1, 3)

VIEWS = {
    "reshape": lambda t, x: x.reshape(6, 4),
    "reshape -1": lambda t, x: x.reshape(4, -1),
    "reshape sequence": lambda t, x: t.reshape(x, (3, -1, 2)),
    "reshape of a transpose": lambda t, x: x.transpose(0, 1).reshape(2, 12),
    "reshape of a transpose, as a view": lambda t, x: x.transpose(0, 1).reshape(3, 2, 2, 2),
    "view": lambda t, x: x.view(2, 12),
    "view with ones": lambda t, x: x.view(1, 2, 1, 12, 1),
    "view of a slice": lambda t, x: x[:, :, ::2].view(2, 3, 2, 1),
    "view of part": lambda t, x: x[:, 1:].view(2, 8),
    "view_as": lambda t, x: x.view_as(t.zeros(4, 6)),
    "reshape_as": lambda t, x: x.reshape_as(t.zeros(4, 6)),
    "flatten": lambda t, x: x.flatten(),
    "flatten 1": lambda t, x: t.flatten(x, 1),
    "flatten of one": lambda t, x: x.sum().flatten(),
    "ravel": lambda t, x: x.ravel(),
    "unflatten": lambda t, x: x.unflatten(2, (2, -1)),
    "unflatten of a transpose": lambda t, x: x.transpose(0, 2).unflatten(0, (2, 2)),
    "unsqueeze": lambda t, x: x.unsqueeze(1),
    "unsqueeze last": lambda t, x: x.unsqueeze(-1),
    "unsqueeze of a transpose": lambda t, x: x.transpose(0, 2).unsqueeze(1),
    "transpose": lambda t, x: x.transpose(0, -1),
    "swapaxes": lambda t, x: t.swapaxes(x, 0, 1),
    "swapdims": lambda t, x: x.swapdims(0, 1),
    "permute": lambda t, x: x.permute(2, 0, 1),
    "permute sequence": lambda t, x: t.permute(x, (1, 0, -1)),
    "T": lambda t, x: x[0].T,
    "t": lambda t, x: x[0].t(),
    "t of a vector": lambda t, x: x[0, 0].t(),
    "mT": lambda t, x: x.mT,
    "H": lambda t, x: x[0].H,
    "adjoint": lambda t, x: x.adjoint(),
    "movedim": lambda t, x: x.movedim(0, -1),
    "movedim several": lambda t, x: t.movedim(x, (0, 1), (2, 0)),
    "moveaxis": lambda t, x: t.moveaxis(x, 2, 0),
    "expand": lambda t, x: x.unsqueeze(1).expand(2, 5, 3, 4),
    "expand new dimensions": lambda t, x: x[0].expand(5, 1, -1, 4),
    "expand one new of size one": lambda t, x: x[0].expand(1, 3, 4),
    "expand of a number": lambda t, x: x[0, 0, 0].expand(2, 3),
    "expand_as": lambda t, x: x[0].expand_as(x),
    "broadcast_to": lambda t, x: t.broadcast_to(x[:, :1], (2, 3, 4)),
    "broadcast_tensors": lambda t, x: t.broadcast_tensors(x[0, 0], x[0, :, :1]),
    "narrow": lambda t, x: x.narrow(1, 1, 2),
    "select": lambda t, x: x.select(1, -1),
    "unbind": lambda t, x: x.unbind(1),
    "split": lambda t, x: x.split(3, dim=2),
    "split lengths": lambda t, x: t.split(x, [1, 3], dim=-1),
    "split_with_sizes": lambda t, x: x.split_with_sizes((1, 2), 1),
    "chunk": lambda t, x: x.chunk(3, 2),
    "tensor_split": lambda t, x: x.tensor_split(3, 2),
    "tensor_split indices": lambda t, x: x.tensor_split((1, 3, 7), dim=2),
    "hsplit": lambda t, x: t.hsplit(x, 3),
    "vsplit": lambda t, x: x.vsplit((1,)),
    "dsplit": lambda t, x: x.dsplit(2),
    "diagonal": lambda t, x: x.diagonal(),
    "diagonal offset": lambda t, x: t.diagonal(x, 1, -1, 0),
    "diagonal below": lambda t, x: t.diagonal(x, -1, 1, 2),
    "unfold": lambda t, x: x.unfold(2, 2, 1),
    "unfold steps": lambda t, x: x.unfold(-2, 2, 2),
    "as_strided": lambda t, x: x.as_strided((3, 2), (2, 5), 1),
    "as_strided of a view": lambda t, x: x[1].as_strided((2, 2), (1, 4)),
    "as_strided overlapping": lambda t, x: t.as_strided(x, (4, 3), (2, 1)),
    "atleast_2d": lambda t, x: t.atleast_2d(x[0, 0]),
    "atleast_3d": lambda t, x: t.atleast_3d(x[0, 0], x[0]),
    "index a number": lambda t, x: x[1],
    "index negative": lambda t, x: x[-1, 0, -2],
    "index slices": lambda t, x: x[:, 1:, ::3],
    "index ellipsis": lambda t, x: x[..., 1],
    "index None": lambda t, x: x[None, :, 0, None],
    "index None before a number": lambda t, x: x[0, None, 1],
    "index Tensor without dimensions": lambda t, x: x[t.tensor(1), :, t.tensor(-1)],
    "index beyond the end": lambda t, x: x[:, 2:9, 3:1],
    "index all": lambda t, x: x[...],
    "chain": lambda t, x: x[:, 1:].transpose(0, 2)[1].unsqueeze(0).expand(3, 2, 2)[1:],
}


@pytest.mark.parametrize("name", VIEWS)
def test_views(name, agree):
    agree(VIEWS[name], X, strides=True)


SQUEEZES = {
    "squeeze": lambda t, x: x.squeeze(),
    "squeeze one": lambda t, x: x.squeeze(2),
    "squeeze none": lambda t, x: x.squeeze(1),
    "squeeze several": lambda t, x: t.squeeze(x, (0, 1, 2)),
    "chunk of nothing": lambda t, x: x[:0].chunk(2),
    "split of nothing": lambda t, x: x[:0].split(2),
    "view of nothing": lambda t, x: x[:0].view(3, 0),
    "contiguous": lambda t, x: x.contiguous(),
}


@pytest.mark.parametrize("name", SQUEEZES)
def test_squeezes_and_empty(name, agree):
    agree(SQUEEZES[name], ONES, strides=True)


ERRORS = {
    "view of a transpose": lambda t, x: x.transpose(0, 1).view(24),
    "reshape wrong": lambda t, x: x.reshape(5, -1),
    "reshape wrong count": lambda t, x: x.reshape(5, 5),
    "reshape two unknown": lambda t, x: x.reshape(-1, -1),
    "expand": lambda t, x: x.expand(4, 3, 4),
    "expand fewer": lambda t, x: x.expand(4),
    "transpose": lambda t, x: x.transpose(0, 3),
    "permute twice": lambda t, x: x.permute(0, 0, 1),
    "squeeze": lambda t, x: x.squeeze(5),
    "unsqueeze": lambda t, x: x.unsqueeze(7),
    "t": lambda t, x: x.t(),
    "select": lambda t, x: x.select(0, 2),
    "narrow": lambda t, x: x.narrow(1, 2, 2),
    "split": lambda t, x: x.split(0),
    "split lengths": lambda t, x: x.split([1, 2]),
    "chunk": lambda t, x: x.chunk(0),
    "flatten": lambda t, x: x.flatten(2, 1),
    "index": lambda t, x: x[5],
    "index second": lambda t, x: x[0, 5],
    "index Tensor": lambda t, x: x[t.tensor(5)],
    "too many": lambda t, x: x[0, 0, 0, 0],
    "negative step": lambda t, x: x[::-1],
    "float": lambda t, x: x[1.0],
    "of a number": lambda t, x: x[0, 0, 0][0],
    "cat": lambda t, x: t.cat([x, x[:, :1]], 0),
    "stack": lambda t, x: t.stack([x, x[0]]),
    "unfold": lambda t, x: x.unfold(0, 3, 1),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name, refuse):
    refuse(ERRORS[name], X, words=name not in ("permute twice", "expand fewer", "cat"))


BYTES = {
    "float32 as int32": lambda t: t.tensor([1.0, -2.0]).view(t.int32),
    "float32 as bytes": lambda t: t.tensor([[1.0, -2.0]]).view(t.uint8),
    "bytes as int32": lambda t: t.arange(16, dtype=t.uint8).view(2, 8).view(t.int32),
    "float64 as int16": lambda t: t.tensor([[1.5], [2.5]], dtype=t.float64).view(t.int16),
    "int32 as float64": lambda t: t.arange(4, dtype=t.int32).view(t.float64),
    "complex as float": lambda t: t.tensor([1 + 2j, 3j]).view(t.float32),
    "float as complex": lambda t: t.tensor([1.0, 2, 3, 4]).view(t.complex64),
    "bool as bytes": lambda t: t.tensor([True, False]).view(t.uint8),
}


@pytest.mark.parametrize("name", BYTES)
def test_view_of_bytes(name, agree):
    agree(BYTES[name])


def test_bytes_written_through_the_view():
    import funtorch

    x = funtorch.zeros(2)
    x.view(funtorch.int32)[0] = 0x3F800000
    assert x.tolist() == [1.0, 0.0]


def expanded_row(t, x):
    y = x * 1
    y[0, 0].expand(3, 4)[1].mul_(10)
    return y


def overlapping_windows(t, x):
    y = x * 1
    y.unfold(2, 2, 1)[:, :, 1].mul_(10)
    return y


def filled_expansion(t, x):
    y = x.detach() * 1  # torch has no gradient here
    y[:, :1].expand(2, 5, 4).fill_(7)
    return y


def diagonal_part(t, x):
    y = x * 1
    y.diagonal(0, 1, 2)[1].mul_(10)
    return y


@pytest.mark.parametrize("f", [expanded_row, overlapping_windows, filled_expansion, diagonal_part])
def test_writes_through_views_whose_elements_coincide(f, agree):
    agree(f, X)


def test_one_of_several_views_may_not_be_written_while_recorded():
    import funtorch

    base = funtorch.ones(2, 3, requires_grad=True) * 1
    for view in (base.unbind(0)[0], base.split(1)[1], base.chunk(2)[0], base.unbind(0)[0].view(3)):
        with pytest.raises(RuntimeError, match="returns multiple views"):
            view.mul_(2)
    plain = funtorch.ones(2, 3)
    plain.unbind(0)[0].mul_(2)
    assert plain.tolist() == [[2, 2, 2], [1, 1, 1]]


def test_many_views_at_once():
    import funtorch

    x = funtorch.arange(600.0).reshape(300, 2).requires_grad_()
    rows = list(x)
    assert len(rows) == 300 and rows[299].tolist() == [598, 599] and rows[7].stride() == (1,)
    (rows[3] * rows[299]).sum().backward()
    assert x.grad[3].tolist() == [598, 599] and x.grad.sum().item() == 598 + 599 + 6 + 7


def test_a_window_that_starts_where_each_lane_says():
    import funtorch

    x = funtorch.arange(10)
    found = funtorch.vmap(lambda start: x.narrow(0, start, 3))(funtorch.tensor([0, 4, 7]))
    assert found.tolist() == [[0, 1, 2], [4, 5, 6], [7, 8, 9]]


def test_writing_through_a_detached_part_writes_that_part():
    import funtorch

    x = funtorch.zeros(2, 4)
    part = x[1, 1:3].detach()
    part.fill_(1)
    x.t()[0].data.add_(5)
    assert x.tolist() == [[5, 0, 0, 0], [5, 1, 1, 0]] and part.tolist() == [1, 1]
    w = funtorch.nn.Parameter(funtorch.zeros(4))
    w[1:3].data[0] = 7
    w.data[2:].fill_(3)
    assert w.tolist() == [0, 7, 3, 3] and w.requires_grad and w.is_leaf


REINTERPRETED = {
    "real": lambda t, x, y, i: x.real.as_strided((2, 2), (8, 2)),
    "imag": lambda t, x, y, i: x.imag.as_strided((2, 2), (8, 2)),
    "part of imag": lambda t, x, y, i: x.imag[1:].as_strided((2, 2), (8, 2)),
    "part of a complex view": lambda t, x, y, i: t.view_as_complex(y)[1:].as_strided((2, 2), (2, 1)).real,
    "floats of complex": lambda t, x, y, i: x.view(t.float32)[1:].as_strided((2,), (3,)),
    "complex of floats": lambda t, x, y, i: y.view(t.complex64)[1:].as_strided((2,), (3,)).imag,
    "integers as floats": lambda t, x, y, i: i.view(t.float32)[2:].as_strided((2,), (3,)),
    "wider integers": lambda t, x, y, i: i.view(t.int64)[1:].as_strided((2,), (1,)),
    "a write": lambda t, x, y, i: (x.imag.as_strided((2,), (2,), 3).fill_(9.0), t.view_as_real(x))[1],
}


@pytest.mark.parametrize("name", REINTERPRETED)
def test_as_strided_counts_in_the_elements_of_the_view(name):
    results = []
    for lib in (torch, funtorch):
        x = lib.arange(12).reshape(3, 4).to(lib.complex64) * (1 + 2j)
        y, i = lib.arange(24.0).reshape(3, 4, 2), lib.arange(8, dtype=lib.int32)
        results.append(REINTERPRETED[name](lib, x, y, i).tolist())
    assert results[1] == results[0]
