"""Numbers of eight bits: every conversion gives PyTorch's bits, in either tier."""

import numpy as np
import pytest
import torch

import funtorch

NAMES = ["float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu"]


def numbers():
    """Numbers of all magnitudes, those half-way between two, and infinity."""
    exponents = np.arange(512, dtype=np.uint32) << 23
    halves = np.concatenate([exponents + rest for rest in (0, 0x3FFFFF, 0x400000, 0x400001, 0x80000, 0x180000)])
    random = np.random.default_rng(0).integers(0, 2**32, 5000, dtype=np.uint64).astype(np.uint32)
    found = np.concatenate([halves, random]).view(np.float32)
    return found[~np.isnan(found)]


@pytest.mark.parametrize("engine", ["host", "kernel"])
@pytest.mark.parametrize("name", NAMES)
def test_from_float(name, engine):
    given = numbers()
    expected = torch.tensor(given).to(getattr(torch, name))
    with funtorch.set_engine(engine):
        found = funtorch.tensor(given).to(getattr(funtorch, name))
        assert np.array_equal(found.view(funtorch.uint8).numpy(), expected.view(torch.uint8).numpy())
        np.testing.assert_array_equal(found.float().numpy(), expected.float().numpy())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("source", ["float64", "float16", "int64", "int8", "uint8", "bool"])
def test_from_others(name, source):
    given = [0, 1, -1, 3, 6, 100, -100, 447, 449, 1000]

    def bits(lib):
        return lib.tensor(given, dtype=lib.float64).to(getattr(lib, source)).to(getattr(lib, name)).view(lib.uint8).tolist()

    assert bits(funtorch) == bits(torch)


@pytest.mark.parametrize("name", NAMES)
def test_made_and_filled(name):
    def made(lib):
        kind = getattr(lib, name)
        filled = lib.ones(2, dtype=kind)
        about = (kind.is_floating_point, kind.is_signed, kind.itemsize, filled.type(), repr(kind))
        zeros = [t.view(lib.uint8).tolist() for t in (lib.zeros(2, dtype=kind), lib.ones(2, dtype=kind).zero_())]
        return about, zeros, lib.full((2,), 2.0, dtype=kind).tolist(), lib.cat([filled, filled]).tolist()

    assert made(funtorch) == made(torch)


def test_not_a_number_stays():
    for name in NAMES:
        assert funtorch.tensor([float("nan")]).to(getattr(funtorch, name)).isnan().all()


WAYS = {
    "TensorWise": lambda t: (t.tensor(2.0), t.tensor([[0.25]])),
    "RowWise": lambda t: (t.arange(1.0, 5.0)[:, None], t.arange(1.0, 4.0)[None]),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", ["bfloat16", "float32", None])
@pytest.mark.parametrize("biased", [False, True])
def test_scaled_products(way, kind, biased):
    def product(t):
        functional, eight = t.nn.functional, t.float8_e4m3fn
        a, b = t.linspace(-3, 3, 20).reshape(4, 5).to(eight), t.linspace(-1, 2, 15).reshape(5, 3).to(t.float8_e5m2)
        recipe = getattr(functional.ScalingType, way)
        left, right = WAYS[way](t)
        out = None if kind is None else getattr(t, kind)
        bias = t.ones(3, dtype=out or eight) if biased and out else None
        return functional.scaled_mm(a, b, left, recipe, [right], [recipe], bias=bias, output_dtype=out)

    expected, found = product(torch), product(funtorch)
    assert str(found.dtype) == str(expected.dtype)
    np.testing.assert_allclose(found.float().numpy(), expected.float().numpy(), rtol=1e-2 if kind else 0.07)


def test_scaled_products_that_do_not_fit():
    functional, a, one = funtorch.nn.functional, funtorch.ones(2, 2).to(funtorch.float8_e5m2), funtorch.tensor(1.0)
    each, rows, blocks = functional.ScalingType.TensorWise, functional.ScalingType.RowWise, functional.ScalingType.BlockWise1x32
    with pytest.raises(ValueError, match="mat_b must be of a float8 type"):
        functional.scaled_mm(a, funtorch.ones(2, 2), one, each, one, each)
    with pytest.raises(ValueError, match="cannot be multiplied"):
        functional.scaled_mm(a, a[:1], one, each, one, each)
    with pytest.raises(ValueError, match=r"RowWise takes float32 factors of \[1, 2\]"):
        functional.scaled_mm(a, a, funtorch.ones(2, 1), rows, one, rows)
    with pytest.raises(ValueError, match="of one kind"):
        functional.scaled_mm(a, a, one, each, funtorch.ones(1, 2), rows)
    with pytest.raises(NotImplementedError, match="BlockWise1x32"):
        functional.scaled_mm(a, a, one, blocks, one, blocks)
    with pytest.raises(TypeError, match="scale_a must be Tensor, not float"):
        functional.scaled_mm(a, a, 1.0, each, one, each)
