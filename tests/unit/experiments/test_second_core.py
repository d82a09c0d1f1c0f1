"""Encryption on the Pico's second core: the firmware's lines are read, and a short run has each way."""

from __future__ import annotations

import pytest

from motecrypt.base.errors import MotecryptError
from motecrypt.measuring.experiments.second_core import SecondCoreRun, fnv1a
from motecrypt.results import Results
from motecrypt.results.experiments.recorded import read
from motecrypt.results.experiments.second_core import CoreRow, SecondCore
from motecrypt.studies import study
from motecrypt.studies.pico import second_core
from tool_sets import needs_tool_set

SHORT = SecondCoreRun(strings=30, lines=10, rounds=16)


def test_the_hash_is_that_of_its_draft() -> None:
    assert [fnv1a(text) for text in (b"", b"a", b"foobar")] == [0x811C9DC5, 0xE40C292C, 0xBF9CF968]


def test_lines_become_rows() -> None:
    strings, file = SHORT._strings_hash(), SHORT._file_hash()
    lines = [
        f"0 115 900 {strings} 0 0 4294967295 0 0",
        f"1 115 1000 {strings} 4 1 5 70 100",
        f"5 102 1000 {file} 2 3 0 9 9",
    ]
    found = SecondCore.from_json({"rows": SHORT.rows(lines), "clock_hz": 125_000_000})
    assert found is not None and [(row.work, row.way) for row in found.rows] == [
        ("strings", "alone"),
        ("strings", "core-1"),
        ("file", "masked"),
    ]
    row = found.row("strings", "core-1")
    assert row is not None and found.row("file", "interrupt") is None
    assert (row.time_us, row.samples, row.missed, row.least_late, row.most_late) == (1000, 4, 1, 5, 70)
    assert row.mean_late == 25


def test_the_table_has_microseconds_and_the_range_of_lateness() -> None:
    row = CoreRow("strings", "core-1", 1000, 4, 1, 5, 130, 25.0)
    shown = second_core._shown(SecondCore((row,), 10_000_000), row)
    assert shown[2:7] == ["4", "1", "2.5", "13.0", "12.5"]


@pytest.mark.parametrize("line", ["failed", "0 115 900 7 0 0 0 0 0"])
def test_a_way_that_failed_is_no_answer(line: str) -> None:
    with pytest.raises(MotecryptError, match="second core"):
        SHORT.rows([line])


def test_it_says_what_it_runs_and_runs_once(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SecondCoreRun, "inputs", lambda self: {"strings": self.strings})
    monkeypatch.setattr(SecondCoreRun, "run", lambda self: {"rows": [], "clock_hz": 1})
    monkeypatch.setattr(SecondCoreRun, "kept", lambda self, results, inputs: kept)
    said: list[str] = []
    kept = None
    kept = SHORT.ensure(results, said.append)
    assert (
        said == ["the Pico's second core"] and SHORT.ensure(results, said.append) is kept and len(said) == 1
    )
    kept = None
    assert SHORT.ensure(results).outcome == {"rows": [], "clock_hz": 1}


@needs_tool_set("pico")
def test_each_way_on_the_simulator() -> None:
    found = SecondCore.from_json(SHORT.run())
    assert found is not None
    by = {(row.work, row.way): row for row in found.rows}
    both, locked, one = (by["file", way] for way in ("core-1", "locked", "between"))
    assert both.missed == 0 and both.samples == both.time_us // 1000
    assert both.most_late < 125, "within a microsecond"
    assert locked.missed > 10 and locked.most_late > 5_000_000, "a sector is erased in 45 ms"
    interrupt, masked = (by["file", way] for way in ("interrupt", "masked"))
    # 15 cycles of entry and 21 of the handler up to its read, which counts from the cycle after the tick.
    assert interrupt.least_late == masked.least_late == by["strings", "interrupt"].least_late == 15 + 21 - 1
    assert (interrupt.samples, interrupt.missed) == (interrupt.time_us // 1000, 0)
    assert interrupt.most_late <= interrupt.least_late + 2 * 56, "the flash is missed for code and data"
    assert masked.missed > 10 and abs(masked.most_late - locked.most_late) < 0.1 * locked.most_late
    assert masked.samples + masked.missed == masked.time_us // 1000
    assert one.samples == 1 and one.missed == one.time_us // 1000 - 1
    assert by["strings", "core-1"].most_late < 125 < by["strings", "between"].most_late
    assert abs(both.time_us - by["file", "alone"].time_us) < 0.01 * both.time_us


def test_the_recorded_answer_is_judged(results: Results) -> None:
    assert {row.verdict for row in second_core.comparisons(results)} == {"not measured", "not printed"}
    assert second_core.sections(results)[0].rows == []
    path = second_core.recorded.file_of("pico")
    known = next(each for each in read(path) if each.experiment.kind == "second-core")
    experiment = known.experiment
    results.store_experiment(
        experiment.kind, experiment.version, experiment.inputs, experiment.outcome, known.asked
    )
    plan, *late = second_core.comparisons(results)
    assert plan.verdict == "matches" and "samples are lost" in plan.note
    assert "with interrupts whose handler is in RAM, on one core, 0 of 2,429 samples are lost" in plan.note
    assert all(row.measured is not None and "samples are lost; " in row.note for row in late)
    assert [row.id for row in late][:1] == ["pico-cores-strings-core-1"] and late[0].measured is not None
    section = study("pico").sections(results)[-1]
    assert section.title == second_core.TABLE and len(section.rows) == 10
