"""A figure with more rows than a page has room for, as several figures. Pure."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from motecrypt.present.report.figure import Figure
from motecrypt.present.report.paper import (
    HEIGHT_POINTS_MAX,
    NARROW_MM,
    PANELS,
    PaperFormat,
    columns_of,
    prepared,
    row_names,
    views_of,
)

_PAGE_POINTS, _PANEL_POINTS = 85, 85
"""What a title and a legend take, and what the title and the axis of a panel take, at the most."""

View = dict[str, Any]


def sheets(figure: Figure, paper: PaperFormat) -> list[Figure]:
    """The figure, or parts of it named NAME-1, NAME-2 ..., which a page has room for.

    Only rows of names are divided, and panels are one below the other. Parts of one panel have the same
    horizontal axis.
    """
    columns = 1 if paper.width_mm < NARROW_MM else 2
    made = prepared(figure, paper, columns)
    heights = [float(view.get("height", 0)) for view in views_of(made)]
    tall = _height(heights, columns_of(made)) > HEIGHT_POINTS_MAX
    if not tall or not any(row_names(view) for view in views_of(made)):
        return [figure]
    stacked = replace(figure, specification=_sheet(figure.specification, _panels(figure.specification)))
    pages: list[list[tuple[View, float]]] = [[]]
    for view, drawn in _pairs(stacked.specification, prepared(stacked, paper, 1)):
        for piece in _pieces(view, float(drawn.get("height", 0))):
            if pages[-1] and _height([tall for _, tall in [*pages[-1], piece]], 1) > HEIGHT_POINTS_MAX:
                pages.append([])
            pages[-1].append(piece)
    return [
        replace(
            figure,
            name=f"{figure.name}-{number}",
            title=f"{figure.title} ({number} of {len(pages)})",
            caption=f"{figure.caption} Part {number} of {len(pages)}.",
            specification=_sheet(figure.specification, [view for view, _ in page]),
            rows=(),
        )
        for number, page in enumerate(pages, 1)
    ]


def _pairs(specification: Mapping[str, Any], made: dict[str, Any]) -> Iterator[tuple[View, View]]:
    yield from zip(views_of(copy.deepcopy(dict(specification))), views_of(made), strict=True)


def _height(heights: list[float], columns: int) -> float:
    """Points that panels of these heights take, so many side by side."""
    rows = [max(heights[at : at + columns]) for at in range(0, len(heights), columns)]
    return _PAGE_POINTS + sum(rows) + _PANEL_POINTS * len(rows)


def _pieces(view: View, height: float) -> Iterator[tuple[View, float]]:
    """The view in parts of nearly as many rows each, and their heights; whole if a page has room for it."""
    names = row_names(view)
    count = math.ceil(height / (HEIGHT_POINTS_MAX - _PAGE_POINTS - _PANEL_POINTS))
    if count < 2 or len(names) < count:
        yield view, height
        return
    _fix_horizontal(view)
    field, values = _rows_field(view), view["data"]["values"]
    for number in range(count):
        own = names[len(names) * number // count : len(names) * (number + 1) // count]
        data = {"values": [value for value in values if str(value[field]) in own]}
        yield copy.deepcopy({**view, "data": data}), height * len(own) / len(names)


def _encodings(view: View, axis: str) -> Iterator[dict[str, Any]]:
    for part in (view, *view.get("layer", ())):
        encoding = (part.get("encoding") or {}).get(axis)
        if isinstance(encoding, dict) and "field" in encoding:
            yield encoding


def _rows_field(view: View) -> str:
    return str(next(axis["field"] for axis in _encodings(view, "y") if axis.get("type") == "nominal"))


def _fix_horizontal(view: View) -> None:
    """Give the horizontal axis the limits of all rows."""
    axes = [axis for axis in _encodings(view, "x") if axis.get("type") == "quantitative"]
    fields = {axis["field"] for axis in (*axes, *_encodings(view, "x2"))}
    numbers = [value[field] for value in view["data"]["values"] for field in fields if value.get(field)]
    for axis in axes:
        scale = axis.get("scale") or {}
        if numbers and "domain" not in scale:
            least = min(numbers) if scale.get("type") == "log" or scale.get("zero") is False else 0
            axis["scale"] = {**scale, "domain": [least, max(numbers)], "nice": True}


def _panels(specification: Mapping[str, Any]) -> list[View]:
    return [panel for key in PANELS for panel in specification.get(key, ())] or [dict(specification)]


def _sheet(specification: Mapping[str, Any], parts: list[View]) -> dict[str, Any]:
    """The specification with these panels, one below the other."""
    if not any(key in specification for key in PANELS):
        return parts[0]
    rest = {key: value for key, value in specification.items() if key not in PANELS}
    return {**rest, "concat": parts, "columns": 1}
