"""docs/reference.md and docs/data.md say what the commands, the catalog and the records say.

Here of the small catalogue, so that something new changes no golden; `./test lint` compares the whole pages.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from made import data, reference
from motecrypt.cli import completion

COMMAND = "run: python -m made.reference > docs/reference.md"
DOCS = Path(__file__).resolve().parents[2] / "docs"
#: What depends on all that exists: how many a library has, and which studies there are.
COUNTED, STUDIES = re.compile(r"\| \d+ \|(?=  \|$)"), re.compile(r"\[[^\[ ]+\|FOLDER\]")


def _lines(page: str) -> list[str]:
    return [STUDIES.sub("[STUDY|FOLDER]", COUNTED.sub("| n |", line)) for line in page.splitlines()]


def test_the_reference_is_up_to_date() -> None:
    kept = iter(_lines((DOCS / "reference.md").read_text()))
    for line in _lines(reference.page()):
        passed = []
        for found in kept:
            if found == line:
                break
            passed.append(found)
        else:
            raise AssertionError(f"{COMMAND}: docs/reference.md lacks: {line}")
        assert all(other.startswith("| ") for other in passed), f"{COMMAND}: not so: {passed}"
    assert all(other.startswith("| ") for other in kept)


def test_a_command_that_ran_alone_before_has_the_same_page(monkeypatch: pytest.MonkeyPatch) -> None:
    before = reference.page()
    monkeypatch.setattr(completion.command, "_help_option", None)
    assert CliRunner().invoke(completion.command, ["--help"]).exit_code == 0
    assert reference.page() == before


def test_the_data_dictionary_is_up_to_date() -> None:
    made = data.page()
    assert (DOCS / "data.md").read_text() == made, "run: python -m made.data > docs/data.md"
