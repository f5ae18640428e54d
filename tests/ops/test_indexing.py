"""x[index] and x[index] = value against torch: values, gradients, in-place writes through views, errors."""

import warnings

import numpy as np
import pytest
import torch

import funtorch

X = np.arange(24.0).reshape(2, 3, 4)
V = np.arange(4.0) + 0.5


def tensor(t, *values):
    return t.tensor(list(values))


READS = {
    "vector": lambda t, x: x[tensor(t, 1, 0, 1)],
    "negative": lambda t, x: x[:, tensor(t, -1, -3)],
    "matrix": lambda t, x: x[:, tensor(t, [0, 1], [2, 2])],
    "two": lambda t, x: x[tensor(t, 0, 1), tensor(t, 2, 0)],
    "two broadcast": lambda t, x: x[tensor(t, [0], [1]), tensor(t, 2, 0)],
    "apart": lambda t, x: x[tensor(t, 0, 1), :, tensor(t, 2, 0)],
    "adjacent at the end": lambda t, x: x[:, tensor(t, 0, 1), tensor(t, 2, 0)],
    "three": lambda t, x: x[tensor(t, 0, 1), tensor(t, 1, 1), tensor(t, 2, 0)],
    "with a number": lambda t, x: x[0, :, tensor(t, 2, 0)],
    "with a number between": lambda t, x: x[tensor(t, 1, 0), 1, tensor(t, 2, 0)],
    "with a slice": lambda t, x: x[1:, tensor(t, 2, 0), ::2],
    "with None": lambda t, x: x[None, tensor(t, 1, 0), None],
    "with None between": lambda t, x: x[tensor(t, 1, 0), None, tensor(t, 2, 1)],
    "with ellipsis": lambda t, x: x[..., tensor(t, 3, 3)],
    "int32": lambda t, x: x[tensor(t, 1, 0).to(t.int32)],
    "list": lambda t, x: x[[1, 0]],
    "list inside": lambda t, x: x[:, [0, 2]],
    "range": lambda t, x: x[:, range(2)],
    "array": lambda t, x: x[np.array([1, 1])],
    "array inside": lambda t, x: x[0, np.array([1, 1]), 1:],
    "NumPy number": lambda t, x: x[np.int64(1)],
    "empty list": lambda t, x: x[[]],
    "mask": lambda t, x: x[x > 5],
    "mask of rows": lambda t, x: x[tensor(t, True, False)],
    "mask inside": lambda t, x: x[:, tensor(t, True, False, True)],
    "mask of two dimensions": lambda t, x: x[:, x[0] > 3],
    "mask of the first two": lambda t, x: x[x[..., 0] > 3],
    "mask with an index": lambda t, x: x[tensor(t, 1, 1), tensor(t, True, False, True)],
    "mask and slice": lambda t, x: x[1:, x[0, :, 0] > 1, ::2],
    "mask of a list": lambda t, x: x[[True, False]],
    "mask of none": lambda t, x: x[x > 100],
    "True": lambda t, x: x[True],
    "False": lambda t, x: x[False],
    "True inside": lambda t, x: x[0, True],
    "mask without dimensions": lambda t, x: x[x.sum() > 0],
    "view of a view": lambda t, x: x.transpose(0, 2)[1:, tensor(t, 2, 0)],
}


@pytest.mark.parametrize("name", READS)
def test_reads(name, agree):
    agree(READS[name], X, strides=name in ("NumPy number",))


def written(index, value):
    def f(t, x, v):
        y = x * 1
        y[index(t, y.detach())] = value(t, v)
        return y, y.sum(0)

    return f


def through_view(t, x, v):
    y = x * 2
    y.transpose(0, 2)[1:3][:, tensor(t, 0, 2)] = v[:1]
    return y


def through_window(t, x, v):
    y = x * 2
    z = y[:, 1:, ::2]
    z[1] = v[:2]
    z[0, 0, 1] += 3
    return y, z


def through_mask(t, x, v):
    y = x * 2
    y[1][y[1] > 30] = v[0]
    return y


def added(t, x, v):
    y = x * 2
    y[:, 1] += v
    y[tensor(t, 0)] *= 2
    y[..., 0] = y[..., 1]
    return y


WRITES = {
    "number": written(lambda t, y: 1, lambda t, v: 7),
    "element": written(lambda t, y: (1, 2, 3), lambda t, v: v[0]),
    "slice": written(lambda t, y: (slice(None), slice(1, None), slice(None, None, 2)), lambda t, v: v[:2]),
    "all": written(lambda t, y: ..., lambda t, v: v),
    "None": written(lambda t, y: (0, None), lambda t, v: v),
    "leading ones": written(lambda t, y: (0, 0), lambda t, v: v.reshape(1, 1, 4)),
    "other dtype": written(lambda t, y: 0, lambda t, v: t.arange(4)),
    "index Tensor without dimensions": written(lambda t, y: t.tensor(1), lambda t, v: v),
    "indices": written(lambda t, y: (slice(None), tensor(t, 2, 0)), lambda t, v: v),
    "indices of elements": written(lambda t, y: (tensor(t, 0, 1), tensor(t, 1, 1), tensor(t, 2, 0)), lambda t, v: v[:2]),
    "indices apart": written(lambda t, y: (tensor(t, 0, 1), slice(None), tensor(t, 2, 0)), lambda t, v: v[:3]),
    "index and number": written(lambda t, y: (0, slice(None), tensor(t, 3, 1)), lambda t, v: 1.5),
    "list": written(lambda t, y: [1, 0], lambda t, v: v),
    "mask with a number": written(lambda t, y: y > 5, lambda t, v: -1),
    "mask with 0-dim": written(lambda t, y: y > 5, lambda t, v: v[1]),
    "mask with a row": written(lambda t, y: y[..., 0] > 5, lambda t, v: v),
    "mask with values": written(lambda t, y: y > 19, lambda t, v: v),
    "mask inside": written(lambda t, y: (slice(None), tensor(t, True, False, True)), lambda t, v: v),
    "mask inside with columns": written(lambda t, y: (slice(None), tensor(t, True, False, True)), lambda t, v: v[:2, None]),
    "mask and slice": written(lambda t, y: (0, tensor(t, True, False, True), slice(1, 3)), lambda t, v: v[:2]),
    "mask of a view": written(lambda t, y: (1, y[1] > 15), lambda t, v: v[0]),
    "True": written(lambda t, y: True, lambda t, v: 5.0),
    "False": written(lambda t, y: False, lambda t, v: 5.0),
    "nothing": written(lambda t, y: slice(0, 0), lambda t, v: v),
    "through a view": through_view,
    "through a window": through_window,
    "through a mask": through_mask,
    "added": added,
}


@pytest.mark.parametrize("name", WRITES)
def test_writes(name, agree):
    agree(WRITES[name], X, V)


def assign(index, value):
    def f(t, x):
        x[index(t)] = value(t)
        return x

    return f


ERRORS = {
    "bounds": lambda t, x: x[tensor(t, 5)],
    "bounds second": lambda t, x: x[:, tensor(t, 0, -4)],
    "mask": lambda t, x: x[t.tensor([True, False, True])],
    "mask second": lambda t, x: x[:, t.tensor([True, False])],
    "mask of two": lambda t, x: x[t.ones(2, 4) > 0],
    "float index": lambda t, x: x[t.tensor([0.5])],
    "too many": lambda t, x: x[tensor(t, 0), tensor(t, 0), tensor(t, 0), tensor(t, 0)],
    "broadcast": lambda t, x: x[tensor(t, 0, 1), tensor(t, 0, 1, 2)],
    "write bounds": assign(lambda t: tensor(t, 5), lambda t: 1.0),
    "write window": assign(lambda t: 0, lambda t: t.ones(3, dtype=t.float64)),
    "write window with more": assign(lambda t: (0, 0), lambda t: t.ones(2, 4, dtype=t.float64)),
    "write values": assign(lambda t: tensor(t, 0, 1), lambda t: t.ones(3, dtype=t.float64)),
    "write dtype": assign(lambda t: tensor(t, 0, 1), lambda t: t.ones(4)),
    "write an array": assign(lambda t: 0, lambda t: np.ones(4)),
    "write a list": assign(lambda t: 0, lambda t: [1, 2]),
    "write complex": assign(lambda t: 0, lambda t: 1j),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name, refuse):
    refuse(ERRORS[name], X, words=name not in ("bounds second", "write window with more", "write an array", "write complex"))


def test_a_list_with_slices_is_a_tuple():
    x = np.arange(12).reshape(3, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = torch.tensor(x)[[slice(0, 2), 1]].tolist()
    with pytest.warns(UserWarning, match="non-tuple sequence"):
        assert funtorch.tensor(x)[[slice(0, 2), 1]].tolist() == expected


def test_one_program_serves_every_number():
    from funtorch.ops.windows import ONE, window_op

    x = funtorch.zeros(7, 3)
    x[0]
    op = window_op((ONE, "whole"))
    rows = [x[i] for i in range(7)] + [x[-1]]
    assert all(r.shape == (3,) for r in rows)
    assert window_op((ONE, "whole")) is op


def test_under_vmap():
    table = funtorch.arange(12).reshape(3, 4)
    rows = funtorch.tensor([2, 0])
    assert funtorch.vmap(lambda i: table[i])(rows).tolist() == [table[2].tolist(), table[0].tolist()]
    assert funtorch.vmap(lambda i, j: table[i, j])(rows, rows).tolist() == [10, 0]
    assert funtorch.vmap(lambda r, i: r[i])(table, funtorch.tensor([-1, 0, 1])).tolist() == [3, 4, 9]
    picked = funtorch.vmap(lambda r: r[funtorch.tensor([0, 0, 3])])(table)
    assert picked.tolist() == [[0, 0, 3], [4, 4, 7], [8, 8, 11]]

    def masked(r):
        r = r.clone()
        r[r > 5] = -1
        r[0] = 100
        return r

    assert funtorch.vmap(masked)(table).tolist() == [[100, 1, 2, 3], [100, 5, -1, -1], [100, -1, -1, -1]]
    with pytest.raises(RuntimeError, match="nonzero_static"):
        funtorch.vmap(lambda r: r[r > 5])(table)


def test_writing_a_leaf_that_requires_grad():
    x = funtorch.zeros(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        x[0] = 1
    with funtorch.no_grad():
        x[0] = 1
    assert x.tolist() == [1, 0, 0] and x.is_leaf


def test_values_named_twice_accumulate():
    x = funtorch.zeros(3, requires_grad=True)
    y = x[funtorch.tensor([1, 1, 2])]
    (y * funtorch.tensor([1.0, 2.0, 4.0])).sum().backward()
    assert x.grad.tolist() == [0, 3, 4]
    z = funtorch.zeros(2).index_put((funtorch.tensor([1, 1]),), funtorch.tensor([1.0, 2.0]), accumulate=True)
    assert z.tolist() == [0, 3]


def test_a_write_copies_what_somebody_else_holds():
    x = funtorch.zeros(4)
    x[0] = 1
    held = x._payload
    before = held.copy()
    x[1] = 2
    assert (held == before).all() and x.tolist() == [1, 2, 0, 0]
    del held
    row, shared = x[1:3], x.detach()
    x[1] = 5
    assert row.tolist() == [5, 0] and shared.tolist() == [1, 5, 0, 0] and x._version == 3
    y = funtorch.ones(4, requires_grad=True)
    z = (y * x).sum()
    x[0] = 100
    z.backward()
    assert y.grad.tolist() == [1, 5, 0, 0]
    array = x.numpy()
    x[funtorch.tensor([0, 2])] = 7
    assert array.tolist() == x.tolist() == [7, 5, 7, 0] and y.grad.tolist() == [1, 5, 0, 0]


def test_a_write_copies_nothing_where_nobody_else_holds_the_array():
    x = funtorch.zeros(1000)
    with funtorch.set_engine("auto"):  # kernels alone do copy
        x[0] = 1
        place = x._payload.ctypes.data
        for i in range(5):
            x[i] = i
            x[[i + 10, i + 20]] = 3.0
        assert x._payload.ctypes.data == place
    x[1:] = x[:-1]
    assert x[:6].tolist() == [0, 0, 1, 2, 3, 4]
    index = funtorch.tensor([1, 2, 0])
    index[index] = index
    assert index.tolist() == [0, 1, 2]


def test_a_refused_write_changes_nothing():
    x = funtorch.zeros(3)
    for index, value in ((5, 1.0), (funtorch.tensor([0, 7]), 1.0), (slice(None), funtorch.ones(2)), ([0, 1], funtorch.ones(3))):
        with pytest.raises((RuntimeError, IndexError)):
            x[index] = value
    assert x.tolist() == [0, 0, 0] and x._version == 0
