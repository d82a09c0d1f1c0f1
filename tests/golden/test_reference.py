"""docs/reference.md and docs/data.md say what the commands, the catalog and the records say."""

from __future__ import annotations

from pathlib import Path

from motecrypt.cli import _dictionary, _reference

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_reference_is_up_to_date() -> None:
    made = _reference.page()
    told = "run: python -m motecrypt.cli._reference > docs/reference.md"
    assert (DOCS / "reference.md").read_text() == made, told


def test_the_data_dictionary_is_up_to_date() -> None:
    made = _dictionary.page()
    assert (DOCS / "data.md").read_text() == made, "run: python -m motecrypt.cli._dictionary > docs/data.md"
