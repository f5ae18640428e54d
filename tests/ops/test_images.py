"""Padding, resampling, grids and folding against torch."""

import warnings

import numpy as np
import pytest

import funtorch


def draw(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


PADS = [
    ((3, 4), (1, 2), "constant"), ((3, 4), (-1, 2, 1, -1), "constant"), ((2, 3, 4), (3, 1), "reflect"), ((2, 3, 4, 5), (2, 1, 1, 3), "replicate"),
    ((1, 1, 3, 4), (-1, 2, 1, -1), "reflect"), ((1, 1, 3, 4), (-1, 2, 1, -1), "circular"), ((1, 2, 3, 4, 3), (1, 2, 0, 1, 2, 2), "circular"),
    ((1, 3, 4), (-1, -2), "replicate"),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "pad", "mode"), PADS)
def test_pad(agree, shape: tuple, pad: tuple, mode: str) -> None:
    agree(lambda t, x: t.nn.functional.pad(x, pad, mode=mode), draw(*shape))


@pytest.mark.parametrize(
    ("shape", "args"),
    [
        ((3, 4), ((1, 2, 3, 4, 5, 6),)), ((3, 4), ((1,),)), ((3, 4), ((4, 0), "reflect")), ((3, 4), ((1, 2, 1, 2), "reflect")),
        ((1, 3, 4), ((5, 0), "circular")), ((3, 4), ((1, 2), "mirror")), ((3, 4), ((-5, 0),)), ((1, 3, 4), ((1, 1), "replicate", 1)),
        ((1, 3, 0), ((1, 1), "replicate")), ((4,), ((1, 1), "reflect")), ((1, 3, 4), ((-2, -3), "replicate")),
        ((1, 0, 4), ((1, 1), "replicate")), ((0, 4), ((1, 1), "reflect")), ((3, 4), (1,)), ((3, 4), ((1.0, 1),)), ((3, 4), ("1",)),
    ],
)  # fmt: skip
def test_pad_errors(refuse, shape: tuple, args: tuple) -> None:
    refuse(lambda t, x: t.nn.functional.pad(x, *args), np.zeros(shape))


RESIZES = [
    ((1, 2, 5), {"size": 8, "mode": "linear"}), ((1, 2, 5, 4), {"scale_factor": 2}), ((1, 2, 5, 4), {"scale_factor": 0.7}),
    ((1, 2, 5, 4), {"size": (3, 9), "mode": "nearest-exact"}), ((1, 2, 5, 4), {"scale_factor": (1.5, 2.3), "mode": "bilinear"}),
    ((1, 2, 5, 4), {"size": (7, 3), "mode": "bilinear", "align_corners": True}), ((1, 2, 5, 4), {"size": (3, 6), "mode": "bicubic"}),
    ((1, 2, 5, 4), {"size": (8, 2), "mode": "bicubic", "align_corners": True}), ((1, 2, 9, 8), {"size": (4, 3), "mode": "bilinear", "antialias": True}),
    ((1, 2, 9, 8), {"scale_factor": 0.4, "mode": "bicubic", "antialias": True, "recompute_scale_factor": True}),
    ((1, 2, 3, 4, 3), {"scale_factor": 1.7, "mode": "trilinear"}), ((1, 2, 5, 4), {"size": (3, 2), "mode": "area"}),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "options"), RESIZES)
def test_interpolate(agree, shape: tuple, options: dict) -> None:
    agree(lambda t, x: t.nn.functional.interpolate(x, **options), draw(*shape))


@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("mode", ["bilinear", "bicubic", "lanczos"])
@pytest.mark.parametrize("options", [{"size": (5, 3)}, {"size": (17, 20)}, {"scale_factor": 1.7}, {"scale_factor": 0.45}])
def test_images_of_bytes_are_torchs_to_the_last_bit(agree, mode: str, antialias: bool, options: dict) -> None:
    options = options | {"mode": mode, "antialias": antialias or mode == "lanczos"}
    for channels in (1, 3, 5):
        x = np.random.default_rng(channels).integers(0, 256, (2, channels, 9, 8), dtype=np.uint8)
        agree(lambda t, x: t.nn.functional.interpolate(x, **options), x)
        if mode != "lanczos":
            agree(lambda t, x: t.nn.functional.interpolate(x, align_corners=True, **options), x)


def test_an_infinite_element_stays_where_it_is(agree) -> None:
    x = draw(1, 1, 5, 4)
    x[..., 2, 1] = np.inf
    agree(lambda t, x: t.nn.functional.interpolate(x, size=(9, 9), mode="bilinear"), x, grad=False)


@pytest.mark.parametrize(
    "options",
    [
        {}, {"size": 2, "scale_factor": 2}, {"size": (2, 3, 4)}, {"scale_factor": (2, 3, 4)}, {"size": 2, "mode": "linear"},
        {"size": 2, "mode": "trilinear"}, {"size": 2, "mode": "sharp"}, {"size": 2, "mode": "nearest", "align_corners": True},
        {"size": 2, "antialias": True}, {"size": 0}, {"size": 2, "recompute_scale_factor": True}, {"scale_factor": 0.1},
    ],
)  # fmt: skip
def test_interpolate_errors(refuse, options: dict) -> None:
    refuse(lambda t, x: t.nn.functional.interpolate(x, **options), np.zeros((1, 1, 4, 4)))


@pytest.mark.parametrize("align", [True, False])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
def test_grid_sample(agree, mode: str, padding: str, align: bool) -> None:
    grid = np.random.default_rng(1).uniform(-2, 2, (2, 3, 4, 2))
    agree(lambda t, x, g: t.nn.functional.grid_sample(x, g, mode, padding, align), draw(2, 2, 5, 4), grid)


def test_affine_grid_and_volumes(agree) -> None:
    def sample(t, theta, x):
        return t.nn.functional.grid_sample(x, t.nn.functional.affine_grid(theta, (2, 1, 3, 4, 2), False), align_corners=False)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        agree(sample, draw(2, 3, 4), draw(2, 1, 4, 3, 5, seed=1))


@pytest.mark.parametrize("shape", [(1, 2, 2, 3), (2, 2, 2, 2), (1, 2, 2)])
def test_grid_sample_errors(refuse, shape: tuple) -> None:
    refuse(lambda t, x, g: t.nn.functional.grid_sample(x, g, align_corners=False), np.zeros((1, 1, 4, 4)), np.zeros(shape))


@pytest.mark.parametrize("options", [{}, {"dilation": 2, "padding": (1, 2), "stride": (2, 1)}])
def test_unfold_and_fold(agree, options: dict) -> None:
    agree(lambda t, x: t.nn.functional.unfold(x, (2, 3), **options), draw(2, 3, 6, 7))
    agree(
        lambda t, x: t.nn.functional.fold(t.nn.functional.unfold(x, (2, 3), **options), (6, 7), (2, 3), **options), draw(3, 6, 7)
    )


def test_folding_errors(refuse) -> None:
    for args in ((5,), ((2, 2, 2),), (0,), (2, 0), (2, 1, -1), (2, 1, 0, 0)):
        refuse(lambda t, x, args=args: t.nn.functional.unfold(x, *args), np.zeros((1, 3, 4, 4)))
    for shape, args in (((1, 12, 8), ((4, 4), 2)), ((1, 13, 9), ((4, 4), 2)), ((9,), ((4, 4), 2)), ((1, 12, 9), ((4,), 2))):
        refuse(lambda t, x, args=args: t.nn.functional.fold(x, *args), np.zeros(shape))


@pytest.mark.parametrize("dims", [2, 3])
def test_grid_sample_has_no_slope_where_the_image_is_constant(dims):
    rng = np.random.default_rng(0)
    varying = rng.normal(size=5).astype(np.float32)
    image = funtorch.tensor(np.broadcast_to(varying, (1, 1, *[4] * (dims - 1), 5)).copy())
    grid = funtorch.tensor(rng.uniform(-0.9, 0.9, size=(1, *[3] * dims, dims)).astype(np.float32), requires_grad=True)
    funtorch.nn.functional.grid_sample(image, grid, align_corners=True).sum().backward()
    assert (grid.grad[..., 1:] == 0).all() and (grid.grad[..., 0] != 0).all()
