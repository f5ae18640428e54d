"""What an op says of values that don't fit, it says under vmap and jvp too, of any lane."""

import pytest

import funtorch
from funtorch.func import grad, jvp, vmap
from funtorch.nn import functional as F

ROW = funtorch.tensor([0.5, 1.0, 2.0])
LANES = funtorch.tensor([0.5, 0.7, 0.2])
COUNTS = funtorch.tensor([4, 4])


def integers(*values):
    return funtorch.tensor(values)


# A function of one Tensor, a value that fits, and one that doesn't.
CASES = {
    "index": (lambda i: ROW[i], integers(0, 1), integers(0, 3)),
    "negative index": (lambda i: ROW[i, None], integers(0, -3), integers(0, -4)),
    "index_put": (lambda i: ROW.index_put((i,), funtorch.ones(2)), integers(0, 1), integers(0, 3)),
    "gather": (lambda i: ROW.gather(0, i), integers(0, 1), integers(0, 3)),
    "index_select": (lambda i: ROW.index_select(0, i), integers(0, 1), integers(0, 3)),
    "take": (lambda i: ROW.take(i), integers(0, 1), integers(0, 3)),
    "scatter": (lambda i: ROW.scatter(0, i, 2.0), integers(0, 1), integers(0, 3)),
    "index_add": (lambda i: ROW.index_add(0, i, funtorch.ones(2)), integers(0, 1), integers(0, 3)),
    "put": (lambda i: ROW.put(i, funtorch.ones(2)), integers(0, 1), integers(0, 3)),
    "embedding": (lambda i: F.embedding(i, ROW[:, None]), integers(0, 1), integers(0, 3)),
    "embedding_bag": (lambda i: F.embedding_bag(i, ROW[:, None], integers(0)), integers(0, 1), integers(0, 3)),
    "one_hot": (lambda i: F.one_hot(i, 3), integers(0, 1), integers(0, 3)),
    "cross_entropy": (lambda t: F.cross_entropy(ROW.expand(2, 3), t), integers(0, -100), integers(0, 3)),
    "nll_loss": (lambda t: F.nll_loss(ROW.expand(2, 3), t), integers(0, 1), integers(0, -1)),
    "multi_margin_loss": (lambda t: F.multi_margin_loss(ROW.expand(2, 3), t), integers(0, 1), integers(0, 3)),
    "multilabel_margin_loss": (lambda t: F.multilabel_margin_loss(ROW, t), integers(0, -1, -1), integers(0, 3, -1)),
    "max_unpool1d": (lambda i: F.max_unpool1d(ROW[None, None], i[None, None], 2), integers(0, 1, 2), integers(0, 1, 6)),
    "floor_divide": (lambda d: integers(4, 5) // d, integers(1, 2), integers(1, 0)),
    "ctc_loss": (
        lambda n: F.ctc_loss(funtorch.zeros(4, 2, 3), funtorch.ones(2, 2, dtype=funtorch.int64), COUNTS, n), integers(1, 2),
        integers(1, 3),
    ),
    "binary_cross_entropy": (lambda x: F.binary_cross_entropy(x, LANES), LANES, LANES + 0.5),
    "its target": (lambda x: F.binary_cross_entropy(LANES, x), LANES, LANES - 0.5),
    "gaussian_nll_loss": (lambda v: F.gaussian_nll_loss(ROW, ROW, v), LANES, -LANES),
    "normal": (lambda s: funtorch.normal(0.0, s), LANES, -LANES),
    "quantile": (lambda q: ROW.quantile(q), LANES, LANES + 0.5),
    "cholesky": (lambda a: funtorch.linalg.cholesky(a), funtorch.eye(2), -funtorch.eye(2)),
    "inv": (lambda a: funtorch.linalg.inv(a), funtorch.eye(2), funtorch.zeros(2, 2)),
    "solve": (lambda a: funtorch.linalg.solve(a, funtorch.ones(2)), funtorch.eye(2), funtorch.zeros(2, 2)),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_checked_under_transforms(name):
    f, good, bad = CASES[name]
    with pytest.raises(Exception) as plain:  # noqa: PT011  (which one, the transforms are compared with)
        f(bad)
    ways = [
        lambda x: vmap(f, randomness="different")(funtorch.stack([good, x, good])),
        lambda x: vmap(f, in_dims=-1, randomness="different")(funtorch.stack([good, x], -1)),
        lambda x: vmap(vmap(f, randomness="different"), randomness="different")(funtorch.stack([good, x])[None]),
        lambda x: vmap(grad(lambda w, x: f(x).sum() * w), (None, 0), randomness="different")(ROW[0], funtorch.stack([good, x])),
    ]
    if bad.is_floating_point():
        ways.append(lambda x: jvp(f, (x,), (funtorch.ones_like(x),)))
    for way in ways:
        way(good)
        with pytest.raises(plain.type):
            way(bad)
