"""The command line: what it prints, writes and returns."""

import json
import re
import sys

import jax
import pytest

import funtorch
from funtorch.cli import main


@pytest.fixture(autouse=True)
def wide_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")


def test_info_names_versions_devices_cache_and_engine(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("FUNTORCH_CACHE_DIR", str(tmp_path / "kernels"))
    assert main(["info"]) == 0
    rows = dict(re.split(r"\s{2,}", line.strip(), maxsplit=1) for line in capsys.readouterr().out.splitlines() if line.strip())
    assert rows["funtorch"] == funtorch.__version__
    assert jax.__version__ in rows["jax, jaxlib"]
    assert "cpu" in rows["devices"]
    assert str(tmp_path / "kernels") in rows["cache folder"]
    assert rows["engine"] in ("auto", "host", "kernel")


def test_info_says_when_the_cache_is_off(capsys, monkeypatch):
    monkeypatch.setenv("FUNTORCH_CACHE", "0")
    assert main(["info", "--engine"]) == 0
    assert "off (FUNTORCH_CACHE=0)" in capsys.readouterr().out


def test_demo_runs_one_part_and_writes_its_results(capsys, tmp_path):
    file = tmp_path / "results.json"
    assert main(["demo", "--only", "hvp", "--json", str(file)]) == 0
    results = json.loads(file.read_text())
    assert set(results) == {"hvp"}
    assert results["hvp"]["norm"] > 0
    assert 0 < results["hvp"]["relative_difference"] < 1e-4
    printed = capsys.readouterr().out
    assert f"norm {results['hvp']['norm']:.4f}" in printed
    assert "NO" not in printed


def test_a_seed_gives_the_same_results_again(tmp_path):
    found = []
    for name, seed in (("a", "3"), ("b", "3"), ("c", "4")):
        assert main(["demo", "--only", "hvp", "--seed", seed, "--json", str(tmp_path / name)]) == 0
        found.append(json.loads((tmp_path / name).read_text())["hvp"]["norm"])
    assert found[0] == found[1] != found[2]


def test_an_unknown_part_is_refused_before_anything_runs(capsys, tmp_path):
    file = tmp_path / "results.json"
    assert main(["demo", "--only", "nonsense", "--json", str(file)]) == 2
    assert capsys.readouterr().out.split("\n")[0] == (
        "funtorch demo: no part called nonsense; there are train, compile, per-sample, maml, hvp"
    )
    assert not file.exists()


def test_an_unknown_device_is_named(capsys):
    assert main(["demo", "--only", "hvp", "--device", "abacus"]) == 2
    assert "abacus" in capsys.readouterr().out


def test_without_scikit_learn_one_line_says_what_to_install(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    assert main(["demo"]) == 2
    assert capsys.readouterr().out.splitlines() == ["funtorch demo needs scikit-learn's digits: pip install 'funtorch-jax[demo]'"]


@pytest.mark.parametrize("arguments", [[], ["nonsense"], ["demo", "--seed", "x"]])
def test_wrong_arguments_exit_with_a_usage_line(capsys, arguments: list[str]):
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert capsys.readouterr().err.startswith("usage: funtorch")
