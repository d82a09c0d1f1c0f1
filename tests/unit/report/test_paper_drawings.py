"""Figures for a paper in grey: names at the ends of lines, patterns in bars, nothing cut off."""

from __future__ import annotations

import html
import re
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from motecrypt.present.report.export import export_figures
from motecrypt.present.report.figure import Figure
from motecrypt.present.report.labels import line_chart, spread
from motecrypt.present.report.looks import PALETTE, PATTERNS
from motecrypt.present.report.paper import FONT, HEIGHT_POINTS_MAX, PaperFormat
from motecrypt.present.report.patterns import patterned
from motecrypt.studies.wlan.charts import _SOURCES
from tool_sets import needs_tool_set

NAMES = (
    "srf, confirmed",
    "nrf24",
    "802.15.4, without a confirmation",
    "all, one deadline",
    "last",
    "a sixth",
)
LINES = [{"x": x, "y": 90 + (k // 3) * x / 9, "name": name} for k, name in enumerate(NAMES) for x in range(9)]
SERIES = {"field": "name", "type": "nominal", "title": None, "sort": None}
LINE: dict[str, Any] = {
    "data": {"values": LINES},
    "height": 160,
    "mark": {"type": "line", "point": True},
    "encoding": {
        "x": {"field": "x", "type": "quantitative"},
        "y": {"field": "y", "type": "quantitative", "scale": {"zero": False}},
        "color": SERIES,
        "shape": SERIES,
    },
}
BAR: dict[str, Any] = {
    "data": {"values": [{"x": x, "y": n + 1, "name": f"kind {n}"} for n in range(7) for x in "abc"]},
    "height": 120,
    "mark": "bar",
    "encoding": {
        "x": {"field": "x", "type": "nominal"},
        "xOffset": {"field": "name"},
        "y": {"field": "y", "type": "quantitative"},
        "color": SERIES,
    },
}


def drawn(folder: Path, specification: dict[str, Any], mm: float) -> tuple[str, bytes]:
    export_figures([Figure("f", "F", "", "", specification)], folder, None, PaperFormat(mm, titled=False))
    return (folder / "f.svg").read_text(), (folder / "f.pdf").read_bytes()


@cache
def wide(text: str) -> float:
    """The points of a text of 8 points in the figures' font."""
    import vl_convert

    mark = {"type": "text", "align": "left", "fontSize": 80}
    alone = {"data": {"values": [{}]}, "width": 10, "mark": mark, "encoding": {"text": {"value": text}}}
    svg = vl_convert.vegalite_to_svg({**alone, "config": {"font": FONT}})
    return (float(re.findall(r'\swidth="([0-9.]+)"', svg)[0]) - 15) / 10


def boxes(svg: str) -> list[tuple[str, float, float, float, float]]:
    """Every line of text that is not rotated: text, left, top, right, bottom."""
    found: list[tuple[str, float, float, float, float]] = []

    def walk(element: ElementTree.Element, x: float, y: float) -> None:
        transform = element.get("transform", "")
        moved = re.match(r"translate\(([-0-9.e]+)[, ]([-0-9.e]+)\)", transform)
        if moved:
            x, y = x + float(moved[1]), y + float(moved[2])
        if element.tag.endswith("}text"):
            spans = [*element] or [element]
            for number, span in enumerate(spans if "rotate" not in transform else ()):
                text = span.text or ""
                long = wide(text)
                left = x - {"end": long, "middle": long / 2}.get(element.get("text-anchor", ""), 0)
                base = y + 9.5 * number
                found.append((text, left, base - 6, left + long, base + 1))
            return
        for child in element:
            walk(child, x, y)

    walk(ElementTree.fromstring(svg), 0, 0)
    return found


@needs_tool_set("plots")
@pytest.mark.parametrize("mm", [88, 180])
@pytest.mark.parametrize("panels", [1, 4])
def test_lines_are_named_at_their_ends(mm: float, panels: int, tmp_path: Path) -> None:
    specification = (
        LINE
        if panels == 1
        else {"concat": [{**LINE, "title": f"panel {n}"} for n in range(panels)], "columns": 2}
    )
    svg, _ = drawn(tmp_path, specification, mm)
    width, height = (float(size) for size in re.findall(r'\s(?:width|height)="([0-9.]+)"', svg)[:2])
    assert width / 72 * 25.4 == pytest.approx(mm, abs=0.2) and height <= HEIGHT_POINTS_MAX
    assert "role-legend" not in svg
    said = boxes(svg)
    words = [text for text, *_ in said]
    assert " ".join(words).count("confirmation") == panels
    assert words.count("last") == panels
    for text, left, top, right, bottom in said:
        assert left >= -1 and right <= width + 1 and top >= -1 and bottom <= height + 1, text
    for number, (text, left, top, right, bottom) in enumerate(said):
        for other, left2, top2, right2, bottom2 in said[number + 1 :]:
            apart = right <= left2 or right2 <= left or bottom <= top2 or bottom2 <= top
            assert apart, f"{text} overlaps {other}"
    dashes = set(re.findall(r'role-mark[^>]*><path[^>]*line mark[^>]*stroke-dasharray="([^"]*)"', svg))
    assert len(dashes) == len(NAMES)


@needs_tool_set("plots")
def test_the_pdf_has_the_font_that_the_svg_names_first(tmp_path: Path) -> None:
    svg, pdf = drawn(tmp_path, LINE, 88)
    assert set(re.findall(r'font-family="([^"]*)"', svg)) == {html.escape(FONT, quote=False)}
    assert b"+LiberationSans" in pdf and b"DejaVu" not in pdf


@needs_tool_set("plots")
def test_names_that_do_not_fit_leave_the_legend(tmp_path: Path) -> None:
    many = {
        **LINE,
        "data": {"values": [{"x": x, "y": x * n, "name": f"line {n}"} for n in range(60) for x in (1, 2)]},
    }
    svg, _ = drawn(tmp_path, many, 88)
    assert "role-legend" in svg


def test_names_keep_their_order_near_their_lines_and_inside() -> None:
    assert spread([50, 50, 50], [10, 10, 10], 100) == pytest.approx([40, 50, 60])
    assert spread([0, 100], [10, 20], 100) == pytest.approx([5, 90])
    assert spread([20, 20, 80], [10, 30, 10], 100) == pytest.approx([10, 30, 80], abs=6)
    assert spread([50, 50], [60, 60], 100) is None
    placed = spread([99, 99.5, 100, 100], [10, 12, 10, 20], 100)
    assert placed == pytest.approx([53, 64, 75, 90])


def test_a_chart_of_one_line_or_of_points_is_left() -> None:
    assert line_chart({**LINE, "mark": "point"}) is None
    one = {**LINE, "data": {"values": [row for row in LINES if row["name"] == "last"]}}
    assert line_chart(one) is None
    chart = line_chart(LINE)
    assert chart is not None and chart.names == list(NAMES) and chart.marked


@needs_tool_set("plots")
def test_bars_differ_by_patterns_which_the_pdf_has(tmp_path: Path) -> None:
    svg, pdf = drawn(tmp_path, BAR, 88)
    fills = {
        fill
        for group in re.findall(r'mark-rect role-mark[^"]*"(.*?)</g>', svg)
        for fill in re.findall(r'fill="([^"]+)"', group)
    }
    assert len(fills) == 7 and all(fill.startswith("url(#pattern-") for fill in fills)
    legend = re.findall(r'role-legend-symbol".*?fill="([^"]+)"', svg)
    assert set(legend) == fills
    drawings = [
        re.sub(r'(id|fill|stroke)="[^"]*"', "", one) for one in re.findall(r"<pattern.*?</pattern>", svg)
    ]
    assert len(drawings) == len(set(drawings)) == 7
    assert pdf.count(b"/PatternType 1") >= 7
    assert b"/Creator" in pdf[-3000:]


def test_each_colour_has_a_pattern_of_its_own() -> None:
    assert len({PATTERNS[colour] for colour in PALETTE}) == len(PALETTE)
    ours, printed = (PATTERNS[colour.upper()] for colour in _SOURCES.values())
    assert ours != printed


def test_a_map_of_a_quantity_keeps_its_colours() -> None:
    paths = "".join(f'<path d="M0,0h1v1h-1Z" fill="#0000{n:02x}"/>' for n in range(20))
    svg = f'<svg width="9"><g class="mark-rect role-mark marks">{paths}</g></svg>'
    assert patterned(svg) == svg


@needs_tool_set("plots")
@pytest.mark.parametrize("mm", [88, 180])
def test_long_names_of_rows_are_whole(mm: float, tmp_path: Path) -> None:
    name = "a configuration (unrolled): AES-256, decryption of one block of 16 bytes, with its key's set-up"
    values = [{"row": name, "n": 3}, {"row": "short", "n": 40}]
    row = {"field": "row", "type": "nominal", "title": None, "axis": {"labelLimit": 190}}
    count = {
        "field": "n",
        "type": "quantitative",
        "title": "a title that is longer than half of a column, ms",
    }
    panel = {"data": {"values": values}, "height": 38, "mark": "point", "encoding": {"y": row, "x": count}}
    svg, _ = drawn(tmp_path, panel, mm)
    said = " ".join(text for text, *_ in boxes(svg))
    assert name in said and "\u2026" not in said
    width = float(re.findall(r'\swidth="([0-9.]+)"', svg)[0])
    assert width / 72 * 25.4 == pytest.approx(mm, abs=0.2)
