"""Tensor types of old, ``Tensor.type``, and storages, beside PyTorch's."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import torch

import funtorch
from funtorch import cautions

NAMES = [f"{word}Tensor" for word in ("Float", "Double", "Half", "BFloat16", "Long", "Int", "Short", "Char", "Byte", "Bool")]
MADE = [(), (2, 3), ([1, 0],), ([[1, 2], [0, 3]],), ((1, 2),), (np.array([1.0, 0.0]),), (0,)]


def described(tensor):
    return tuple(tensor.shape), str(tensor.dtype), tensor.type()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("args", MADE, ids=str)
def test_constructors(name, args):
    mine, theirs = getattr(funtorch, name)(*args), getattr(torch, name)(*args)
    assert described(mine) == described(theirs)
    if args and not isinstance(args[0], int):
        assert mine.tolist() == theirs.tolist()


@pytest.mark.parametrize("name", NAMES)
def test_types_tell_tensors_apart(name):
    for dtype in ("float32", "float64", "int64", "bool"):
        mine, theirs = (lib.zeros(1, dtype=getattr(lib, dtype)) for lib in (funtorch, torch))
        assert isinstance(mine, getattr(funtorch, name)) == isinstance(theirs, getattr(torch, name))
        assert not isinstance(mine, getattr(funtorch.cuda, name))
        assert mine.type(getattr(funtorch, name)).dtype == getattr(funtorch, name).dtype
        assert mine.type(f"torch.{name}").type() == theirs.type(getattr(torch, name)).type()
    assert not isinstance(3, getattr(funtorch, name))


def test_other_ways():
    assert funtorch.FloatTensor(funtorch.Size([2])).shape == (2,)
    x = funtorch.zeros(2)
    funtorch.FloatTensor(x).fill_(1)
    assert x.tolist() == [1, 1]
    assert repr(funtorch.LongTensor) == repr(torch.LongTensor)
    assert isinstance(x, (funtorch.LongTensor, funtorch.FloatTensor)) and not isinstance(x, (funtorch.LongTensor, int))
    assert (funtorch.FloatTensor | None).__args__ == (funtorch.FloatTensor, type(None))  # as annotations have it


@pytest.mark.parametrize("make", [lambda lib: lib.FloatTensor(3.5), lambda lib: lib.FloatTensor("ab"), lambda lib: lib.FloatTensor(2.0, 3), lambda lib: lib.FloatTensor(lib.zeros(1, dtype=lib.float64)), lambda lib: lib.cuda.LongTensor([1])])  # fmt: skip
def test_what_is_no_tensor(make):
    for lib in (torch, funtorch):
        with pytest.raises(TypeError):
            make(lib)


def test_the_default_type(monkeypatch):
    def default(lib, kind):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            lib.set_default_tensor_type(kind)

    try:
        for kind in (funtorch.DoubleTensor, "torch.FloatTensor", "torch.DoubleTensor", funtorch.Tensor):
            default(funtorch, kind)
            wanted = "float64" if "Double" in str(kind) else "float32"
            assert str(funtorch.tensor(1.0).dtype) == f"torch.{wanted}"
            assert str(funtorch.zeros(1).device) == "cpu"
        monkeypatch.setattr(cautions, "_given", set())
        with pytest.warns(UserWarning, match="deprecated"):
            funtorch.set_default_tensor_type(funtorch.FloatTensor)
        with pytest.raises(TypeError, match="torch.NoTensor"):
            default(funtorch, "torch.NoTensor")
        for wrong in ("torch.LongTensor", 3):
            for lib in (torch, funtorch):
                with pytest.raises(TypeError):
                    default(lib, wrong)
        assert funtorch.get_default_dtype() is funtorch.float32
    finally:
        funtorch.set_default_dtype(funtorch.float32)
        torch.set_default_dtype(torch.float32)


# Storages


def row(lib):
    base = lib.arange(6, dtype=lib.float32).reshape(2, 3)
    return base, base[1]


def test_storages():
    seen = []
    for lib in (torch, funtorch):
        base, view = row(lib)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            typed = view.storage()
            seen.append(
                (
                    typed.size(),
                    len(typed),
                    typed.tolist(),
                    list(typed),
                    typed[1],
                    typed.nbytes(),
                    typed.element_size(),
                    str(typed.dtype),
                )
            )
            untyped = view.untyped_storage()
            seen[-1] += (
                untyped.size(),
                untyped.nbytes(),
                len(untyped),
                untyped.tolist(),
                untyped[5],
                str(untyped.device),
                untyped.is_cuda,
            )
            assert untyped.data_ptr() == base.untyped_storage().data_ptr() != lib.ones(6).untyped_storage().data_ptr()
    assert seen[1] == seen[0]


def test_storages_are_those_of_the_whole():
    base, view = row(funtorch)
    base[1, 0] = 9.0
    assert view.untyped_storage() == base.untyped_storage() == base.storage().untyped()
    assert len({base.untyped_storage(), view.detach().untyped_storage(), funtorch.ones(1).untyped_storage()}) == 2
    assert view.storage()[3] == 9.0
    assert repr(funtorch.tensor([1, 2]).storage()) == " 1\n 2\n[torch.storage.TypedStorage(device=cpu) of size 2]"
    assert isinstance(base.storage(), funtorch.TypedStorage) and isinstance(base.untyped_storage(), funtorch.UntypedStorage)


def test_storage_types():
    made = []
    for lib in (torch, funtorch):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            storage = lib.ByteStorage.from_buffer(b"abc")
            made.append((lib.ByteTensor(storage).tolist(), lib.FloatStorage([1, 2]).tolist(), len(lib.LongStorage(3))))
            made[-1] += (lib.ShortStorage.from_buffer(b"\0\1\0\2", "big").tolist(), lib.IntStorage([1]).tolist())
            typed = lib.ones(2).storage()
            assert isinstance(typed, lib.FloatStorage) and not isinstance(typed, lib.DoubleStorage)
    assert made[0] == made[1] == ([97, 98, 99], [1, 2], 3, [1, 2], [1])
    with pytest.raises(ValueError, match="byte_order"):
        funtorch.ByteStorage.from_buffer(b"", "odd")


@pytest.mark.parametrize("name", ["FloatTensor", "DoubleTensor", "LongTensor"])
def test_a_sparse_tensor_names_its_type(name):
    def types(lib):
        sparse = lib.eye(3).to_sparse().type(getattr(lib.sparse, name))
        dense = lib.eye(3).type(f"torch.sparse.{name}")
        return sparse.type(), sparse.is_sparse, dense.type(), dense.is_sparse, sparse.to_dense().type()

    assert types(funtorch) == types(torch)
