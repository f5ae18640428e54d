"""The same steps with torch and with funtorch: parameters, states, saved states both ways, derivatives, errors."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import funtorch

SHAPES = ((3, 2), (4,))
STEPS = 20
LIBS = {"torch": torch, "funtorch": funtorch}


def gradients(step: int, dtype: str, shapes: tuple) -> list[np.ndarray]:
    """Of falling size, now and then zero; complex ones in both parts."""
    rng = np.random.default_rng(step)
    made = [rng.standard_normal(shape) / (1 + step / 4) * (step % 7 != 3) for shape in shapes]
    if dtype.startswith("complex"):
        made = [each + 1j * rng.standard_normal(each.shape) for each in made]
    return [each.astype(dtype) for each in made]


def start(lib: Any, name: str, options: dict, dtype: str, shapes: tuple) -> tuple[list, Any]:
    params = [lib.nn.Parameter(lib.tensor(g)) for g in gradients(100, dtype, shapes)]
    return params, getattr(lib.optim, name)(params, **options(lib) if callable(options) else options)


def walk(params: list, optimizer: Any, lib: Any, dtype: str, shapes: tuple, steps: range) -> None:
    for step in steps:
        for p, g in zip(params, gradients(step, dtype, shapes), strict=True):
            p.grad = lib.tensor(g)
        optimizer.step()


def numbers(value: Any) -> Any:
    """A state in terms that do not depend on the library."""
    if isinstance(value, (torch.Tensor, funtorch.Tensor)):
        return np.asarray(value.detach().numpy())
    if isinstance(value, dict):
        return {k: numbers(v) for k, v in value.items()}
    return [numbers(v) for v in value] if isinstance(value, (list, tuple)) else value


def assert_near(got: Any, expected: Any, tolerance: float) -> None:
    if isinstance(expected, dict):
        assert list(got) == list(expected)
        for key in expected:
            assert_near(got[key], expected[key], tolerance)
    elif isinstance(expected, list):
        assert len(got) == len(expected)
        for a, b in zip(got, expected, strict=True):
            assert_near(a, b, tolerance)
    elif isinstance(expected, np.ndarray):
        assert got.dtype == expected.dtype
        np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance)
    else:
        assert got == expected


def foreign(state: Any, lib: Any) -> Any:
    """A saved state with the Tensors of another library."""
    if isinstance(state, dict):
        return {k: foreign(v, lib) for k, v in state.items()}
    if isinstance(state, list):
        return [foreign(v, lib) for v in state]
    return lib.tensor(numbers(state)) if isinstance(state, (torch.Tensor, funtorch.Tensor)) else state


@pytest.fixture
def same_steps() -> Callable:
    """Checks 20 steps beside PyTorch's: parameters, and states with their keys."""

    def check(name: str, options: Any, dtype: str = "float64", tolerance: float = 1e-8, shapes: tuple = SHAPES) -> None:
        ends = {}
        for key, lib in LIBS.items():
            params, optimizer = start(lib, name, options, dtype, shapes)
            walk(params, optimizer, lib, dtype, shapes, range(STEPS))
            ends[key] = numbers([p.detach() for p in params]), numbers(optimizer.state_dict())
        assert_near(ends["funtorch"][0], ends["torch"][0], tolerance)
        assert_near(ends["funtorch"][1], ends["torch"][1], tolerance)
        moved = [np.abs(a - b).max() for a, b in zip(ends["funtorch"][0], gradients(100, dtype, shapes), strict=True)]
        assert min(moved) > 0

    return check


@pytest.fixture
def crossing() -> Callable:
    """Checks that a state saved by either library goes on in the other as it would have in its own."""

    def check(name: str, options: Any, tolerance: float = 1e-8, shapes: tuple = SHAPES) -> None:
        half = range(STEPS // 2)
        for first, second in (("torch", "funtorch"), ("funtorch", "torch")):
            params, optimizer = start(LIBS[first], name, options, "float64", shapes)
            walk(params, optimizer, LIBS[first], "float64", shapes, half)
            others, other = start(LIBS[second], name, options, "float64", shapes)
            for p, q in zip(others, params, strict=True):
                p.data = LIBS[second].tensor(numbers(q.detach()))
            other.load_state_dict(foreign(optimizer.state_dict(), LIBS[second]))
            walk(params, optimizer, LIBS[first], "float64", shapes, range(STEPS // 2, STEPS))
            walk(others, other, LIBS[second], "float64", shapes, range(STEPS // 2, STEPS))
            assert_near(numbers([p.detach() for p in others]), numbers([p.detach() for p in params]), tolerance)

    return check


def after_steps(lib: Any, name: str, options: dict, begin: Any, scale: Any) -> Any:
    """A loss after three steps from ``begin`` with gradients made of ``scale``."""
    p = begin.clone()
    p = p if options.get("differentiable") else p.detach().requires_grad_()
    optimizer = getattr(lib.optim, name)([p], **options)
    for _ in range(3):
        p.grad = scale * begin
        optimizer.step()
    return (p * p).sum()


def slopes(name: str, options: dict, values: np.ndarray) -> np.ndarray:
    """The derivatives of that loss by central differences of PyTorch's ordinary steps."""
    found = np.zeros_like(values)
    for place in np.ndindex(values.shape):
        ends = []
        for sign in (1, -1):
            moved = values.copy()
            moved[place] += sign * 1e-6
            ends.append(float(after_steps(torch, name, options, *torch.tensor(moved)).detach()))
        found[place] = (ends[0] - ends[1]) / 2e-6
    return found


def derivatives(name: str, options: dict, values: np.ndarray) -> np.ndarray:
    begin, scale = (funtorch.tensor(row, requires_grad=True) for row in values)
    after_steps(funtorch, name, {**options, "differentiable": True}, begin, scale).backward()
    return np.stack([numbers(begin.grad), numbers(scale.grad)])


@pytest.fixture
def same_derivatives() -> Callable:
    """Checks derivatives through ``differentiable=True`` by differences; at gradients that are 0 they must be finite."""

    def check(name: str, options: dict) -> None:
        values = np.array([[0.5, -1.0, 2.0], [0.3, 0.7, -0.2]])
        expected = slopes(name, options, values)
        np.testing.assert_allclose(derivatives(name, options, values), expected, rtol=1e-5, atol=1e-6)
        assert np.abs(expected).max() > 0
        assert np.isfinite(derivatives(name, options, np.array([[0.5, -1.0], [0.0, 0.0]]))).all()

    return check


@pytest.fixture
def same_error() -> Callable:
    """Checks that options are refused with PyTorch's type of exception, and the value in the text."""

    def check(name: str, options: dict, params: Any = None, text: str | None = None) -> None:
        kinds = {}
        for key, lib in LIBS.items():
            given = [lib.nn.Parameter(lib.zeros(2, 2))] if params is None else params(lib)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                with pytest.raises(Exception) as raised:
                    getattr(lib.optim, name)(given, **options(lib) if callable(options) else options)
            kinds[key] = raised
        assert issubclass(kinds["funtorch"].type, kinds["torch"].type), kinds
        said = str(kinds["funtorch"].value)
        assert (text or str(kinds["torch"].value).splitlines()[0]) in said

    return check
