"""Texts of tensors, compared letter by letter with PyTorch's."""

import itertools

import ml_dtypes
import numpy as np
import pytest
import torch as oracle
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import funtorch
from funtorch import printing

NAN, INF = float("nan"), float("inf")
FLOATS = [
    [0.0, -0.0, 0.0],
    [1.0, 2.0, -3.0],
    [1.0, 1000.0],
    [1.0, 1001.0],
    [1.5, 1000.0],
    [0.1, 100.1],
    [1e8, 2e8],
    [1e8 + 8, 1e8],
    [1e-4, 0.01],
    [9e-5, 0.01],
    [1e-30, -1.0],
    [NAN, INF, -INF],
    [NAN, 0.0, 1.0, -INF],
    [NAN, 0.5, INF],
    [-0.0, 0.5],
    [1e300, -1e-300],
    [5e-324, 1.0],
    [123456.789],
    [99999.99999, 5.0],
    [-1e-5],
    [1e16],
    [2.5],
]
SHAPES = [
    (),
    (0,),
    (1,),
    (5,),
    (40,),
    (0, 3),
    (2, 0),
    (3, 4),
    (7, 1),
    (2, 3, 2),
    (1, 30),
    (2, 1, 2, 3),
    (1000,),
    (1001,),
]
SHAPES += [(2000,), (40, 50), (5, 300), (300, 5), (11, 11, 11), (2, 2, 400), (1500, 1), (1, 1500)]
OPTION_SHAPES = [(), (3,), (0,), (0, 3), (30,), (5, 9), (2, 8, 8)]
NAMES = [
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
    "bool",
    "uint8",
    "int8",
    "int16",
]
NAMES += ["int32", "int64", "uint16", "uint32", "uint64", "float8_e4m3fn", "float8_e5m2"]
OPTIONS = [
    {},
    {"precision": 0},
    {"precision": 7},
    {"sci_mode": True},
    {"sci_mode": False},
    {"linewidth": 20},
    {"linewidth": 5},
    {"linewidth": 200},
    {"threshold": 3},
    {"threshold": 3, "edgeitems": 1},
    {"threshold": 3, "edgeitems": 0},
    {"threshold": float("inf")},
    {"profile": "short"},
    {"profile": "full"},
    {"profile": "default"},
    {"profile": "short", "precision": 6, "sci_mode": True},
    {"profile": "no such profile"},
]


@pytest.fixture(autouse=True)
def restored_options():
    yield
    for library in (printing, oracle):
        library.set_printoptions(profile="default")


def to_oracle(array: np.ndarray) -> oracle.Tensor:
    """The same values as a tensor of PyTorch, by way of integers where the dtype is foreign to NumPy."""
    if array.dtype.isbuiltin != 2:
        return oracle.from_numpy(np.array(array))
    bits = np.array(array).view(f"int{8 * array.dtype.itemsize}")
    return oracle.from_numpy(bits).view(getattr(oracle, array.dtype.name))


def numbers(name: str, shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    dtype = np.dtype(getattr(ml_dtypes, name, name))
    if name.startswith("complex"):
        return np.asarray(rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype)
    if dtype.kind in "biu":
        return np.asarray(rng.integers(0, 2 if name == "bool" else 120, size=shape)).astype(dtype)
    return np.asarray(rng.normal(size=shape)).astype(dtype)


def check(array: np.ndarray) -> None:
    assert printing.tensor_text(array) == repr(to_oracle(array))


@pytest.mark.parametrize("values", FLOATS, ids=str)
@pytest.mark.parametrize("name", ["float16", "bfloat16", "float32", "float64"])
def test_floats(values, name):
    with np.errstate(over="ignore"):
        array = np.array(values).astype(np.dtype(getattr(ml_dtypes, name, name)))
    check(array)
    for one in array:
        check(np.array(one))


@pytest.mark.parametrize("real, imag", list(itertools.product(FLOATS, FLOATS[:12])), ids=str)
def test_complex(real, imag):
    size = min(len(real), len(imag))
    array = np.empty(size, np.complex128)
    array.real, array.imag = real[:size], imag[:size]
    check(array)
    check(array[0].reshape(()))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_shapes_and_dtypes(shape, name):
    check(numbers(name, shape))


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_options(options):
    for library in (printing, oracle):
        library.set_printoptions(**options)
    for name, shape in itertools.product(["float32", "float64", "int64", "complex64"], OPTION_SHAPES):
        check(numbers(name, shape))
    for values in FLOATS:
        check(np.array(values))


def test_options_are_kept_and_returned():
    printing.set_printoptions(precision=2, linewidth=60, sci_mode=True)
    printing.set_printoptions(edgeitems=5)
    want = {"precision": 2, "threshold": 1000, "edgeitems": 5, "linewidth": 60, "sci_mode": None}
    assert printing.get_printoptions() == want
    printing.set_printoptions(profile="full")
    printing.set_printoptions(**{**printing.get_printoptions(), "linewidth": 70})
    assert printing.get_printoptions() == {
        **want,
        "precision": 4,
        "threshold": INF,
        "edgeitems": 3,
        "linewidth": 70,
    }


def test_a_line_without_end():
    printing.set_printoptions(linewidth=INF)
    assert "\n" not in printing.tensor_text(np.arange(500))


@pytest.mark.parametrize("default", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("shape", [(), (2,), (0,), (0, 2)], ids=str)
def test_the_default_dtype_is_not_shown(default, shape):
    before = oracle.get_default_dtype()
    oracle.set_default_dtype(getattr(oracle, default))
    try:
        for name in NAMES:
            array = numbers(name, shape)
            got = printing.tensor_text(array, dtype_name=f"torch.{name}", default_dtype_name=f"torch.{default}")
            assert got == repr(to_oracle(array))
    finally:
        oracle.set_default_dtype(before)


@pytest.mark.parametrize("size", [*range(1, 16), 30, 2000])
def test_gradients(size):
    leaf = oracle.linspace(0, 1, size, dtype=oracle.float64, requires_grad=True)
    array = leaf.detach().numpy()
    assert printing.tensor_text(array, requires_grad=True) == repr(leaf)
    result = leaf + 1
    got = printing.tensor_text(result.detach().numpy(), requires_grad=True, grad_fn_name="AddBackward0")
    assert got == repr(result)


@pytest.mark.parametrize("width", range(10, 90, 3))
def test_lines_of_suffixes(width):
    for library in (printing, oracle):
        library.set_printoptions(linewidth=width)
    for shape in [(), (2,), (0, 3), (3, 4)]:
        array = numbers("float64", shape)
        assert printing.tensor_text(array, requires_grad=True) == repr(to_oracle(array).requires_grad_())


@pytest.mark.parametrize("shape", [(3,), (4, 4), (40,), (2, 0)], ids=str)
def test_subclasses(shape):
    class Measured(oracle.Tensor):
        pass

    array = numbers("float32", shape)
    assert printing.tensor_text(array, prefix="Measured") == repr(oracle.from_numpy(array).as_subclass(Measured))
    ours = funtorch.from_numpy(array).as_subclass(type("Measured", (funtorch.Tensor,), {}))
    assert repr(ours) == repr(oracle.from_numpy(array).as_subclass(Measured))


def test_device_and_indent():
    array = np.ones(2, np.float32)
    got = printing.tensor_text(array, device="cuda:0", requires_grad=True)
    assert got == "tensor([1., 1.], device='cuda:0', requires_grad=True)"
    assert printing.tensor_text(np.ones((2, 2), np.float32), indent=2) == "tensor([[1., 1.],\n          [1., 1.]])"


@pytest.mark.parametrize("name", [name for name in NAMES if name != "bool"])
@pytest.mark.parametrize("spec", ["", ".3f", "8", "<9"])
def test_format_of_one_element(name, spec):
    array = numbers(name, (), seed=3)
    tensor = to_oracle(array)
    try:
        want = format(tensor, spec)
    except (ValueError, TypeError) as error:
        with pytest.raises(type(error)):
            printing.format_scalar(array, spec)
    else:
        assert printing.format_scalar(array, spec) == want


def test_format_needs_one_element():
    assert printing.format_scalar(np.array(True)) == format(oracle.tensor(True)) == "True"
    with pytest.raises(ValueError):
        printing.format_scalar(np.ones(2))


def any_array(name: str) -> st.SearchStrategy[np.ndarray]:
    return hnp.arrays(np.dtype(name), hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=6))


@pytest.mark.parametrize("name", ["float16", "float32", "float64", "complex64", "complex128", "int8", "int64", "bool"])
def test_any_array(name):
    @settings(max_examples=60, deadline=None)
    @given(any_array(name), st.booleans(), st.sampled_from([80, 30]), st.sampled_from([1000, 8]))
    def compare(array, fractions, width, threshold):
        for library in (printing, oracle):
            library.set_printoptions(linewidth=width, threshold=threshold)
        if fractions and array.dtype.kind in "fc":
            array = np.asarray(np.random.default_rng(array.size).normal(size=array.shape)).astype(array.dtype)
        check(array)

    compare()
