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
    "bernoulli_ of chances": lambda t, x: x.bernoulli_(t.linspace(0, 1, x.shape[-1])),
    "bernoulli_ of doubles": lambda t, x: x.bernoulli_(t.linspace(0, 1, x.shape[-1]).double()),
    "random_": lambda t, x: x.random_(7),
    "rand_like, row by row": lambda t, x: t.rand_like(x, memory_format=t.contiguous_format),
    "randn_like, channels last": lambda t, x: t.randn_like(x[None], memory_format=t.channels_last),
    "trunc_normal_": lambda t, x: t.nn.init.trunc_normal_(x),
    "trunc_normal_ by proposals": lambda t, x: t.nn.init.trunc_normal_(x, 1.0, 2.0, 0.0, 3.0),
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


@pytest.mark.parametrize("count", [1, 2])
def test_categories_of_transposed_weights(count):
    results = []
    for lib in (torch, funtorch):
        lib.manual_seed(3)
        results.append(lib.multinomial(lib.arange(1.0, 41.0).reshape(5, 8).t(), count).tolist())
    assert results[1] == results[0]


@pytest.mark.parametrize("bounds", [(), (9,), (3, 100), (3, None)], ids=str)
@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "int64", "float32"])
def test_bounds_of_whole_numbers(dtype, bounds):
    results = []
    for lib in (torch, funtorch):
        lib.manual_seed(4)
        results.append(lib.zeros(6, dtype=getattr(lib, dtype)).random_(*bounds).tolist())
    assert results[1] == results[0]
