"""Figures 2 to 11 of the Wi-Fi study as Vega-Lite specifications, with our figures inside. Pure.

One specification gives interactive HTML and SVG. The paper's bars carry no numbers; where its text
gives a ratio to AES (Blowfish, RC6) or its tables give durations, those are next to ours.
"""

from __future__ import annotations

from typing import Any

from motecrypt.studies.wlan import plan
from motecrypt.studies.wlan.plan import CIPHERS, COLUMN_TITLES, COLUMNS, DATA, Stored
from motecrypt.studies.wlan.tables import ALONE, MOVED, microjoule_per_byte, total_seconds, with_radio

_SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
_OURS, _PRINT = "ours", "paper"
# Distinguishable without colour: the paper's bars are light with a dark edge.
_SOURCES = {_OURS: "#1f5a8a", _PRINT: "#d9b36a"}


def charts(stored: Stored) -> dict[str, dict[str, Any]]:
    """A specification for each figure that has data, by a name that can be a file's."""
    made: dict[str, dict[str, Any]] = {}
    for data, places in ALONE.items():
        panels = _alone(stored, data)
        if panels:
            name = "-".join(place.removeprefix("figure ") for place in places)
            made[f"wlan-figure-{name}"] = _figure(
                f"{', '.join(places)}: encrypting {DATA[data] // 1000} KB of {data} on this host", panels
            )
    for data, place in MOVED.items():
        panels = _moved(stored, data)
        if panels:
            name = place.replace("figure ", "wlan-figure-")
            made[name] = _figure(f"{place}: sending {DATA[data] // 1000} KB of {data} over Wi-Fi", panels)
    return made


def _figure(title: str, panels: list[dict[str, Any]]) -> dict[str, Any]:
    own = dict.fromkeys(("color", "x", "xOffset", "y"), "independent")
    return {
        "$schema": _SCHEMA,
        "title": title,
        "background": "white",
        "hconcat": panels,
        "resolve": {"scale": own},
    }


def _panel(title: str, values: list[dict[str, Any]], unit: str, by: str | None = None) -> dict[str, Any]:
    encoding: dict[str, Any] = {
        "x": {"field": "cipher", "type": "nominal", "sort": None, "title": None},
        "y": {"field": "value", "type": "quantitative", "title": unit},
        "tooltip": [{"field": "cipher"}, {"field": "value", "type": "quantitative", "format": ".4g"}],
    }
    if by is not None:
        scale = {"scale": _sources(values)} if by == "source" else {}
        encoding["xOffset"] = {"field": by, "sort": None}
        encoding["color"] = {"field": by, "type": "nominal", "sort": None, "title": None, **scale}
        encoding["tooltip"].append({"field": by})
    mark = {"type": "bar", "stroke": "#333333", "strokeWidth": 0.5}
    if by is None:
        mark["color"] = _SOURCES[_OURS]
    return {
        "title": title,
        "width": 260,
        "height": 200,
        "data": {"values": values},
        "mark": mark,
        "encoding": encoding,
    }


def _sources(values: list[dict[str, Any]]) -> dict[str, list[str]]:
    """The scale of colours, of the sources that have bars: a legend names no other."""
    present = {value["source"] for value in values}
    shown = {source: colour for source, colour in _SOURCES.items() if source in present}
    return {"domain": [*shown], "range": [*shown.values()]}


def _alone(stored: Stored, data: str) -> list[dict[str, Any]]:
    """Time, throughput, energy (the paper calls it power), and the ratio to AES next to the printed one."""
    speeds = {name: speed for name in CIPHERS if (speed := stored.ns_per_byte(name, data)) is not None}
    if len(speeds) < len(CIPHERS):
        return []
    said = {
        entry["claim"].split()[0]: float(entry["value"])
        for entry in plan.published("wlan_claims")
        if "power / AES power" in entry["claim"] and entry["data"] == data
    }
    ratios = [{"cipher": n, "value": s / speeds["AES"], "source": _OURS} for n, s in speeds.items()]
    ratios += [{"cipher": n, "value": ratio, "source": _PRINT} for n, ratio in said.items()]
    return [
        _panel("time", [{"cipher": n, "value": s * DATA[data] / 1e6} for n, s in speeds.items()], "time, ms"),
        _panel(
            "throughput", [{"cipher": n, "value": 1e3 / s} for n, s in speeds.items()], "throughput, MB/s"
        ),
        _panel(
            'energy ("power" in the source)',
            [{"cipher": n, "value": microjoule_per_byte(s)} for n, s in speeds.items()],
            "energy, µJ/byte",
        ),
        _panel("energy, ratio to AES", ratios, "energy, ratio to AES", by="source"),
    ]


def _moved(stored: Stored, data: str) -> list[dict[str, Any]]:
    """Energy (images: time) by cipher and column, and the printed durations as ratios next to ours."""
    measure, unit = (total_seconds, "time, s") if data == "image" else (with_radio, "energy, µJ/byte")
    bars, ratios = [], []
    printed = plan.durations()
    for cipher in ("none", *CIPHERS):
        for column, title in COLUMN_TITLES.items():
            value = measure(stored, data, cipher, column)
            if value is None:
                return []
            bars.append({"cipher": cipher, "value": value, "column": title})
        first = next(iter(COLUMNS))
        own, plain = total_seconds(stored, data, cipher, first), total_seconds(stored, data, "none", first)
        if own and plain:
            ratios.append({"cipher": cipher, "value": own / plain, "source": _OURS})
        if (data, cipher, first) in printed:
            value = printed[data, cipher, first] / printed[data, "none", first]
            ratios.append({"cipher": cipher, "value": value, "source": _PRINT})
    what = "time" if data == "image" else "energy of processor and radio"
    return [
        {**_panel(what, bars, unit, by="column"), "width": 620},
        _panel(
            "time, ratio to no encryption; ad hoc, open", ratios, "time, ratio to no encryption", by="source"
        ),
    ]
