"""docs/operations.md says truly what is there: `make docs` writes it."""

import importlib.util
import json
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
spec = importlib.util.spec_from_file_location("docs_build", DOCS / "build.py")
build = importlib.util.module_from_spec(spec)
spec.loader.exec_module(build)
TABLE = json.loads(build.NAMES.read_text())


@pytest.mark.parametrize("space", build.NAMESPACES)
def test_the_page_names_what_is_there_and_what_is_not(space: str):
    title = space if space in ("torch", "Tensor") else f"torch.{space}"
    section = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", build.PAGE.read_text(), re.MULTILINE | re.DOTALL)[1]
    there, _, absent = section.partition("Not there:")
    for text, expected in ((there, True), (absent, False)):
        wrong = [name for name in re.findall(r"`(\w+)`", text) if build.is_there(space, name) != expected]
        assert not wrong, f"docs/operations.md is out of date: run `make docs` ({wrong})"
    assert set(re.findall(r"`(\w+)`", section)) == set(TABLE[space])


def test_a_name_alone_is_not_there():
    assert build.is_there("torch", "abs") and not build.is_there("torch", "int_repr")


def test_a_record_of_parity_becomes_columns(tmp_path, monkeypatch):
    record = {
        "columns": ["forward:float32", "forward:int64", "grad:float64", "vmap"],
        "names": {"abs": "PPP-", "div.floor": "PFM-", "div": "PP-X", "new": "MM-M"},
    }
    monkeypatch.setattr(build, "RECORD", tmp_path / "recorded.json")
    assert build.recorded() == {}
    build.RECORD.write_text(json.dumps(record))
    found = build.recorded()
    assert "new" not in found  # it came later
    assert build.checks(found["abs"]) == ("forward, grad", "")
    assert build.checks(found["div"]) == ("", "forward, grad")
    assert "| `abs` | forward, grad |  |" in build.section("torch", "functions", ["abs", "nonsense"], found)
