"""The examples in the docstrings of what op files declare: doctest itself does not see functions that are generated."""

import doctest

import pytest

import funtorch
from funtorch import nn
from funtorch.nn import functional as F
from funtorch.ops import registry


def examples() -> dict[str, doctest.DocTest]:
    """The examples of each function and method, under its full name."""
    spaces = {space: registry.names(space) for space in registry.namespaces()} | {"Tensor": registry.methods}
    parser, found = doctest.DocTestParser(), {}
    for space, names in spaces.items():
        for name, fn in names.items():
            test = parser.get_doctest(fn.__doc__ or "", {"torch": funtorch, "nn": nn, "F": F}, f"{space}.{name}", None, 0)
            if test.examples and fn not in (t for t, _ in found.values()):
                found[f"{space}.{name}"] = (fn, test)
    return {name: test for name, (_, test) in found.items()}


EXAMPLES = examples()


@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str):
    report: list[str] = []
    failed, tried = doctest.DocTestRunner(verbose=False).run(EXAMPLES[name], out=report.append)
    assert tried and not failed, "".join(report)


def test_there_are_examples():
    assert len(EXAMPLES) > 20
