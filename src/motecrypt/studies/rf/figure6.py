"""Figure 6 of the RF study: transmission times of T, C and P, as printed and by the model. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from motecrypt.studies.rf import printed
from motecrypt.studies.rf.printed import PAYLOADS, TIMEOUTS_MS

NAME = "rf-figure-6"
PAPER = "paper: transmission time"
LINE = "the least that the line needs"
DELIVERED = "model: until delivered, timeout {:g} ms"


def chart(delivered_ms: Mapping[tuple[str, int, float], float]) -> dict[str, dict[str, Any]]:
    """The paper's plot next to ours, as a Vega-Lite specification.

    Parameters
    ----------
    delivered_ms
        Milliseconds until delivery by payload, bytes of the plaintext and timeout in ms. Panels without
        any are left out.
    """
    titles = (PAPER, LINE, *map(DELIVERED.format, TIMEOUTS_MS))
    panels: dict[str, list[dict[str, Any]]] = {title: [] for title in titles}
    for row in printed.rows():
        panels[PAPER].append(_point(row, row.time_ms))
        panels[LINE].append(_point(row, printed.line_bound_ms(row.size_bytes)))
        for timeout in TIMEOUTS_MS:
            found = delivered_ms.get((row.payload, printed.plain_row(row).size_bytes, timeout))
            if found is not None:
                panels[DELIVERED.format(timeout)].append(_point(row, found))
    return {
        NAME: {
            "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
            "title": "figure 6: time of plaintext, ciphertext and ciphertext with padding, by message",
            "description": "Figure 6: the printed transmission times of plaintext (T), ciphertext (C) and "
            "ciphertext with padding (P). Next to them, the least that the serial line needs for the printed "
            "bytes, and our model's time until the receiver's radio has delivered the last byte.",
            "background": "white",
            "concat": [_panel(title, values) for title, values in panels.items() if values],
            "columns": 2,
        }
    }


def _point(row: printed.Row, time_ms: float) -> dict[str, Any]:
    return {
        "message": row.number,
        "payload": f"{row.payload} {PAYLOADS[row.payload]}",
        "bytes": row.size_bytes,
        "ms": round(time_ms, 3),
    }


def _panel(title: str, values: list[dict[str, Any]]) -> dict[str, Any]:
    series = {"field": "payload", "type": "nominal", "sort": None, "title": None}
    return {
        "title": title,
        "width": 300,
        "height": 220,
        "data": {"values": values},
        "mark": {"type": "line", "point": True},
        "encoding": {
            "x": {"field": "message", "type": "ordinal", "title": "message", "axis": {"labelAngle": 0}},
            "y": {"field": "ms", "type": "quantitative", "title": "time, ms"},
            "color": series,
            "shape": series,
            "tooltip": [{"field": "payload"}, {"field": "message"}, {"field": "bytes"}, {"field": "ms"}],
        },
    }
