"""The package of models: public names, initial weights, the refusal to be imported through the link."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
import torch

import funtorch
import funtorch.models

# file, class, options of its configuration
MODELS = [
    ("mlp", "MLP", {"sizes": (3, 5, 2)}),
    ("resnet", "ResNet", {"blocks": (1, 1), "widths": (4, 6), "num_classes": 3}),
    ("lstm_lm", "LSTMLanguageModel", {"vocabulary": 11, "embedding": 5, "hidden": 6}),
    ("gpt", "GPT", {"vocab_size": 13, "block_size": 8, "n_layer": 2, "n_head": 2, "n_embd": 8}),
]
SOURCE = Path(__file__).parents[2] / "funtorch" / "models" / "__init__.py"


def test_every_model_is_public_and_documented():
    defined = {name for name, value in vars(funtorch.models).items() if getattr(value, "__doc__", None)}
    public = {name for name in defined if not name.startswith("_") and name[0].isupper()}
    assert set(funtorch.models.__all__) == public


@pytest.mark.parametrize(("file", "name", "options"), MODELS)
def test_a_seed_gives_the_initial_weights_that_it_gives_in_torch(file: str, name: str, options: dict, twin):
    states = []
    for framework, module in ((funtorch, funtorch.models), (torch, twin(file))):
        framework.manual_seed(3)
        states.append(getattr(module, name)(getattr(module, f"{name}Config")(**options)).state_dict())
    state, expected = states
    assert list(state) == list(expected)
    for key, value in expected.items():
        np.testing.assert_allclose(state[key].numpy(), value.numpy(), rtol=1e-6, atol=1e-7, err_msg=key)


def test_importing_the_link_says_what_to_write():
    spec = importlib.util.spec_from_file_location("models", SOURCE)
    with pytest.raises(ImportError, match=r"Write `import funtorch.models` instead"):
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
