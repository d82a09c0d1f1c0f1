"""Each section of a page with figures of cycles, time, memory or shares has a date or a test.

A figure without any of them becomes wrong unnoticed.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from documented import DOCS

TESTS = Path(__file__).parents[1]
LEDGER: dict[str, dict[str, Any]] = tomllib.loads((TESTS / "data" / "documented.toml").read_text("utf-8"))
#: Generated from the code, and compared with it by golden/test_reference.py.
GENERATED = ("reference.md", "data.md")
FIGURE = re.compile(
    r"\d[\d,.]* (?:%|ms|us|µs|cycles|KB|MB|mA|µA|mJ|days|times\b)|\d[\d,]* bytes of (?:flash|RAM)"
)
MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
DATE = re.compile(rf"20\d\d-\d\d-\d\d|\d+ (?:{MONTHS}) 20\d\d")


def _sections(page: Path) -> dict[str, str]:
    """The text of each section by its title, without blocks of code."""
    found: dict[str, list[str]] = {}
    title, fenced = "", False
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced and (heading := re.match(r"#+ (.+)", line)):
            title = heading[1]
        elif not fenced:
            found.setdefault(title, []).append(line)
    return {name: "\n".join(lines) for name, lines in found.items()}


def _pages() -> list[Path]:
    return [p for p in (*sorted(DOCS.glob("*.md")), DOCS.parent / "README.md") if p.name not in GENERATED]


@pytest.mark.parametrize("page", _pages(), ids=lambda page: page.name)
def test_each_section_with_figures_says_where_they_come_from(page: Path) -> None:
    told = LEDGER.get(page.name, {})
    sections = _sections(page)
    bare = [
        title
        for title, text in sections.items()
        if FIGURE.search(text) and not DATE.search(text) and title not in told
    ]
    assert bare == [], "give the figures a test, and name it in tests/data/documented.toml"
    assert set(told) <= set(sections), "sections of documented.toml that the page does not have"


def test_what_is_listed_is_there_and_each_section_has_a_test() -> None:
    assert set(LEDGER) <= {page.name for page in _pages()}
    for page, sections in LEDGER.items():
        for title, entry in sections.items():
            assert {"tests"} <= set(entry) <= {"tests", "rest"} and entry["tests"], (page, title)
            for test in entry["tests"]:
                assert (TESTS / test).is_file(), (page, title, test)
            assert len(entry.get("rest", "a data sheet")) > 10, (page, title)


def test_a_new_figure_without_a_date_is_found(tmp_path: Path) -> None:
    page = tmp_path / "new.md"
    page.write_text(
        "# New\n\nIt took 12,345 cycles.\n\n## Dated\n\nIt took 9 ms on 2026-11-23.\n\n```\n9 ms\n```\n"
    )
    with pytest.raises(AssertionError, match=r"\['New'\] == \[\]"):
        test_each_section_with_figures_says_where_they_come_from(page)
    page.write_text(page.read_text().replace("cycles", "cycles (2026-11-23)"))
    test_each_section_with_figures_says_where_they_come_from(page)
