"""Matrix products and convolutions, with all that their parameters allow."""

from __future__ import annotations

from functools import partial

import numpy as np
from hypothesis import strategies as st
from jax import lax

from .drawing import BF16, COMPLEX, FLOATS, INTS, Case, seeds, tame

# What narrow operands may be summed into: (operands, result).
WIDER = [(BF16, "f4"), ("f2", "f4"), ("i1", "i4"), ("u1", "i4"), ("f4", "f8"), ("i4", "i8"), (BF16, "f8"), ("i1", "f4")]


@st.composite
def products(draw) -> Case:
    """Axes by letters: any that both sides have are summed over or batched."""
    pairs = [(dtype, None) for dtype in FLOATS + COMPLEX + INTS] + WIDER
    (dtype, wider), seed = draw(st.sampled_from(pairs)), draw(seeds)
    names = "abcdef"
    left, right = (draw(st.lists(st.sampled_from(names), max_size=4, unique=True)) for _ in range(2))
    both = [n for n in left if n in right]
    batch = draw(st.sets(st.sampled_from(both)).map(sorted)) if both else []
    summed = [n for n in both if n not in batch]
    sizes = {n: draw(st.integers(0 if n == "f" else 1, 5)) for n in names}
    x, y = (tame(seed + i, [sizes[n] for n in side], dtype) for i, side in enumerate((left, right)))
    numbers = tuple(tuple([side.index(n) for n in group] for side in (left, right)) for group in (summed, batch))
    product = partial(lax.dot_general, dimension_numbers=numbers, preferred_element_type=wider and np.dtype(wider))
    return Case(product, (x, y), 2, 16.0 * max(1, x.size))


@st.composite
def convolutions(draw) -> Case:
    """0 to 3 axes of space; every permutation of axes; strides, dilations of both sides, negative padding, groups of both kinds."""
    rank, seed = draw(st.integers(0, 3)), draw(seeds)
    groups, by = draw(st.integers(1, 3)), draw(st.sampled_from(["batch", "feature"]))
    dtype, wider = draw(st.sampled_from([(d, None) for d in FLOATS + COMPLEX + INTS[:1]] + [(BF16, "f4")]))
    per = st.lists(st.integers(1, 3), min_size=rank, max_size=rank)
    strides, lhs_dilation, rhs_dilation, window = (draw(per) for _ in range(4))
    padding = [(draw(st.integers(-1, 3)), draw(st.integers(-1, 3))) for _ in range(rank)]
    space = [draw(st.integers(7, 9)) if rank < 3 else 7 for _ in range(rank)]
    n, c, o = (draw(st.integers(1, 3)) for _ in range(3))
    lhs = (n * (groups if by == "batch" else 1), c * (groups if by == "feature" else 1), *space)
    orders = [draw(st.permutations(range(rank + 2))) for _ in range(3)]
    x = tame(seed, lhs, dtype).transpose(np.argsort(orders[0]))
    w = tame(seed + 1, (o * groups, c, *window), dtype).transpose(np.argsort(orders[1]))
    fn = partial(
        lax.conv_general_dilated,
        window_strides=strides,
        padding=padding,
        lhs_dilation=lhs_dilation,
        rhs_dilation=rhs_dilation,
        dimension_numbers=lax.ConvDimensionNumbers(*(tuple(order) for order in orders)),
        feature_group_count=groups if by == "feature" else 1,
        batch_group_count=groups if by == "batch" else 1,
        preferred_element_type=wider and np.dtype(wider),
    )
    return Case(fn, (x, w), 2, 16.0 * c * float(np.prod(window)))


CASES = {"dot_general": products(), "conv_general_dilated": convolutions()}
