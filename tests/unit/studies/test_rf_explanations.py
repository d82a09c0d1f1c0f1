"""What the RF paper may have timed: write() alone, and write() with draining the line."""

from __future__ import annotations

from dataclasses import replace

import pytest

from motecrypt.results import Results
from motecrypt.results.experiments.serial_write import KIND, VERSION
from motecrypt.studies.facts import Comparison
from motecrypt.studies.rf import explanations, printed
from motecrypt.studies.rf import study as rf


def _rows(results: Results) -> dict[str, Comparison]:
    return {row.id: row for row in explanations.explanations(results, "source")}


def _wrote(results: Results, longest_us: float) -> None:
    asked = explanations.writes().asked()
    results.store_experiment(
        KIND, VERSION, asked, {"median_us": {"14": 3.0, "266": longest_us, "36": 4.0}}, asked
    )


def test_every_printed_size_is_written() -> None:
    assert explanations.writes().sizes == tuple(sorted({row.size_bytes for row in printed.rows()}))
    assert min(explanations.writes().sizes) == 14 and max(explanations.writes().sizes) == 266


def test_a_write_that_returns_at_once_was_not_timed(results: Results) -> None:
    assert _rows(results)["rf-write-returned"].note == "not measured"
    assert "write() returns, not measured here" in str(rf.sections(results))
    _wrote(results, 40.0)
    row = _rows(results)["rf-write-returned"]
    assert (row.measured, row.verdict) == (0.04, "not printed")
    assert row.note.startswith("the least printed time, 0.990 ms, is 25 times as long")
    assert "write() returns, at most 0.040 ms here" in str(rf.sections(results))
    _wrote(results, 990.0)
    assert _rows(results)["rf-write-returned"].note == "as long as the least printed time, 0.990 ms"


def test_draining_the_line_fits_plaintext_and_not_padded_ciphertext(results: Results) -> None:
    rows = _rows(results)
    assert [rows[f"rf-slope-{payload}"].verdict for payload in "tcp"] == [
        *("matches", "matches", "paper is inconsistent")
    ]
    plain = rows["rf-slope-t"]
    assert (plain.published, plain.measured, plain.kind) == (84.8, 86.8, "derived")
    assert plain.derived_from == tuple(f"rf-time-t{n}" for n in range(1, 11))
    assert "does not drain" in plain.note and "shows no more" in plain.note
    assert rows["rf-slope-p"].cause.startswith("61.1 ± 11.3 us a byte is less than the line takes")


@pytest.mark.parametrize(
    ("factor", "verdict"), [(0.85, "paper is inconsistent"), (1.0, "matches"), (1.15, "differs")]
)
def test_a_slope_is_judged_both_ways(
    factor: float, verdict: str, results: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = tuple(
        replace(row, time_ms=0.3 + factor * row.size_bytes * 0.0868 + 0.01 * (row.number % 2))
        for row in printed.rows()
    )
    monkeypatch.setattr(printed, "rows", lambda: rows)
    assert _rows(results)["rf-slope-t"].verdict == verdict


def test_a_line_is_fitted_by_least_squares(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = printed.of("T")
    rows = tuple(replace(row, time_ms=0.25 + 0.08 * row.size_bytes) for row in plain)
    monkeypatch.setattr(printed, "rows", lambda: rows)
    assert printed.slope_us("T") == pytest.approx(80.0)
    assert printed.fixed_us("T") == pytest.approx(250.0)
    assert printed.slope_error_us("T") == pytest.approx(0.0, abs=1e-6)
    # By hand: off the line by 0.1 ms up and down in turns, about a mean size of 68.8.
    off = tuple(replace(row, time_ms=row.time_ms + (0.1 if row.number % 2 else -0.1)) for row in rows)
    monkeypatch.setattr(printed, "rows", lambda: off)
    sizes = [row.size_bytes for row in off]
    spread = sum((size - 68.8) ** 2 for size in sizes)
    tilt = sum((size - 68.8) * (100 if n % 2 == 0 else -100) for n, size in enumerate(sizes)) / spread
    left = 10 * 100**2 - tilt**2 * spread
    assert printed.slope_us("T") == pytest.approx(80.0 + tilt)
    assert printed.slope_error_us("T") == pytest.approx(2.306 * (left / 8 / spread) ** 0.5)
