"""The rows of the RF study: each printed size, time and ratio next to what the line or the model gives."""

from __future__ import annotations

import math
from collections.abc import Mapping

from motecrypt.catalog import Catalog
from motecrypt.results import Results
from motecrypt.results.findings.radio_transfer import TransferQuestion, TransferRow
from motecrypt.studies.claim_ids import ClaimId
from motecrypt.studies.facts import Comparison, Tolerance
from motecrypt.studies.judge import Bound, Check, Evidence, compare
from motecrypt.studies.rf import asymmetric, printed
from motecrypt.studies.rf.claims import claims
from motecrypt.studies.rf.explanations import explanations
from motecrypt.studies.rf.printed import TIMEOUTS_MS, Row

SOURCE = (
    "Jamaluddin, Mohamed, Hashim, 'Securing RF Communication Using AES-256 Symmetric Encryption: "
    "a Performance Evaluation', IJET 7 (4.11) (2018) 217-222"
)

FIGURE_4 = "See the quick brown fox jump over the lazy dogs"
FIGURE_5 = "Mary had a little lamb"

AGAIN = "motecrypt reproduce rf --rows"
RADIOS = (
    "two Slices of Radio with a clock at either end: the model gives the time until the radio has delivered"
)
#: How exact a delivery by the model is.
MODEL = Tolerance(0.05, 0.0, "model: the radio's documented turn-round and timeout")


def transfer() -> TransferQuestion:
    """The ten messages, sent in virtual time in every mode."""
    return TransferQuestion("srf", tuple(row.size_bytes for row in printed.of("T")), TIMEOUTS_MS)


def comparisons(results: Results) -> list[Comparison]:
    """Every cell of tables 1 to 5, figures 4 to 6 and every claim, as rows."""
    delivered = delivered_ms(results)
    return [
        *(_size(row) for row in printed.rows()),
        *_totals(),
        *(entry for row in printed.rows() for entry in _times(row, delivered)),
        *(_difference(row) for row in printed.rows() if row.difference_ms is not None),
        *(_throughput(row) for row in printed.rows()),
        *_averages(),
        *(_factor(row) for row in printed.rows() if row.expansion is not None),
        *_figures(),
        *explanations(results, SOURCE),
        *claims(SOURCE),
        *asymmetric.asymmetric(SOURCE, Catalog.load()),
    ]


def stored_rows(results: Results) -> tuple[TransferRow, ...]:
    found = transfer().answer(results)
    return () if found is None else found.rows


def delivered_ms(results: Results) -> dict[tuple[str, int, float], float]:
    """Time to deliver in ms by mode, message length and timeout."""
    return {
        (row.mode, row.message_bytes, timeout): row.delivery_us[f"{timeout:g}"] / 1000
        for row in stored_rows(results)
        for timeout in TIMEOUTS_MS
    }


def _rounding(digits: float) -> Tolerance:
    """A tolerance of a number of halves of the last printed digit."""
    return Tolerance(0.0, digits * printed.HALF_A_DIGIT, "rounding: three decimals are printed")


def _recomputed(said: float, found: float, tolerance: Tolerance, *rows: str) -> Evidence:
    """A printed figure that follows from others of the paper: it agrees with them or the paper does not."""
    why = f"the paper's own figures give {found:g}, not {said:g}"
    return Evidence(
        "the paper itself", checks=(Check(said, found, why, AGAIN, tolerance),), derived_from=rows
    )


def _size_id(row: Row) -> str:
    return f"rf-size-{row.name.lower()}"


def _time_id(row: Row) -> str:
    return f"rf-time-{row.name.lower()}"


def _size(row: Row) -> Comparison:
    rule, size = printed.rule_bytes(row), row.size_bytes
    note = "the length of the message: ours are as long"
    checks: tuple[Check, ...] = ()
    if row.payload != "T":
        note = "hex of PKCS#7-padded CBC blocks, no IV" + (", filled to packets of 12" * (row.payload == "P"))
        if rule != size:
            note += f"; zero padding would give {printed.zero_padding_bytes(row)}: the paper fits no rule"
        step, what = (12, "packets of 12 bytes") if row.payload == "P" else (32, "blocks of 32 hex digits")
        checks = (Check(float(size % step), 0.0, f"{size} bytes are not whole {what}", AGAIN),)
    return compare(
        id=_size_id(row),
        source=SOURCE,
        table="table 1",
        row=row.name,
        column="data size",
        unit="byte",
        published=float(size),
        measured=None if row.payload == "T" else float(rule),
        kind="input" if row.payload == "T" else "figure",
        evidence=Evidence(
            "the paper itself" if row.payload == "T" else "same algorithm, ours", checks=checks
        ),
        note=note,
    )


def _totals() -> list[Comparison]:
    rows = []
    for payload, said in printed.PRINTED_TOTAL_KB.items():
        of = printed.of(payload)
        found = sum(row.size_bytes for row in of) / 1000
        room = _rounding(1)
        rows.append(
            compare(
                id=f"rf-total-size-{payload.lower()}",
                source=SOURCE,
                table="table 1",
                row=f"total {payload}",
                column="data size",
                unit="KB",
                kind="derived",
                published=said,
                measured=found,
                tolerance=room,
                evidence=_recomputed(said, found, room, *map(_size_id, of)),
                note="recomputed from the printed sizes",
            )
        )
    return rows


def _times(row: Row, delivered: Mapping[tuple[str, int, float], float]) -> list[Comparison]:
    """The printed time against delivery, and from it against the line's bound and with the other timeout."""
    plain = printed.plain_row(row).size_bytes
    longest, *others = TIMEOUTS_MS
    return [
        _delivery(row, longest, delivered.get((row.payload, plain, longest))),
        _line_bound(row),
        *(_delivery(row, other, delivered.get((row.payload, plain, other))) for other in others),
    ]


def _table(row: Row) -> str:
    return "table 3" if row.payload == "P" else "table 2"


def _line_check(row: Row) -> Check:
    rate = 1000 * row.time_ms / row.size_bytes
    clock = Tolerance(printed.CLOCK_TOLERANCE, 0.0, "clock: a UART may be off by 2 %")
    return Check(
        said=row.time_ms,
        expected=Bound("at least", printed.line_bound_ms(row.size_bytes)),
        why=f"faster than the line can carry: {rate:.1f} us a byte, 86.8 at 115200 8N1",
        command=AGAIN,
        tolerance=clock,
    )


def _line_bound(row: Row) -> Comparison:
    early, check = printed.too_fast(row), _line_check(row)
    note = "above what the line needs, yet no delivery time"
    if early:
        note = check.why
        if check.holds:
            note += f"; by {100 * early:.1f} %, which a UART's clock may be off"
    return compare(
        id=f"{_time_id(row)}-line",
        source=SOURCE,
        table=_table(row),
        row=row.name,
        column="time, line-rate bound",
        unit="ms",
        kind="derived",
        published=row.time_ms,
        measured=printed.line_bound_ms(row.size_bytes),
        tolerance=check.tolerance,
        evidence=Evidence("other", checks=(check,), needs_hardware=RADIOS, derived_from=(_time_id(row),)),
        note=note,
        topic=ClaimId.RF_LINE_BOUND,
    )


def _delivery(row: Row, timeout: float, ours: float | None) -> Comparison:
    """The printed time next to the model's delivery; with another than the first timeout a derived row."""
    size, first = printed.rule_bytes(row), timeout == TIMEOUTS_MS[0]
    why = (
        f"simulated; {size} bytes are whole packets and wait for nothing"
        if size % 12 == 0
        else f"simulated; {size % 12} bytes of the last packet wait for the timeout, which the "
        "paper does not contain"
    )
    return compare(
        id=_time_id(row) if first else f"{_time_id(row)}-timeout-{timeout:g}",
        source=SOURCE,
        table=_table(row),
        row=row.name,
        column=f"time to deliver, timeout {timeout:g} ms",
        unit="ms",
        kind="figure" if first else "derived",
        published=row.time_ms,
        measured=ours,
        tolerance=MODEL,
        evidence=Evidence(
            "other",
            checks=(_line_check(row),),
            needs_hardware=RADIOS,
            derived_from=() if first else (_time_id(row),),
        ),
        note="the transfer is missing" if ours is None else why,
    )


def _difference(row: Row) -> Comparison:
    found, said = round(printed.difference_ms(row), 3), row.difference_ms or 0.0
    room = _rounding(2.5)
    return compare(
        id=f"rf-difference-{row.name.lower()}",
        source=SOURCE,
        table=_table(row),
        row=row.name,
        column="time difference",
        unit="ms",
        kind="derived",
        published=said,
        measured=found,
        tolerance=room,
        evidence=_recomputed(said, found, room, _time_id(row), _time_id(printed.plain_row(row))),
        note="recomputed from the printed times, the paper's (2)",
    )


def _throughput(row: Row) -> Comparison:
    found, said = printed.throughput(row), row.throughput_kb_s
    room = Tolerance(0.0, printed.throughput_slack(row), "rounding: size and time have three decimals")
    evidence = _recomputed(said, found, room, _size_id(row), _time_id(row))
    note = "recomputed from printed size and time, the paper's (1)"
    if evidence.failed is not None:
        note += "; beyond rounding, so size or time had more digits than the paper"
    if row.time_ms < printed.line_bound_ms(row.size_bytes):
        note += "; the line carries 11.52 KB/s at most"
    return compare(
        id=f"rf-throughput-{row.name.lower()}",
        source=SOURCE,
        table="table 4",
        row=row.name,
        column="throughput",
        unit="KB/s",
        kind="derived",
        published=said,
        measured=round(found, 3),
        tolerance=room,
        evidence=evidence,
        note=note,
    )


def _averages() -> list[Comparison]:
    rows = []
    for payload, said in printed.PRINTED_AVERAGE_KB_S.items():
        of = printed.of(payload)
        found = printed.mean([row.throughput_kb_s for row in of])
        overall = sum(row.size_bytes for row in of) / math.fsum(row.time_ms for row in of)
        room = _rounding(2)
        rows.append(
            compare(
                id=f"rf-average-throughput-{payload.lower()}",
                source=SOURCE,
                table="table 4",
                row=f"average {payload}",
                column="throughput",
                unit="KB/s",
                kind="derived",
                published=said,
                measured=round(found, 4),
                tolerance=room,
                evidence=_recomputed(said, found, room, *(f"rf-throughput-{row.name.lower()}" for row in of)),
                note="mean of the printed rates; all bytes over all time, which an average rate is, give "
                f"{overall:.3f}",
            )
        )
    return rows


def _factor(row: Row) -> Comparison:
    found, said = printed.factor(row), row.expansion or 0.0
    room = _rounding(2)
    note = "recomputed from the printed sizes, the paper's (3) and (4)"
    right = printed.rule_bytes(row) / printed.plain_row(row).size_bytes
    if printed.rule_bytes(row) != row.size_bytes:
        note += f"; with the size that the rule gives: {right:.3f}"
    return compare(
        id=f"rf-expansion-{row.name.lower()}",
        source=SOURCE,
        table="table 5",
        row=row.name,
        column="expansion",
        kind="derived",
        published=said,
        measured=round(found, 3),
        tolerance=room,
        evidence=_recomputed(said, found, room, _size_id(row), _size_id(printed.plain_row(row))),
        note=note,
    )


def _figures() -> list[Comparison]:
    four, five = len(FIGURE_4), len(FIGURE_5 + "++")
    return [
        compare(
            id="rf-figure-4",
            source=SOURCE,
            table="figure 4",
            row="the quick brown fox",
            column="packets",
            published=4.0,
            measured=float(-(-four // 12)),
            note=f"{four} characters: the fourth packet holds {four % 12} and so waits for the timeout, "
            "unlike drawn",
        ),
        compare(
            id="rf-figure-5",
            source=SOURCE,
            table="figure 5",
            row="a little lamb++",
            column="packets",
            published=2.0,
            measured=five / 12,
            note=f"{five} characters, two whole packets",
        ),
        compare(
            id="rf-figure-6",
            source=SOURCE,
            table="figure 6",
            row="times of T, C and P",
            column="plot",
            kind="derived",
            published="tables 2 and 3",
            measured=None,
            evidence=Evidence(
                "the paper itself", needs_hardware=RADIOS, derived_from=tuple(map(_time_id, printed.rows()))
            ),
            note="a plot of tables 2 and 3 without figures of its own; the report draws it next to the model",
        ),
    ]
