"""Every public name of torch.utils.data resolves; one that is not there says so when it is used."""

import pytest
import torch as oracle

import funtorch as torch

MISSING = [name for name in oracle.utils.data.__all__ if "Pipe" in name or "pipe" in name or name == "DataChunk"]


@pytest.mark.parametrize("name", oracle.utils.data.__all__)
def test_names(name):
    assert getattr(torch.utils.data, name).__name__.split(".")[-1] == name


@pytest.mark.parametrize("module", ["dataset", "dataloader", "sampler", "distributed"])
def test_names_of_modules(module):
    theirs = getattr(oracle.utils.data, module)
    names = [name for name in theirs.__all__ if not hasattr(getattr(torch.utils.data, module), name)]
    assert names == []


@pytest.mark.parametrize("name", MISSING)
def test_data_pipes(name):
    with pytest.raises(NotImplementedError, match=name):
        getattr(torch.utils.data, name)(len)


def test_iterators_of_a_loader_have_pytorchs_classes():
    from funtorch.utils.data.dataloader import _BaseDataLoaderIter, _MultiProcessingDataLoaderIter, _SingleProcessDataLoaderIter

    one, two = (iter(torch.utils.data.DataLoader(range(2), num_workers=workers)) for workers in (0, 1))
    assert type(one) is _SingleProcessDataLoaderIter and type(two) is _MultiProcessingDataLoaderIter
    assert isinstance(one, _BaseDataLoaderIter) and isinstance(two, _BaseDataLoaderIter)
