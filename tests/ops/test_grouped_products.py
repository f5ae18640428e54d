"""`grouped_mm`: against PyTorch, and a product for each group by itself."""

import numpy as np
import pytest

import funtorch as torch

RNG = np.random.default_rng(2)
# Sizes of the two sides, and where the groups end.
FORMS = [
    ((2, 3, 16), (2, 16, 8), None), ((6, 16), (3, 16, 8), (2, 2, 6)), ((2, 4, 16), (16, 8), (3, 8)), ((4, 16), (16, 8), (8, 16)),
]  # fmt: skip


def ends(t, places):
    return None if places is None else t.tensor(places, dtype=t.int32)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize(("a", "b", "places"), FORMS)
def test_products_agree(a, b, places, dtype, agree):
    def product(t, x, y):
        # Small integers, whose products are exact in any order.
        x, y = (z.round().to(getattr(t, dtype)) for z in (x, y))
        return t.nn.functional.grouped_mm(x, y, offs=ends(t, places)).float()

    agree(product, 2 * RNG.standard_normal(a), 2 * RNG.standard_normal(b), grad=False)


@pytest.mark.parametrize(("a", "b", "places"), FORMS)
def test_gradients_of_all_orders_and_vmap(a, b, places):
    x, y = (torch.tensor(RNG.standard_normal(size), dtype=torch.float32) for size in (a, b))

    def each(x, y):
        parts, start = [], 0
        for g, end in enumerate(places or range(a[0])):
            rows = slice(start, end)
            left = x[g] if x.dim() == 3 else x[rows] if y.dim() == 3 else x[:, rows]
            right = y[g] if y.dim() == 3 else y[:, rows] if x.dim() == 3 else y[rows]
            parts.append(left @ right)
            start = end
        stacked = x.dim() == y.dim()
        return torch.stack(parts) if stacked else torch.cat(parts, 0 if x.dim() == 2 else 1)

    def grouped(x, y):
        return torch.nn.functional.grouped_mm(x, y, offs=ends(torch, places))

    def slopes(f):
        return torch.func.jacrev(f, (0, 1))(x, y)

    def curvature(f):
        return torch.func.hessian(lambda x: (f(x, y) ** 2).sum())(x)

    assert torch.allclose(grouped(x, y), each(x, y), atol=1e-4)
    for found, expected in zip(slopes(grouped), slopes(each), strict=True):
        assert torch.allclose(found, expected, atol=1e-4)
    assert torch.allclose(curvature(grouped), curvature(each), atol=1e-3)
    both = torch.stack([x, 2 * x])
    assert torch.allclose(torch.func.vmap(lambda x: grouped(x, y))(both), torch.stack([each(z, y) for z in both]), atol=1e-4)


REFUSED = [
    lambda t, f: f(t.ones(6, 16), t.ones(2, 16, 8)),
    lambda t, f: f(t.ones(2, 3, 16), t.ones(2, 16, 8), offs=ends(t, (1, 2))),
    lambda t, f: f(t.ones(2, 3, 16), t.ones(3, 16, 8)),
    lambda t, f: f(t.ones(2, 3, 16), t.ones(2, 12, 8)),
    lambda t, f: f(t.ones(2, 3, 16).double(), t.ones(2, 16, 8).double()),
    lambda t, f: f(t.ones(2, 3, 16), t.ones(2, 16, 8), out_dtype=t.bfloat16),
    lambda t, f: f(t.ones(2, 3, 16), t.ones(2, 16, 8), bias=t.ones(2, 8)),
    lambda t, f: f(t.ones(16), t.ones(16, 8)),
    lambda t, f: f(t.ones(6, 16), t.ones(2, 16, 8), offs=t.tensor([2, 6])),
    lambda t, f: f(t.ones(6, 16), t.ones(2, 16, 8), offs=ends(t, (2, 4, 6))),
]


@pytest.mark.parametrize("wrong", REFUSED)
def test_wrong_arguments_raise_as_in_torch(wrong, refuse):
    refuse(lambda t: wrong(t, t.nn.functional.grouped_mm))
