"""Joining, repeating, turning, diagonals, grids, conversions against torch: values, dtypes, gradients, errors."""

import numpy as np
import pytest
import torch

import funtorch

X = np.arange(12.0).reshape(3, 4)

OPS = {
    "cat": lambda t, x: t.cat([x, x[:1]]),
    "cat columns": lambda t, x: t.cat((x, x.flip(1)), dim=-1),
    "cat dtypes": lambda t, x: t.cat([x, t.arange(4).view(1, 4)]),
    "cat with an empty vector": lambda t, x: t.cat([t.tensor([], dtype=x.dtype), x]),
    "concat": lambda t, x: t.concat([x, x], 1),
    "stack": lambda t, x: t.stack([x, x * 2], 1),
    "stack dtypes": lambda t, x: t.stack([x[0], t.arange(4)], -1),
    "hstack": lambda t, x: (t.hstack([x, x]), t.hstack([x[0], x[1]])),
    "vstack": lambda t, x: (t.vstack([x[0], x]), t.row_stack([x[0], x[1]])),
    "dstack": lambda t, x: (t.dstack([x, x]), t.dstack([x[0], x[0]])),
    "column_stack": lambda t, x: t.column_stack([x[:, 0], x]),
    "atleast": lambda t, x: (t.atleast_1d(x[0, 0]), t.atleast_2d(x[0], x), t.atleast_3d([x])),
    "flip": lambda t, x: x.flip(0, 1),
    "fliplr": lambda t, x: (t.fliplr(x), x.flipud()),
    "roll": lambda t, x: (x.roll(2), x.roll(-1, 0), t.roll(x, (1, 2), (0, 1))),
    "rot90": lambda t, x: (x.rot90(), t.rot90(x, -1, (1, 0)), x.rot90(2)),
    "repeat": lambda t, x: (x.repeat(2, 1), x[0].repeat(2, 1, 2), x.repeat((1, 0))),
    "tile": lambda t, x: (x.tile(2), t.tile(x, (2, 1, 2))),
    "repeat_interleave": lambda t, x: (x.repeat_interleave(2), x.repeat_interleave(2, dim=1)),
    "repeat_interleave counts": lambda t, x: x.repeat_interleave(t.tensor([1, 0, 2]), dim=0),
    "repeat_interleave of counts": lambda t, x: t.repeat_interleave(t.tensor([1, 0, 2])),
    "diag": lambda t, x: (x.diag(), t.diag(x[0]), x[0].diag(-1), x.diag(1)),
    "diag_embed": lambda t, x: (t.diag_embed(x), t.diag_embed(x, 1, 0, 2)),
    "diagflat": lambda t, x: t.diagflat(x[:2, :2], 1),
    "tril": lambda t, x: (x.tril(), t.triu(x, 1), x.tril(-1)),
    "triu_": lambda t, x: (x * 1).triu_(),
    "trace": lambda t, x: (x.trace(), x.int().trace()),
    "tril_indices": lambda t, x: (t.tril_indices(3, 4, 1), t.triu_indices(4, 3, -1, dtype=t.int32), t.tril_indices(0, 3)),
    "block_diag": lambda t, x: t.block_diag(x[0], x, x[0, 0], t.arange(2)),
    "vander": lambda t, x: (t.vander(x[0].detach()), t.vander(x[0].detach(), 3, increasing=True), t.vander(t.arange(3))),
    "meshgrid": lambda t, x: t.meshgrid(x[0], x[:, 0], indexing="ij"),
    "meshgrid xy": lambda t, x: t.meshgrid(x[0], x[:, 0], x[0, :2], indexing="xy"),
    "cartesian_prod": lambda t, x: t.cartesian_prod(x[0], x[:, 0]),
    "combinations": lambda t, x: (t.combinations(x[0]), t.combinations(x[0], 3), t.combinations(x[0], with_replacement=True)),
    "clone": lambda t, x: x.clone(),
    "contiguous": lambda t, x: x.t().contiguous(),
    "float": lambda t, x: (x.float(), x.half(), x.bfloat16(), x.double()),
    "integers": lambda t, x: (x.int(), x.long(), x.short(), x.char(), x.byte(), x.bool()),
    "to": lambda t, x: (x.to(t.float32), x.to("cpu"), x.to(t.device("cpu"), t.float32), x.to(x[0].float()), x.to(dtype=t.int8)),
    "complex": lambda t, x: (x.to(t.complex64), x.cfloat(), x.cdouble()),
    "type_as": lambda t, x: x.type_as(x.float()),
    "type": lambda t, x: (x.type(), x.int().type(), x.type(t.float32), x.type("torch.IntTensor")),
    "fill": lambda t, x: (t.fill(x, 3), t.fill(x, x[0, 1])),
    "fill_": lambda t, x: ((x * 1).fill_(3), (x * 1).fill_(x[0, 1]), (x * 1).zero_()),
    "copy_": lambda t, x: ((x * 1).copy_(x[0] * 2), (x * 1).copy_(t.arange(4))),
    "copy_ to a view": lambda t, x: (lambda y: (y[:, 1].copy_(x[:, 0] * 3), y))(x * 1),
    "resize_": lambda t, x: (t.arange(6.0).resize_(2, 2), t.arange(6.0).resize_as_(x[:1, :2])),
    "unsqueeze_": lambda t, x: ((x * 1).unsqueeze_(0), (x * 1).t_(), (x * 1)[None].squeeze_(), (x * 1).transpose_(0, 1)),
    "fill_diagonal_": lambda t, x: ((x * 1).fill_diagonal_(5), t.zeros(5, 2).fill_diagonal_(1, wrap=True)),
    "apply_": lambda t, x: (t.ones(2).apply_(lambda v: v + 1), t.ones(2).map_(t.ones(2) * 3, lambda a, b: a + b)),
    "questions": lambda t, x: (t.numel(x), t.is_floating_point(x), t.is_complex(x), t.is_nonzero(x[0, 1])),
    "by name": lambda t, x: (t.permute(x, dims=(1, 0)), t.reshape(x, shape=(4, 3)), t.flip(x, dims=(0,)), t.tile(x, dims=(2, 1))),
    "map2_": lambda t, x: t.ones(2).map2_(t.arange(2.0), t.ones(2) * 3, lambda a, b, c: a + b * c),
    "slice_copy": lambda t, x: (t.slice_copy(x), t.slice_copy(x, 1, 1, None, 2), t.slice_copy(x, dim=-1, end=-1)),
    "slice_inverse": lambda t, x: t.slice_inverse(x.detach()[:, 1:], x.detach(), 1, 1),
    "complex copies": lambda t, x: (t.view_as_real_copy(t.complex(x, x)), t.view_as_complex_copy(t.stack([x, x], -1).detach())),
    "as_strided_": lambda t, x: t.as_strided_(t.arange(6.0), (2, 2), (1, 2)),
    "reversed": lambda t, x: (reversed(x), reversed(t.tensor(3.0)), [r.sum() for r in reversed(x)]),
    "asked of a Tensor": lambda t, x: (t.get_device(x), t.is_distributed(x), x.is_distributed(), t.detach_(x * 2).requires_grad),
    "copies": lambda t, x: (t.expand_copy(x[:1], (3, 4)), t.unbind_copy(x), t.view_copy(x, (4, 3)), t.t_copy(x)),
    "broadcast_shapes": lambda t, x: tuple(t.broadcast_shapes((2, 1), (3,), 1)),
    "complex T": lambda t, x: (x.to(t.complex128) * 1j).mH,
}


@pytest.mark.parametrize("name", OPS)
def test_values_and_gradients(name, agree):
    agree(OPS[name], X)


ERRORS = {
    "cat of nothing": lambda t, x: t.cat([]),
    "cat of numbers": lambda t, x: t.cat([x[0, 0], x[0, 0]]),
    "cat dims": lambda t, x: t.cat([x, x[0]]),
    "stack of nothing": lambda t, x: t.stack([]),
    "tril": lambda t, x: x[0].tril(),
    "trace": lambda t, x: x[0].trace(),
    "diag": lambda t, x: x[None].diag(),
    "diagonal": lambda t, x: x.diagonal(0, 1, 1),
    "diag_embed": lambda t, x: t.diag_embed(x[0], 0, 1, 1),
    "flip twice": lambda t, x: x.flip(0, 0),
    "flip dim": lambda t, x: x.flip(5),
    "fliplr": lambda t, x: x[0].fliplr(),
    "roll": lambda t, x: x.roll((1, 2), (0,)),
    "rot90": lambda t, x: x.rot90(1, (0, 0)),
    "rot90 of a vector": lambda t, x: x[0].rot90(),
    "repeat": lambda t, x: x.repeat(2),
    "repeat negative": lambda t, x: x.repeat(2, -1),
    "repeat_interleave": lambda t, x: x.repeat_interleave(t.tensor([1, 2]), dim=0),
    "repeat_interleave negative": lambda t, x: x.repeat_interleave(-1),
    "meshgrid": lambda t, x: t.meshgrid(x[0], x[0], indexing="zz"),
    "combinations": lambda t, x: t.combinations(x),
    "broadcast_to": lambda t, x: t.broadcast_to(x, (3, 5)),
    "broadcast_tensors": lambda t, x: t.broadcast_tensors(x, x[:, :3]),
    "copy_": lambda t, x: x.copy_(x[:, :3]),
    "fill_": lambda t, x: x.fill_(x[0]),
    "to": lambda t, x: x.to("nowhere"),
    "overlap": lambda t, x: x[:, :1].expand(3, 4).copy_(x),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name, refuse):
    refuse(ERRORS[name], X, words=name not in ("to", "overlap", "fill_"))


def test_conversions_give_the_tensor_itself_where_nothing_changes():
    x = funtorch.zeros(2)
    assert x.float() is x and x.to("cpu") is x and x.to(funtorch.float32) is x and x.contiguous() is x and x.cpu() is x
    assert x.to(funtorch.float32, copy=True) is not x and x.clone() is not x


def test_copy_is_not_a_view():
    x = funtorch.zeros(2)
    y = x.clone()
    x[0] = 5
    assert y.tolist() == [0, 0]


def test_items_are_not_deleted():
    for t in (torch, funtorch):
        with pytest.raises(TypeError, match="does not support deleting items"):
            del t.ones(2)[0]
