"""``funtorch info --engine``: rules, bounds, and what ran through XLA for want of a NumPy rule."""

from __future__ import annotations

import re
import subprocess
import sys

import jax
import numpy as np
import pytest
from jax.lax import linalg

from funtorch.cli import main
from funtorch.core import host, tiers
from funtorch.core.engine import programs


@pytest.fixture(autouse=True)
def wide_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")


@pytest.fixture
def no_falls():
    before = host.falls.copy()
    host.falls.clear()
    yield
    host.falls.clear()
    host.falls.update(before)


def shown(capsys):
    assert main(["info", "--engine"]) == 0
    return capsys.readouterr().out


def fall(times):
    """Runs a primitive that has no rule."""
    x = np.eye(3)
    program = host.prepare(jax.make_jaxpr(linalg.hessenberg)(x))
    for _ in range(times):
        program(x)


def test_falls_are_counted_and_listed(capsys, no_falls):
    assert "In this process none yet" in shown(capsys)
    fall(3)
    text = shown(capsys)
    assert "3 runs of 1 primitives:" in text
    assert "hessenberg: 3 runs through XLA for want of a NumPy rule" in text


def test_rules_and_primitives_are_listed(capsys):
    text = shown(capsys)
    assert f"{tiers.LARGE:g} us and more, in at most {tiers.SHORT} primitives: a kernel at once" in text
    assert f"after {tiers.MOST_CALLS} calls at the latest" in text
    names = re.split(r",\s+", text.split("Primitives with a NumPy rule: ")[1].split("\n\n")[0].split("\n", 1)[1].strip())
    assert {"dot_general", "gather", "while", "random_bits", "cholesky"} <= set(names)


def test_bounds_name_their_variables(capsys, monkeypatch):
    monkeypatch.setenv("FUNTORCH_CACHE_MEGABYTES", "77")
    text = shown(capsys)
    assert "77 MB (FUNTORCH_CACHE_MEGABYTES)" in text
    assert f"{programs.limit}, of which" in text
    assert "(FUNTORCH_PROGRAMS)" in text
    monkeypatch.setenv("FUNTORCH_CACHE", "0")
    assert "none (FUNTORCH_CACHE=0)" in shown(capsys)


def test_without_the_option_the_engine_is_one_line(capsys):
    assert main(["info"]) == 0
    assert "NumPy rule" not in capsys.readouterr().out


def test_a_program_can_list_its_falls_at_its_end(monkeypatch):
    monkeypatch.setenv("FUNTORCH_LOGS", "recompiles,falls")
    code = "import jax, numpy as np; from funtorch.core import host; from jax.lax import linalg; x = np.eye(3); "
    code += "host.prepare(jax.make_jaxpr(linalg.hessenberg)(x))(x)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "[falls] hessenberg: 1 runs through XLA for want of a NumPy rule\n"
