"""Every public name of torch.utils.data resolves; one that is not there says so when it is used."""

import pytest
import torch as oracle

import funtorch as torch
from funtorch.utils.data import datapipes


@pytest.mark.parametrize("name", oracle.utils.data.__all__)
def test_names(name):
    assert getattr(torch.utils.data, name).__name__ == name


@pytest.mark.parametrize("module", ["dataset", "dataloader", "sampler", "distributed"])
def test_names_of_modules(module):
    theirs = getattr(oracle.utils.data, module)
    names = [name for name in theirs.__all__ if not hasattr(getattr(torch.utils.data, module), name)]
    assert names == []


@pytest.mark.parametrize("name", datapipes.NAMES)
def test_data_pipes(name):
    missing = getattr(torch.utils.data, name)
    with pytest.raises(NotImplementedError, match=f"utils.data.{name} is not there"):
        missing(len)
    with pytest.raises(NotImplementedError, match=name):
        type("Own", (missing,), {})
    assert not isinstance([], missing)


def test_no_such_name():
    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        torch.utils.data.nothing_of_the_kind  # noqa: B018
