"""`check(program)`: a program over a torch-like module ``m`` gives the same under torch and under funtorch.

Results are nested tuples, lists and dicts of Tensors, numbers, strings and None. `caught(fn)` is the builtin class and the
first words of what ``fn`` raises.
"""

import warnings

import numpy as np
import torch

import funtorch


def caught(fn, words=4):
    """The builtin class of the exception that ``fn`` raises, with its first words; "no error" if there is none."""
    try:
        fn()
    except Exception as error:
        kind = next(k for k in type(error).__mro__ if k.__module__ == "builtins" and k is not NotImplementedError)
        text = " ".join(str(error).split()[:words])
        return f"{kind.__name__}: {text}" if words else kind.__name__
    return "no error"


def plain(value):
    """A result as numbers."""
    if isinstance(value, (torch.Tensor, funtorch.Tensor)):
        return {"dtype": str(value.dtype), "values": np.asarray(value.detach().numpy(force=True))}
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(v) for v in value]
    return value


def compare(a, b, where=""):
    if isinstance(a, dict):
        assert isinstance(b, dict) and a.keys() == b.keys(), f"{where}: {a} in torch, {b} here"
        for key in a:
            compare(a[key], b[key], f"{where}.{key}")
    elif isinstance(a, list):
        assert isinstance(b, list) and len(a) == len(b), f"{where}: {a} in torch, {b} here"
        for number, pair in enumerate(zip(a, b, strict=True)):
            compare(*pair, f"{where}[{number}]")
    elif isinstance(a, (np.ndarray, float)):
        np.testing.assert_allclose(b, a, rtol=1e-9, atol=1e-12, err_msg=where)
        assert np.shape(a) == np.shape(b), where
    else:
        assert a == b, f"{where}: {a!r} in torch, {b!r} here"


def check(program):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected, found = plain(program(torch)), plain(program(funtorch))
    compare(expected, found)
