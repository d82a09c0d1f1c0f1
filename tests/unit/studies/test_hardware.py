"""The study of real chips: what is recorded, scored and shown."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from documented import with_recorded
from motecrypt.adviser.hardware.bounds import recorded_bounds
from motecrypt.adviser.hardware.rows import rows
from motecrypt.catalog import DATA
from motecrypt.results import Results
from motecrypt.results.experiments.hardware import KIND, VERSION, HardwareQuestion
from motecrypt.results.experiments.recorded import file_of, read
from motecrypt.studies import study
from motecrypt.studies.highlights import highlights
from schemas import problems

SCHEMA = json.loads((DATA / "comparison.schema.json").read_text(encoding="utf-8"))
view = study("hardware")


@pytest.fixture
def stored(results: Results) -> Results:
    return with_recorded(results, "hardware")


def own(results: Results, row: str, device: str, *cycles: float) -> None:
    """Store figures as if a user's program had been run."""
    question = HardwareQuestion(row, device)
    runs = [
        {"toolchain": f"gcc-{n}", "compiler": "gcc", "firmware_sha256": "00", "cycles": each}
        for n, each in enumerate(cycles)
    ]
    outcome = {"runs": runs, "code": "https://example.org", "commit": "1", "runner": "r"}
    results.store_experiment(KIND, VERSION, question.asked() | {"program": "p"}, outcome, question.asked())


def test_every_row_passes_the_schema_and_has_an_id_of_its_own(stored: Results) -> None:
    compared = view.comparisons(stored)
    assert len(compared) > 40 and len({row.id for row in compared}) == len(compared)
    for row in json.loads(json.dumps([asdict(each) for each in compared], allow_nan=False)):
        assert list(problems(row, SCHEMA)) == [], row["id"]


def test_the_tables_say_what_the_bounds_of_the_devices_rest_on(stored: Results) -> None:
    tables = view.tables(stored)
    assert len(tables["residuals"]) == len(read(file_of("hardware")))
    assert {each["device"]: each["rows"] for each in tables["fidelity"]} == {
        name: known.rows for name, known in recorded_bounds().items()
    }
    assert [each["toolchain"] for each in tables["compilers"]] == ["gcc-8"]
    assert [each["toolchain"] for each in tables["variants"]] == ["gcc-12"]
    reasons = {each["reason"] for each in tables["not_compared"]}
    assert {"simulated", "inconsistent", "its code is not here"} <= reasons
    assert len(tables["not_compared"]) + len(tables["residuals"]) == len(rows())
    assert tables["training"] and tables["parameters"]


def test_nothing_is_shown_before_anything_is_stored(results: Results) -> None:
    assert view.comparisons(results) == []
    assert view.sections(results)[0].rows == []


def test_a_program_of_ones_own_replaces_what_is_recorded(stored: Results) -> None:
    before = next(each for each in view.comparisons(stored) if each.id == "hardware-h0004")
    assert before.like_for_like == "author's code, recorded" and "recorded on" in before.note
    own(stored, "h0004", "stm32f4", 634.7)
    after = next(each for each in view.comparisons(stored) if each.id == "hardware-h0004")
    assert (after.measured, after.like_for_like, after.verdict) == (634.7, "author's code", "matches")
    assert "recorded" not in after.note and "not scored" in after.note


@pytest.mark.parametrize(
    ("cycles", "verdict"), [((666.4,), "matches"), ((666.5,), "differs"), ((602.9,), "differs")]
)
def test_a_row_matches_within_the_goal_in_both_directions(
    results: Results, cycles: tuple[float, ...], verdict: str
) -> None:
    own(results, "h0004", "stm32f4", *cycles)  # published: 634.7
    (row,) = view.comparisons(results)
    assert row.verdict == verdict and (row.cause_known == "unknown") == (verdict == "differs")


def series(results: Results, *micros: float) -> None:
    """Two rows of the UNO, of 0 and 64 bytes: 1360 us, as published, and so many more (published: 2652)."""
    own(results, "h0278", "uno", *(1360 * 16 for _ in micros))
    own(results, "h0280", "uno", *((1360 + each) * 16 for each in micros))


def test_the_steps_of_the_clock_and_the_toolchains_widen_the_tolerance(results: Results) -> None:
    series(results, 2652, 2652 * 1.02)
    (row,) = view.comparisons(results)
    assert (row.id, row.published) == ("hardware-h0280", 2652) and row.row.endswith("less those of 0 bytes")
    assert row.tolerance is not None and row.tolerance.share == 0.05
    assert row.tolerance.absolute == pytest.approx(8 + 0.02 * 2652)
    series(results, 2652, 2652 * 1.04)
    assert view.comparisons(results) == []
    scorings = {each["row"]: each["scoring"] for each in view.tables(results)["residuals"]}
    assert scorings == {"h0278": "shortest of its series", "h0280": "our toolchains differ"}
    reasons = {(row[0], row[1]): row[2] for row in view.sections(results)[-1].rows}
    assert reasons["ATmega328P", "shortest of its series"] == "1"
    assert reasons["ATmega328P", "our toolchains differ on it"] == "1"


def test_a_cause_is_named_where_a_row_differs(results: Results) -> None:
    series(results, 2652 * 1.1)
    (row,) = view.comparisons(results)
    assert row.verdict == "differs" and row.cause_known == "consistent with" and "interrupts" in row.cause


def test_the_experiments_are_scored_rows_that_miss_without_their_long_flags(results: Results) -> None:
    own(results, "h0004", "stm32f4", 6347.0)  # seen by the model's makers: differs most, but is not scored
    series(results, 2652 * 1.1)
    rows = view.comparisons(results)
    assert [row.figures["scored"] for row in rows] == [0, 1]
    (told,) = highlights({"hardware": rows})
    assert told.rows == (rows[1],)
    assert told.text.endswith("on the chip 2652, in the simulator 2917 us (uno, +10.0 %)")
    own(results, "h0445", "mkrzero", 50859)
    own(results, "h0446", "mkrzero", 60859)  # published: 50859 and 104751 cycles
    (large, _) = highlights({"hardware": view.comparisons(results)})
    assert "on the chip 53892, in the simulator 10000 cycles (mkrzero, -81.4 %)" in large.text
    assert rows[0].column == "-O3" and "-mfloat-abi=hard" in rows[0].note


def test_the_overview_is_the_fidelity_of_each_device(stored: Results) -> None:
    (section,) = view.overview(stored)
    assert [row[0] for row in section.rows] == [each["device"] for each in view.tables(stored)["fidelity"]]
    assert {"median", "95th percentile", "goal", "reached", "±", "which is", "covers", "code"} <= set(
        section.columns
    )


def test_the_chart_has_a_point_for_each_row_that_is_compared(stored: Results) -> None:
    drawn = view.charts(stored)["hardware-residuals"]
    values = drawn["data"]["values"]
    assert len(values) == len(view.comparisons(stored))
    shares = {each["row"]: each["residual"] for each in view.tables(stored)["residuals"]}
    assert {value["row"]: value["residual"] for value in values} == {
        row: round(100 * share, 2) for row, share in shares.items() if row in {v["row"] for v in values}
    }
    assert {value["scoring"] for value in values} == {"scored", "seen", "excluded"}
    assert "SAMD21G18A (mkrzero)" in {value["chip"] for value in values}
    assert "5 % zero wait states, 12 % cached" in drawn["description"]


def test_nothing_is_drawn_before_anything_is_stored(results: Results) -> None:
    assert view.charts(results) == {}


def test_each_recorded_row_names_how_it_is_repeated(stored: Results) -> None:
    known = [told["build"] for told in view.tables(stored)["residuals"] if told["build"] is not None]
    assert len(known) > 600  # rows that were recorded before this was kept have none
    for build in known:
        assert build["command"].startswith("motecrypt reproduce hardware --library ")
        assert build["sources"] and build["per"] >= 1 and "/" not in "".join(build["sources"])
