"""Running one scenario with both libraries and writing down what came of it, so that it can be compared."""

import collections
import types

import numpy as np
import pytest
import torch as oracle

import funtorch as torch
import funtorch.utils.data


def plain(value):
    """A result as nested Python values: tensors as dtype, shape and entries, containers by name."""
    if isinstance(value, (torch.Tensor, oracle.Tensor)):
        return ("tensor", str(value.dtype), tuple(value.shape), value.detach().tolist())
    if isinstance(value, np.ndarray):
        return ("array", value.dtype.name, value.tolist())
    if isinstance(value, (collections.abc.Mapping, types.MappingProxyType)):
        return (type(value).__name__, {key: plain(entry) for key, entry in value.items()})
    if isinstance(value, (list, tuple, collections.deque)):
        return (type(value).__name__, [plain(entry) for entry in value])
    return value


def raised(error):
    """The builtin class of an exception: the one that user code would catch."""
    kinds = (kind for kind in type(error).__mro__ if kind.__module__ == "builtins")
    return next(kinds)


def outcome(library, scenario):
    """What the scenario, a function of the library, returns or raises, from one seed."""
    library.manual_seed(0)
    try:
        return plain(scenario(library))
    except Exception as error:
        return raised(error)


@pytest.fixture
def same():
    """A function that runs a scenario with both libraries, asserts that they agree, and returns what came."""

    def compare(scenario):
        got, want = outcome(torch, scenario), outcome(oracle, scenario)
        assert got == want
        return got

    return compare
