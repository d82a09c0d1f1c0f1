"""The RF study: every cell of the paper as a row, the faults of the paper found, nothing missing unsaid."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict
from pathlib import Path

import pytest

from motecrypt.results import Results
from motecrypt.studies import needs
from motecrypt.studies.facts import Comparison
from motecrypt.studies.rf import printed
from motecrypt.studies.rf import study as rf
from motecrypt.studies.rf.claims import claims as rf_claims


@pytest.fixture
def rows(results: Results) -> list[Comparison]:
    for experiment in needs("rf").experiments:
        experiment.ensure(results)
    return rf.comparisons(results)


def find(rows: list[Comparison], row: str, column: str) -> Comparison:
    return next(entry for entry in rows if entry.row == row and entry.column.startswith(column))


def test_every_table_and_figure_is_there(rows: list[Comparison]) -> None:
    count = Counter(entry.table for entry in rows)
    # Sizes and totals; three times and a difference each; throughputs and averages; factors.
    assert count["table 1"] == 33 and count["table 4"] == 33 and count["table 5"] == 20
    assert count["table 2"] == 20 * 3 + 10 and count["table 3"] == 10 * 3 + 10
    assert {"figure 4", "figure 5", "figure 6", "claims"} <= set(count)
    assert {entry.kind for entry in rows if entry.verdict == "not measured"} == {"input"}
    json.dumps([asdict(entry) for entry in rows])


def test_sizes_that_fit_no_rule_are_found(rows: list[Comparison]) -> None:
    wrong = {
        entry.row for entry in rows if entry.table == "table 1" and entry.verdict == "paper is inconsistent"
    }
    assert wrong == {"C1", "C3", "P6", "C9", "P9"}


def test_rows_faster_than_the_line_are_flagged(rows: list[Comparison]) -> None:
    bound = find(rows, "P6", "time, line-rate bound")
    assert bound.measured == pytest.approx(170 * 10 / 115.2) and bound.verdict == "paper is inconsistent"
    assert "62.6 us a byte" in bound.note
    flagged = [row.name for row in printed.rows() if printed.too_fast(row)]
    assert len(flagged) == 20 and "C2" not in flagged
    # A row within the tolerance of a clock is flagged, and proves nothing.
    assert find(rows, "C9", "time, line-rate bound").verdict == "needs hardware"


def test_times_to_deliver_hold_the_timeout_only_where_packets_are_not_full(rows: list[Comparison]) -> None:
    for row in printed.rows():
        slow, fast = (find(rows, row.name, f"time to deliver, timeout {t:g} ms").measured for t in (100, 16))
        waits = printed.rule_bytes(row) % 12 != 0
        assert isinstance(slow, float) and isinstance(fast, float)
        assert slow - fast == pytest.approx(84.0 if waits else 0.0)
        assert fast > printed.line_bound_ms(printed.rule_bytes(row))


def test_the_printed_conclusion_is_recomputed(rows: list[Comparison]) -> None:
    reduction = find(rows, "section 6: padding reduces the time by", "reduction")
    assert reduction.published == 7.92 and reduction.measured == 7.34
    assert printed.mean_time_ms("C") / printed.mean_time_ms("P") - 1 == pytest.approx(0.0792, abs=5e-5)
    assert find(rows, "section 6: average delay of P over T", "mean").verdict == "matches"


def test_without_the_transfer_the_view_says_not_measured(results: Results) -> None:
    missing = [entry for entry in rf.comparisons(results) if entry.column.startswith("time to deliver")]
    assert len(missing) == 60 and all(entry.measured is None for entry in missing)
    assert {entry.verdict for entry in missing} == {"paper is inconsistent", "needs hardware"}
    assert all(section.rows for section in rf.sections(results))


def test_a_stored_transfer_is_not_run_again(results: Results) -> None:
    request, _ = needs("rf").experiments
    first = request.ensure(results)
    assert (
        request.ensure(results).made_at == first.made_at and len(results.experiments("radio transfer")) == 1
    )
    safe = [row for row in first.outcome["rows"] if row["mode"] == "safe"]
    assert len(safe) == 10 and all(row["confirmed_us"] > row["delivery_us"]["100"] for row in safe)


def test_every_row_says_what_it_said(rows: list[Comparison]) -> None:
    """Each figure and verdict, as they were when this file was last looked through by hand."""
    expected = (Path(__file__).parents[1] / "data" / "rf_rows.csv").read_text().splitlines()
    timed = next(entry for entry in rows if entry.id == "rf-write-returned")  # on this computer
    assert isinstance(timed.measured, float) and timed.verdict == "not printed"
    assert [row_line(entry) for entry in rows if entry is not timed] == expected


def row_line(entry: Comparison) -> str:
    figures = (entry.published, entry.measured, entry.ratio)
    shown = [f"{value:.6g}" if isinstance(value, int | float) else str(value) for value in figures]
    return ";".join((entry.table, entry.row, entry.column, entry.unit, *shown, entry.verdict))


def test_the_rules_of_the_claims_say_no_and_yes(monkeypatch: pytest.MonkeyPatch) -> None:
    def verdicts() -> dict[str, str]:
        return {entry.row: entry.verdict for entry in rf_claims("print")}

    twice = "section 6: P is approximately two times slower than plaintext"
    lowest = "section 5: the lowest throughput is the ciphertext's"
    highest = "section 5: ciphertext with padding has the highest throughput"
    reduction = "section 6: padding reduces the time by"
    no, yes = "paper is inconsistent", "matches"
    before = verdicts()
    assert [before[row] for row in (twice, lowest, highest, reduction)] == [yes, no, no, no]
    times = {"T": 10.0, "C": 50.0, "P": 50.0 * (1 - 0.0792)}
    monkeypatch.setattr(printed, "mean_time_ms", times.get)
    monkeypatch.setattr(printed, "PRINTED_AVERAGE_KB_S", {"T": 9.0, "C": 8.0, "P": 11.5})
    after = verdicts()
    assert [after[row] for row in (twice, lowest, highest, reduction)] == [no, yes, yes, yes]
    monkeypatch.setattr(printed, "PRINTED_AVERAGE_KB_S", {"T": 9.0, "C": 8.0, "P": 11.6})
    assert verdicts()[highest] == no, "more than the serial line carries"
