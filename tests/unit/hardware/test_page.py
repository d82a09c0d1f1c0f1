"""The page of the study has the figures that are recorded."""

from __future__ import annotations

from dataclasses import replace

from made._hardware_page import page, table
from made.hardware import PAGE
from motecrypt.adviser.hardware.bounds import BOUNDS_FILE, bounds_as_text, recorded_bounds
from motecrypt.adviser.hardware.recorded import fidelities, newest
from motecrypt.adviser.hardware.rows import settings
from motecrypt.results.experiments.recorded import file_of, read


def test_the_table_is_that_of_the_recorded_residuals() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert page(text) == text, "python -m made.hardware"
    assert page(text.replace(table(), "")) == text
    uno = recorded_bounds()["uno"]
    assert "ctz/cifra" in [code for each in settings().excluded for code in each.codes]
    assert f"| `uno` | zero wait states | {uno.rows} |" in text and uno.text in text


def test_the_bounds_are_those_of_the_recorded_residuals() -> None:
    known = fidelities()
    assert len(known) > 5 and recorded_bounds() == known, "python -m made.hardware"
    assert BOUNDS_FILE.read_text(encoding="utf-8") == bounds_as_text(known)


def test_an_older_answer_does_not_replace_a_newer_one() -> None:
    first, *_, last = read(file_of("hardware"))
    older = replace(first, experiment=replace(first.experiment, made_at="2001-01-01T00:00:00Z"))
    newer = replace(first, experiment=replace(first.experiment, made_at="2999-01-01T00:00:00Z"))
    assert newest([last, first, older]) == [first, last]
    assert newest([older, first]) == newest([first, older]) == [first]
    assert newest([first, newer]) == [newer]
