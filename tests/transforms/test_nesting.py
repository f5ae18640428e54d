"""Every ordered pair of transforms, and a sample of triples, over functions of several kinds."""

import itertools
import random

import pytest
from composing import FUNCTIONS, OURS, agree

TRIPLES = random.Random(7).sample(list(itertools.product(OURS, repeat=3)), 56)


@pytest.mark.parametrize("outer", OURS)
@pytest.mark.parametrize("inner", OURS)
def test_pair(outer, inner):
    for function in FUNCTIONS:
        agree(function, outer, inner)


@pytest.mark.parametrize(("number", "names"), enumerate(TRIPLES), ids=["-".join(t) for t in TRIPLES])
def test_triple(number, names):
    agree(list(FUNCTIONS)[number % len(FUNCTIONS)], *names)
