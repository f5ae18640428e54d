"""Padded and packed sequences beside PyTorch's: values, gradients, transforms, errors."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import funtorch

LIBS = (torch, funtorch)
ours = funtorch.nn.utils.rnn
LENGTHS = {"sorted": [4, 3, 1], "mixed": [1, 4, 2], "equal": [3, 3], "one": [2]}


def plain(value):
    if isinstance(value, (torch.Tensor, funtorch.Tensor)):
        return str(value.dtype), tuple(value.shape), value.tolist()
    return [plain(v) for v in value] if isinstance(value, (list, tuple)) else value


def sequences(lib, lengths, tail=(2,), dtype="float64"):
    rng = np.random.default_rng(0)
    return [lib.tensor(rng.standard_normal((n, *tail)).astype(dtype)) for n in lengths]


def both(fn):
    wanted, got = (plain(fn(lib, lib.nn.utils.rnn)) for lib in LIBS)
    assert got == wanted
    return got


@pytest.mark.parametrize("name", LENGTHS)
@pytest.mark.parametrize("batch_first", [False, True])
def test_there_and_back(name, batch_first):
    lengths = LENGTHS[name]

    def run(lib, rnn):
        padded = rnn.pad_sequence(sequences(lib, lengths), batch_first)
        packed = rnn.pack_padded_sequence(padded, lengths, batch_first, enforce_sorted=name not in ("mixed",))
        back, found = rnn.pad_packed_sequence(packed, batch_first, padding_value=-1.0, total_length=6)
        return (
            padded,
            packed,
            back,
            found,
            rnn.unpad_sequence(padded.clone(), lib.tensor(lengths), batch_first),
            rnn.unpack_sequence(packed),
        )

    both(run)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("tail", [(), (2, 3)])
def test_padding(side, tail):
    both(lambda lib, rnn: rnn.pad_sequence(sequences(lib, [1, 3, 2], tail), True, 7.0, side))
    both(lambda lib, rnn: rnn.pad_sequence([lib.tensor([1, 2]), lib.tensor([3])], padding_side=side))
    both(lambda lib, rnn: rnn.pad_sequence([lib.zeros(2), lib.ones(3, dtype=lib.float64)], padding_side=side))
    both(lambda lib, rnn: rnn.pad_sequence(lib.ones(2, 3), padding_side=side))
    both(lambda lib, rnn: rnn.pad_sequence([lib.ones(0, 2), lib.ones(2, 2)], padding_side=side))


def test_packing():
    both(lambda lib, rnn: rnn.pack_sequence(sequences(lib, [3, 2, 2])))
    both(lambda lib, rnn: rnn.pack_sequence(sequences(lib, [2, 3, 2], ()), enforce_sorted=False))
    both(lambda lib, rnn: rnn.pack_padded_sequence(lib.ones(3, 2), lib.tensor([3, 1])))
    both(lambda lib, rnn: rnn.pack_padded_sequence(lib.ones(2, 5, 1), [2, 2], batch_first=True))
    both(lambda lib, rnn: rnn.invert_permutation(lib.tensor([2, 0, 1])))


def test_gradients_reach_what_is_not_padding():
    grads = []
    for lib in LIBS:
        rnn = lib.nn.utils.rnn
        x = lib.tensor(np.random.default_rng(1).standard_normal((4, 3, 2)), requires_grad=True)
        packed = rnn.pack_padded_sequence(x, [2, 4, 1], enforce_sorted=False)
        back, _ = rnn.pad_packed_sequence(rnn.PackedSequence(packed.data**2, *packed[1:]))
        rows = [row.detach().requires_grad_() for row in rnn.unpad_sequence(x.detach().clone(), lib.tensor([2, 4, 1]))]
        loss = (back**2).sum() + (rnn.pad_sequence(rows) ** 3).sum()
        loss.backward()
        grads.append([x.grad.tolist(), *(row.grad.tolist() for row in rows)])
    mine, theirs = (np.concatenate([np.ravel(g) for g in each]) for each in (grads[1], grads[0]))
    np.testing.assert_allclose(mine, theirs, rtol=1e-12)
    assert (mine[: 4 * 3 * 2] == 0).sum() == 5 * 2  # what was padding


def test_inside_transforms():
    x = funtorch.tensor(np.random.default_rng(2).standard_normal((4, 3)))

    def loss(x):
        data = ours.pack_padded_sequence(x, [4, 2, 1]).data
        return (data**3).sum()

    expected = funtorch.zeros_like(x)
    for lane, n in enumerate([4, 2, 1]):
        expected[:n, lane] = 3 * x[:n, lane] ** 2
    np.testing.assert_allclose(funtorch.func.grad(loss)(x).numpy(), expected.numpy())
    batch = funtorch.stack([x, 2 * x])
    np.testing.assert_allclose(funtorch.vmap(loss)(batch).numpy(), [loss(x).item(), 8 * loss(x).item()])


def test_moving_and_converting():
    packed = ours.pack_sequence([funtorch.ones(2), funtorch.ones(1)], enforce_sorted=False)
    assert packed.to("cpu") is packed is packed.cpu() is packed.pin_memory()
    assert not packed.is_cuda and not packed.is_pinned()
    for name, dtype in (
        ("double", "float64"),
        ("half", "float16"),
        ("long", "int64"),
        ("int", "int32"),
        ("short", "int16"),
        ("char", "int8"),
        ("byte", "uint8"),
    ):
        moved = getattr(packed, name)()
        assert type(moved) is ours.PackedSequence
        assert moved.data.dtype is getattr(funtorch, dtype)
        assert moved.batch_sizes.dtype is funtorch.int64
    assert packed.float() is packed
    assert packed.to(funtorch.float64).data.dtype is funtorch.float64
    assert packed._fields == ("data", "batch_sizes", "sorted_indices", "unsorted_indices")
    if not funtorch.cuda.is_available():
        with pytest.raises(RuntimeError, match="cuda"):
            packed.cuda()


def test_made_by_hand():
    data, sizes = funtorch.ones(3), funtorch.tensor([2, 1])
    assert ours.PackedSequence((data, sizes)).batch_sizes is sizes
    assert ours.PackedSequence(data, sizes).unsorted_indices is None
    assert ours.PackedSequence(data, sizes, funtorch.tensor([1, 0])).unsorted_indices.tolist() == [1, 0]


REFUSED = {
    "not sorted": (lambda lib, rnn: rnn.pack_padded_sequence(lib.ones(3, 2), [2, 3]), "decreasing order"),
    "not sorted sequences": (lambda lib, rnn: rnn.pack_sequence([lib.ones(1), lib.ones(2)]), "decreasing order"),
    "too few lengths": (lambda lib, rnn: rnn.pack_padded_sequence(lib.ones(3, 2), [2]), r"got 1 \(batch_size=2\)"),
    "zero length": (lambda lib, rnn: rnn.pack_padded_sequence(lib.ones(3, 2), [2, 0]), "<= 0"),
    "matrix of lengths": (lambda lib, rnn: rnn.pack_padded_sequence(lib.ones(3, 2), lib.ones(1, 2, dtype=lib.int64)), "got 2D"),
    "one dimension": (lambda lib, rnn: rnn.pack_padded_sequence(lib.ones(3), [3]), "at least 2 dimensions"),
    "too short": (lambda lib, rnn: rnn.pad_packed_sequence(rnn.pack_sequence([lib.ones(3)]), total_length=2), "total_length=2"),
    "no sequences": (lambda lib, rnn: rnn.pad_sequence([]), "empty list"),
    "no list": (lambda lib, rnn: rnn.pad_sequence(3), "Expected iterable"),
    "another side": (lambda lib, rnn: rnn.pad_sequence([lib.ones(1)], padding_side="top"), "'top'"),
    "other sizes": (lambda lib, rnn: rnn.pad_sequence([lib.ones(1, 2), lib.ones(1, 3)]), r"\[1, 2\], \[1, 3\]"),
    "numbers": (lambda lib, rnn: rnn.pad_sequence([lib.tensor(1.0)]), "0-dim"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_errors(name):
    fn, text = REFUSED[name]
    with pytest.raises(Exception) as theirs:  # noqa: B017
        fn(torch, torch.nn.utils.rnn)
    with pytest.raises(theirs.type, match=text):
        fn(funtorch, ours)


def test_lengths_beyond_the_input_which_pytorch_lets_pass():
    with pytest.raises(RuntimeError, match="at most 3.* got 4"):
        ours.pack_padded_sequence(funtorch.ones(3, 2), [4, 2])


def test_taking_padding_off_leaves_the_input_alone():  # PyTorch's turns it round in place
    x = funtorch.ones(3, 2)
    ours.unpad_sequence(x, [3, 1])
    assert x.shape == (3, 2)


def test_what_is_no_list():
    with pytest.raises(TypeError, match="got Tensor"):
        ours.pack_sequence(funtorch.ones(2, 2))
