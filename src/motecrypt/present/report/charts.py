"""Vega-Lite specifications of the report's own figures. Pure: data in, dictionaries out.

No theme and no width here: anyone who draws a specification gives it both. Series differ in shape or dash as
well as in colour, so that a figure can be read without colour.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, floor, log10
from typing import Any

from motecrypt.present.report.looks import BLUE, DASHES, GREEN, VERMILLION, look_of, scales
from motecrypt.results.experiments.audit import DiffusionMatrix
from motecrypt.studies.facts import Comparison

Values = list[dict[str, Any]]
STEP = 19
#: Width of one panel of several, in pixels; on a narrow screen the page takes less.
PANEL = 230
#: From this ratio of largest to least on, an axis is logarithmic.
LOGARITHMIC_FROM = 20
OURS, PRINT, RECOMPUTED = "ours", "paper", "recomputed"
#: Whose code a measured figure is of: shape and colour, by `Comparison.like_for_like`; ours for any other.
WHOSE = {
    "author's code": ("square", GREEN),
    "author's code, recorded": ("triangle-up", GREEN),
    OURS: ("circle", BLUE),
    RECOMPUTED: ("circle", BLUE),
    PRINT: ("diamond", VERMILLION),
}


def axis_of(field: str, values: Sequence[float], title: str) -> dict[str, Any]:
    """An axis for these values: logarithmic where they are positive and span much, else from zero."""
    known = [value for value in values if value is not None]
    made: dict[str, Any] = {"field": field, "type": "quantitative", "title": title}
    if not known or min(known) <= 0 or max(known) / min(known) < LOGARITHMIC_FROM:
        return made | {"scale": {"zero": True, "nice": True}, "axis": {"tickCount": 6}}
    low, high = floor(log10(min(known))), ceil(log10(max(known)))
    parts = (1, 2, 5) if high - low < 3 else (1,)
    ticks = [float(f"{part}e{power}") for power in range(low, high + 1) for part in parts]
    return made | {
        "scale": {"type": "log", "nice": False, "padding": 9},
        "axis": {"values": ticks, "format": ",~r"},
    }


def _height(values: Values, field: str) -> int:
    """Room for a line of text for each row."""
    return STEP * max(2, len({value[field] for value in values}))


def paired(columns: Mapping[str, Sequence[Comparison]], unit: str, against: str = OURS) -> dict[str, Any]:
    """The paper next to ours, a panel for each column of a table, a line for each of its rows.

    `against` names the other side: `OURS`, or `RECOMPUTED` where that is from the paper as well. Both points
    of a line are joined, so that their distance shows.
    """
    panels = [_pair(column, rows, unit, against) for column, rows in columns.items()]
    if len(panels) == 1:
        return panels[0]
    titled = [
        {**panel, "title": {"text": column, "fontSize": 11, "fontWeight": 500}, "width": PANEL}
        for column, panel in zip(columns, panels, strict=True)
    ]
    return {"concat": titled, "columns": 2, "spacing": 16}


def _pair(column: str, rows: Sequence[Comparison], unit: str, against: str) -> dict[str, Any]:
    whose = list(dict.fromkeys(map(whose_code, rows)))
    own = whose == [OURS]  # most panels: their rows need not say it
    whose = [against] if own else whose
    measured = against if own else "measured"
    values: Values = [
        {"row": row.row, PRINT: row.published, measured: row.measured, "verdict": row.verdict}
        | ({} if own else {"whose": whose_code(row)})
        for row in rows
    ]
    numbers = [float(value[side]) for value in values for side in (PRINT, measured)]
    title = f"{column}, {unit}" if unit else column
    y = {
        "field": "row",
        "type": "nominal",
        "sort": None,
        "title": None,
        "axis": {"labelLimit": 190, "ticks": False, "domain": False, "grid": True, "gridDash": [2, 3]},
    }
    series = {"type": "nominal", "title": None, "legend": {"orient": "top"}}
    domain = [*whose, PRINT]
    shapes = {"domain": domain, "range": [WHOSE[name][0] for name in domain]}
    colours = {"domain": domain, "range": [WHOSE[name][1] for name in domain]}
    tooltip = [
        {"field": "row"},
        {"field": PRINT, "type": "quantitative"},
        {"field": measured, "type": "quantitative"},
        *([] if own else [{"field": "whose"}]),
        {"field": "verdict"},
    ]

    def points(side: str, of: Mapping[str, Any], mark: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "mark": {"type": "point", "opacity": 1, **mark},
            "encoding": {
                "y": y,
                "x": axis_of(side, numbers, title),
                "shape": {**of, "scale": shapes, **series},
                "color": {**of, "scale": colours, **series},
                "tooltip": tooltip,
            },
        }

    joined = {
        "mark": {"type": "rule", "opacity": 0.5, "strokeWidth": 1.5},
        "encoding": {"y": y, "x": axis_of(PRINT, numbers, title), "x2": {"field": measured}},
    }
    return {
        "data": {"values": values},
        "height": _height(values, "row"),
        "layer": [
            joined,
            points(measured, {"datum": against} if own else {"field": "whose"}, {"filled": True, "size": 42}),
            points(PRINT, {"datum": PRINT}, {"filled": False, "size": 110, "strokeWidth": 1.8}),
        ],
    }


def whose_code(row: Comparison) -> str:
    """Whose code the measured figure of a row is of, as a figure names it."""
    return row.like_for_like if row.like_for_like in WHOSE else OURS


def by_cipher(values: Values, quantity: str, row: str = "cipher") -> dict[str, Any]:
    """Every cipher (or other `row`) on every device, a point each: shape and colour say the device."""
    colours, shapes = scales(str(value["device"]) for value in values)
    series = {"field": "device", "type": "nominal", "title": None, "legend": {"orient": "top"}}
    return {
        "data": {"values": values},
        "height": _height(values, row),
        "mark": {"type": "point", "size": 62, "strokeWidth": 2, "filled": False},
        "encoding": {
            "y": {
                "field": row,
                "type": "nominal",
                "title": None,
                "sort": {"field": "value", "op": "max"},
                "axis": {"ticks": False, "domain": False, "grid": True, "gridDash": [2, 3]},
            },
            "x": axis_of("value", [value["value"] for value in values], quantity),
            "shape": {**series, "scale": shapes},
            "color": {**series, "scale": colours},
            "tooltip": [
                {"field": row},
                {"field": "device"},
                {"field": "implementation"},
                {"field": "value", "type": "quantitative", "format": ",.4~g", "title": quantity},
            ],
        },
    }


def by_length(values: Values, quantity: str) -> dict[str, Any]:
    """Cost against message length: points for each series, in its device's look; series of one device differ
    in the dash of the thin line that joins their points. Between measured lengths costs go up in steps, so
    the line is not a figure."""
    devices = {str(value["series"]): str(value["device"]) for value in values}
    order: dict[str, list[str]] = {}
    for name, device in devices.items():
        order.setdefault(device, []).append(name)
    looks = [look_of(device) for device in devices.values()]
    dashes = [DASHES[order[device].index(name) % len(DASHES)] for name, device in devices.items()]
    series = {
        "field": "series",
        "type": "nominal",
        "title": None,
        "sort": None,
        "legend": {"orient": "bottom", "columns": 1, "labelLimit": 300},
    }

    def by(values_of: list[Any]) -> dict[str, Any]:
        return {**series, "scale": {"domain": list(devices), "range": values_of}}

    colour = by([look.colour for look in looks])
    x = {
        "field": "message_bytes",
        "type": "quantitative",
        "title": "message, bytes",
        "scale": {"zero": False},
    }
    y = axis_of("value", [value["value"] for value in values], quantity)
    return {
        "data": {"values": values},
        "height": 230,
        "layer": [
            {
                "mark": {"type": "line", "strokeWidth": 0.8, "opacity": 0.7},
                "encoding": {
                    "x": x,
                    "y": y,
                    "color": colour,
                    "strokeDash": by([list(dash) for dash in dashes]),
                },
            },
            {
                "mark": {"type": "point", "size": 48, "strokeWidth": 1.8},
                "encoding": {
                    "x": x,
                    "y": y,
                    "color": colour,
                    "shape": by([look.shape for look in looks]),
                    "tooltip": [
                        {"field": "series"},
                        {"field": "message_bytes"},
                        {"field": "value", "type": "quantitative", "format": ",.4~g", "title": quantity},
                    ],
                },
            },
        ],
    }


def pareto(panels: Mapping[str, Values], quantity: str) -> dict[str, Any]:
    """Cycles (named by `quantity`) against flash, a panel for each device: shape and colour say whose, filled
    is on the front."""
    made = [_pareto_panel(device, values, quantity) for device, values in panels.items()]
    if len(made) == 1:
        return made[0]
    return {"concat": [{**panel, "width": PANEL} for panel in made], "columns": 2, "spacing": 18}


def _pareto_panel(device: str, values: Values, quantity: str) -> dict[str, Any]:
    series = {"field": "whose", "type": "nominal", "title": None, "legend": {"orient": "top"}}
    whose = ["ours", "public", "recorded"]
    return {
        "title": {"text": device, "fontSize": 11, "fontWeight": 500},
        "data": {"values": values},
        "height": PANEL,
        "mark": {"type": "point", "size": 70, "strokeWidth": 1.8},
        "encoding": {
            "x": axis_of("flash_bytes", [value["flash_bytes"] for value in values], "flash, bytes"),
            "y": axis_of("cycles", [value["cycles"] for value in values], quantity),
            "shape": {**series, "scale": {"domain": whose, "range": ["circle", "diamond", "square"]}},
            "color": {**series, "scale": {"domain": whose, "range": [BLUE, VERMILLION, GREEN]}},
            "fillOpacity": {"condition": {"test": "datum.front == 'front'", "value": 1}, "value": 0},
            "fill": {**series, "scale": {"domain": whose, "range": [BLUE, VERMILLION, GREEN]}},
            "tooltip": [
                {"field": "implementation"},
                {"field": "whose"},
                {"field": "flash_bytes", "type": "quantitative", "format": ",d", "title": "flash, bytes"},
                {"field": "cycles", "type": "quantitative", "format": ",d"},
                {"field": "front"},
            ],
        },
    }


def heat_maps(maps: Mapping[str, DiffusionMatrix]) -> dict[str, Any]:
    """Diffusion: how often a changed input bit changed each output byte, a panel for each direction.

    A row of a panel is an input byte (the mean of its 8 bits). Dark is always, light is never, in any print.
    """
    panels = [_heat_map(title, found) for title, found in maps.items()]
    return {"concat": panels, "columns": 2, "resolve": {"scale": {"color": "shared"}}, "spacing": 18}


def _heat_map(title: str, found: DiffusionMatrix) -> dict[str, Any]:
    bits = found.percent_changed_by_input_bit_and_output_byte
    values: Values = []
    for index in range(len(bits) // 8):
        columns = zip(*bits[8 * index : 8 * index + 8], strict=True)
        values += _runs(index, [_level(sum(column) / 8) for column in columns])
    axis = {"grid": False, "tickCount": 5, "tickMinStep": 1}
    across, down = found.output_bytes, found.input_bytes
    return {
        "title": {"text": title, "fontSize": 11, "fontWeight": 500},
        "data": {"values": values},
        "width": 150,
        "height": 150,
        "mark": {"type": "rect", "stroke": None},
        "encoding": {
            "x": _edge("output", across, "output byte", axis),
            "x2": {"field": "output_end"},
            "y": _edge("input", down, f"{found.input} byte", axis) | {"sort": "descending"},
            "y2": {"field": "input_end"},
            "color": {
                "field": "percent",
                "type": "quantitative",
                "title": "changed, %",
                "scale": {"domain": [0, 100], "range": ["#f2ede2", "#8fa3b8", "#12314f"]},
                "legend": {"gradientLength": 100},
            },
            "tooltip": [
                {"field": "input"},
                {"field": "output"},
                {"field": "percent", "title": "changed, about %"},
            ],
        },
    }


def _edge(field: str, count: int, title: str, axis: Mapping[str, Any]) -> dict[str, Any]:
    limits = {"domain": [0, count], "nice": False}
    return {"field": field, "type": "quantitative", "title": title, "axis": dict(axis), "scale": limits}


def _level(percent: float) -> int:
    """Per cent in steps of ten; never and seldom stay apart."""
    return 0 if percent == 0 else max(5, 10 * round(percent / 10))


def _runs(index: int, levels: Sequence[int]) -> Values:
    """Neighbours of one level as one rectangle: keeps page and drawing small."""
    runs: Values = []
    for position, level in enumerate(levels):
        if runs and runs[-1]["percent"] == level:
            runs[-1]["output_end"] = position + 1
            continue
        place = {"input": index, "input_end": index + 1, "output": position, "output_end": position + 1}
        runs.append({**place, "percent": level})
    return runs


def heat_rows(maps: Mapping[str, DiffusionMatrix]) -> Values:
    """The data behind heat maps in full, by input bit."""
    return [
        {"panel": title, "input_bit": bit, "output_byte": byte, "changed_percent": percent}
        for title, found in maps.items()
        for bit, row in enumerate(found.percent_changed_by_input_bit_and_output_byte)
        for byte, percent in enumerate(row)
    ]
