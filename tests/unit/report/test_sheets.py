"""Figures with more rows than a page has room for are drawn as several."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from motecrypt.present.report.export import export_figures
from motecrypt.present.report.figure import Figure
from motecrypt.present.report.paper import HEIGHT_POINTS_MAX, PaperFormat, row_names
from motecrypt.present.report.sheets import sheets
from tool_sets import needs_tool_set

LONG = "a cipher with a name of many words, encryption of a message with its key's set-up, row"


def panel(title: str, rows: int, name: str = "row", sort: Any = None) -> dict[str, Any]:
    """A panel of points, its values falling from above: 10 * rows to 10."""
    y = {"field": "row", "type": "nominal", "title": None, "sort": sort}
    x = {"field": "n", "type": "quantitative", "scale": {"type": "log"}}
    values = [{"row": f"{name} {n}", "n": 10 * (rows - n)} for n in range(rows)]
    return {
        "title": title,
        "data": {"values": values},
        "height": 24 * rows,
        "layer": [{"mark": "point", "encoding": {"y": y, "x": x}}],
    }


def figure(specification: dict[str, Any]) -> Figure:
    return Figure("f", "F", "A caption.", "motecrypt x", specification)


def parts_of(page: Figure) -> list[dict[str, Any]]:
    return list(page.specification.get("concat", [page.specification]))


@pytest.mark.parametrize("mm", [88, 180])
def test_each_row_is_on_one_page_in_order_and_axes_are_the_same(mm: float) -> None:
    whole = figure({"hconcat": [panel("one", 130, LONG), panel("two", 70)]})
    pages = sheets(whole, PaperFormat(mm))
    assert [page.name for page in pages] == [f"f-{n}" for n in range(1, len(pages) + 1)] and len(pages) > 3
    assert pages[1].title == f"F (2 of {len(pages)})"
    assert pages[1].caption == f"A caption. Part 2 of {len(pages)}."
    parts = [part for page in pages for part in parts_of(page)]
    for title, name, rows in (("one", LONG, 130), ("two", "row", 70)):
        own = [part for part in parts if part["title"] == title]
        assert [row for part in own for row in row_names(part)] == [f"{name} {n}" for n in range(rows)]
        scales = [part["layer"][0]["encoding"]["x"]["scale"] for part in own]
        assert all(scale == {"type": "log", "domain": [10, 10 * rows], "nice": True} for scale in scales)
    assert len(parts) == len({id(part["layer"][0]["encoding"]["y"]) for part in parts})


def test_a_figure_that_fits_is_left() -> None:
    for whole in (figure(panel("one", 30)), figure({**panel("one", 3), "height": 5000})):
        assert sheets(whole, PaperFormat(88)) == [whole]
    plain = figure({"mark": "point", "data": {"values": []}, "height": 5000})
    assert sheets(plain, PaperFormat(88)) == [plain]


def test_rows_are_divided_in_the_order_in_which_they_are_drawn() -> None:
    pages = sheets(figure(panel("one", 120, sort={"field": "n", "op": "max"})), PaperFormat(88))
    drawn = [row for page in pages for row in row_names(page.specification)]
    assert len(pages) > 1 and drawn == [f"row {n}" for n in reversed(range(120))]
    assert row_names(panel("one", 3, sort="ascending")) == ["row 0", "row 1", "row 2"]


@needs_tool_set("plots")
@pytest.mark.parametrize("mm", [88, 180])
def test_a_page_has_room_for_each_and_the_csv_is_whole(mm: float, tmp_path: Path) -> None:
    whole = figure({"hconcat": [panel("one", 90, LONG), panel("two", 70)], "title": "F"})
    captions = export_figures([whole], tmp_path, None, PaperFormat(mm)).read_text()
    drawings = sorted(tmp_path.glob("*.svg"))
    assert len(drawings) > 2 and not (tmp_path / "f.svg").exists()
    for drawing in drawings:
        svg = drawing.read_text()
        width, height = (float(size) for size in re.findall(r'\s(?:width|height)="([0-9.]+)"', svg)[:2])
        assert width / 72 * 25.4 == pytest.approx(mm, abs=0.2) and height <= HEIGHT_POINTS_MAX
        assert "\u2026" not in svg
        assert drawing.with_suffix(".pdf").exists() and drawing.with_suffix(".tex").exists()
    assert len((tmp_path / "f.csv").read_text().splitlines()) == 1 + 160
    assert f"Over {len(drawings)} pages: f-1, f-2" in captions
