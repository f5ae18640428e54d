"""Every ordered pair of transforms, over functions of several kinds."""

import pytest
from composing import FUNCTIONS, OURS, agree


@pytest.mark.parametrize("outer", OURS)
@pytest.mark.parametrize("inner", OURS)
def test_pair(outer, inner):
    for function in FUNCTIONS:
        agree(function, outer, inner)
