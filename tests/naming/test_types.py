"""Types are printed, and pickled, under PyTorch's addresses."""

from __future__ import annotations

import importlib
import pickle

import pytest
import torch

import funtorch

TOP = "Tensor Size dtype device layout memory_format finfo iinfo Event Stream".split()
LAYERS = (
    "Module Linear Conv2d ConvTranspose2d ReLU Softmax MultiheadAttention TransformerEncoderLayer Transformer LSTM GRUCell Parameter "
    "ParameterList ParameterDict TripletMarginLoss LinearCrossEntropyLoss LazyLinear LazyConv2d LazyBatchNorm2d LazyInstanceNorm1d "
    "FractionalMaxPool2d Hardtanh SyncBatchNorm ZeroPad2d Identity"
).split()
OTHERS = {
    "optim": "Adam AdamW SGD LBFGS".split(),
    "optim.lr_scheduler": "LRScheduler StepLR OneCycleLR ReduceLROnPlateau".split(),
}


def pairs(path: str, names: list[str]):
    theirs, ours = (importlib.import_module(f"{lib}{path}") for lib in ("torch", "funtorch"))
    return [(getattr(theirs, name), getattr(ours, name)) for name in names]


@pytest.mark.parametrize(
    ("path", "names"), [("", TOP), (".nn", LAYERS), *((f".{path}", names) for path, names in OTHERS.items())]
)
def test_addresses(path, names):
    for theirs, ours in pairs(path, names):
        assert ours.__module__ == f"fun{theirs.__module__}" and ours.__qualname__ == theirs.__qualname__
        assert pickle.loads(pickle.dumps(ours)) is ours


def test_how_types_are_printed():
    x = funtorch.ones(2)
    assert [str(type(each)) for each in (x, x.shape, x.dtype)] == [f"<class 'funtorch.{n}'>" for n in ("Tensor", "Size", "dtype")]
    assert str(type(funtorch.nn.Parameter(x))) == "<class 'funtorch.nn.parameter.Parameter'>"
    assert pickle.loads(pickle.dumps(funtorch.Generator().manual_seed(3))).initial_seed() == 3


def test_names_of_functions():
    names = "relu gelu softmax leaky_relu sigmoid dropout cross_entropy".split()
    assert [getattr(funtorch.nn.functional, n).__name__ for n in names] == [
        getattr(torch.nn.functional, n).__name__ for n in names
    ]
