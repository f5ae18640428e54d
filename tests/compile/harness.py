"""One check for all: a function is called eagerly and compiled, and everything that can be seen afterwards is the same.

A case is a function that builds fresh state and returns a `Plan`. Each of two runs builds its own, seeds alike, and goes twice
through the plan's six calls; results, cells, gradients, optimisers' state and the generator's state are compared after each.
"""

import dataclasses
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import funtorch
from funtorch import nn
from funtorch.core.trees import flatten
from funtorch.transforms.compiling import compiled_of

CALLS, ROUNDS = 6, 2


@dataclasses.dataclass
class Plan:
    """``step`` is called with ``args(i)`` at call i (of 0 to 11; 6 kinds, twice). ``cells`` are what else may change."""

    step: Callable
    args: Callable[[int], tuple]
    cells: dict[str, Any] = dataclasses.field(default_factory=dict)
    between: Callable[[int], None] = lambda i: None  # after call i
    kwargs: Callable[[int], dict] = lambda i: {}


class Cases:
    """The cases of a file: ``@cases(...)`` adds one."""

    def __init__(self):
        self.made = []

    def __call__(self, compiled=6, eager=None, loose=None):
        """``compiled``: how many of the 12 calls must run compiled at least. ``eager``: what the warning says instead.

        ``loose``: the relative tolerance for float32, where it is not that of the rounding of float32.
        """

        def add(build):
            self.made.append((build, 0 if eager else compiled, eager, loose))
            return build

        return add

    @property
    def test(self):
        ids = [build.__name__ for build, *_ in self.made]

        @pytest.mark.parametrize(("build", "compiled", "eager", "loose"), self.made, ids=ids)
        def test(build, compiled, eager, loose):
            check(build, compiled, eager, loose)

        return test


def check(build, compiled=6, eager=None, loose=None):
    expected = run(build, lambda f: f)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        wrapped = []
        found = run(build, lambda f: wrapped.append(funtorch.compile(f)) or wrapped[0])
    texts = [str(w.message) for w in said if "funtorch.compile" in str(w.message)]
    explained = funtorch.compiler.explain(wrapped[0])
    if eager:
        assert any(re.search(eager, text) for text in texts), f"{texts}\n{explained}"
    else:
        assert not texts, f"{texts}\n{explained}"
    for i, (a, b) in enumerate(zip(expected, found, strict=True)):
        assert a.keys() == b.keys(), f"call {i}: {a.keys() ^ b.keys()}"
        for name in a:
            same(a[name], b[name], f"call {i}, {name}\n{explained}", loose)
    counts = compiled_of(wrapped[0], "check").counts
    assert counts["compiled"] >= compiled, explained
    if eager:
        assert counts["compiled"] < CALLS * ROUNDS - 2, explained
    assert counts["compiled"] + counts["eager"] == CALLS * ROUNDS, explained


def run(build, wrap):
    funtorch.manual_seed(0)
    plan = build()
    step = wrap(plan.step)
    seen = []
    for i in range(CALLS * ROUNDS):
        args, kwargs = plan.args(i), plan.kwargs(i)
        try:
            result = step(*args, **kwargs)
        except (KeyError, ValueError, RuntimeError) as error:
            result = (type(error).__name__, str(error).split("\n")[0])
        seen.append(observed(result, args, kwargs, plan.cells))
        plan.between(i)
    return seen


def observed(result, args, kwargs, cells):
    """All that can be seen after a call, by name."""
    given = [a for a in flatten((args, kwargs), is_leaf=lambda v: isinstance(v, nn.Module))[0] if isinstance(a, funtorch.Tensor)]
    known = {id(t): f"argument {i}" for i, t in reversed(list(enumerate(given)))}
    known |= {id(t): name for name, t in cells.items() if isinstance(t, funtorch.Tensor)}
    known |= {
        id(t.grad): f"gradient of {name}" for name, t in cells.items() if isinstance(t, funtorch.Tensor) and t.grad is not None
    }
    seen = {"generator": funtorch.get_rng_state().numpy().copy()}
    outs, spec = flatten(result)
    seen["structure"] = repr(spec)
    for i, out in enumerate(outs):
        seen[f"result {i}"] = of_tensor(out) if isinstance(out, funtorch.Tensor) else out
        if isinstance(out, funtorch.Tensor):
            base = out._base if out._base is not None and id(out._base) in known else None
            seen[f"result {i} is"] = known.get(id(out)) or (base is not None and f"a view of {known[id(base)]}") or ""
            known.setdefault(id(out), f"result {i}")
    for i, t in enumerate(given):
        seen |= {f"argument {i} {k}": v for k, v in of_tensor(t).items()}
    for name, cell in cells.items():
        seen |= {f"{name} {k}": v for k, v in of_cell(cell).items()}
    return seen


def of_tensor(t):
    about = {"value": t.detach().numpy().copy(), "requires": t.requires_grad, "stride": t.stride(), "leaf": t.is_leaf}
    grad = t.grad if t.is_leaf else None
    return about | {"grad": None if grad is None else grad.detach().numpy().copy()}


def of_cell(cell):
    if isinstance(cell, funtorch.Tensor):
        return of_tensor(cell)
    if isinstance(cell, nn.Module):
        named = [*cell.named_parameters(), *cell.named_buffers()]
        return {f"{name} {k}": v for name, t in named for k, v in of_tensor(t).items()} | {"training": cell.training}
    if isinstance(cell, funtorch.optim.Optimizer):
        groups = [{k: v for k, v in g.items() if k != "params"} for g in cell.param_groups]
        return {"state": plain(cell.state_dict()["state"]), "groups": plain(groups)}
    return {"value": plain(cell() if callable(cell) else cell)}


def plain(value):
    if isinstance(value, funtorch.Tensor):
        return value.detach().numpy().copy()
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return [plain(v) for v in value] if isinstance(value, (list, tuple)) else value


def same(a, b, where, loose=None):
    assert type(a) is type(b), f"{where}: {a} and {b}"
    if isinstance(a, dict):
        assert a.keys() == b.keys(), f"{where}: {a} and {b}"
        for k in a:
            same(a[k], b[k], f"{k} of {where}", loose)
    elif isinstance(a, list):
        assert len(a) == len(b), where
        for i, (p, q) in enumerate(zip(a, b, strict=True)):
            same(p, q, f"{i} of {where}", loose)
    elif isinstance(a, np.ndarray):
        assert a.dtype == b.dtype and a.shape == b.shape, f"{where}: {a.dtype}{a.shape} and {b.dtype}{b.shape}"
        tolerance = {"float64": 1e-8, "float32": loose or 2e-5, "complex128": 1e-8}.get(a.dtype.name, 0)
        np.testing.assert_allclose(b, a, rtol=tolerance, atol=tolerance / 10, err_msg=where)
    else:
        assert a == b or a != a and b != b, f"{where}: {a} and {b}"


def tensor(*values, **options):
    return funtorch.tensor(values, **options)


def parameter(*shape, seed=0):
    """A leaf that requires grad."""
    return funtorch.tensor(np.random.RandomState(seed).randn(*shape), requires_grad=True)


def batch(*shape, seed=100):
    """A function of i: a Tensor of that shape with values of its own."""
    return lambda i: (funtorch.tensor(np.random.RandomState(seed + i).randn(*shape)),)


def labelled(n=5, features=3, classes=2):
    """A function of i: a batch and its labels."""

    def args(i):
        random = np.random.RandomState(i)
        return funtorch.tensor(random.randn(n, features)), funtorch.tensor(random.randint(0, classes, n))

    return args


def net(norm=False, drop=0.0, features=3, classes=2, seed=0):
    """A small classifier in double precision."""
    before = funtorch.get_rng_state()
    funtorch.manual_seed(seed)
    middle = [nn.BatchNorm1d(4)] if norm else []
    model = nn.Sequential(nn.Linear(features, 4), *middle, nn.Tanh(), nn.Dropout(drop), nn.Linear(4, classes))
    funtorch.set_rng_state(before)
    return model
