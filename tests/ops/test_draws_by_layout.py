"""Random numbers for Tensors that are permuted views come in the order of memory, as PyTorch draws them."""

import numpy as np
import pytest
import torch

import funtorch

DRAWN_AS_LAID_OUT = {
    "dropout": lambda t, x: t.nn.functional.dropout(x, 0.3),
    "alpha_dropout": lambda t, x: t.nn.functional.alpha_dropout(x, 0.3, True),
    "rand_like": lambda t, x: t.rand_like(x),
    "randn_like": lambda t, x: t.randn_like(x),
    "randint_like": lambda t, x: t.randint_like(x, 9),
    "normal_": lambda t, x: x.normal_(),
    "uniform_": lambda t, x: x.uniform_(),
    "exponential_": lambda t, x: x.exponential_(),
    "bernoulli_": lambda t, x: x.bernoulli_(0.4),
    "random_": lambda t, x: x.random_(7),
}
LAYOUTS = {
    "permuted": lambda x: x.permute(2, 0, 1),
    "transposed": lambda x: x.transpose(0, 1),
    "part of it": lambda x: x[:, ::2].transpose(0, 2),
    "as it is": lambda x: x,
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", DRAWN_AS_LAID_OUT)
def test_numbers_come_in_the_order_of_memory(name, layout):
    results = []
    for lib in (torch, funtorch):
        lib.manual_seed(3)
        x = LAYOUTS[layout](lib.ones(4, 6, 5))
        results.append(DRAWN_AS_LAID_OUT[name](lib, x).numpy())
    np.testing.assert_allclose(results[1], results[0], rtol=1e-6)
