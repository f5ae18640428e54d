"""Running the same lines with torch and with funtorch, and comparing what comes out, errors too."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import pytest
import torch

import funtorch


def make_kit(lib: Any) -> SimpleNamespace:
    """A library with a few small Modules made from its own Module class."""

    class Affine(lib.nn.Module):
        def __init__(self, n_in: int, n_out: int) -> None:
            super().__init__()
            self.n_in, self.n_out = n_in, n_out
            self.weight = lib.nn.Parameter(lib.tensor([[0.5 + i - j for j in range(n_in)] for i in range(n_out)]))
            self.bias = lib.nn.Parameter(lib.tensor([0.1 * i for i in range(n_out)]))

        def forward(self, x: Any) -> Any:
            return (self.weight * x).sum(-1) + self.bias

        def extra_repr(self) -> str:
            return f"{self.n_in}, {self.n_out}"

    class Norm(lib.nn.Module):
        _version = 2

        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("mean", lib.tensor([1.0, 2.0]))
            self.register_buffer("count", lib.tensor(3))
            self.register_buffer("scratch", lib.tensor([0.0]), persistent=False)
            self.register_parameter("scale", None)

        def forward(self, x: Any) -> Any:
            return x - self.mean

    class Raw(lib.nn.Module):
        def __init__(self) -> None:
            pass

    def net() -> Any:
        return lib.nn.Sequential(Affine(2, 2), Norm())

    def assign(module: Any, **values: Any) -> Any:
        for name, value in values.items():
            setattr(module, name, value)
        return module

    return SimpleNamespace(
        lib=lib,
        nn=lib.nn,
        Affine=Affine,
        Norm=Norm,
        Raw=Raw,
        net=net,
        assign=assign,
        tensor=lib.tensor,
        P=lib.nn.Parameter,
    )


KITS = {"torch": make_kit(torch), "funtorch": make_kit(funtorch)}


def plain(value: Any) -> Any:
    """A value in terms that do not depend on the library."""
    for kit in KITS.values():
        if isinstance(value, kit.lib.Tensor):
            kind = "parameter" if isinstance(value, (torch.nn.Parameter, funtorch.nn.Parameter)) else "tensor"
            numbers = [round(x, 4) for x in value.detach().flatten().tolist()]
            return kind, str(value.dtype), tuple(value.shape), numbers, value.requires_grad
        if isinstance(value, kit.nn.Module):
            return repr(value)
    if isinstance(value, Mapping):
        return [(plain(k), plain(v)) for k, v in value.items()]
    if isinstance(value, (list, tuple, set, frozenset)) or type(value).__name__ in (
        "dict_keys",
        "dict_items",
    ):
        return [plain(v) for v in value]
    return value if isinstance(value, (str, int, float, bool, type(None))) else without_paths(str(value))


def without_paths(text: str) -> str:
    """A message in which classes stand without the modules that they come from."""
    return re.sub(r"[\w.]+(?:\.<locals>)?\.(\w+)", r"\1", text)


def outcome(fn: Callable, kit: SimpleNamespace) -> tuple[str, Any, str]:
    try:
        return "value", plain(fn(kit)), ""
    except Exception as error:
        return "error", type(error), without_paths(str(error))


@pytest.fixture
def alike() -> Callable:
    """Checks that a function of a kit gives the same value, or the same error, with both libraries."""

    def check(fn: Callable, text: bool = True) -> Any:
        (kind, expected, said), (mine, got, says) = (outcome(fn, KITS[name]) for name in ("torch", "funtorch"))
        assert mine == kind, f"torch: {expected} {said}\nfuntorch: {got} {says}"
        if kind == "value":
            assert got == expected
            return got
        assert issubclass(got, expected), f"torch: {expected} {said}\nfuntorch: {got} {says}"
        if text:
            assert says == said
        return got

    return check


@pytest.fixture
def kit() -> SimpleNamespace:
    """funtorch's kit alone."""
    return KITS["funtorch"]
