"""Securing RF communication with AES-256 (Raspberry Pis, Slice of Radio): the paper, put right.

Three times stand side by side: the paper, what the serial line needs at least, and the time to deliver by
the model of the radio. None of ours is a measurement on real radios; the encryption times are measured here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from motecrypt.findings.radio_transfer import TransferQuestion, TransferRow
from motecrypt.model import Comparison, Section, Verdict
from motecrypt.radios import costs, load_radio
from motecrypt.results import Results
from motecrypt.studies.claim_ids import ClaimId
from motecrypt.studies.rf import alternatives, crowd, printed, protocols
from motecrypt.studies.rf.claims import claims
from motecrypt.studies.rf.printed import PAYLOADS, TIMEOUTS_MS, Row

ORDER = 3
TITLE = "rf: AES-256 over a serial radio"
SOURCE = (
    "Jamaluddin, Mohamed, Hashim, 'Securing RF Communication Using AES-256 Symmetric Encryption: "
    "a Performance Evaluation', IJET 7 (4.11) (2018) 217-222"
)

FIGURE_4 = "See the quick brown fox jump over the lazy dogs"
FIGURE_5 = "Mary had a little lamb"


def transfer() -> TransferQuestion:
    """The ten messages, sent in virtual time in every mode."""
    return TransferQuestion("srf", tuple(row.size_bytes for row in printed.of("T")), TIMEOUTS_MS)


def comparisons(results: Results) -> list[Comparison]:
    """Every cell of tables 1 to 5, figures 4 to 6 and every claim, as rows."""
    delivered = _delivered(results)
    return [
        *(_size(row) for row in printed.rows()),
        *_totals(),
        *(entry for row in printed.rows() for entry in _times(row, delivered)),
        *(_difference(row) for row in printed.rows() if row.difference_ms is not None),
        *(_throughput(row) for row in printed.rows()),
        *_averages(),
        *(_factor(row) for row in printed.rows() if row.expansion is not None),
        *_figures(),
        *claims(SOURCE),
    ]


def _rows(results: Results) -> tuple[TransferRow, ...]:
    found = transfer().answer(results)
    return () if found is None else found.rows


def _delivered(results: Results) -> dict[tuple[str, int, float], float]:
    """Time to deliver in ms by mode, message length and timeout."""
    return {
        (row.mode, row.message_bytes, timeout): row.delivery_us[f"{timeout:g}"] / 1000
        for row in _rows(results)
        for timeout in TIMEOUTS_MS
    }


def _verdict(same: bool) -> Verdict:
    return "reproduced" if same else "contradicted"


def _size(row: Row) -> Comparison:
    rule = printed.rule_bytes(row)
    note = "the message itself: our input"
    if row.payload != "T":
        note = "hex of PKCS#7-padded CBC blocks, no IV" + (", filled to packets of 12" * (row.payload == "P"))
        if rule != row.size_bytes:
            note += f"; zero padding would give {printed.zero_padding_bytes(row)}: the paper fits no rule"
    same = rule == row.size_bytes
    size = row.size_bytes
    return Comparison(
        SOURCE,
        "table 1",
        row.name,
        "data size",
        "byte",
        float(size),
        float(rule),
        rule / size,
        _verdict(same),
        note,
    )


def _totals() -> list[Comparison]:
    rows = []
    for payload, said in printed.PRINTED_TOTAL_KB.items():
        found = sum(row.size_bytes for row in printed.of(payload)) / 1000
        note = "recomputed from the printed sizes"
        same = abs(found - said) < printed.HALF_A_DIGIT
        rows.append(
            Comparison(
                SOURCE,
                "table 1",
                f"total {payload}",
                "data size",
                "KB",
                said,
                found,
                found / said,
                _verdict(same),
                note,
            )
        )
    return rows


def _times(row: Row, delivered: Mapping[tuple[str, int, float], float]) -> list[Comparison]:
    """The paper against the line's bound, and against the time to deliver with both timeouts."""
    table = "table 3" if row.payload == "P" else "table 2"
    bound = printed.line_bound_ms(row.size_bytes)
    early = printed.too_fast(row)
    verdict: Verdict = "contradicted" if early > printed.CLOCK_TOLERANCE else "not reproducible"
    if early:
        rate = 1000 * row.time_ms / row.size_bytes
        note = f"faster than the line can carry: {rate:.1f} us a byte, 86.8 at 115200 8N1"
        if verdict != "contradicted":
            note += f"; by {100 * early:.1f} %, which a UART's clock may be off"
    else:
        note = "above what the line needs, yet no delivery time; rather the time until write() returned"
    compared = [
        Comparison(
            SOURCE,
            table,
            row.name,
            "time, line-rate bound",
            "ms",
            row.time_ms,
            bound,
            bound / row.time_ms,
            verdict,
            note,
            id=ClaimId.RF_LINE_BOUND,
        )
    ]
    for timeout in TIMEOUTS_MS:
        ours = delivered.get((row.payload, printed.plain_row(row).size_bytes, timeout))
        compared.append(_delivery(row, table, timeout, ours, verdict))
    return compared


def _delivery(row: Row, table: str, timeout: float, ours: float | None, verdict: Verdict) -> Comparison:
    column = f"time to deliver, timeout {timeout:g} ms"
    if ours is None:
        return Comparison(
            SOURCE,
            table,
            row.name,
            column,
            "ms",
            row.time_ms,
            None,
            None,
            "not measured",
            "the transfer is missing",
        )
    size = printed.rule_bytes(row)
    why = (
        f"simulated; {size} bytes are whole packets and wait for nothing"
        if size % 12 == 0
        else f"simulated; {size % 12} bytes of the last packet wait for the timeout, which the "
        "paper does not contain"
    )
    if verdict == "not reproducible":
        why += "; to measure it takes two real modules"
    return Comparison(
        SOURCE, table, row.name, column, "ms", row.time_ms, ours, ours / row.time_ms, verdict, why
    )


def _difference(row: Row) -> Comparison:
    found = round(printed.difference_ms(row), 3)
    said = row.difference_ms or 0.0
    table = "table 3" if row.payload == "P" else "table 2"
    same = abs(found - said) < 2.5 * printed.HALF_A_DIGIT
    note = "recomputed from the printed times, the paper's (2)"
    return Comparison(
        SOURCE, table, row.name, "time difference", "ms", said, found, found / said, _verdict(same), note
    )


def _throughput(row: Row) -> Comparison:
    found = printed.throughput(row)
    said = row.throughput_kb_s
    same = abs(found - said) <= printed.throughput_slack(row)
    note = "recomputed from printed size and time, the paper's (1)"
    if not same:
        note += "; beyond rounding, so size or time had more digits than the paper"
    if row.time_ms < printed.line_bound_ms(row.size_bytes):
        note += "; the line carries 11.52 KB/s at most"
    return Comparison(
        source=SOURCE,
        table="table 4",
        row=row.name,
        column="throughput",
        unit="KB/s",
        published=said,
        measured=round(found, 3),
        ratio=found / said,
        verdict=_verdict(same),
        note=note,
    )


def _averages() -> list[Comparison]:
    rows = []
    for payload, said in printed.PRINTED_AVERAGE_KB_S.items():
        found = printed.mean([row.throughput_kb_s for row in printed.of(payload)])
        total = sum(row.size_bytes for row in printed.of(payload))
        overall = total / math.fsum(row.time_ms for row in printed.of(payload))
        note = (
            "mean of the printed rates; all bytes over all time, which an average rate is, give "
            f"{overall:.3f}"
        )
        rows.append(
            Comparison(
                source=SOURCE,
                table="table 4",
                row=f"average {payload}",
                column="throughput",
                unit="KB/s",
                published=said,
                measured=round(found, 4),
                ratio=found / said,
                verdict=_verdict(abs(found - said) < 2 * printed.HALF_A_DIGIT),
                note=note,
            )
        )
    return rows


def _factor(row: Row) -> Comparison:
    found, said = printed.factor(row), row.expansion or 0.0
    same = abs(found - said) < 2 * printed.HALF_A_DIGIT
    note = "recomputed from the printed sizes, the paper's (3) and (4)"
    right = printed.rule_bytes(row) / printed.plain_row(row).size_bytes
    if printed.rule_bytes(row) != row.size_bytes:
        note += f"; with the size that the rule gives: {right:.3f}"
    return Comparison(
        SOURCE,
        "table 5",
        row.name,
        "expansion",
        "",
        said,
        round(found, 3),
        found / said,
        _verdict(same),
        note,
    )


def _figures() -> list[Comparison]:
    four, five = len(FIGURE_4), len(FIGURE_5 + "++")
    packets = float(-(-four // 12))
    return [
        Comparison(
            source=SOURCE,
            table="figure 4",
            row="the quick brown fox",
            column="packets",
            unit="",
            published=4.0,
            measured=packets,
            ratio=packets / 4,
            verdict=_verdict(packets == 4),
            note=f"{four} characters: the fourth packet holds {four % 12} and so waits for the timeout, "
            "unlike drawn",
        ),
        Comparison(
            source=SOURCE,
            table="figure 5",
            row="a little lamb++",
            column="packets",
            unit="",
            published=2.0,
            measured=five / 12,
            ratio=five / 24,
            verdict=_verdict(five == 24),
            note=f"{five} characters, two whole packets",
        ),
        Comparison(
            source=SOURCE,
            table="figure 6",
            row="times of T, C and P",
            column="plot",
            unit="",
            published="tables 2 and 3",
            measured=None,
            ratio=None,
            verdict="not reproducible",
            note="a plot of tables 2 and 3 without figures of its own; what those show is said there",
        ),
    ]


def sections(results: Results) -> list[Section]:
    """The tables for people, and what follows from them in plain words."""
    return [
        _three_times(results),
        _arithmetic(results),
        _modes(results),
        *protocols.sections(),
        *alternatives.sections(),
        *crowd.sections(results),
        _conclusions(results),
    ]


def tables(results: Results) -> dict[str, list[dict[str, Any]]]:
    """What goes beyond the paper, as plain records."""
    return {
        "protocols": protocols.table(),
        "alternatives": alternatives.table(),
        "nodes": crowd.table(results),
    }


def charts(results: Results) -> dict[str, dict[str, Any]]:
    """What goes beyond the paper, as Vega-Lite specifications."""
    return crowd.charts(results)


def _three_times(results: Results) -> Section:
    delivered = _delivered(results)
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
    wrong = [entry for entry in comparisons(results) if entry.verdict == "contradicted"]
    kept = [entry for entry in wrong if not entry.column.startswith("time")]
    rows = [[e.table, e.row, e.column, _short(e.published), _short(e.measured), e.note] for e in kept]
    text = f"{len(wrong) - len(kept)} more cells are times that the serial line contradicts: flagged above."
    columns = ("where", "row", "column", "paper", "recomputed", "why")
    return Section("Where the paper contradicts itself, the line or the standards", columns, rows, text)


def _short(value: float | str | None) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value if value is not None else "")


def _modes(results: Results) -> Section:
    names = {
        "T": "T plaintext",
        "C": "C hex, no IV",
        "P": "P hex, filled",
        "B": "B binary, IV sent",
        "safe": "safe (AES-CCM)",
    }
    stored = _rows(results)
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
            f"Rather the time until write() returned than a transmission: {len(flagged)} of 30 rows "
            "are faster than "
            f"the line can carry ({clear} by more than the 2 % that a clock may be off), and none "
            "holds the timeout that the text explains.",
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


def _sent(results: Results, mode: str) -> str:
    sent = sum(row.sent_bytes for row in _rows(results) if row.mode == mode)
    return str(sent) if sent else "(not measured)"
