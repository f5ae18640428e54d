"""The package of models: its public names, and its refusal to be imported through the link at the root."""

import importlib.util
from pathlib import Path

import pytest

import funtorch.models

SOURCE = Path(__file__).parents[2] / "funtorch" / "models" / "__init__.py"


def test_every_model_is_public_and_documented():
    defined = {name for name, value in vars(funtorch.models).items() if getattr(value, "__doc__", None)}
    public = {name for name in defined if not name.startswith("_") and name[0].isupper()}
    assert set(funtorch.models.__all__) == public


def test_importing_the_link_says_what_to_write():
    spec = importlib.util.spec_from_file_location("models", SOURCE)
    with pytest.raises(ImportError, match=r"Write `import funtorch.models` instead"):
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
