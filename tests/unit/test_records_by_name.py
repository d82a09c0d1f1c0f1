"""Records are made field by field: `./test lint` asks it of every module. These are the ways that it sees."""

from __future__ import annotations

import pytest

from lint.sources import modules, parsed
from lint.stars import dataclasses_of, starred

RECORDS = frozenset({"Cell", "Comparison"})


def test_the_model_is_among_the_records() -> None:
    records = dataclasses_of(modules())
    assert {"Cell", "Comparison", "Measurement", "ExperimentResult", "Section", "Cipher", "Device"} <= records


@pytest.mark.parametrize(
    "source",
    [
        "Comparison(*place, None, None)",
        "rows.append(Cell(a, *rest))",
        "model.Cell(*rest)",
        "def row(a) -> Comparison: ...\nrow(*(1, 2), note='x')",
        "at = partial(Comparison, source=1)\nat(*rest)",
        "at = partial(Comparison, *place)",
    ],
)
def test_each_way_to_star_is_seen(source: str) -> None:
    assert len(list(starred(parsed(source), RECORDS))) == 1


@pytest.mark.parametrize("source", ["print(*rows)", "Comparison(source=1)", "[*rows, Cell(a)]"])
def test_other_stars_pass(source: str) -> None:
    assert list(starred(parsed(source), RECORDS)) == []
