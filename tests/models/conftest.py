"""A torch twin of each model, made of the same source text, and one training step of both compared."""

import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch

import funtorch

SOURCES = Path(__file__).parents[2] / "funtorch" / "models"


@pytest.fixture
def twin() -> Callable[[str], ModuleType]:
    """``twin("gpt")`` is funtorch/models/gpt.py executed on torch."""

    def load(name: str) -> ModuleType:
        source, count = re.subn(r"^from \.\.(\w*) import", add_torch, (SOURCES / f"{name}.py").read_text(), flags=re.M)
        assert count == 2
        module = ModuleType(f"torch_{name}")
        exec(compile(source, f"torch_{name}.py", "exec"), module.__dict__)
        return module

    return load


def add_torch(match: re.Match) -> str:
    return f"from torch.{match[1]} import" if match[1] else "from torch import"


@pytest.fixture
def same_step() -> Callable[..., None]:
    """``same_step(model, reference, x)``: equal outputs, gradients, and state after one training step."""

    def check(model, reference, *inputs: np.ndarray) -> None:
        model, reference = model.double(), reference.double()
        weights = {name: value.numpy().copy() for name, value in reference.state_dict().items()}
        model.load_state_dict({name: funtorch.from_numpy(value) for name, value in weights.items()})
        expected = step(torch, reference, inputs)
        got = step(funtorch, model, inputs)
        assert list(got) == list(expected)
        for name, value in expected.items():
            np.testing.assert_allclose(got[name], value, rtol=1e-9, atol=1e-9, err_msg=name)

    return check


def step(torch, model, inputs: tuple[np.ndarray, ...]) -> dict[str, np.ndarray]:
    """One step of SGD on the outputs' mean square: outputs, gradients and state under their names."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    outputs = model(*(torch.from_numpy(array) for array in inputs))
    outputs = outputs[0] if isinstance(outputs, tuple) else outputs
    (outputs**2).mean().backward()
    optimizer.step()
    result = {"outputs": outputs.detach().numpy()}
    result |= {f"gradient of {name}": p.grad.numpy() for name, p in model.named_parameters()}
    return result | {f"new {name}": value.numpy() for name, value in model.state_dict().items()}
