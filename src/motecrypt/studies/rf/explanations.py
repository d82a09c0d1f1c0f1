"""What the RF paper may have timed instead of a transmission: two explanations, put to the test. Pure."""

from __future__ import annotations

from motecrypt.air.radios import load_radio
from motecrypt.results import Results
from motecrypt.results.findings.serial_write import SerialWriteQuestion
from motecrypt.studies.facts import Comparison, Tolerance
from motecrypt.studies.judge import Bound, Check, Evidence, compare
from motecrypt.studies.rf import printed
from motecrypt.studies.rf.printed import PAYLOADS

AGAIN = "motecrypt reproduce rf --rows"
TABLE = "explanations"


def writes() -> SerialWriteQuestion:
    """write() with each printed size."""
    return SerialWriteQuestion(tuple(sorted({row.size_bytes for row in printed.rows()})))


def write_ms(results: Results) -> float | None:
    """Milliseconds until write() returned, of the size that took longest; None where nothing was timed."""
    found = writes().answer(results)
    return None if found is None or not found.median_us else found.longest_us / 1000


def explanations(results: Results, source: str) -> list[Comparison]:
    """Whether the printed times are those of write() alone, or of write() and draining the line."""
    return [_write_returned(results, source), *(_drained(source, payload) for payload in PAYLOADS)]


def _write_returned(results: Results, source: str) -> Comparison:
    longest = write_ms(results)
    least = min(row.time_ms for row in printed.rows())
    note = "not measured"
    if longest is not None:
        note = (
            f"the least printed time, {least:.3f} ms, is {least / longest:.0f} times as long: write() "
            "returns when the system has the bytes, so this was not timed"
            if longest < least
            else f"as long as the least printed time, {least:.3f} ms"
        )
    return compare(
        id="rf-write-returned",
        source=source,
        table=TABLE,
        row="the time until write() returns",
        column="longest of the printed sizes, on a pseudo-terminal",
        unit="ms",
        kind="claim",
        published=None,
        measured=None if longest is None else round(longest, 4),
        evidence=Evidence("other"),
        note=note,
    )


def _drained(source: str, payload: str) -> Comparison:
    """Time over size, where what each message costs besides cancels out."""
    line, slope = load_radio("srf").serial_byte_us, printed.slope_us(payload)
    error = printed.slope_error_us(payload)
    room = Tolerance(
        printed.CLOCK_TOLERANCE, error, "clock: a UART may be off by 2 %, and the 95 % interval of ten times"
    )
    why = f"{slope:.1f} ± {error:.1f} us a byte is less than the line takes, whatever a message costs besides"
    return compare(
        id=f"rf-slope-{payload.lower()}",
        source=source,
        table=TABLE,
        row=f"write() and draining the line, {payload}",
        column="time over size",
        unit="us/byte",
        kind="derived",
        published=round(slope, 1),
        measured=round(line, 1),
        tolerance=room,
        evidence=Evidence(
            "other",
            checks=(Check(slope, Bound("at least", line), why, AGAIN, room),),
            derived_from=tuple(f"rf-time-{row.name.lower()}" for row in printed.of(payload)),
        ),
        note=f"computed, as a pseudo-terminal does not drain; {printed.fixed_us(payload) / 1000:.3f} ms of a "
        "message remain. A slope that fits is consistent with this explanation and shows no more",
    )
