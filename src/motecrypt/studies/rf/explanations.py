"""What the RF paper may have timed instead of a transmission: two explanations, put to the test. Pure."""

from __future__ import annotations

from motecrypt.air.radios import load_radio
from motecrypt.results import Results
from motecrypt.results.experiments.serial_write import SerialWriteQuestion
from motecrypt.studies.facts import Comparison, Tolerance
from motecrypt.studies.judge import Bound
from motecrypt.studies.rf import printed
from motecrypt.studies.rf.printed import PAYLOADS
from motecrypt.studies.words import words


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
    shorter = longest is not None and longest < least
    return words("rf").row(
        "write-returned",
        source=source,
        measured=None if longest is None else round(longest, 4),
        longest=longest is not None,
        least=least,
        times=least / longest if longest is not None and shorter else None,
        equal=longest is not None and not shorter,
    )


def _drained(source: str, payload: str) -> Comparison:
    """Time over size, where what each message costs besides cancels out."""
    line, slope = load_radio("srf").serial_byte_us, printed.slope_us(payload)
    error = printed.slope_error_us(payload)
    return words("rf").row(
        "drained",
        source=source,
        payload=payload.lower(),
        title=payload,
        published=round(slope, 1),
        measured=round(line, 1),
        tolerance=Tolerance(
            printed.CLOCK_TOLERANCE,
            error,
            "clock: a UART may be off by 2 %, and the 95 % interval of ten times",
        ),
        check=(slope, Bound("at least", line)),
        derived_from=(f"rf-time-{row.name.lower()}" for row in printed.of(payload)),
        slope=slope,
        error=error,
        fixed=printed.fixed_us(payload) / 1000,
    )
