"""Every row of every study: its schema, its name, what it is derived from, and how rows are counted."""

from __future__ import annotations

import ast
import csv
import io
import json
from collections import Counter
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path

import pytest

from documented import missing
from goldens.views.made_up import STATES, filled
from motecrypt.catalog import DATA
from motecrypt.studies import counts, names, study
from motecrypt.studies.facts import Comparison, Tolerance
from schemas import problems

SCHEMA = json.loads((DATA / "comparison.schema.json").read_text(encoding="utf-8"))
IDS = Path(__file__).parents[2] / "data" / "fact_ids.txt"
STUDIES = Path(str(study("rf").__file__)).parents[1]


@cache
def rows(name: str, state: str = "near") -> tuple[Comparison, ...]:
    return tuple(study(name).comparisons(filled(state)))


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("name", names())
def test_every_row_passes_the_schema(name: str, state: str) -> None:
    for row in json.loads(json.dumps([asdict(each) for each in rows(name, state)], allow_nan=False)):
        assert list(problems(row, SCHEMA)) == [], row["id"]


def test_the_schema_says_no() -> None:
    good = json.loads(json.dumps(asdict(next(r for r in rows("rc4d") if r.verdict == "differs"))))
    bad = (
        {"verdict": "reproduced"},
        {"kind": "derived"},
        {"kind": "input"},
        {"cause_known": ""},
        {"cause_known": "shown by experiment", "command": ""},
        {"published": None},
        {"verdict": "needs hardware"},
        {"better": "yes"},
        {"tolerance": {"share": -0.1, "absolute": 0, "origin": "model"}},
        {"tolerance": {"share": 0.1, "absolute": 0, "origin": ""}},
        {"id": "A name"},
        {"measured": None},
        {"like_for_like": ""},
        {"more": 1},
    )
    assert not list(problems(good, SCHEMA))
    for change in bad:
        assert list(problems(good | change, SCHEMA)), change
    assert list(problems({k: v for k, v in good.items() if k != "id"}, SCHEMA))


@pytest.mark.parametrize("name", names())
def test_an_id_names_one_row_and_derived_rows_refer_to_facts(name: str) -> None:
    by_id = {row.id: row for row in rows(name)}
    assert len(by_id) == len(rows(name)) and all(key.startswith(f"{name}-") for key in by_id)
    for row in by_id.values():
        assert all(origin in by_id for origin in row.derived_from), row.id
        assert row.kind == "derived" or not row.derived_from
    roots = {origin for row in by_id.values() for origin in row.derived_from}
    assert all(by_id[origin].verdict != "not printed" for origin in roots)


def test_ids_stay() -> None:
    """Who refers to a row finds it in the next version; a row that goes or comes is a line of this file."""
    now = [f"{row.kind} {row.id}" for name in names() for row in rows(name)]
    assert sorted(now) == IDS.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("name", names())
def test_the_rows_are_the_same_whatever_is_stored(name: str, state: str) -> None:
    assert [row.id for row in rows(name, state)] == [row.id for row in rows(name)]


def test_no_study_writes_a_verdict() -> None:
    """Only the judge makes rows: no study calls Comparison or passes a verdict on."""
    for path in set(STUDIES.rglob("*.py")) - {STUDIES / "judge.py"}:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                assert ast.unparse(node.func) != "Comparison", path
                assert all(word.arg != "verdict" for word in node.keywords), path


def _row(**given: object) -> Comparison:
    plain = rows("rc4d")[0]
    base: dict[str, object] = {"kind": "figure", "verdict": "matches", "better": None, "derived_from": ()}
    base |= {"like_for_like": "author's code", "tolerance": Tolerance(0.05)}
    return replace(plain, **(base | given))  # type: ignore[arg-type]


def test_counts_say_what_they_are_of() -> None:
    ours = "same algorithm, ours"
    made = [
        *[_row()] * 12,
        _row(verdict="differs"),
        *[_row(like_for_like=ours, verdict="differs", better=True)] * 4,
        _row(like_for_like=ours),
        *[_row(verdict="needs hardware")] * 14,
        *[_row(kind="claim")] * 2,
        _row(kind="claim", verdict="differs"),
        _row(kind="claim", verdict="not measured"),
        *[_row(kind="derived", derived_from=("a",))] * 3,
        *[_row(kind="input", verdict="not measured", measured=None)] * 2,
        *[_row(verdict="not printed", published=None)] * 5,
    ]
    assert counts.sentences(made) == [
        "Of 32 printed figures 13 could be compared with the author's code (12 match within 5 %), 5 with our "
        "code of the same algorithm (1 matches within 5 %; where not, ours is better in 4); 14 left for "
        "hardware.",
        "Of 4 claims 3 could be compared; 2 hold; 1 not measured.",
        "Not counted: 3 derived from these, 2 used as inputs and 5 of ours for which nothing is printed.",
    ]
    assert counts.tally(made) == "matches 15, differs 6, needs hardware 14, not measured 1"
    assert counts.by_kind(made)["derived"] == {"matches": 3}
    assert (
        missing(
            "verdicts.md",
            *counts.sentences(
                [
                    _row(),
                    *[_row(verdict="differs")] * 7,
                    *[_row(like_for_like=ours, tolerance=Tolerance(0.15))] * 9,
                    *[_row(like_for_like=ours, tolerance=Tolerance(0.15), verdict="differs")] * 3,
                    *[_row(verdict="paper is inconsistent")] * 2,
                    *[_row(verdict="bring the code")] * 16,
                ]
            ),
        )
        == []
    )
    alone = counts.sentences([_row(like_for_like=ours)])
    assert alone[0].startswith(
        "Of 1 printed figure none could be compared with the author's code, 1 with our"
    )
    assert counts.sentences([]) == [] and counts.tally([]) == ""


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("name", names())
def test_no_figure_agrees_because_it_is_the_printed_one(name: str, state: str) -> None:
    """A figure or claim compared with the paper itself has other figures of the paper on our side."""
    for row in rows(name, state):
        if row.like_for_like == "the paper itself" and row.kind in ("figure", "claim"):
            assert row.verdict != "matches" or "recomputed" in row.note, row.id


def test_a_percentage_is_no_formula_in_a_spreadsheet() -> None:
    made = [_row(kind="claim", published="smaller", measured="-27 %, -20 %"), _row(measured=-1.5)]
    read = list(csv.DictReader(io.StringIO(counts.as_csv(made))))
    assert [line["measured"] for line in read] == ["'-27 %, -20 %", "-1.5"]


def test_rows_as_csv_have_what_json_has() -> None:
    made = rows("pico")
    read = list(csv.DictReader(io.StringIO(counts.as_csv(made))))
    assert [line["id"] for line in read] == [row.id for row in made]
    told = Counter(line["verdict"] for line in read)
    assert told == Counter(row.verdict for row in made)
    for line, row in zip(read, made, strict=True):
        assert line["derived_from"].split() == list(row.derived_from)
        assert line["cause"] == row.cause and line["command"] == row.command
        assert line["better"] == {True: "yes", False: "no", None: ""}[row.better]
        assert line["tolerance_share"] == ("" if row.tolerance is None else str(row.tolerance.share))
    fields = {name.partition("_")[0] if name.startswith("tolerance") else name for name in counts.COLUMNS}
    assert fields == set(SCHEMA["properties"]) - {"brief", "figures", "topic"}


def test_a_tolerance_is_told_with_its_origin() -> None:
    told = counts.tolerance_text
    assert told(_row()) == "± 5 % (exact)" and told(_row(tolerance=None)) == ""
    assert told(_row(tolerance=Tolerance(0.0, 0.5, "rounding"), unit="ms")) == "± 0.5 ms (rounding)"
    assert told(_row(tolerance=Tolerance(0.1, 2.0, "model"), unit="")) == "± 10 % and 2 (model)"
    assert told(_row(tolerance=Tolerance())) == "exact"
