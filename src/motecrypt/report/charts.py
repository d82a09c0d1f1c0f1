"""Vega-Lite specifications of the report's own figures. Pure: data in, dictionaries out.

No theme and no width here: whoever draws a specification gives it both. Series differ in shape or dash as
well as in colour, so that a figure can be read without colour.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from motecrypt.model import Comparison
from motecrypt.report.figure import BLUE, ORANGE

Values = list[dict[str, Any]]
STEP = 19
#: From this ratio of largest to least on, an axis is logarithmic.
LOGARITHMIC_FROM = 20
OURS, PRINT = "ours", "print"


def scale(values: Sequence[float]) -> dict[str, Any]:
    """A logarithmic scale for positive values that span much, else a linear one from zero."""
    known = [value for value in values if value is not None]
    if known and min(known) > 0 and max(known) / min(known) >= LOGARITHMIC_FROM:
        return {"type": "log", "nice": True}
    return {"zero": True}


def paired(rows: Sequence[Comparison], unit: str, quantity: str) -> dict[str, Any]:
    """The print beside ours: one line a row, joined so that the distance shows."""
    values: Values = [
        {"row": row.row, PRINT: row.published, OURS: row.measured, "verdict": row.verdict} for row in rows
    ]
    numbers = [float(value[side]) for value in values for side in (PRINT, OURS)]
    title = f"{quantity}, {unit}" if unit else quantity
    y = {
        "field": "row",
        "type": "nominal",
        "sort": None,
        "title": None,
        "axis": {"labelLimit": 190, "ticks": False, "domain": False, "grid": True, "gridDash": [2, 3]},
    }
    x = {"type": "quantitative", "scale": scale(numbers), "title": title}
    series = {"field": "of", "type": "nominal", "title": None, "legend": {"orient": "top"}}
    points = {
        "transform": [{"fold": [OURS, PRINT], "as": ["of", "value"]}],
        "mark": {"type": "point", "size": 62, "strokeWidth": 2, "filled": False},
        "encoding": {
            "y": y,
            "x": {**x, "field": "value"},
            "shape": {**series, "scale": {"domain": [OURS, PRINT], "range": ["circle", "diamond"]}},
            "color": {**series, "scale": {"domain": [OURS, PRINT], "range": [BLUE, ORANGE]}},
            "fill": {
                "condition": {"test": f"datum.of === '{OURS}'", "value": BLUE},
                "value": "transparent",
            },
            "tooltip": [
                {"field": "row"},
                {"field": PRINT, "type": "quantitative"},
                {"field": OURS, "type": "quantitative"},
                {"field": "verdict"},
            ],
        },
    }
    joined = {
        "mark": {"type": "rule", "opacity": 0.5, "strokeWidth": 1.5},
        "encoding": {"y": y, "x": {**x, "field": PRINT}, "x2": {"field": OURS}},
    }
    return {"data": {"values": values}, "height": {"step": STEP}, "layer": [joined, points]}


def by_cipher(values: Values, quantity: str) -> dict[str, Any]:
    """Every cipher on every device, a point each: shape and colour say the device."""
    devices = list(dict.fromkeys(str(value["device"]) for value in values))
    series = {"field": "device", "type": "nominal", "title": None, "legend": {"orient": "top"}}
    return {
        "data": {"values": values},
        "height": {"step": STEP},
        "mark": {"type": "point", "size": 62, "strokeWidth": 2, "filled": False},
        "encoding": {
            "y": {
                "field": "cipher",
                "type": "nominal",
                "title": None,
                "sort": {"field": "value", "op": "max"},
                "axis": {"ticks": False, "domain": False, "grid": True, "gridDash": [2, 3]},
            },
            "x": {
                "field": "value",
                "type": "quantitative",
                "scale": scale([value["value"] for value in values]),
                "title": quantity,
            },
            "shape": {**series, "scale": {"domain": devices}},
            "color": {**series, "scale": {"domain": devices}},
            "tooltip": [
                {"field": "cipher"},
                {"field": "device"},
                {"field": "implementation"},
                {"field": "value", "type": "quantitative", "format": ",.4~g", "title": quantity},
            ],
        },
    }


def by_length(values: Values, quantity: str) -> dict[str, Any]:
    """Cost against message length: a line for each series, with its own dash and shape."""
    series = {
        "field": "series",
        "type": "nominal",
        "title": None,
        "sort": None,
        "legend": {"orient": "bottom", "columns": 1, "labelLimit": 300},
    }
    x = {"field": "message_bytes", "type": "quantitative", "title": "message, bytes", "scale": {"zero": False}}
    y = {
        "field": "value",
        "type": "quantitative",
        "title": quantity,
        "scale": scale([value["value"] for value in values]),
    }
    return {
        "data": {"values": values},
        "height": 230,
        "layer": [
            {
                "mark": {"type": "line", "strokeWidth": 1.8},
                "encoding": {"x": x, "y": y, "color": series, "strokeDash": series},
            },
            {
                "mark": {"type": "point", "size": 48, "strokeWidth": 1.8},
                "encoding": {
                    "x": x,
                    "y": y,
                    "color": series,
                    "shape": series,
                    "tooltip": [
                        {"field": "series"},
                        {"field": "message_bytes"},
                        {"field": "value", "type": "quantitative", "format": ",.4~g", "title": quantity},
                    ],
                },
            },
        ],
        "resolve": {"scale": {"shape": "shared", "strokeDash": "shared"}},
    }


def heat_maps(maps: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Diffusion: how often a changed input bit changed each output byte, a panel for each direction.

    A row of a panel is an input byte (the mean of its 8 bits). Dark is always, light is never, in any print.
    """
    panels = [_heat_map(title, found) for title, found in maps.items()]
    return {"concat": panels, "columns": 2, "resolve": {"scale": {"color": "shared"}}, "spacing": 18}


def _heat_map(title: str, found: Mapping[str, Any]) -> dict[str, Any]:
    bits: Sequence[Sequence[int]] = found["percent_changed_by_input_bit_and_output_byte"]
    values = []
    for index in range(len(bits) // 8):
        columns = zip(*bits[8 * index : 8 * index + 8], strict=True)
        values.append({"input": index, "changed": " ".join(str(round(sum(c) / 8)) for c in columns)})
    ticks = {"type": "ordinal", "axis": {"labelOverlap": True, "ticks": False, "domain": False, "labelAngle": 0}}
    return {
        "title": {"text": title, "fontSize": 11, "fontWeight": 500},
        "data": {"values": values},
        "transform": [
            {"calculate": "split(datum.changed, ' ')", "as": "each"},
            {"flatten": ["each"]},
            {"window": [{"op": "row_number", "as": "number"}], "groupby": ["input"]},
            {"calculate": "datum.number - 1", "as": "output"},
            {"calculate": "toNumber(datum.each)", "as": "percent"},
        ],
        "width": 150,
        "height": 150,
        "mark": {"type": "rect"},
        "encoding": {
            "x": {**ticks, "field": "output", "title": "output byte"},
            "y": {**ticks, "field": "input", "title": f"{found['input']} byte"},
            "color": {
                "field": "percent",
                "type": "quantitative",
                "title": "changed, %",
                "scale": {"domain": [0, 100], "range": ["#f2ede2", "#8fa3b8", "#12314f"]},
                "legend": {"gradientLength": 100},
            },
            "tooltip": [{"field": "input"}, {"field": "output"}, {"field": "percent", "title": "changed, %"}],
        },
    }


def heat_rows(maps: Mapping[str, Mapping[str, Any]]) -> Values:
    """The data behind heat maps in full, by input bit."""
    return [
        {"panel": title, "input_bit": bit, "output_byte": byte, "changed_percent": percent}
        for title, found in maps.items()
        for bit, row in enumerate(found["percent_changed_by_input_bit_and_output_byte"])
        for byte, percent in enumerate(row)
    ]
