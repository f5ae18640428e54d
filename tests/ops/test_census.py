"""The names and keyword arguments that published code uses: each is there, and gives what torch gives.

``census.tsv`` lists them. ``census_examples.txt`` has calls, one a line, that are run under torch and under funtorch; what
they return or raise is compared. A name or a keyword of the table that no line uses fails the test.
"""

import ast
import csv
import functools
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import funtorch

HERE = Path(__file__).parent
EXAMPLES = (HERE / "census_examples.txt").read_text().splitlines()
MODULES = {"F": "torch.nn.functional"}
# What torch itself refuses, and so belongs to other objects in the code that was read.
REFUSED = {("torch.zeros", "memory_format"), ("torch.einsum", "backend")}


@functools.lru_cache
def census() -> list[dict]:
    with (HERE / "census.tsv").open() as table:
        return list(csv.DictReader(table, delimiter="\t"))


def dotted(node: ast.expr) -> str:
    """``torch.fft.fft`` for the function of such a call, ``Tensor.add`` for a method of anything else."""
    if isinstance(node, ast.Name):
        return MODULES.get(node.id, node.id if node.id == "torch" else "Tensor")
    if isinstance(node, ast.Attribute):
        inner = dotted(node.value)
        return f"{inner}.{node.attr}" if inner.startswith("torch") else f"Tensor.{node.attr}"
    return "Tensor"


@functools.lru_cache
def shown() -> set:
    """Each (name, keyword) that the examples have, and (name, "")."""
    found = set()
    for line in EXAMPLES:
        for node in ast.walk(ast.parse(line)):
            if isinstance(node, ast.Attribute):
                found.add((dotted(node), ""))
            if isinstance(node, ast.Call):
                found |= {(dotted(node.func), keyword.arg) for keyword in node.keywords}
    return found


def scope(module: Any) -> dict:
    """The Tensors that the examples speak of."""

    def of(*shape: int, kind: str = "float32", shift: float = 0.0) -> Any:
        wave = np.sin(np.arange(np.prod(shape)) * 1.7 + shift)
        return module.tensor(wave.reshape(shape).astype(kind))

    a, m = of(2, 3), of(3, 3)

    def saved(x: Any) -> io.BytesIO:
        stream = io.BytesIO()
        module.save(x, stream)
        stream.seek(0)
        return stream

    module.manual_seed(0)
    return {
        "torch": module,
        "F": module.nn.functional,
        "a": a,
        "b": of(2, 3, shift=2.0),
        "p": of(2, 3).abs() + 0.5,
        "q": of(2, 3).abs() * 0.8 + 0.1,
        "m": m @ m.T + module.eye(3) * 2,
        "v": of(3, shift=1.0),
        "w": of(3, shift=3.0),
        "i": module.tensor([[3, 1, 2], [5, 1, 0]]),
        "idx": module.tensor([0, 2]),
        "mask": module.tensor([[True, False, True], [True, True, False]]),
        "c": module.tensor(np.array([[1 + 2j, -1j], [0.5, 2 - 1j]], np.complex64)),
        "img": of(1, 2, 4, 4),
        "vol": of(1, 2, 3, 3, 3),
        "seq": of(1, 2, 5),
        "kernel": of(2, 1, 2, 2),
        "grid": of(1, 2, 2, 2),
        "batch": of(3, 3, 3),
        "odd": module.tensor([float("nan"), float("inf"), -float("inf"), 1.0]),
        "t": of(2, 3).requires_grad_(),
        "s": module.sparse_coo_tensor(module.tensor([[0, 2]]), module.tensor([1.0, 2.0]), (3,)),
        "g": module.Generator().manual_seed(7),
        "array": np.arange(6.0).reshape(2, 3),
        "saved": saved,
        "file": io.BytesIO,
    }


@pytest.mark.parametrize("line", EXAMPLES)
def test_examples(line, alike):
    alike(line, scope)


def test_every_name_is_there():
    from funtorch.naming.missing import NotThere

    absent = []
    of_complex = funtorch.zeros(2, 2, dtype=funtorch.complex64)
    for row in census():
        holder, _, name = row["name"].rpartition(".")
        owner = functools.reduce(getattr, holder.split(".")[1:], funtorch) if holder != "Tensor" else of_complex
        if not hasattr(owner, name) or isinstance(getattr(owner, name), NotThere):
            absent.append(row["name"])
    assert absent == []


def test_every_keyword_is_shown():
    wanted = {
        (row["name"], each)
        for row in census()
        if row["kind"] not in ("dtype", "value")
        for each in ("", *row["keywords"].split())
    }
    assert sorted(wanted - shown() - REFUSED) == []
