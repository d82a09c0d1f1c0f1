"""Securing RF communication with AES-256 (Raspberry Pis, Slice of Radio): the paper, put right.

It compares three times: the paper, what the serial line needs at least, and the time to deliver by
the model of the radio. None of ours is a measurement on real radios; the encryption times are measured here.
"""

from __future__ import annotations

import math
from typing import Any

from motecrypt.air.radios import costs, load_radio
from motecrypt.base.model import Section
from motecrypt.catalog import Catalog
from motecrypt.results import Results
from motecrypt.studies.counts import AGAINST
from motecrypt.studies.rf import alternatives, asymmetric, crowd, figure6, printed, protocols
from motecrypt.studies.rf.explanations import write_ms
from motecrypt.studies.rf.printed import PAYLOADS, TIMEOUTS_MS, Row
from motecrypt.studies.rf.rows import SOURCE, comparisons, delivered_ms, stored_rows

__all__ = ["ORDER", "SOURCE", "TITLE", "charts", "comparisons", "sections", "tables"]

ORDER = 3
TITLE = "rf: AES-256 over a serial radio"


def sections(results: Results) -> list[Section]:
    """The tables for people, and what follows from them in plain words."""
    return [
        _three_times(results),
        _arithmetic(results),
        _modes(results),
        *protocols.sections(),
        *alternatives.sections(),
        *crowd.sections(results),
        *asymmetric.sections(Catalog.load()),
        _public_keys(),
        _conclusions(results),
    ]


def tables(results: Results) -> dict[str, list[dict[str, Any]]]:
    """What goes beyond the paper, as plain records."""
    return {
        "protocols": protocols.table(),
        "alternatives": alternatives.table(),
        "nodes": crowd.table(results),
        "handshakes": asymmetric.table(Catalog.load()),
    }


def charts(results: Results) -> dict[str, dict[str, Any]]:
    """Figure 6 and what goes beyond the paper, as Vega-Lite specifications."""
    return figure6.chart(delivered_ms(results)) | crowd.charts(results)


def _three_times(results: Results) -> Section:
    delivered = delivered_ms(results)
    rows = []
    for row in printed.rows():
        bound = printed.line_bound_ms(row.size_bytes)
        plain = printed.plain_row(row).size_bytes
        ours = [delivered.get((row.payload, plain, timeout)) for timeout in TIMEOUTS_MS]
        rows.append(
            [
                row.name,
                str(row.size_bytes),
                str(printed.rule_bytes(row)),
                f"{row.time_ms:.3f}",
                f"{bound:.3f}",
                *("not measured" if time is None else f"{time:.3f}" for time in ours),
                _flag(row),
            ]
        )
    columns = ("payload", "bytes", "by rule", "paper ms", "line ms", "deliver ms", "deliver ms, 16", "flag")
    slopes = ", ".join(f"{printed.slope_us(payload):.1f} ({payload})" for payload in PAYLOADS)
    text = (
        "line: the least that 115200 8N1 needs for the printed bytes. deliver: until the last byte is out of "
        "the receiver's radio, by the model, for the bytes that the rule gives; firmware to 0.40 "
        "waits 100 ms "
        f"for a packet that is not full, from 0.41 16 ms. The paper's slopes are {slopes} us a "
        "byte; the line's is 86.8."
    )
    return Section("Tables 1 to 3 and figure 6: three times side by side", columns, rows, text)


def _flag(row: Row) -> str:
    early = printed.too_fast(row)
    if not early:
        return ""
    said = "faster than the line"
    return said if early > printed.CLOCK_TOLERANCE else f"{said}, within 2 %"


def _arithmetic(results: Results) -> Section:
    shown = {row.id for row in asymmetric.asymmetric(SOURCE, Catalog.load())}
    wrong = [e for e in comparisons(results) if e.verdict in AGAINST and e.id not in shown]
    kept = [entry for entry in wrong if not entry.column.startswith("time")]
    rows = [[e.table, e.row, e.column, _short(e.published), _short(e.measured), e.note] for e in kept]
    times = sum(entry.kind == "figure" for entry in wrong if entry.column.startswith("time"))
    text = f"{times} more cells are times that the serial line contradicts: flagged above."
    columns = ("where", "row", "column", "paper", "recomputed", "why")
    return Section("Where the paper contradicts itself, the line or the standards", columns, rows, text)


def _short(value: float | str | None) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value if value is not None else "")


def _public_keys() -> Section:
    rows = [
        [row.row, row.column, _short(row.published), _share(row.measured), row.unit, row.verdict]
        for row in asymmetric.asymmetric(SOURCE, Catalog.load())
        if row.verdict != "not printed"
    ]
    columns = ("claim", "for", "paper", "ours", "unit", "verdict")
    return Section("Public keys: the statements, judged", columns, rows)


def _share(value: float | str | None) -> str:
    return f"{value:,.1f}" if isinstance(value, float) else str(value or "")


def _modes(results: Results) -> Section:
    names = {
        "T": "T plaintext",
        "C": "C hex, no IV",
        "P": "P hex, filled",
        "B": "B binary, IV sent",
        "safe": "safe (AES-CCM)",
    }
    stored = stored_rows(results)
    rows = []
    for mode, name in names.items():
        of_mode = [row for row in stored if row.mode == mode]
        if not of_mode:
            rows.append([name, *["not measured"] * 7])
            continue
        message = sum(row.message_bytes for row in of_mode)
        sent = sum(row.sent_bytes for row in of_mode)
        deliver = [
            math.fsum(row.delivery_us[f"{t:g}"] for row in of_mode) / 1000 / len(of_mode) for t in TIMEOUTS_MS
        ]
        rows.append(
            [
                name,
                str(sent),
                f"{sent / message:.2f}",
                f"{math.fsum(row.air_us for row in of_mode) / 1000:.1f}",
                *(f"{time:.1f}" for time in deliver),
                f"{math.fsum(row.encryption_us for row in of_mode) / len(of_mode):.1f}",
                "yes" if mode == "safe" else "no",
            ]
        )
    columns = (
        *("mode", "bytes sent", "expansion", "air ms", "mean deliver ms", "with 16 ms"),
        *("encrypt us, this host", "authentic"),
    )
    text = (
        "The ten messages of table 1 (688 bytes). The safe mode counts its packets' heads, tag and "
        "counter, and sends the longest message as two; its delivery "
        "excludes the acknowledgement, one packet more and 4 ms. The radio module's own AES-128 "
        "(ATEE1) adds no "
        "byte and no documented time, and so no row: it has no documented IV, integrity check or replay "
        "rule, and its key can be read back with ATEK."
    )
    return Section("What the modes cost", columns, rows, text)


def _conclusions(results: Results) -> Section:
    radio = load_radio("srf")
    whole = costs(radio, 12).delivery_time_us  # the last packet of a longer message waits just as long
    gains = [(costs(radio, n).delivery_time_us - whole) / 1000 for n in range(1, 12)]
    flagged = [printed.too_fast(row) for row in printed.rows() if printed.too_fast(row)]
    clear = sum(early > printed.CLOCK_TOLERANCE for early in flagged)
    sentences = [
        (
            "what was measured",
            f"No transmission: {len(flagged)} of 30 rows are faster than the line can carry ({clear} by more "
            "than the 2 % that a clock may be off), and none has the timeout that the text explains. Nor the "
            f"time until write() returns, {_written(results)}. Writing and draining the line takes "
            f"{radio.serial_byte_us:.1f} us a byte. {_slope('T')} and {_slope('C')} are consistent with it, "
            f"{_slope('P')} is not.",
        ),
        (
            "what was missed",
            "Delivery. A message that is not whole packets arrives 100 ms later (16 ms from firmware 0.41), "
            "plaintext included: none of the ten plaintexts is whole packets.",
        ),
        (
            "what padding gains",
            f"{min(gains):.1f} to {max(gains):.1f} ms for each message that is not whole packets, "
            "by the model, "
            "nothing for one that is; the paper's 7.92 % is 7.34 % by its own figures, and neither is this.",
        ),
        (
            "what hex costs",
            "Twice the ciphertext: 86.8 us on the line and 32 us on the air for each byte "
            "encrypted, and nothing "
            "in return. In binary, with the IV sent, the ten messages take "
            f"{_sent(results, 'B')} bytes instead of {_sent(results, 'C')}.",
        ),
        (
            "what the missing IV costs",
            "Equal messages, and equal first blocks, show as equal. Sending it costs 16 bytes, 1.4 ms on the "
            "line. A counter does the same in 4: the safe mode, authenticated, takes "
            f"{_sent(results, 'safe')} bytes for all ten and is on average delivered sooner than C.",
        ),
    ]
    return Section("In plain words", ("question", "answer"), [list(pair) for pair in sentences])


def _slope(payload: str) -> str:
    return f"{payload} ({printed.slope_us(payload):.1f} ± {printed.slope_error_us(payload):.1f})"


def _written(results: Results) -> str:
    longest = write_ms(results)
    return "not measured here" if longest is None else f"at most {longest:.3f} ms here"


def _sent(results: Results, mode: str) -> str:
    sent = sum(row.sent_bytes for row in stored_rows(results) if row.mode == mode)
    return str(sent) if sent else "(not measured)"
