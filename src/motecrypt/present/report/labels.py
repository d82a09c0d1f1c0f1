"""Names at the ends of lines, in place of a legend, for charts on paper. Pure.

A first drawing shows where each line ends (`probe`, `ends_of`). The names are then spread over the height so
that none overlap, each joined to the end of its line and next to a sample of it (`labelled`).
"""

from __future__ import annotations

import html
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from motecrypt.present.report.looks import DASHES, SHAPES

NAME = "_line"
"""The field that names the line of a row."""
LINE_POINTS = 9.5
"""From one line of text of 8 points to the next."""
BETWEEN_POINTS = 3
"""Between a name of several lines and the next name."""
JOIN_POINTS, SAMPLE_POINTS, GAP_POINTS = 9, 18, 4
"""To the right of a plot: what joins an end with its name, the sample of the line, and before the name."""
LETTER_POINTS = 4.6
"""Width of a letter of 8 points, rather more than the mean."""
_POINT_AREA = 22
_SERIES = ("color", "strokeDash", "shape")

Encoding = dict[str, Any]
View = dict[str, Any]


@dataclass(frozen=True)
class LineEnd:
    """Where a line ends, and its mean: points down from the upper edge of its plot."""

    y: float
    mean: float


@dataclass(frozen=True)
class LineChart:
    """A chart of several lines, taken apart.

    Attributes
    ----------
    rest
        Members of its specification that are neither its data nor its marks.
    values
        Its rows; NAME names the line of each.
    mark
        The mark of the lines.
    marked
        Whether each point has a symbol.
    axes
        The encodings x and y.
    series
        The encodings that distinguish the lines, without legend.
    others
        Other layers, above the lines.
    """

    rest: Mapping[str, Any]
    values: Sequence[Mapping[str, Any]]
    mark: Mapping[str, Any]
    marked: bool
    axes: Encoding
    series: Encoding
    others: Sequence[Mapping[str, Any]]

    @property
    def names(self) -> list[str]:
        """The names of the lines, in the order of the data."""
        return list(dict.fromkeys(str(row[NAME]) for row in self.values))


def line_chart(view: Mapping[str, Any]) -> LineChart | None:
    """The view taken apart, or None where it does not draw several lines from data inside it."""
    values = (view.get("data") or {}).get("values")
    shared: Encoding = dict(view.get("encoding") or {})
    layers = [_layer(part, shared) for part in view.get("layer", [{"mark": view.get("mark")}])]
    lines = [layer for layer in layers if layer["mark"].get("type") == "line"]
    if len(lines) != 1 or not isinstance(values, list):
        return None
    line = lines[0]
    points = [layer for layer in layers if layer["mark"].get("type") == "point"]
    series = _series([line["encoding"], *(layer["encoding"] for layer in points)])
    fields = list(dict.fromkeys(channel["field"] for channel in series.values()))
    axes = {axis: line["encoding"][axis] for axis in "xy" if "field" in line["encoding"].get(axis, {})}
    named = [
        {**row, NAME: ", ".join(str(row[field]) for field in fields)}
        for row in values
        if all(field in row for field in fields)
    ]
    if not fields or len(axes) < 2 or len({row[NAME] for row in named}) < 2:
        return None
    return LineChart(
        rest={k: v for k, v in view.items() if k not in ("mark", "encoding", "layer", "data")},
        values=named,
        mark={k: v for k, v in line["mark"].items() if k != "point"},
        marked=bool(points) or bool(line["mark"].get("point")),
        axes=axes,
        series=series,
        others=[_plain(layer) for layer in layers if layer not in (line, *points)],
    )


def raised(chart: LineChart, height: float) -> LineChart:
    """The chart with this height of its plot."""
    return replace(chart, rest={**chart.rest, "height": height})


def _layer(part: Mapping[str, Any], shared: Encoding) -> dict[str, Any]:
    mark = part.get("mark")
    kind = dict(mark) if isinstance(mark, Mapping) else {"type": mark}
    return {**part, "mark": kind, "encoding": {**shared, **(part.get("encoding") or {})}}


def _series(encodings: Sequence[Encoding]) -> Encoding:
    """What distinguishes the lines: colour, dash and shape, the latter two like the colour where absent."""
    made: Encoding = {}
    for encoding in encodings:
        for name in _SERIES:
            channel = encoding.get(name)
            if isinstance(channel, Mapping) and "field" in channel:
                made.setdefault(name, {**channel, "legend": None})
    if "color" in made:
        plain = {k: v for k, v in made["color"].items() if k != "scale"}
        made.setdefault("strokeDash", plain | {"scale": {"range": [list(dash) for dash in DASHES]}})
        made.setdefault("shape", plain | {"scale": {"range": list(SHAPES)}})
    return made


def _plain(layer: Mapping[str, Any]) -> dict[str, Any]:
    """A layer without legend."""
    encoding = {
        name: {**channel, "legend": None} if name in _SERIES else channel
        for name, channel in layer["encoding"].items()
        if name != "tooltip"
    }
    return {**layer, "encoding": encoding}


def probe(chart: LineChart, number: int) -> dict[str, Any]:
    """The chart without legend, each line named NUMBER:NAME for `ends_of`."""
    rows = [{**row, NAME: f"{number}:{row[NAME]}"} for row in chart.values]
    return {**chart.rest, "data": {"values": rows}, "layer": _layers(chart)}


def _layers(chart: LineChart) -> list[dict[str, Any]]:
    named = {"field": NAME, "type": "nominal"}
    lines = {name: channel for name, channel in chart.series.items() if name != "shape"}
    layers: list[dict[str, Any]] = [
        {"mark": dict(chart.mark), "encoding": {**chart.axes, **lines, "detail": named, "description": named}}
    ]
    if chart.marked:
        points = {name: channel for name, channel in chart.series.items() if name != "strokeDash"}
        mark = {"type": "point", "filled": True, "size": _POINT_AREA, "opacity": 1}
        layers.append({"mark": mark, "encoding": {**chart.axes, **points}})
    return [*layers, *(dict(other) for other in chart.others)]


_PATH = re.compile(r'<path aria-label="([^"]*)"[^>]*aria-roledescription="line mark"[^>]*\sd="([^"]*)"')
_PLACE = re.compile(r"[ML](-?[0-9.e-]+),(-?[0-9.e-]+)")


def ends_of(svg: str) -> dict[str, LineEnd]:
    """Where the lines of `probe` end, by NUMBER:NAME."""
    found: dict[str, LineEnd] = {}
    for name, path in _PATH.findall(svg):
        places = [float(y) for _, y in _PLACE.findall(path)]
        if places:
            found[html.unescape(name)] = LineEnd(places[-1], sum(places) / len(places))
    return found


def labelled(
    chart: LineChart, number: int, ends: Mapping[str, LineEnd], room: float
) -> dict[str, Any] | None:
    """The chart with a name at each line's end, or None where they do not fit into its height.

    Parameters
    ----------
    room
        Points for the name, its longest line of text.
    """
    height = chart.rest.get("height")
    names = sorted(
        (name for name in chart.names if f"{number}:{name}" in ends),
        key=lambda name: (ends[f"{number}:{name}"].y, ends[f"{number}:{name}"].mean),
    )
    if not isinstance(height, int | float) or len(names) < len(chart.names):
        return None
    texts = [wrapped(name, room) for name in names]
    tall = [_tall(text) for text in texts]
    middles = spread([ends[f"{number}:{name}"].y for name in names], tall, float(height))
    if middles is None:
        return None
    layers = _layers(chart)
    for name, text, middle in zip(names, texts, middles, strict=True):
        layers += _label(chart, name, text, middle)
    return {**chart.rest, "data": {"values": list(chart.values)}, "layer": layers}


def wrapped(name: str, room: float) -> list[str]:
    """The name in lines that have at most so many points."""
    return textwrap.wrap(name, max(8, int(room / LETTER_POINTS)))


def needed_height(chart: LineChart, room: float) -> float:
    """Points that all names take, one below the other."""
    return sum(_tall(wrapped(name, room)) for name in chart.names)


def _tall(text: Sequence[str]) -> float:
    return LINE_POINTS * len(text) + (BETWEEN_POINTS if len(text) > 1 else 0)


def spread(wanted: Sequence[float], tall: Sequence[float], height: float) -> list[float] | None:
    """Middles of blocks so tall, in this order, near the wanted ones, in 0 to height; None if too tall."""
    if sum(tall) > height:
        return None
    groups: list[tuple[float, float, int]] = []  # upper edge wanted, height, number of blocks
    for middle, own in zip(wanted, tall, strict=True):
        upper, size, count = _clamped(middle - own / 2, own, height), own, 1
        while groups and groups[-1][0] + groups[-1][1] > upper:
            before, tall_before, count_before = groups.pop()
            mean = (before * count_before + (upper - tall_before) * count) / (count_before + count)
            size, count = size + tall_before, count + count_before
            upper = _clamped(mean, size, height)
        groups.append((upper, size, count))
    middles: list[float] = []
    for upper, _, count in groups:
        for own in tall[len(middles) : len(middles) + count]:
            middles.append(upper + own / 2)
            upper += own
    return middles


def _clamped(upper: float, tall: float, height: float) -> float:
    return min(max(upper, 0.0), height - tall)


def _label(chart: LineChart, name: str, text: Sequence[str], middle: float) -> list[dict[str, Any]]:
    """What joins the line with its name, a sample of the line, and the name."""
    last = [row for row in chart.values if row[NAME] == name][-1]
    data = {"values": [dict(last)]}
    right = {"value": "width"}
    plain = {axis: {k: v for k, v in chart.axes[axis].items() if k != "axis"} for axis in "xy"}
    at = {"y": {"value": middle}, "x": right}
    start, end = JOIN_POINTS, JOIN_POINTS + SAMPLE_POINTS
    looks = chart.series
    made: list[dict[str, Any]] = [
        {
            "data": data,
            "mark": {"type": "rule", "strokeWidth": 0.4, "opacity": 0.7, "xOffset": 2, "x2Offset": start - 1},
            "encoding": {**plain, "x2": right, "y2": {"value": middle}},
        },
        {
            "data": data,
            "mark": {**chart.mark, "type": "rule", "xOffset": start, "x2Offset": end},
            "encoding": {**at, "x2": right, **{k: v for k, v in looks.items() if k != "shape"}},
        },
    ]
    if chart.marked:
        point = {"type": "point", "filled": True, "size": _POINT_AREA, "opacity": 1}
        shape = {k: v for k, v in looks.items() if k != "strokeDash"}
        made.append(
            {"data": data, "mark": {**point, "xOffset": (start + end) / 2}, "encoding": {**at, **shape}}
        )
    mark = {"type": "text", "align": "left", "baseline": "middle", "lineHeight": LINE_POINTS}
    up = -(len(text) - 1) / 2 * LINE_POINTS
    mark |= {"dx": end + GAP_POINTS, "dy": up, "lineBreak": "\n", "fontSize": 8}
    made.append({"data": data, "mark": mark, "encoding": {**at, "text": {"value": "\n".join(text)}}})
    return made
