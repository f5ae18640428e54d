"""Convolutions: all kernels (matrix products, XLA's own, shifted products) against torch, in values, gradients, vmap and errors."""

from typing import Any

import numpy as np
import pytest

import funtorch
from funtorch.ops import convolution, convolution_kernels


def draw(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


CASES = [
    ("conv1d", (2, 4, 9), (6, 4, 3), {"stride": 2, "padding": 1}),
    ("conv1d", (4, 9), (6, 4, 4), {"padding": "same", "dilation": 2}),
    ("conv2d", (2, 4, 7, 6), (6, 2, 3, 2), {"groups": 2, "padding": (1, 0), "stride": (2, 1)}),
    ("conv2d", (2, 3, 7, 6), (5, 3, 3, 3), {"dilation": (2, 1), "padding": "valid"}),
    ("conv2d", (0, 3, 7, 6), (5, 3, 3, 3), {}),
    ("conv2d", (2, 3, 6, 6), (6, 1, 3, 2), {"groups": 3, "stride": 2, "padding": 1}),
    ("conv3d", (2, 2, 4, 5, 4), (3, 2, 2, 3, 2), {"stride": 2, "padding": 1}),
    ("conv_transpose1d", (2, 4, 5), (4, 3, 3), {"stride": 2, "output_padding": 1}),
    ("conv_transpose1d", (2, 4, 5), (4, 3, 3), {"dilation": 3, "output_padding": 2}),
    ("conv_transpose2d", (2, 4, 4, 5), (4, 3, 3, 2), {"groups": 2, "padding": 1, "stride": (3, 2), "output_padding": (2, 1)}),
    ("conv_transpose3d", (1, 2, 3, 2, 3), (2, 3, 2, 2, 2), {"stride": 2}),
]


@pytest.fixture(params=[1 << 27, -1], ids=["product", "others"])
def kernel(request, monkeypatch):
    """The product, or what stands in for it: the largest matrix of windows decides, and ops are bound anew to meet it."""
    for limit in ("PLAIN_COLUMNS", "COLUMNS"):
        monkeypatch.setattr(convolution_kernels, limit, request.param)

    def forget() -> None:
        for name, *_ in CASES:
            getattr(convolution, name).__wrapped_op__.bind.cache_clear()

    forget()
    yield
    forget()


@pytest.mark.parametrize(("name", "shape", "window", "options"), CASES)
def test_value_and_gradient(agree, kernel, name: str, shape: tuple, window: tuple, options: dict) -> None:
    outputs = window[1] * options.get("groups", 1) if "transpose" in name else window[0]
    agree(
        lambda t, x, w, b: getattr(t.nn.functional, name)(x, w, b, **options), draw(*shape), draw(*window, seed=1), draw(outputs)
    )


def test_convolution_in_its_general_form(agree) -> None:
    x, w = draw(1, 4, 5, 5), draw(4, 2, 3, 3)
    agree(lambda t, x, w: t.convolution(x, w, None, (2, 2), (1, 1), (1, 1), False, (0, 0), 2), x, w)
    agree(lambda t, x, w: t.convolution(x, w, None, (2, 2), (1, 1), (1, 1), True, (1, 1), 2), x, w)


@pytest.mark.parametrize("kind", ["float32", "complex128", "int64", "bfloat16"])
@pytest.mark.parametrize("name", ["conv2d", "conv_transpose2d"])
def test_dtypes(name: str, kind: str) -> None:
    import torch

    def run(t: Any) -> np.ndarray:
        x, w = (t.tensor(np.round(4 * draw(*s))).to(getattr(t, kind)) for s in ((2, 3, 5, 5), (3, 3, 2, 2)))
        z = getattr(t.nn.functional, name)(x, w, stride=2)
        assert str(z.dtype) == f"torch.{kind}"
        return z.to(t.complex128).numpy()

    np.testing.assert_allclose(run(funtorch), run(torch), rtol=1e-2 if kind == "bfloat16" else 1e-6)


def test_per_sample_gradients_equal_a_loop() -> None:
    x, w = funtorch.tensor(draw(5, 2, 6, 6)), funtorch.tensor(draw(3, 2, 3, 3))

    def loss(w: Any, x: Any) -> Any:
        return funtorch.nn.functional.conv2d(x[None], w, padding=1).square().sum()

    together = funtorch.vmap(funtorch.func.grad(loss), (None, 0))(w, x)
    alone = [funtorch.func.grad(loss)(w, one) for one in x]
    np.testing.assert_allclose(together.numpy(), funtorch.stack(alone).numpy(), rtol=1e-9)


ERRORS = [
    ("conv2d", (64, 3, 8, 8), (16, 1, 3, 3), {}), ("conv2d", (3, 8, 8), (16, 1, 3, 3), {}), ("conv2d", (8, 8), (16, 1, 3, 3), {}),
    ("conv2d", (1, 1, 8, 8), (16, 1, 3), {}), ("conv2d", (1, 1, 2, 2), (16, 1, 3, 3), {"dilation": 2, "padding": 1}),
    ("conv2d", (1, 1, 8, 8), (16, 1, 3, 3), {"stride": 0}), ("conv2d", (1, 1, 8, 8), (16, 1, 3, 3), {"stride": (1, 1, 1)}),
    ("conv2d", (1, 1, 8, 8), (16, 1, 3, 3), {"padding": -1}), ("conv2d", (1, 1, 8, 8), (16, 1, 3, 3), {"dilation": 0}),
    ("conv2d", (1, 2, 8, 8), (3, 1, 3, 3), {"groups": 2}), ("conv2d", (1, 4, 8, 8), (4, 1, 3, 3), {"groups": 2}),
    ("conv2d", (1, 1, 8, 8), (16, 1, 3, 3), {"groups": 0}), ("conv2d", (1, 1, 8, 8), (16, 1, 0, 3), {}),
    ("conv2d", (1, 1, 8, 8), (16, 1, 3, 3), {"padding": "full"}), ("conv2d", (1, 1, 8, 8), (16, 1, 3, 3), {"padding": "same", "stride": 2}),
    ("conv_transpose2d", (1, 2, 8, 8), (1, 16, 3, 3), {}), ("conv_transpose2d", (1, 2, 8, 8), (2, 16, 3, 3), {"output_padding": 1}),
    ("conv_transpose2d", (1, 2, 8, 8), (2, 16, 3, 3), {"output_padding": -1}), ("conv_transpose2d", (1, 2, 1, 1), (2, 16, 3, 3), {"padding": 3}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "shape", "window", "options"), ERRORS)
def test_errors_are_torchs(refuse, name: str, shape: tuple, window: tuple, options: dict) -> None:
    refuse(lambda t, x, w: getattr(t.nn.functional, name)(x, w, **options), draw(*shape), draw(*window))


def test_bias_errors_are_torchs(refuse) -> None:
    x, w = draw(1, 1, 8, 8), draw(16, 1, 3, 3)
    refuse(lambda t, x, w, b: t.nn.functional.conv2d(x, w, b), x, w, draw(3))
    refuse(lambda t, x, w: t.nn.functional.conv2d(x, w.float()), x, w)
