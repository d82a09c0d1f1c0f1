"""The history of figures over many versions: from results files, a folder, or the history of the gate."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from command_line import run
from made_rows import made_measurement
from motecrypt.base.model import Measurement
from motecrypt.gate.history import HistoryPoint, write_history
from motecrypt.present.compare.history import Collector, FigureHistory, FigureStep, History
from motecrypt.results import Results
from page_data import HOSTILE, Read, made_history


def history_of(*versions: Sequence[Measurement]) -> History:
    collector = Collector()
    for number, measurements in enumerate(versions, start=1):
        collector.add_measurements(f"v{number}", f"v{number}.db", measurements)
    return collector.history()


def figure(made: History, name: str = "cycles") -> FigureHistory:
    return next(one for one in made.figures if one.figure == name)


def cycles(value: int, **more: object) -> Measurement:
    return replace(made_measurement(), cycles_median=value, **more)  # type: ignore[arg-type]


FAILED = replace(made_measurement(), status="fault", reason="no room", cycles_median=None, flash_bytes=None)


def test_every_version_that_changed_a_figure_is_named() -> None:
    found = figure(
        history_of([cycles(1000)], [cycles(1000)], [cycles(1100)], [], [cycles(1100)], [cycles(550)])
    )
    assert found.values == (1000, 1000, 1100, None, 1100, 550)
    assert found.steps == (
        FigureStep("worse", "v3", "v2", 1000, 1100, 10.0),
        FigureStep("better", "v6", "v5", 1100, 550, -50.0),
    )
    assert found.percent == -45.0


def test_a_change_after_a_gap_is_that_of_the_version_that_has_it_again() -> None:
    found = figure(history_of([cycles(1000)], [], [cycles(900)]))
    assert found.steps == (FigureStep("better", "v3", "v1", 1000, 900, -10.0),)


def test_a_cell_that_fails_broke_and_was_fixed() -> None:
    made = history_of([cycles(1000)], [FAILED], [FAILED], [cycles(1000)])
    found = figure(made)
    assert found.failed == ("v2", "v3") and found.values == (1000, None, None, 1000)
    assert [(s.kind, s.version) for s in found.steps] == [("broke", "v2"), ("fixed", "v4")]
    assert made.figures[0] is found, "what broke is first"
    assert figure(made, "flash").steps == (), "a size that is missing has not changed"


def test_sizes_are_of_a_build_and_cells_of_their_length() -> None:
    versions = [
        [cycles(1000, flash_bytes=flash), cycles(4000, message_bytes=64, flash_bytes=flash)]
        for flash in (2000, 2100)
    ]
    made = history_of(*versions)
    assert [one.figure for one in made.changed] == ["flash"]
    assert sum(one.figure == "cycles" for one in made.figures) == 2
    assert len({(one.name, one.figure) for one in made.figures}) == len(made.figures)


def test_the_newest_of_equal_cells_counts() -> None:
    made = history_of([cycles(1000), cycles(5)], [cycles(1000)])
    assert figure(made).values == (1000, 1000) and made.versions[0].cells == 1
    newer, older = cycles(1, flash_bytes=7), cycles(2, flash_bytes=9, message_bytes=64)
    assert figure(history_of([newer, older], [newer]), "flash").values == (7, 7)


@pytest.mark.parametrize(("last", "worse"), [(1021, True), (1020, False), (900, False), (None, True)])
def test_worse_is_what_the_last_version_made_worse(last: int | None, worse: bool) -> None:
    made = history_of([cycles(2000)], [cycles(1000)], [FAILED if last is None else cycles(last)])
    assert bool(made.worse(2.0)) == worse
    assert not history_of([cycles(1000)], [cycles(2000)], [cycles(2000)]).worse(2.0), "an older version did"


def test_flags_separate_cells_unless_they_are_ignored() -> None:
    sides = [cycles(1000, flags_asked="-O2")], [cycles(900, flags_asked="-O3")]
    assert not history_of(*sides).changed
    collector = Collector(across_flags=True)
    for number, side in enumerate(sides):
        collector.add_measurements(str(number), "", side)
    assert len(collector.history().changed) == 1


def test_more_battery_days_are_better() -> None:
    collector = Collector()
    for number, days in enumerate((100.0, 90.0)):
        point = HistoryPoint(f"2026-01-0{number + 1}", "c" * 40, "uno/a", "gcc", (("battery_days", days),))
        collector.add_points(f"v{number}", "", [point])
    assert [s.kind for s in collector.history().figures[0].steps] == ["worse"]
    assert collector.history().worse(5.0)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(st.none(), st.integers(1, 4)), min_size=2, max_size=8))
def test_the_steps_lead_from_the_first_value_to_the_last(values: list[int | None]) -> None:
    made = history_of(*([] if value is None else [cycles(value)] for value in values))
    known = [value for value in values if value is not None]
    if not known:
        assert not made.figures
        return
    steps = figure(made).steps
    assert [known[0], *(step.after for step in steps)][-1] == known[-1]
    assert all(step.before != step.after for step in steps)
    assert len(steps) == sum(a != b for a, b in pairwise(known))


# --- the command ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("history")
    for number, value in ((1, 1000), (2, 1000), (10, 1200)):
        with Results(made / f"v1.{number}.db") as results:
            results.store({"a": cycles(value), "b": cycles(70, operation="decrypt")})
    return made


def test_a_folder_is_in_the_order_of_versions(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "compare", "--history", folder, "--json")
    told = json.loads(out)
    assert code == 1 and [version["label"] for version in told["versions"]] == ["v1.1", "v1.2", "v1.10"]
    first = told["figures"][0]
    assert (first["first_changed"], first["values"], first["percent"]) == ("v1.10", [1000, 1000, 1200], 20.0)
    assert [one["first_changed"] for one in told["figures"][1:]] == [None] * (len(told["figures"]) - 1)


def test_several_files_are_in_their_own_order(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [folder / f"v1.{n}.db" for n in (10, 2, 1)]
    code, out, _ = run(capsys, "compare", *files)
    assert code == 0 and "v1.2 -16.7 %" in out and "v1.1 made none worse" in out
    code, out, _ = run(capsys, "compare", *files[:2])
    assert code == 0 and "A " in out, "two files are compared as before"


def test_the_page_has_the_chart_and_the_version(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"
    assert run(capsys, "compare", "--history", folder, "--html", page)[0] == 1
    read = Read(page.read_text())
    row = next(row for row in read.rows if len(row) == 7 and row[2] == "1,000")
    assert row[2:] == ["1,000", "1,200", "+20.0", "v1.10", "v1.10: 1,000 to 1,200 (+20.0 %)"]
    assert ["v1.10", "2", "1", "0", "0", "0"] in [r[:6] for r in read.rows]
    charts = [a["aria-label"] or "" for _, a in read.elements if a.get("role") == "img"]
    assert len(charts) == 1 and "v1.10: 1,000 to 1,200" in charts[0]
    path = next(p for p in re.findall(r' d="(M[^"]*)"', page.read_text()) if "L1000.0" in p)
    assert path == "M0.0,666.7L500.0,666.7L1000.0,0.0", "an axis from 900 to 1,200"


def test_the_history_of_the_gate_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    points = [
        HistoryPoint(
            f"2026-01-0{day}T00:00:00Z", commit * 40, "uno/mine", "gcc", (("cycles", value), ("flash", 5))
        )
        for day, commit, value in ((2, "a", 90), (1, "f", 100), (3, "b", 90))
    ]
    write_history(tmp_path / "history.jsonl", points)
    code, out, _ = run(capsys, "compare", "--history", tmp_path / "history.jsonl", "--json")
    told = json.loads(out)
    assert code == 0 and [v["label"][0] for v in told["versions"]] == ["f", "a", "b"]
    assert told["figures"][0]["first_changed"] == "a" * 12


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "name two, or more"),
        (("--history", "missing"), "no such folder"),
        (("--history", "empty"), "contains no results files"),
        (("--history", "one"), "a history needs two"),
        (("--history", "empty", "one/a.db"), "name either"),
        (("one/a.db", "one/a.db", "one/a.db"), "is given twice"),
        (("one/a.db", "one/b.db", "one/c.db"), "no such file"),
        (("--history", "other"), "no figure is in two"),
    ],
)
def test_wrong_versions_are_one_clear_line(
    words: tuple[str, ...],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("empty", "one", "other"):
        (tmp_path / name).mkdir()
    for name, operation in (("one/a", "encrypt"), ("other/a", "encrypt"), ("other/b", "decrypt")):
        with Results(tmp_path / f"{name}.db") as results:
            results.store({"a": cycles(9, operation=operation, library=name)})
    code, _, error = run(capsys, "compare", *words)
    assert code == 2 and said in error and len(error.strip().splitlines()) == 1


def test_names_of_a_results_file_stay_text() -> None:
    from motecrypt.present.pages.history_page import history_page

    page = history_page(made_history(), 2.0, "motecrypt compare x")
    assert HOSTILE not in page and "\u202e" not in page and len(Read(page).scripts) == 2
