"""The table of all rows in the report: each of its cells, and how figures are written."""

from __future__ import annotations

from typing import Any

import pytest

from motecrypt.present.pages.shell import embedded
from motecrypt.present.report.tables import _cells, number
from motecrypt.studies.facts import Comparison, Tolerance

PLAIN = ("matches", "", "row, column", "T1; figure; id", "1,234 us", "0.9877", "0.123", "")


def row(**changed: Any) -> Comparison:
    values: dict[str, Any] = {
        "source": "s",
        "table": "T1",
        "row": "row",
        "column": "column",
        "unit": "us",
        "id": "id",
        "published": 1234.5,
        "measured": 0.98766,
        "ratio": 0.12345,
        "verdict": "matches",
    }
    return Comparison(**values | changed)


@pytest.mark.parametrize(
    ("changed", "cells"),
    [
        ({}, {}),
        ({"better": True}, {0: "matches (ours is better)"}),
        ({"better": False}, {0: "matches (ours is not better)"}),
        ({"missing": "no radio"}, {0: "matches: no radio"}),
        ({"missing": "no radio", "note": "no radio"}, {0: "matches: no radio"}),
        ({"missing": "no radio", "note": "later"}, {0: "matches: no radio", 1: "later"}),
        ({"note": "n", "command": "motecrypt x"}, {1: "n. motecrypt x"}),
        ({"cause": "flags", "cause_known": "measured", "note": "n"}, {1: "n. flags (measured)"}),
        ({"column": ""}, {2: "row"}),
        ({"derived_from": ("a",)}, {3: "T1; figure from a; id"}),
        ({"derived_from": ("a", "b")}, {3: "T1; figure from a, b; id"}),
        ({"derived_from": ("a", "b", "c", "d")}, {3: "T1; figure from a, b and 2 more; id"}),
        ({"like_for_like": "a whole frame"}, {3: "T1; figure; ours is a whole frame; id"}),
        ({"published": "yes"}, {4: "yes"}),
        ({"published": None, "unit": ""}, {4: ""}),
        ({"published": 7}, {4: "7 us"}),
        ({"measured": None, "ratio": None}, {5: "", 6: ""}),
        ({"ratio": 1234.5}, {6: "1,234"}),
        ({"tolerance": Tolerance(0.05, 0.0, "usual")}, {7: "± 5 % (usual)"}),
    ],
)
def test_a_row_says_all_of_a_comparison(changed: dict[str, Any], cells: dict[int, str]) -> None:
    expected = [cells.get(at, cell) for at, cell in enumerate(PLAIN)]
    assert list(_cells(row(**changed))) == expected


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (None, 4, ""),
        ("yes", 4, "yes"),
        (0, 4, "0"),
        (1234567, 4, "1,234,567"),
        (-1234.0, 4, "-1,234"),
        (999.4, 4, "999.4"),
        (999.96, 4, "1000"),
        (1000.5, 4, "1,000"),
        (-1234.5, 4, "-1,234"),
        (99.5, 3, "99.5"),
        (100.25, 3, "100"),
        (0.0001, 4, "0.0001"),
        (0.00009999, 4, "1.00e-04"),
        (-0.00001234, 4, "-1.23e-05"),
        (0.123456, 4, "0.1235"),
        (0.123456, 3, "0.123"),
    ],
)
def test_a_figure_has_so_many_digits(value: Any, digits: int, text: str) -> None:
    assert number(value, digits) == text
    if digits == 4:
        assert number(value) == text


def test_what_is_no_json_is_refused() -> None:
    assert (
        embedded({"a": [1.5, "<b>&\x07"], "n": None})
        == '{"a":[1.5,"\\u003cb\\u003e\\u0026\\\\x07"],"n":null}'
    )
    for value in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="JSON compliant"):
            embedded({"a": value})
