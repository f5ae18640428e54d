"""The Python blocks of README.md and docs/*.md run, and print what they say.

The blocks of a page run one after another with shared names. A line ``print(...)  # -> text`` must print that text.
"""

import contextlib
import io
import re
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SAYS = re.compile(r"^\s*print\(.*\)  # -> (.*)$", re.MULTILINE)


def blocks(page: Path) -> list[tuple[int, str]]:
    """The line and the text of each Python block of a page."""
    text = page.read_text()
    return [(text[: found.start()].count("\n") + 2, found[1]) for found in BLOCK.finditer(text)]


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.name)
def test_snippets_run_and_print_what_they_say(page: Path):
    names: dict = {"__name__": "__main__"}
    for line, source in blocks(page):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), warnings.catch_warnings():
            warnings.simplefilter("error")
            exec(compile("\n" * (line - 1) + source, str(page), "exec"), names)
        shown = printed.getvalue().splitlines()
        for text in SAYS.findall(source):
            assert text in shown, f"{page.name}, block at line {line}: {text!r} is not among the lines printed: {shown}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path):
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_every_page_is_reachable_from_the_first():
    first = (ROOT / "docs" / "getting_started.md").read_text()
    for page in (ROOT / "docs").glob("*.md"):
        assert page.name == "getting_started.md" or f"({page.name})" in first, page.name
