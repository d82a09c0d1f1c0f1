"""docs/reference.md says what the commands and the catalog say."""

from __future__ import annotations

from pathlib import Path

from motecrypt.cli._reference import page

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference.md"


def test_the_reference_is_up_to_date() -> None:
    assert PAGE.read_text() == page(), "run: python -m motecrypt.cli._reference > docs/reference.md"
