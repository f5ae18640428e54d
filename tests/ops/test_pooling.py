"""Pooling against torch: values, places, gradients (to the first largest element), errors."""

import numpy as np
import pytest


def draw(*shape: int) -> np.ndarray:
    """Few different values, so that there are ties."""
    return np.random.default_rng(0).integers(-2, 3, shape).astype(np.float64)


INF, NAN = float("inf"), float("nan")
CASES = [
    ("max_pool1d", (2, 3, 9), {"kernel_size": 3, "stride": 2, "padding": 1}),
    ("max_pool2d", (2, 3, 8, 8), {"kernel_size": 2}),
    ("max_pool2d", (3, 7, 8), {"kernel_size": (3, 2), "stride": 2, "padding": (1, 0), "dilation": (2, 1)}),
    ("max_pool2d", (2, 3, 7, 8), {"kernel_size": 3, "stride": 2, "ceil_mode": True, "padding": 1}),
    ("max_pool3d", (2, 2, 5, 6, 5), {"kernel_size": 2, "stride": (2, 1, 2)}),
    ("avg_pool1d", (2, 3, 9), {"kernel_size": 3, "stride": 2, "padding": 1}),
    ("avg_pool2d", (2, 3, 8, 8), {"kernel_size": 2}),
    ("avg_pool2d", (2, 3, 7, 8), {"kernel_size": 3, "stride": 2, "padding": 1, "ceil_mode": True}),
    ("avg_pool2d", (3, 7, 8), {"kernel_size": (3, 2), "padding": 1, "count_include_pad": False, "ceil_mode": True}),
    ("avg_pool3d", (2, 2, 5, 6, 5), {"kernel_size": 2, "divisor_override": 3}),
    ("adaptive_avg_pool1d", (2, 3, 7), {"output_size": 3}),
    ("adaptive_avg_pool2d", (2, 3, 6, 7), {"output_size": (3, 5)}),
    ("adaptive_avg_pool3d", (2, 4, 6, 5), {"output_size": (2, None, 3)}),
    ("adaptive_max_pool1d", (2, 3, 7), {"output_size": 3, "return_indices": True}),
    ("adaptive_max_pool2d", (2, 3, 6, 7), {"output_size": (4, 3), "return_indices": True}),
    ("adaptive_max_pool3d", (2, 4, 6, 5), {"output_size": 2}),
]


@pytest.mark.parametrize(("name", "shape", "options"), CASES)
def test_value_and_gradient(agree, name: str, shape: tuple, options: dict) -> None:
    agree(lambda t, x: getattr(t.nn.functional, name)(x, **options), draw(*shape))


@pytest.mark.parametrize(("name", "shape", "options"), [c for c in CASES if c[0].startswith("max")])
def test_places(agree, name: str, shape: tuple, options: dict) -> None:
    agree(lambda t, x: getattr(t.nn.functional, name)(x, **options, return_indices=True), draw(*shape))


def test_the_lowest_value_wins_over_padding_and_nan_over_all(agree) -> None:
    x = draw(1, 1, 6, 6)
    x[..., :3, :3], x[..., 4, 2:5] = -INF, NAN
    agree(lambda t, x: t.nn.functional.max_pool2d(x, 3, 2, 1, return_indices=True), x)


def test_lp_pool(agree) -> None:
    agree(lambda t, x: t.nn.functional.lp_pool2d(x, 2, (2, 3), stride=2), np.abs(draw(2, 3, 6, 7)) + 0.5)
    for p in (INF, -INF):
        agree(lambda t, x, p=p: t.nn.functional.lp_pool1d(x, p, 3, ceil_mode=True), draw(2, 3, 7))


def test_unpooling_and_its_gradient(agree) -> None:
    def there_and_back(t, x):
        z, places = t.nn.functional.max_pool2d(x, 3, 2, return_indices=True)
        return t.nn.functional.max_unpool2d(z, places, 3, 2, output_size=(8, 8))

    agree(there_and_back, np.random.default_rng(0).normal(size=(2, 3, 7, 7)), grad=False)
    agree(lambda t, x: there_and_back(t, x[..., ::2]), np.random.default_rng(1).normal(size=(2, 3, 7, 13)), grad=False)


def test_fractional_pooling_draws_torchs_numbers(agree) -> None:
    def pool(t, x):
        t.manual_seed(3)
        return t.nn.functional.fractional_max_pool2d(x, (2, 3), output_ratio=(0.5, 0.5), return_indices=True)

    agree(pool, np.random.default_rng(0).normal(size=(2, 3, 9, 10)))


ERRORS = [
    ("max_pool2d", (1, 1, 2, 2), (3,)), ("max_pool2d", (1, 1, 8, 8), (3, 1, 2)), ("max_pool2d", (1, 1, 8, 8), ((3, 3, 3),)),
    ("max_pool2d", (1, 1, 8, 8), (3, 0)), ("max_pool2d", (8, 8), (3,)), ("max_pool2d", (1, 0, 8, 8), (3,)),
    ("max_pool2d", (1, 1, 8, 8), (3, 1, -1)), ("max_pool1d", (1, 1, 8), ((3, 3),)), ("max_pool1d", (8,), (3,)),
    ("max_pool1d", (1, 1, 8), (3, 1, 2)), ("max_pool1d", (1, 1, 8), (9,)), ("max_pool1d", (1, 1, 8), (0,)),
    ("avg_pool2d", (1, 1, 2, 2), (3,)), ("avg_pool1d", (8,), (3,)), ("avg_pool2d", (8, 8), (3,)), ("avg_pool3d", (1, 1, 2, 2, 2), (3,)),
    ("avg_pool1d", (1, 1, 2), (3,)), ("avg_pool2d", (1, 1, 8, 8), (3, 0)), ("adaptive_avg_pool2d", (8, 8), (3,)),
    ("adaptive_avg_pool2d", (1, 1, 8, 8), ((3, 3, 3),)), ("adaptive_avg_pool2d", (1, 1, 8, 8), (-1,)),
    ("adaptive_avg_pool2d", (1, 1, 0, 8), (2,)), ("adaptive_max_pool2d", (8, 8), (3,)), ("adaptive_max_pool1d", (8,), (3,)),
    ("lp_pool2d", (1, 1, 8, 8), (0, 3)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "shape", "args"), ERRORS)
def test_errors_are_torchs(refuse, name: str, shape: tuple, args: tuple) -> None:
    refuse(lambda t, x: getattr(t.nn.functional, name)(x, *args), np.zeros(shape))
