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
from motecrypt.studies.words import words

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
    slopes = ", ".join(f"{printed.slope_us(payload):.1f} ({payload})" for payload in PAYLOADS)
    return words("rf").section("times", rows, slopes=slopes)


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
    return words("rf").section("arithmetic", rows, times=times)


def _short(value: float | str | None) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value if value is not None else "")


def _public_keys() -> Section:
    rows = [
        [row.row, row.column, _short(row.published), _share(row.measured), row.unit, row.verdict]
        for row in asymmetric.asymmetric(SOURCE, Catalog.load())
        if row.verdict != "not printed"
    ]
    return words("rf").section("public-keys", rows)


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
    return words("rf").section("modes", rows)


def _conclusions(results: Results) -> Section:
    radio = load_radio("srf")
    whole = costs(radio, 12).delivery_time_us  # the last packet of a longer message waits just as long
    gains = [(costs(radio, n).delivery_time_us - whole) / 1000 for n in range(1, 12)]
    flagged = [printed.too_fast(row) for row in printed.rows() if printed.too_fast(row)]
    clear = sum(early > printed.CLOCK_TOLERANCE for early in flagged)
    told = {
        "flagged": len(flagged),
        "clear": clear,
        "written": _written(results),
        "line": radio.serial_byte_us,
        "least": min(gains),
        "most": max(gains),
        **{payload.lower(): _slope(payload) for payload in PAYLOADS},
        **{f"{mode.lower()}_sent": _sent(results, mode) for mode in ("B", "C", "safe")},
    }
    said = words("rf")
    lines = [(name.replace("-", " "), said.text(name, **told)) for name in said.texts]
    return said.section("conclusions", lines)


def _slope(payload: str) -> str:
    return f"{payload} ({printed.slope_us(payload):.1f} ± {printed.slope_error_us(payload):.1f})"


def _written(results: Results) -> str:
    longest = write_ms(results)
    return "not measured here" if longest is None else f"at most {longest:.3f} ms here"


def _sent(results: Results, mode: str) -> str:
    sent = sum(row.sent_bytes for row in stored_rows(results) if row.mode == mode)
    return str(sent) if sent else "(not measured)"
