"""The RF study's verdicts at their limits, over a print that can be calculated in the head."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from motecrypt.studies.rf import claims, printed, rows, study
from motecrypt.studies.rf.printed import Row

PLAIN = Row(1, "T", 8, 4.0, None, 2.0, None)
CIPHER = Row(1, "C", 16, 6.0, 2.0, 2.5, 2.0)
SAME, OTHER, WRONG = "matches", "differs", "paper is inconsistent"


@pytest.fixture(autouse=True)
def _print(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two rows; half a digit is a quarter, and a clock may be off by as much."""
    monkeypatch.setattr(printed, "rows", lambda: (PLAIN, CIPHER))
    monkeypatch.setattr(printed, "HALF_A_DIGIT", 0.25)
    monkeypatch.setattr(printed, "CLOCK_TOLERANCE", 0.25)


def test_a_difference_may_be_off_by_five_halves() -> None:
    said = {
        off: rows._difference(replace(CIPHER, difference_ms=2.0 + off)) for off in (0, 0.625, 0.63, -0.63)
    }
    assert [row.verdict for row in said.values()] == [SAME, SAME, WRONG, WRONG]
    assert (said[0].measured, said[0].ratio, said[0].table) == (2.0, 1.0, "table 2")


def test_a_throughput_may_be_off_by_its_slack() -> None:
    """2 bytes a millisecond; a quarter off the 4 ms is an eighth, and a quarter for the rate itself."""
    for said, verdict in ((2.375, SAME), (1.625, SAME), (2.376, WRONG), (1.624, WRONG)):
        row = rows._throughput(replace(PLAIN, throughput_kb_s=said))
        assert (row.verdict, row.measured, row.published) == (verdict, 2.0, said)
    bound = printed.line_bound_ms(8)
    slow, fast = (rows._throughput(replace(PLAIN, time_ms=ms)) for ms in (bound, bound * 0.999))
    assert "the line carries" not in slow.note and fast.note.endswith("; the line carries 11.52 KB/s at most")


def test_means_totals_and_factors_may_be_off_by_half_a_digit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for off, verdict in ((0.5, SAME), (0.51, WRONG), (-0.51, WRONG)):
        monkeypatch.setattr(printed, "PRINTED_AVERAGE_KB_S", {"T": 2.0 + off})
        assert rows._averages()[0].verdict == verdict
        row = rows._factor(replace(CIPHER, expansion=2.0 + off))
        assert (row.verdict, row.measured) == (verdict, 2.0)
    for off, verdict in ((0.25, SAME), (0.26, WRONG), (-0.26, WRONG)):
        monkeypatch.setattr(printed, "rows", lambda: (replace(PLAIN, size_bytes=8000),))
        monkeypatch.setattr(printed, "PRINTED_TOTAL_KB", {"T": 8.0 + off})
        assert rows._totals()[0].verdict == verdict


def test_a_time_below_the_lines_by_more_than_a_clock_may_be_off_cannot_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bound = 8.0
    monkeypatch.setattr(printed, "line_bound_ms", float)
    for share, verdict, flag in (
        (1.0, "needs hardware", ""),
        (0.75, "needs hardware", "faster than the line, within 2 %"),
        (0.74, WRONG, "faster than the line"),
    ):
        row = replace(PLAIN, time_ms=share * bound)
        times = rows._times(row, {})
        assert {time.verdict for time in times} == {verdict} and study._flag(row) == flag
        assert [time.kind for time in times] == ["figure", "derived", "derived"]
        assert {time.derived_from for time in times[1:]} == {(times[0].id,)}
    assert printed.too_fast(replace(PLAIN, time_ms=2 * bound)) == 0.0


def test_what_is_about_the_same_may_be_off_by_a_share(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a quarter here: P to T 2 to 1, what padding gains, and P to C."""
    monkeypatch.setattr(claims, "ABOUT", 0.25)
    monkeypatch.setattr(printed, "row", lambda name: replace(PLAIN, time_ms=5.0 if name == "P7" else 4.0))
    for mean, verdict in ((2.5, SAME), (1.5, SAME), (2.51, WRONG), (1.49, WRONG)):
        monkeypatch.setattr(
            printed, "mean_time_ms", lambda payload, mean=mean: mean if payload == "P" else 1.0
        )
        (ratio,) = (row for row in claims.claims("s") if "two times slower" in row.row)
        assert ratio.verdict == verdict
    (alike,) = (row for row in claims.claims("s") if row.row.endswith("equal payloads"))
    assert alike.verdict == SAME
    monkeypatch.setattr(printed, "CLOCK_TOLERANCE", 0.249)
    (alike,) = (row for row in claims.claims("s") if row.row.endswith("equal payloads"))
    assert alike.verdict == WRONG


def test_what_padding_gains_may_be_off_by_a_share(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a quarter here; the paper's gain is 1 ms. 36 bytes arrive in 4 ms, 32 when the case says."""
    monkeypatch.setattr(claims, "ABOUT", 0.25)
    monkeypatch.setattr(printed, "mean_time_ms", {"T": 1.0, "P": 2.0, "C": 3.0}.get)
    for short, gains, like in (
        (5.25, SAME, SAME),
        (5.26, OTHER, SAME),
        (4.75, SAME, SAME),
        (4.74, OTHER, SAME),
    ):
        assert _of_padding(monkeypatch, short, 4.0) == (gains, like)
    for whole, like in ((5.0, SAME), (3.0, SAME), (5.01, OTHER), (2.99, OTHER)):
        assert _of_padding(monkeypatch, 4.0, whole)[1] == like


def _of_padding(monkeypatch: pytest.MonkeyPatch, short_ms: float, whole_ms: float) -> tuple[str, str]:
    """The verdicts of what padding gains, and of whether it matters."""
    us = {32: 1000 * short_ms, 36: 1000 * whole_ms}
    monkeypatch.setattr(printed, "row", lambda name: PLAIN)
    monkeypatch.setattr(claims, "costs", lambda radio, n: SimpleNamespace(delivery_time_us=us[n]))
    rows = {row.row: row.verdict for row in claims.claims("s")}
    gains = rows["section 5: padding makes it comparatively faster"]
    return gains, rows["abstract: padding does not affect the time significantly"]


def test_a_delay_may_be_off_by_half_a_digit(monkeypatch: pytest.MonkeyPatch) -> None:
    """P takes 5.5825 ms more than T, as in the text; here a quarter more or less."""
    monkeypatch.setattr(printed, "row", lambda name: PLAIN)
    for off, verdict in ((0.24, SAME), (0.25, SAME), (-0.25, SAME), (0.26, WRONG), (-0.26, WRONG)):
        times = {"T": 1.0, "P": 6.5825 + off, "C": 9.0}
        monkeypatch.setattr(printed, "mean_time_ms", times.get)
        (delay,) = (row for row in claims.claims("s") if "average delay" in row.row)
        assert delay.verdict == verdict
