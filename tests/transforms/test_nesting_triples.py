"""A sample of ordered triples of transforms, each over one of the functions."""

import itertools
import random

import pytest
from composing import FUNCTIONS, OURS, agree

TRIPLES = random.Random(7).sample(list(itertools.product(OURS, repeat=3)), 56)


@pytest.mark.parametrize(("number", "names"), list(enumerate(TRIPLES)), ids=["-".join(t) for t in TRIPLES])
def test_triple(number, names):
    agree(list(FUNCTIONS)[number % len(FUNCTIONS)], *names)
