"""The CPU generator against torch's: each draw's values, and after each the 5056 bytes of state."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import torch

from funtorch.core.mersenne import MersenneTwister
from funtorch.core.permutation import grown, swapped

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
WHOLE = [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool]
SHAPES = [(0,), (), (1,), (15,), (16,), (17,), (3, 5), (100,), (7, 11, 13), (1000,)]
INT64 = torch.iinfo(torch.int64)


def numpy(tensor: torch.Tensor) -> np.ndarray:
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(BFLOAT16)
    return tensor.numpy()


def numpy_type(dtype: torch.dtype) -> np.dtype:
    return numpy(torch.empty(0, dtype=dtype)).dtype


def off_by(ours: np.ndarray, theirs: np.ndarray) -> int:
    """The greatest distance in units of the last place."""
    kind = np.int32 if ours.dtype == np.float32 else np.int64
    return int(np.abs(ours.view(kind).astype(np.int64) - theirs.view(kind)).max(initial=0))


class Pair:
    """A generator of torch and one of ours, kept in step."""

    def __init__(self, seed: int = 7) -> None:
        self.torch = torch.Generator().manual_seed(seed)
        self.ours = MersenneTwister(seed)

    def check(self, theirs: torch.Tensor, ours: np.ndarray, ulp: int = 0) -> None:
        theirs = numpy(theirs)
        assert ours.dtype == theirs.dtype
        assert ours.shape == theirs.shape
        if ulp:
            assert off_by(ours, theirs) <= ulp
        else:
            np.testing.assert_array_equal(ours, theirs)
        self.check_state()

    def check_state(self) -> None:
        np.testing.assert_array_equal(self.ours.get_state(), self.torch.get_state().numpy())


@pytest.fixture
def pair() -> Pair:
    return Pair()


def ulp_of_normals(shape: tuple, dtype: torch.dtype) -> int:
    return 1 if dtype == torch.float32 and np.prod(shape) >= 16 else 0


# Filling a tensor: torch's in-place method, its arguments, our method and its arguments.
FILLS = {
    "rand": ("uniform_", (), "uniform", ()),
    "uniform": ("uniform_", (-1.3, 1.9), "uniform", (-1.3, 1.9)),
    "uniform of one number": ("uniform_", (2.0, 2.0), "uniform", (2.0, 2.0)),
    "log_normal": ("log_normal_", (0.1, 0.3), "log_normal", (0.1, 0.3)),
    "exponential": ("exponential_", (1.7,), "exponential", (1.7,)),
    "cauchy": ("cauchy_", (0.2, 1.7), "cauchy", (0.2, 1.7)),
    "geometric": ("geometric_", (0.3,), "geometric", (0.3,)),
    "random": ("random_", (), "random", ()),
    "random from to": ("random_", (3, 200), "random", (3, 200)),
    "random to": ("random_", (100,), "random", (0, 100)),
}


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("fill", FILLS)
def test_fills_of_floats(pair: Pair, fill: str, dtype: torch.dtype) -> None:
    theirs, their_args, ours, our_args = FILLS[fill]
    for shape in SHAPES:
        expected = getattr(torch.empty(shape, dtype=dtype), theirs)(*their_args, generator=pair.torch)
        pair.check(expected, getattr(pair.ours, ours)(shape, numpy_type(dtype), *our_args))


BOUND = 1 / 8  # of a layer with 64 inputs
RANGES = [
    (-BOUND, BOUND), (-1 / 3, 1 / 3), (-5e7, 5e7), (0.0, 1 / 3), (-0.7, 0.0), (0.1, 1.3), (-2.0, 7.0), (1.0, 1.0000001), (100.0, 101.0),
    (-1e-40, 1e-40), (0.0, 1e-44), (-1e38, 1e38), (0.0, 0.0), (3.0, 3.0),
]  # fmt: skip


HELD = [(dtype, bounds) for dtype in FLOATS for bounds in RANGES if max(map(abs, bounds)) < torch.finfo(dtype).max]


@pytest.mark.parametrize(("dtype", "bounds"), HELD, ids=str)
def test_uniform_numbers_of_a_range(pair: Pair, dtype: torch.dtype, bounds: tuple[float, float]) -> None:
    for n in (5, 4096, 70_001):
        expected = torch.empty(n, dtype=dtype).uniform_(*bounds, generator=pair.torch)
        pair.check(expected, pair.ours.uniform((n,), numpy_type(dtype), *bounds))


@pytest.mark.parametrize("count", [0, 1, 2**14 - 1, 2**14, 2**14 + 1])
def test_words_do_not_depend_on_how_many_are_asked_for(count: int) -> None:
    at_once, one_by_one = MersenneTwister(3), MersenneTwister(3)
    words = at_once.words(count)
    parts = [one_by_one.words(min(1000, count - start)) for start in range(0, count, 1000)]
    np.testing.assert_array_equal(words, np.concatenate([np.empty(0, np.uint32), *parts]))
    pairs = at_once.words64(count)
    parts = [one_by_one.words64(min(100, count - start)) for start in range(0, count, 100)]
    np.testing.assert_array_equal(pairs, np.concatenate([np.empty(0, np.uint64), *parts]))
    np.testing.assert_array_equal(at_once.get_state(), one_by_one.get_state())


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("moments", [(0.0, 1.0), (0.7, 1.9), (0.0, 0.02), (0.3, 1.0), (5.0, 0.0)])
def test_normals(pair: Pair, moments: tuple[float, float], dtype: torch.dtype) -> None:
    for shape in SHAPES:
        expected = torch.empty(shape, dtype=dtype).normal_(*moments, generator=pair.torch)
        got = pair.ours.normal(shape, numpy_type(dtype), *moments)
        pair.check(expected, got, ulp_of_normals(shape, dtype))


def test_normals_in_float32_are_nearly_always_exact(pair: Pair) -> None:
    n = 200_003
    expected, got = torch.randn(n, generator=pair.torch).numpy(), pair.ours.normal((n,))
    assert np.mean(got != expected) < 1e-3
    assert off_by(got, expected) <= 2
    pair.check_state()


@pytest.mark.parametrize("dtype", [torch.complex64, torch.complex128], ids=str)
def test_complex(pair: Pair, dtype: torch.dtype) -> None:
    for shape in SHAPES:
        expected = torch.rand(shape, dtype=dtype, generator=pair.torch)
        pair.check(expected, pair.ours.uniform(shape, numpy_type(dtype)))
        expected = torch.randn(shape, dtype=dtype, generator=pair.torch)
        got = pair.ours.normal(shape, numpy_type(dtype))
        real = got.real.dtype
        assert off_by(got.reshape(-1).view(real), expected.numpy().reshape(-1).view(real)) <= 1
        pair.check_state()


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_normals_of_tensors(pair: Pair, dtype: torch.dtype) -> None:
    mean, std = torch.randn(2, 3).to(dtype), torch.rand(3).to(dtype)  # few: to the last bit
    for shape, m, s in [((2, 3), mean, std), ((2, 3), mean, 0.7), ((3,), 0.7, std)]:
        ours = [numpy(x) if isinstance(x, torch.Tensor) else x for x in (m, s)]
        pair.check(torch.normal(m, s, generator=pair.torch), pair.ours.normal(shape, numpy_type(dtype), *ours))


def test_normals_into_a_transposed_tensor(pair: Pair) -> None:
    expected = torch.empty(6, 5).t().normal_(0.1, 0.7, generator=pair.torch).t()
    pair.check(expected, pair.ours.normal((6, 5), np.float32, 0.1, 0.7, contiguous=False))


@pytest.mark.parametrize("dtype", WHOLE, ids=str)
def test_whole_numbers(pair: Pair, dtype: torch.dtype) -> None:
    kind = numpy_type(dtype)
    for shape in SHAPES:
        empty = torch.empty(shape, dtype=dtype)
        pair.check(empty.random_(generator=pair.torch), pair.ours.random(shape, kind))
        pair.check(
            torch.randint(0, 2, shape, dtype=dtype, generator=pair.torch),
            pair.ours.randint(0, 2, shape, kind),
        )
        pair.check(empty.random_(1, None, generator=pair.torch), pair.ours.random(shape, kind, 1))
        pair.check(empty.bernoulli_(0.3, generator=pair.torch), pair.ours.bernoulli(shape, 0.3, kind))
        if dtype != torch.bool:
            pair.check(empty.geometric_(0.3, generator=pair.torch), pair.ours.geometric(shape, kind, 0.3))


@pytest.mark.parametrize(
    "bounds",
    [(0, 1), (-5, 5), (0, 2**28 - 1), (0, 2**28), (-5, 2**32), (-(2**62), 2**62), (INT64.min, INT64.max)],
)
def test_ranges(pair: Pair, bounds: tuple[int, int]) -> None:
    for shape in SHAPES:
        pair.check(torch.randint(*bounds, shape, generator=pair.torch), pair.ours.randint(*bounds, shape))


def test_all_64_bits(pair: Pair) -> None:
    for dtype in (torch.int64, torch.float64, torch.float32):
        expected = torch.empty(50, dtype=dtype).random_(INT64.min, None, generator=pair.torch)
        pair.check(expected, pair.ours.random((50,), numpy_type(dtype), INT64.min))


@pytest.mark.parametrize("dtype", [torch.uint16, torch.uint32, torch.uint64], ids=str)
def test_unsigned(pair: Pair, dtype: torch.dtype) -> None:
    expected = torch.randint(1, 50, (40,), dtype=dtype, generator=pair.torch)
    pair.check(expected, pair.ours.randint(1, 50, (40,), numpy_type(dtype)))


@pytest.mark.filterwarnings("ignore:.*out of bounds:UserWarning", "ignore:random_:UserWarning")
@pytest.mark.parametrize("bounds", [(0, 65504), (-65504, 60000), (-2049, 2050), (2047, 2050)])
def test_bounds_that_halves_round(pair: Pair, bounds: tuple[int, int]) -> None:
    for dtype in (torch.float16, torch.bfloat16):
        expected = torch.empty(300, dtype=dtype).random_(*bounds, generator=pair.torch)
        pair.check(expected, pair.ours.random((300,), numpy_type(dtype), *bounds))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_bernoulli(pair: Pair, dtype: torch.dtype) -> None:
    for shape in SHAPES:
        for p in (0.0, 0.3, 1.0):
            expected = torch.empty(shape, dtype=dtype).bernoulli_(p, generator=pair.torch)
            pair.check(expected, pair.ours.bernoulli(shape, p, numpy_type(dtype)))
        p = torch.rand(shape).to(dtype)
        got = pair.ours.bernoulli(shape, numpy(p), numpy_type(dtype))
        pair.check(torch.bernoulli(p, generator=pair.torch), got)


def test_bernoulli_broadcasts_its_chances(pair: Pair) -> None:
    p = torch.tensor([0.1, 0.5, 0.9])
    expected = torch.empty(40, 3).bernoulli_(p, generator=pair.torch)
    pair.check(expected, pair.ours.bernoulli((40, 3), p.numpy()))


def test_dropout_draws_bernoulli() -> None:
    torch.manual_seed(3)
    expected = torch.nn.functional.dropout(torch.ones(1000), 0.3).numpy() != 0
    np.testing.assert_array_equal(MersenneTwister(3).bernoulli((1000,), 0.7, np.bool_), expected)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 10, 100, 1000, 65537])
def test_randperm(pair: Pair, n: int) -> None:
    pair.check(torch.randperm(n, generator=pair.torch), pair.ours.randperm(n))


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int32, torch.float16, torch.bfloat16], ids=str)
def test_randperm_in_other_types(pair: Pair, dtype: torch.dtype) -> None:
    expected = torch.randperm(200, dtype=dtype, generator=pair.torch)
    pair.check(expected, pair.ours.randperm(200, numpy_type(dtype)))


def test_shuffles_against_loops() -> None:
    random = np.random.default_rng(0)
    for n in (2, 3, 7, 50, 400):
        forward, backward = random.integers(np.arange(n - 1), n), random.integers(0, np.arange(1, n + 1))
        places, inside_out = np.arange(n), np.empty(n, np.int64)
        for i, j in enumerate(forward):
            places[[i, j]] = places[[j, i]]
        for i, j in enumerate(backward):
            inside_out[i] = i
            inside_out[i], inside_out[j] = inside_out[j], i
        np.testing.assert_array_equal(swapped(forward, n), places)
        np.testing.assert_array_equal(grown(backward, n), inside_out)


@pytest.mark.parametrize("shape", [(5,), (1,), (1000,), (3, 7), (100, 33)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_multinomial(pair: Pair, dtype: torch.dtype, shape: tuple) -> None:
    weights = torch.rand(shape, dtype=dtype)
    for n, replacement in [
        (1, False),
        (1, True),
        (3, True),
        (200, True),
        (min(5, shape[-1]), False),
        (shape[-1], False),
    ]:
        expected = torch.multinomial(weights, n, replacement, generator=pair.torch)
        pair.check(expected, pair.ours.multinomial(weights.numpy(), n, replacement))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_multinomial_of_halves_with_replacement(pair: Pair, dtype: torch.dtype) -> None:
    weights = torch.rand(6, 30).to(dtype)
    for n in (1, 50):
        expected = torch.multinomial(weights, n, True, generator=pair.torch)
        pair.check(expected, pair.ours.multinomial(numpy(weights), n, True))


def test_multinomial_never_draws_weight_zero() -> None:
    ours, weights = MersenneTwister(0), np.array([0, 2, 0, 6, 0], np.float32)
    assert set(ours.multinomial(weights, 20000, True).tolist()) == {1, 3}
    assert all(sorted(ours.multinomial(weights, 2).tolist()) == [1, 3] for _ in range(50))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_rejection(pair: Pair, dtype: torch.dtype) -> None:
    for shape in SHAPES:
        alpha = torch.rand(shape, dtype=dtype) * 3
        got = pair.ours.standard_gamma(alpha.numpy())
        pair.check(torch._standard_gamma(alpha, generator=pair.torch), got)
        count, p = torch.randint(0, 60, shape).to(dtype), torch.rand(shape, dtype=dtype)
        got = pair.ours.binomial(count.numpy(), p.numpy())
        pair.check(torch.binomial(count, p, generator=pair.torch), got)
        rate = torch.rand(shape, dtype=dtype) * 30
        pair.check(torch.poisson(rate, generator=pair.torch), pair.ours.poisson(rate.numpy()))
        if shape:
            got = pair.ours.dirichlet(alpha.numpy())
            np.testing.assert_allclose(got, torch._sample_dirichlet(alpha, generator=pair.torch), rtol=1e-6)
            pair.check_state()


@pytest.mark.parametrize("alpha", [0.0, 0.2, 1.0, 1.7, 60.0])
@pytest.mark.parametrize("before", [0, 1])
def test_gammas_of_one_shape(pair: Pair, alpha: float, before: int) -> None:
    for dtype in (torch.float32, torch.float64):
        for n in (1, 100, 5000):
            shapes = torch.full((n,), alpha, dtype=dtype)
            pair.check(torch.randn(before, generator=pair.torch), pair.ours.normal((before,)))
            pair.check(torch._standard_gamma(shapes, generator=pair.torch), pair.ours.standard_gamma(shapes.numpy()))


@pytest.mark.parametrize("rate", [0.0, 0.1, 4.0, 9.9, 10.0, 37.0, 1e6])
def test_poisson_of_few_rates(pair: Pair, rate: float) -> None:
    for rates in (torch.full((5000,), rate), torch.tensor([rate, 3.0, 12.0]).double().repeat(300)):
        pair.check(torch.poisson(rates, generator=pair.torch), pair.ours.poisson(rates.numpy()))


@pytest.mark.parametrize("p", [0.0, 0.004, 0.3, 0.5, 0.9, 1.0, float("nan")])
@pytest.mark.parametrize("trials", [0.0, 7.0, 100.0, 3e7])
def test_binomial_of_few_laws(pair: Pair, trials: float, p: float) -> None:
    for dtype in (torch.float32, torch.float64):
        count = torch.tensor([trials, 30.0], dtype=dtype).repeat(400)
        chance = torch.full((800,), p, dtype=dtype)
        for n in (800, 1):
            got = pair.ours.binomial(count[:: 800 // n].numpy(), chance[:: 800 // n].numpy())
            pair.check(torch.binomial(count[:: 800 // n], chance[:: 800 // n], generator=pair.torch), got)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_poisson_in_halves(pair: Pair, dtype: torch.dtype) -> None:
    rate = (torch.rand(100) * 30).to(dtype)
    pair.check(torch.poisson(rate, generator=pair.torch), pair.ours.poisson(numpy(rate)))


def test_binomial_at_its_ends(pair: Pair) -> None:
    count = torch.tensor([0.0, 5.0, 5.0, 5.0, 2000.0, 2000.0])
    p = torch.tensor([0.5, 0.0, 1.0, float("nan"), 0.3, 0.8])
    pair.check(torch.binomial(count, p, generator=pair.torch), pair.ours.binomial(count.numpy(), p.numpy()))


MIXED = [
    lambda g: torch.randn(3, generator=g),
    lambda g: torch.randn(40, dtype=torch.float64, generator=g),
    lambda g: torch.randperm(11, generator=g),
    lambda g: torch.randn(5, dtype=torch.float16, generator=g),
    lambda g: torch.rand(7, generator=g),
    lambda g: torch.empty(9).log_normal_(generator=g),
    lambda g: torch._standard_gamma(torch.ones(5), generator=g),
    lambda g: torch.empty(4).bernoulli_(0.5, generator=g),
]
OURS = [
    lambda m: m.normal((3,)),
    lambda m: m.normal((40,), np.float64),
    lambda m: m.randperm(11),
    lambda m: m.normal((5,), np.float16),
    lambda m: m.uniform((7,)),
    lambda m: m.log_normal((9,)),
    lambda m: m.standard_gamma(np.ones(5, np.float32)),
    lambda m: m.bernoulli((4,), 0.5),
]


@pytest.mark.parametrize("seed", range(8))
def test_mixed_draws(seed: int) -> None:
    pair = Pair(seed)
    for which in np.random.default_rng(seed).integers(0, len(MIXED), 40):
        pair.check(MIXED[which](pair.torch), OURS[which](pair.ours))


@pytest.mark.parametrize("seed", [0, 1, 12345678901, 2**64 - 1, -1, -(2**63)])
def test_seeds(seed: int) -> None:
    pair = Pair(seed)
    pair.check_state()
    assert pair.ours.initial_seed() == pair.torch.initial_seed()
    pair.check(torch.rand(700, generator=pair.torch), pair.ours.uniform((700,)))
    assert MersenneTwister().initial_seed() == torch.Generator().initial_seed()


@pytest.mark.parametrize("drawn", [0, 1, 5, 623, 624, 625, 1248])
def test_state_both_ways(drawn: int) -> None:
    pair = Pair()
    pair.check(torch.rand(drawn, generator=pair.torch), pair.ours.uniform((drawn,)))
    pair.check(torch.randn(1, generator=pair.torch), pair.ours.normal((1,)))  # leaves a normal in waiting
    theirs, ours = torch.Generator(), MersenneTwister(1)
    theirs.set_state(torch.from_numpy(pair.ours.get_state()))
    ours.set_state(pair.torch.get_state().numpy())
    pair.torch, pair.ours = theirs, ours
    pair.check_state()
    pair.check(torch.randn(3, generator=pair.torch), pair.ours.normal((3,)))


def test_state_of_a_fresh_generator_travels() -> None:
    ours = MersenneTwister(1)
    ours.set_state(torch.Generator().manual_seed(9).get_state().numpy())
    np.testing.assert_array_equal(ours.get_state(), torch.Generator().manual_seed(9).get_state().numpy())


def test_copy_draws_the_same() -> None:
    ours = MersenneTwister(4)
    ours.normal((3,))
    twin = ours.copy()
    np.testing.assert_array_equal(ours.normal((5,)), twin.normal((5,)))
    assert ours.uniform(()) == twin.uniform(())


def test_nothing_drawn_leaves_the_state(pair: Pair) -> None:
    before = pair.ours.get_state()
    pair.ours.poisson(np.zeros(3, np.float32))
    pair.ours.randint(0, 5, (0,))
    np.testing.assert_array_equal(pair.ours.get_state(), before)


HALF = np.float16
REFUSED = {
    "uniform": (lambda m: m.uniform((2,), np.float32, 2, 1), RuntimeError, "from=2 > to=1"),
    "uniform's bound": (lambda m: m.uniform((2,), HALF, 0, 1e6), RuntimeError, "to=1000000.0"),
    "uniform's width": (lambda m: m.uniform((2,), np.float32, -3e38, 3e38), RuntimeError, "exceed"),
    "uniform's type": (lambda m: m.uniform((2,), np.int32), NotImplementedError, "int32"),
    "normal": (lambda m: m.normal((2,), np.float32, 0, -1), RuntimeError, "std -1"),
    "normal of arrays": (
        lambda m: m.normal((2,), np.float32, 0, np.array([1.0, -1.0])),
        RuntimeError,
        "std >= 0",
    ),
    "normal's type": (lambda m: m.normal((2,), np.int64), NotImplementedError, "int64"),
    "log_normal": (lambda m: m.log_normal((2,), np.float32, 0, 0), RuntimeError, "std=0"),
    "exponential": (lambda m: m.exponential((2,), np.float32, -1), RuntimeError, "lambda=-1"),
    "exponential's type": (lambda m: m.exponential((2,), np.int32), RuntimeError, "int32"),
    "geometric": (lambda m: m.geometric((2,), np.float32, 1), RuntimeError, "p=1"),
    "cauchy": (lambda m: m.cauchy((2,), np.float32, 0, -1), RuntimeError, "sigma=-1"),
    "bernoulli": (lambda m: m.bernoulli((2,), 1.5), RuntimeError, "p=1.5"),
    "bernoulli of an array": (lambda m: m.bernoulli((1,), np.array([np.nan])), RuntimeError, r"f64\[1\]"),
    "randint": (lambda m: m.randint(3, 3, (2,)), RuntimeError, "from=3 >= to=3"),
    "randint's type": (lambda m: m.randint(0, 300, (2,), np.uint8), RuntimeError, "299"),
    "randint in halves": (lambda m: m.randint(0, 100000, (2,), HALF), RuntimeError, "99999"),
    "random's type": (lambda m: m.random((2,), np.uint32), NotImplementedError, "uint32"),
    "random of all bits": (lambda m: m.random((2,), np.int32, INT64.min), RuntimeError, "int32"),
    "randperm": (lambda m: m.randperm(-1), RuntimeError, "-1"),
    "randperm's type": (lambda m: m.randperm(257, np.uint8), RuntimeError, "257"),
    "randperm in halves": (lambda m: m.randperm(2050, HALF), RuntimeError, "2050"),
    "randperm of bools": (lambda m: m.randperm(2, np.bool_), NotImplementedError, "bool"),
    "multinomial's rank": (lambda m: m.multinomial(np.ones((2, 2, 2)), 1), RuntimeError, "1 or 2 dim"),
    "multinomial's type": (lambda m: m.multinomial(np.ones(2, np.int64), 1), RuntimeError, "int64"),
    "multinomial of none": (lambda m: m.multinomial(np.ones(2), 0), RuntimeError, "got 0"),
    "multinomial of many": (lambda m: m.multinomial(np.ones(2), 3), RuntimeError, "3 > 2"),
    "multinomial below zero": (lambda m: m.multinomial(np.array([1.0, -1]), 1), RuntimeError, "< 0"),
    "multinomial of infinity": (lambda m: m.multinomial(np.array([1, np.inf]), 5, True), RuntimeError, "inf"),
    "multinomial of zeros": (lambda m: m.multinomial(np.zeros((1, 3)), 1), RuntimeError, "<= 0"),
    "multinomial of too few": (
        lambda m: m.multinomial(np.array([0, 1.0]), 2),
        RuntimeError,
        "2 draws from 1",
    ),
    "poisson": (lambda m: m.poisson(np.array([-1.0])), RuntimeError, "non-negative"),
    "poisson's type": (lambda m: m.poisson(np.ones(2, np.int64)), NotImplementedError, "int64"),
    "binomial": (lambda m: m.binomial(np.ones(2), np.ones(2, np.float32)), RuntimeError, "float32"),
    "gamma's type": (lambda m: m.standard_gamma(np.ones(2, HALF)), NotImplementedError, "float16"),
    "seed": (lambda m: m.seed(2**64), ValueError, str(2**64)),
    "state's size": (lambda m: m.set_state(np.zeros(5, np.uint8)), RuntimeError, "size to be 5"),
    "state": (lambda m: m.set_state(np.zeros(5056, np.uint8)), RuntimeError, "Invalid mt19937 state"),
    "state's type": (lambda m: m.set_state(np.zeros(5056)), TypeError, "ByteTensor"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refusals_leave_the_state(case: str) -> None:
    call, error, message = REFUSED[case]
    ours = MersenneTwister(2)
    before = ours.get_state()
    with pytest.raises(error, match=message):
        call(ours)
    np.testing.assert_array_equal(ours.get_state(), before)


def test_floats_warn_beyond_their_whole_numbers(pair: Pair) -> None:
    with pytest.warns(UserWarning, match="1073741759 is outside"):
        got = pair.ours.random((30,), np.float32, 0, 2**30)
    with pytest.warns(UserWarning, match="out of bounds"):
        pair.check(torch.empty(30).random_(0, 2**30, generator=pair.torch), got)


def test_the_global_seed_is_what_int_makes_of_it():
    import funtorch

    for lib in (torch, funtorch):
        lib.manual_seed(3.7)
        assert lib.initial_seed() == 3
        lib.manual_seed(np.int64(5))
        assert lib.initial_seed() == 5
        with pytest.raises(ValueError):
            lib.manual_seed("a")
