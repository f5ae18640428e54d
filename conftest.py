"""What concerns the test run as a whole."""

import pytest

collect_ignore = ["transforms", "models", "benchmarks"]


@pytest.fixture(scope="session", autouse=True)
def names_in_docstrings(doctest_namespace):
    """The examples in docstrings may use ``torch``, ``nn`` and ``F``."""
    import funtorch

    doctest_namespace.update(torch=funtorch, nn=funtorch.nn, F=funtorch.nn.functional)
