"""The rows of the RF study: each printed size, time and ratio next to what the line or the model gives."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from motecrypt.catalog import Catalog
from motecrypt.results import Results
from motecrypt.results.experiments.radio_transfer import TransferQuestion, TransferRow
from motecrypt.studies.facts import Comparison, Tolerance
from motecrypt.studies.judge import Bound, Check, agree
from motecrypt.studies.rf import asymmetric, printed
from motecrypt.studies.rf.claims import claims
from motecrypt.studies.rf.explanations import explanations
from motecrypt.studies.rf.printed import TIMEOUTS_MS, Row
from motecrypt.studies.words import words

SOURCE = words("rf").source
FIGURE_4 = "See the quick brown fox jump over the lazy dogs"
FIGURE_5 = "Mary had a little lamb"

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


def _recomputed(name: str, said: float, gives: float, rows: Iterable[str], **figures: Any) -> Comparison:
    """A printed figure that follows from others of the paper: it agrees with them or the paper does not."""
    return words("rf").row(
        name, published=said, check=(said, gives), gives=gives, derived_from=tuple(rows), **figures
    )


def _size_id(row: Row) -> str:
    return f"rf-size-{row.name.lower()}"


def _time_id(row: Row) -> str:
    return f"rf-time-{row.name.lower()}"


def _size(row: Row) -> Comparison:
    rule, size, hex_digits = printed.rule_bytes(row), row.size_bytes, row.payload != "T"
    padded = row.payload == "P"
    return words("rf").row(
        "size",
        printed=row,
        id_of=row.name.lower(),
        published=float(size),
        measured=float(rule) if hex_digits else None,
        kind="figure" if hex_digits else "input",
        like_for_like="same algorithm, ours" if hex_digits else "the paper itself",
        check=(float(size % (12 if padded else 32)), 0.0) if hex_digits else None,
        hex=hex_digits,
        padded=padded,
        size=size,
        zero=printed.zero_padding_bytes(row) if hex_digits and rule != size else None,
    )


def _totals() -> list[Comparison]:
    rows = []
    for payload, said in printed.PRINTED_TOTAL_KB.items():
        of = printed.of(payload)
        found = sum(row.size_bytes for row in of) / 1000
        told = {"payload": payload.lower(), "title": payload, "measured": found}
        rows.append(_recomputed("total", said, found, map(_size_id, of), tolerance=_rounding(1), **told))
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
        command="motecrypt reproduce rf --rows",
        tolerance=clock,
    )


def _line_bound(row: Row) -> Comparison:
    early, check = printed.too_fast(row), _line_check(row)
    return words("rf").row(
        "line",
        timed=_time_id(row),
        where=_table(row),
        printed=row,
        published=row.time_ms,
        measured=printed.line_bound_ms(row.size_bytes),
        tolerance=check.tolerance,
        checks=(check,),
        derived_from=(_time_id(row),),
        early=early,
        faster=check.why,
        within=bool(early) and check.holds,
        share=100 * early,
    )


def _delivery(row: Row, timeout: float, ours: float | None) -> Comparison:
    """The printed time next to the model's delivery; with another than the first timeout a derived row."""
    size, first = printed.rule_bytes(row), timeout == TIMEOUTS_MS[0]
    return words("rf").row(
        "delivery",
        timed=_time_id(row),
        where=_table(row),
        printed=row,
        timeout=timeout,
        first=first,
        kind="figure" if first else "derived",
        published=row.time_ms,
        measured=ours,
        tolerance=MODEL,
        checks=(_line_check(row),),
        derived_from=() if first else (_time_id(row),),
        there=ours is not None,
        whole=ours is not None and size % 12 == 0,
        waits=ours is not None and size % 12 != 0,
        size=size,
        rest=size % 12,
    )


def _difference(row: Row) -> Comparison:
    found, said = round(printed.difference_ms(row), 3), row.difference_ms or 0.0
    told = {"id_of": row.name.lower(), "printed": row, "where": _table(row)}
    origins = _time_id(row), _time_id(printed.plain_row(row))
    return _recomputed("difference", said, found, origins, measured=found, tolerance=_rounding(2.5), **told)


def _throughput(row: Row) -> Comparison:
    found, said = printed.throughput(row), row.throughput_kb_s
    room = Tolerance(0.0, printed.throughput_slack(row), "rounding: size and time have three decimals")
    return _recomputed(
        "throughput",
        said,
        found,
        (_size_id(row), _time_id(row)),
        id_of=row.name.lower(),
        printed=row,
        measured=round(found, 3),
        tolerance=room,
        beyond=not agree(found, said, room),
        early=row.time_ms < printed.line_bound_ms(row.size_bytes),
    )


def _averages() -> list[Comparison]:
    rows = []
    for payload, said in printed.PRINTED_AVERAGE_KB_S.items():
        of = printed.of(payload)
        found = printed.mean([row.throughput_kb_s for row in of])
        overall = sum(row.size_bytes for row in of) / math.fsum(row.time_ms for row in of)
        told = {"payload": payload.lower(), "title": payload, "overall": overall, "measured": round(found, 4)}
        origins = (f"rf-throughput-{row.name.lower()}" for row in of)
        rows.append(_recomputed("average", said, found, origins, tolerance=_rounding(2), **told))
    return rows


def _factor(row: Row) -> Comparison:
    found, rule, plain = printed.factor(row), printed.rule_bytes(row), printed.plain_row(row)
    right = None if rule == row.size_bytes else rule / plain.size_bytes
    told = {"id_of": row.name.lower(), "printed": row, "right": right, "measured": round(found, 3)}
    origins = _size_id(row), _size_id(plain)
    return _recomputed("expansion", row.expansion or 0.0, found, origins, tolerance=_rounding(2), **told)


def _figures() -> list[Comparison]:
    said, four, five = words("rf"), len(FIGURE_4), len(FIGURE_5 + "++")
    return [
        said.row("figure-4", measured=float(-(-four // 12)), letters=four, rest=four % 12),
        said.row("figure-5", measured=five / 12, letters=five),
        said.row("figure-6", derived_from=map(_time_id, printed.rows())),
    ]
