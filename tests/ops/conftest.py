"""``agree(f, *arrays)``: the same function of a torch-like module and Tensors, run under torch and under funtorch."""

import warnings
from typing import Any

import numpy as np
import pytest
import torch

import funtorch


def _leaves(result: Any) -> list:
    if isinstance(result, (tuple, list)):
        return [leaf for part in result for leaf in _leaves(part)]
    return [result]


def _numbers(tensor: Any) -> np.ndarray:
    tensor = tensor.detach()
    if str(tensor.dtype) == "torch.bfloat16":
        return tensor.float().numpy()
    return (tensor.resolve_conj() if isinstance(tensor, torch.Tensor) else tensor).numpy()


def _run(module: Any, f: Any, arrays: tuple, grad: bool) -> tuple[list, list]:
    """The results of ``f`` and the gradients of a weighted sum of them, or the exception's builtin classes."""
    inputs = [module.tensor(a, requires_grad=grad and a.dtype.kind in "fc") if isinstance(a, np.ndarray) else a for a in arrays]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # both warn of what is deprecated: see test_cautions
        results = _leaves(f(module, *inputs))
    tensors = [r for r in results if isinstance(r, module.Tensor)]
    wanted = [x for x in inputs if isinstance(x, module.Tensor) and x.requires_grad]
    grads: list = []
    differentiable = [r for r in tensors if r.requires_grad]
    if wanted and differentiable:
        weights = [np.cos(np.arange(r.numel(), dtype=np.float64)).reshape(tuple(r.shape)) for r in differentiable]
        total = sum((r * module.tensor(w).to(r.dtype)).sum().abs() for r, w in zip(differentiable, weights, strict=True))
        grads = list(module.autograd.grad(total, wanted, allow_unused=True))
    return results, grads


def _same(a: Any, b: Any, strides: bool, what: str) -> None:
    if not isinstance(a, torch.Tensor):
        assert a == b or (a is None and b is None), f"{what}: torch gives {a}, funtorch {b}"
        return
    assert tuple(a.shape) == tuple(b.shape), f"{what}: shape {tuple(a.shape)} in torch, {tuple(b.shape)} in funtorch"
    assert str(a.dtype) == str(b.dtype), f"{what}: {a.dtype} in torch, {b.dtype} in funtorch"
    np.testing.assert_allclose(_numbers(b), _numbers(a), rtol=1e-6, atol=1e-9, err_msg=what)
    if strides:
        assert (a._base is None) == (b._base is None), f"{what}: view {a._base is not None} in torch, {b._base is not None} here"
        assert (a.stride(), a.storage_offset()) == (b.stride(), b.storage_offset()), (
            f"{what}: strides {a.stride()} + {a.storage_offset()} in torch, {b.stride()} + {b.storage_offset()} here"
        )


def agree(f: Any, *arrays: Any, grad: bool = True, strides: bool = False) -> None:
    """Assert that both modules give the same values, dtypes, shapes and gradients; with ``strides`` the same views too."""
    expected, expected_grads = _run(torch, f, arrays, grad)
    results, grads = _run(funtorch, f, arrays, grad)
    assert len(expected) == len(results)
    for number, (a, b) in enumerate(zip(expected, results, strict=True)):
        _same(a, b, strides, f"result {number}")
    assert len(expected_grads) == len(grads)
    for number, (a, b) in enumerate(zip(expected_grads, grads, strict=True)):
        _same(a, b, False, f"gradient {number}")


def refuse(f: Any, *arrays: Any, words: bool = True) -> None:
    """Assert that both raise the same class of exception; with ``words``, in the same words up to spaces."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(Exception) as theirs:
            f(torch, *[torch.tensor(a) if isinstance(a, np.ndarray) else a for a in arrays])
        with pytest.raises(Exception) as ours:
            f(funtorch, *[funtorch.tensor(a) if isinstance(a, np.ndarray) else a for a in arrays])
    kind = next(k for k in theirs.type.__mro__ if k.__module__ == "builtins")
    assert isinstance(ours.value, kind), f"torch raises {kind.__name__}, funtorch {ours.value!r}"
    if words:
        expected, found = (" ".join(str(e.value).split("\n")[0].split()) for e in (theirs, ours))
        assert found == expected


@pytest.fixture(name="agree")
def _agree() -> Any:
    return agree


@pytest.fixture(name="refuse")
def _refuse() -> Any:
    return refuse


def _plain(module: Any, value: Any) -> Any:
    """A result as something that compares: what says nothing beyond its module is named by its class."""
    if isinstance(value, module.Tensor):
        value = value.detach()
        half = str(value.dtype).split(".")[1] in ("bfloat16", "float16")
        array = (value.float() if half else value.resolve_conj()).numpy()
        return "Tensor", str(value.dtype), tuple(value.shape), np.array(array)
    if isinstance(value, (tuple, list)):
        return "Size" if isinstance(value, module.Size) else "tuple", [_plain(module, each) for each in value]
    if value is None or isinstance(value, (bool, int, float, complex, str)):
        return value
    if isinstance(value, np.ndarray):
        return "array", str(value.dtype), value.shape, np.array(value)
    return str(value) if isinstance(value, (module.dtype, module.layout)) else type(value).__name__


def _outcome(module: Any, line: str, scope: Any) -> Any:
    """What an expression gives, or the error that it raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some of what torch still takes is deprecated
        try:
            return _plain(module, eval(line, scope(module)))
        except Exception as error:
            return error


def _matches(a: Any, b: Any, loose: float) -> bool:
    if isinstance(b, Exception):
        kinds = [k for k in type(b).__mro__ if k.__module__ == "builtins"]
        return isinstance(a, kinds[0])
    if isinstance(a, (tuple, list)) and type(a) is type(b) and len(a) == len(b):
        return all(_matches(x, y, loose) for x, y in zip(a, b, strict=True))
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.shape == b.shape and np.allclose(a, b, rtol=loose, atol=loose / 20, equal_nan=True)
    return type(a) is type(b) and (a == b or (a != a and b != b))


@pytest.fixture(scope="session")
def alike() -> Any:
    """``alike(line, scope)``: assert that an expression gives or raises under funtorch what it does under torch.

    ``scope(module)`` makes the names that it speaks of. An error's builtin class has to be that of torch's.
    """

    def check(line: str, scope: Any, may_raise: bool = False, loose: float = 2e-5) -> None:
        want = _outcome(torch, line, scope)
        assert may_raise or not isinstance(want, Exception), f"torch refuses this: {want}"
        got = _outcome(funtorch, line, scope)
        assert _matches(got, want, loose), f"{got!r} instead of {want!r}"

    return check
