"""Rows of tables, bags of them, one-hot vectors: against PyTorch."""

import numpy as np
import pytest

import funtorch as torch

RNG = np.random.default_rng(3)
TABLE, INDEX = RNG.standard_normal((5, 3)), np.array([[0, 1, 1], [4, 1, 2]])
OFFSETS, FLAT = np.array([0, 2, 2]), np.array([0, 1, 1, 4])

LOOKUPS = [{}, {"padding_idx": 1}, {"padding_idx": -1}, {"scale_grad_by_freq": True}, {"sparse": False}]
BAGS = [{"mode": mode, **options} for mode in ("sum", "mean", "max") for options in ({}, {"padding_idx": 1})]


@pytest.mark.parametrize("options", LOOKUPS)
def test_lookups_agree(options, agree):
    agree(lambda t, i, w: t.nn.functional.embedding(i, w, **options), INDEX, TABLE)


@pytest.mark.parametrize("options", BAGS)
def test_bags_agree(options, agree):
    agree(lambda t, i, w: t.nn.functional.embedding_bag(i, w, **options), INDEX, TABLE)
    agree(lambda t, i, w, o: t.nn.functional.embedding_bag(i, w, o, **options), FLAT, TABLE, OFFSETS)


def test_frequent_rows_of_bags_get_smaller_gradients():
    table = torch.ones(5, 3, requires_grad=True)
    torch.nn.functional.embedding_bag(torch.tensor(INDEX), table, mode="sum", scale_grad_by_freq=True).sum().backward()
    assert table.grad[:, 0].tolist() == pytest.approx([1, 1, 1, 0, 1])


def test_weighted_bags_and_last_offsets_agree(agree):
    agree(
        lambda t, i, w, o, f: t.nn.functional.embedding_bag(
            i, w, o, mode="sum", per_sample_weights=f, include_last_offset=True
        ),
        FLAT, TABLE, np.array([0, 2, 4]), RNG.standard_normal(4),
    )  # fmt: skip


def test_rows_in_use_are_scaled_down_in_place(agree):
    def run(t, i, w):
        table = w.detach().clone()
        return t.nn.functional.embedding(i, table, max_norm=0.5), table

    agree(run, np.array([0, 2]), TABLE)


def test_scaling_down_keeps_a_leaf_a_leaf():
    table = torch.nn.Parameter(torch.ones(3, 4))
    torch.nn.functional.embedding(torch.tensor([1]), table, max_norm=1.0).sum().backward()
    assert table.is_leaf and table.grad[1].tolist() == [1.0] * 4
    assert table.norm(dim=1).tolist() == pytest.approx([2, 1, 2], abs=1e-5)


@pytest.mark.parametrize("lookup", ["embedding", "embedding_bag"])
def test_derivatives_of_a_table_that_is_scaled_down(lookup):
    def f(table):
        return (getattr(torch.nn.functional, lookup)(index, table, max_norm=0.5) ** 2).sum()

    index, table, dot = torch.tensor([[0, 2]]), torch.tensor(TABLE), torch.tensor(TABLE[::-1].copy())
    slope = torch.func.grad(f)(table.clone())
    assert torch.allclose(torch.func.jvp(f, (table.clone(),), (dot,))[1], (slope * dot).sum())
    lanes = torch.vmap(lambda w: torch.func.jvp(f, (w,), (dot,))[1])(torch.stack([table, table]))
    assert torch.allclose(lanes, (slope * dot).sum().expand(2))
    forward, reverse = (torch.func.jacfwd, torch.func.jacrev)
    assert torch.allclose(forward(reverse(f))(table.clone()), reverse(reverse(f))(table.clone()))


def test_indices_out_of_range_give_nan_where_they_cannot_raise():
    rows = torch.transforms.jit(torch.nn.functional.embedding)(torch.tensor([0, -1, 5]), torch.ones(5, 2))
    assert rows.isnan().all(1).tolist() == [False, True, True]


def test_one_hot_agrees(agree):
    agree(lambda t, i: (t.nn.functional.one_hot(i), t.nn.functional.one_hot(i, 7)), INDEX)


REFUSED = [
    lambda t: t.nn.functional.embedding(t.tensor([5]), t.zeros(5, 3)),
    lambda t: t.nn.functional.embedding(t.tensor([-1]), t.zeros(5, 3)),
    lambda t: t.nn.functional.embedding(t.zeros(3), t.zeros(5, 3)),
    lambda t: t.nn.functional.embedding(t.tensor([0]), t.zeros(5)),
    lambda t: t.nn.functional.embedding(t.tensor([0]), t.zeros(5, 2), padding_idx=5),
    lambda t: t.nn.functional.embedding_bag(t.tensor([0]), t.zeros(5, 2)),
    lambda t: t.nn.functional.embedding_bag(t.tensor([0]), t.zeros(5, 2), t.tensor([1])),
    lambda t: t.nn.functional.embedding_bag(t.tensor([[0]]), t.zeros(5, 2), mode="all"),
    lambda t: t.nn.functional.embedding_bag(t.tensor([9]), t.zeros(5, 2), t.tensor([0])),
    lambda t: t.nn.functional.one_hot(t.tensor([3]), 3),
    lambda t: t.nn.functional.one_hot(t.tensor([-1])),
    lambda t: t.nn.functional.one_hot(t.tensor([0]), -5),
    lambda t: t.nn.functional.one_hot(t.zeros(2)),
]


@pytest.mark.parametrize("wrong", REFUSED)
def test_wrong_arguments_raise_as_in_torch(wrong, refuse):
    refuse(wrong)


def before_lookup(t, table, i):
    return (table @ t.ones(2, 1, dtype=t.float64, requires_grad=True)).sum() + t.nn.functional.embedding(
        i, table, max_norm=1.0
    ).sum()


def viewed_before_lookup(t, table, i):
    return (table.t() * table.t()).sum() + t.nn.functional.embedding(i, table, max_norm=1.0).sum()


def before_bag(t, table, i):
    return table.square().sum() + t.nn.functional.embedding_bag(i[None], table, max_norm=1.0).sum()


def unread(t, table, i):
    return (2 * table).sum() + t.nn.functional.embedding(i, table, max_norm=1.0).sum()


def cloned(t, table, i):
    return table.clone().square().sum() + t.nn.functional.embedding(i, table, max_norm=1.0).sum()


def after_lookup(t, table, i):
    return t.nn.functional.embedding(i, table, max_norm=1.0).sum() + table.square().sum()


def two_lookups(t, table, i):
    first, second = (t.nn.functional.embedding(j, table, max_norm=1.0) for j in (i, i.flip(0)[:1]))
    return (first * second).sum()


def two_bags(t, table, i):
    return sum(t.nn.functional.embedding_bag(j[None], table, max_norm=1.0, mode="sum").square().sum() for j in (i, i[:1]))


def norms_that_fit(t, table, i):
    with t.no_grad():
        table.mul_(1e-3)
    return before_lookup(t, table, i)


@pytest.mark.parametrize(
    "program",
    [before_lookup, viewed_before_lookup, before_bag, unread, cloned, after_lookup, two_lookups, two_bags, norms_that_fit],
)
def test_a_table_read_before_it_is_rescaled(program):
    def result(t):
        table = t.tensor([[3.0, 4.0], [0.3, 0.4], [6.0, 8.0]], dtype=t.float64, requires_grad=True)
        loss = program(t, table, t.tensor([0, 2]))
        try:
            loss.backward()
        except RuntimeError as error:
            return "modified by an inplace operation" in str(error)
        return table.grad.tolist()

    ours, theirs = result(torch), result(pytest.importorskip("torch"))
    assert (ours is True) == (theirs is True)
    if ours is not True:
        np.testing.assert_allclose(ours, theirs, rtol=1e-6)


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("offsets", [[0, 2], [0, 1, 3], [0, 2, 4], [0, 0, 3]])
def test_the_last_bag_ends_at_the_last_offset(mode, offsets):
    # PyTorch counts rows beyond it in means and maxima.
    table, rows = torch.tensor(TABLE), FLAT
    bags = torch.nn.functional.embedding_bag(
        torch.tensor(rows), table, torch.tensor(offsets), mode=mode, include_last_offset=True
    )
    for bag, start, end in zip(bags, offsets, offsets[1:], strict=False):
        held = TABLE[rows[start:end]]
        expected = getattr(held, mode)(0) if end > start else np.zeros(3)
        np.testing.assert_allclose(bag.numpy(), expected)


def test_offsets_are_integers():
    with pytest.raises(RuntimeError, match="expected offsets of int64 or int32, but got torch.float32"):
        torch.nn.functional.embedding_bag(torch.tensor(FLAT), torch.tensor(TABLE), torch.tensor([0.0]))


@pytest.mark.parametrize("padding", [(), (1,), (-1,)])
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("mode", [0, 1, 2])
def test_bags_with_their_places(mode, last, padding, agree):
    offsets = np.array([0, 2, 2, 4] if last else [0, 2, 2])

    def bags(t, w, i, o):
        z, bag, sizes, largest = t.embedding_bag(w, i, o, False, mode, False, None, last, *padding)
        return z, bag, sizes if mode or not last else z, largest if mode or not last else z

    agree(bags, TABLE, FLAT, offsets)
    agree(bags, TABLE.astype(np.float32), FLAT, offsets)


def test_bags_with_factors_and_errors(agree):
    agree(
        lambda t, w, i, o, f: t.embedding_bag(w, i, o, per_sample_weights=f)[0],
        TABLE.astype(np.float32), FLAT, OFFSETS, np.arange(4, dtype=np.float32),
    )  # fmt: skip
    table, index, offsets = torch.tensor(TABLE), torch.tensor(FLAT), torch.tensor(OFFSETS)
    with pytest.raises(RuntimeError, match="`mode` must be sum, mean, or max"):
        torch.embedding_bag(table, index, offsets, mode=3)
    with pytest.raises(RuntimeError, match="per_sample_weights only supported with mode='sum'"):
        torch.embedding_bag(table, index, offsets, mode=1, per_sample_weights=torch.ones(4))


def test_renorm_in_place(agree):
    agree(lambda t, w, i: t.embedding_renorm_(w.clone(), i, 0.5, 1.0), TABLE, INDEX, grad=False)
    table = torch.tensor(TABLE)
    assert torch.embedding_renorm_(table, torch.tensor([0]), 1.0, 2.0) is table
    with pytest.raises(RuntimeError, match="Long, Int; but got torch.FloatTensor"):
        torch.embedding_renorm_(table, torch.ones(1), 1.0, 2.0)
