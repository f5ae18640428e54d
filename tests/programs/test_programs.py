"""Each program of this folder under torch and funtorch, from the same weights, compared step by step."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch

import funtorch

HERE = Path(__file__).parent
SHARED = {"starting_point", "test_programs"}
PROGRAMS = sorted(path.stem for path in HERE.glob("*.py") if path.stem not in SHARED)
MADE_EMPTY = {"graph_convolution", "lstm_language_model"}  # their parameters have no values before `fill`
SEEDED = [name for name in PROGRAMS if name not in MADE_EMPTY and "import arrays, fill" in (HERE / f"{name}.py").read_text()]


def load(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The program ``name``, imported afresh as it would be when run from its own folder."""
    monkeypatch.syspath_prepend(str(HERE))
    for module in (name, "starting_point"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    return importlib.import_module(name)


def flat(result, path: str = "") -> dict[str, np.ndarray]:
    """Every number of a result under its path: ``loss[3]``, ``parameters.0.weight``; lists step by step."""
    if isinstance(result, dict):
        parts = [flat(value, f"{path}.{key}".lstrip(".")) for key, value in result.items()]
    elif isinstance(result, list):
        parts = [flat(value, f"{path}[{i}]") for i, value in enumerate(result)]
    else:
        return {path: np.asarray(result)}
    return {key: value for part in parts for key, value in part.items()}


def steps_of(result) -> int:
    """The length of the longest list of logged values."""
    lengths = [len(result)] if isinstance(result, list) else []
    children = result.values() if isinstance(result, dict) else result if isinstance(result, list) else ()
    return max([*lengths, *(steps_of(child) for child in children)], default=0)


@pytest.mark.parametrize("name", PROGRAMS)
def test_both_frameworks_give_the_same_numbers(name: str, monkeypatch: pytest.MonkeyPatch):
    program = load(name, monkeypatch)
    expected, got = flat(program.run(torch)), flat(program.run(funtorch))
    assert list(got) == list(expected)
    for key, value in expected.items():
        assert got[key].shape == value.shape and got[key].dtype == value.dtype, key
        np.testing.assert_allclose(got[key], value, rtol=program.TOLERANCE, atol=program.TOLERANCE, err_msg=f"{name}: {key}")


@pytest.mark.parametrize("name", SEEDED)
def test_the_seed_alone_gives_both_the_same_run(name: str, monkeypatch: pytest.MonkeyPatch):
    """The modules' own initial weights, in place of those that the programs share."""
    program = load(name, monkeypatch)
    monkeypatch.setattr(program, "fill", lambda torch, module, rng: module)
    results = []
    for lib in (torch, funtorch):
        lib.manual_seed(0)
        results.append((flat(program.run(lib)), lib.get_rng_state().numpy()))
    (expected, expected_state), (got, state) = results
    for key, value in expected.items():
        np.testing.assert_allclose(got[key], value, rtol=program.TOLERANCE, atol=program.TOLERANCE, err_msg=f"{name}: {key}")
    np.testing.assert_array_equal(state, expected_state, err_msg="the generators have come apart")


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_has_steps_that_depend_on_the_weights(name: str, monkeypatch: pytest.MonkeyPatch):
    program = load(name, monkeypatch)
    result = program.run(torch)
    assert steps_of(result) >= 8
    numbers, others = flat(result), flat(program.run(torch, seed=1))
    assert all(np.isfinite(value).all() for value in numbers.values())
    arrays = [key for key, value in numbers.items() if value.dtype.kind == "f" and value.ndim > 0]
    assert arrays, "the program returns no final parameters"
    assert any(np.abs(numbers[key] - others[key]).max() > 1e-3 for key in arrays)


def test_the_comparison_sees_a_small_difference():
    value = {"loss": [1.0, 2.0], "parameters": {"w": np.ones(2)}}
    assert list(flat(value)) == ["loss[0]", "loss[1]", "parameters.w"]
    with pytest.raises(AssertionError):
        np.testing.assert_allclose(np.array(1.0 + 1e-7), np.array(1.0), rtol=1e-8, atol=1e-8)
