import sys
from pathlib import Path

import pytest

import funtorch

sys.path.insert(0, str(Path(__file__).parent))  # harness.py stands here


@pytest.fixture(autouse=True)
def double_precision():
    before = funtorch.get_default_dtype()
    funtorch.set_default_dtype(funtorch.float64)
    yield
    funtorch.set_default_dtype(before)
