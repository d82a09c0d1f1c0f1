"""Figures for a paper: of an exact width, text of 8 points, readable in grey, with LaTeX and PDF metadata.

A pixel of Vega is a point of the PDF. A figure's width is more than that of its plots, so it is drawn,
measured and drawn again until the whole has the width that was asked for.
"""

from __future__ import annotations

import copy
import json
import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

from motecrypt.base.errors import InputError
from motecrypt.present.report.figure import Figure, theme
from motecrypt.present.report.labels import (
    LETTER_POINTS,
    LINE_POINTS,
    ends_of,
    labelled,
    line_chart,
    needed_height,
    probe,
    raised,
)

POINTS_PER_MM = 72 / 25.4
TEXT_POINTS = 8
FONT = "'Liberation Sans', Arial, Helvetica, sans-serif"
"""vl-convert has the first, and the others have its widths: a figure is the same with any fonts installed."""
NARROW_MM = 120
"""Below this width panels are one below the other."""
WIDTH_MM_MIN, WIDTH_MM_MAX = 60, 400
HEIGHT_POINTS_MAX = 680
"""Of a figure on a page, which is 842 points high with margins and caption."""
NARROW_HEIGHT_POINTS, LOW_HEIGHT_POINTS, MANY_PANELS = 150, 105, 4
"""In a column, of a plot, and of one of many."""
ROW_POINTS, LOG_TICKS = 12, 3
LOG_LABELS = "format(datum.value, datum.value < 10000 ? ',~r' : '~s')"
NAME_PART = 0.27
"""Part of a panel's width for the names at the ends of its lines."""
_ROUNDS, _NEAR, _LEAST_PART = 6, 0.5, 0.33
PANELS = ("hconcat", "vconcat", "concat")
_PADDING = 5
"""Around a drawing, in points: what Vega uses."""
_TITLE_LETTER = 0.68
"""Width of a letter of a bold title, in sizes of its text: above the mean of fonts without serifs."""
_FONTS = ("fontSize", "labelFontSize", "titleFontSize", "subtitleFontSize")


@dataclass(frozen=True)
class PaperFormat:
    """How wide a figure is, in millimetres, and whether its title is drawn above it."""

    width_mm: float
    titled: bool = True

    @property
    def points(self) -> float:
        """The width in points, which are pixels of Vega."""
        return self.width_mm * POINTS_PER_MM


def width_mm(text: str) -> float:
    """Millimetres of a text such as 88mm or 8.8cm; InputError where it is none, or no width of a page."""
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*(mm|cm)", text.strip())
    value = float(match[1]) * (10 if match[2] == "cm" else 1) if match else 0.0
    if not WIDTH_MM_MIN <= value <= WIDTH_MM_MAX:
        raise InputError(
            f"--width '{text}': write millimetres from {WIDTH_MM_MIN}mm to {WIDTH_MM_MAX}mm, such as 88mm "
            "for a column or 180mm for a page"
        )
    return value


def fitted(figure: Figure, paper: PaperFormat, engine: Any) -> dict[str, Any]:
    """The specification whose drawing has that width, to half a point where its legend allows it.

    Lines have their names at their ends where these fit. Panels of a narrow figure are in two columns where
    one column would be taller than a page.
    """
    layouts = [1, 2] if paper.width_mm < NARROW_MM and _panels(figure.specification) > 1 else [2]
    tried: list[tuple[float, dict[str, Any]]] = []
    for columns in layouts:
        for named in (True, False):
            made = prepared(figure, paper, columns)
            if named and not _name_lines(made, paper, engine):
                continue
            height = _laid_out(made, paper, engine)
            if not height:
                continue
            if height <= HEIGHT_POINTS_MAX:
                return made
            tried.append((height, made))
            break
    return min(tried, key=lambda one: one[0])[1] if tried else made


def _laid_out(made: dict[str, Any], paper: PaperFormat, engine: Any) -> float:
    """Fit the width with as many columns of the legend as it allows: the height in points, 0 if none does."""
    for legend_columns in (None, 2, 1):
        if legend_columns is not None:  # a legend is wider than the figure
            _set_legends(made, legend_columns)
        height = _fit(made, paper.points, engine)
        if height:
            return height
    return 0.0


def _name_lines(made: dict[str, Any], paper: PaperFormat, engine: Any) -> bool:
    """Replace the legends of charts of lines by names at their ends; whether there are any."""
    charts = {n: (view, chart) for n, view in enumerate(views_of(made)) if (chart := line_chart(view))}
    if not charts:
        return False
    room = paper.points / columns_of(made) * NAME_PART
    for number, (view, chart) in charts.items():
        height = view.get("height", 0)
        charts[number] = (view, raised(chart, max(height, min(1.1 * needed_height(chart, room), 2 * height))))
    probing = copy.deepcopy(made)
    for number, view in enumerate(views_of(probing)):
        if number in charts:
            _replace(view, probe(charts[number][1], number))
    ends = ends_of(str(engine.vegalite_to_svg(probing)))
    for number, (view, chart) in charts.items():
        named = labelled(chart, number, ends, room)
        if named is None:
            return False
        _replace(view, named)
    return True


def _replace(view: dict[str, Any], by: Mapping[str, Any]) -> None:
    view.clear()
    view.update(by)


def _fit(made: dict[str, Any], points: float, engine: Any) -> float:
    """Give all views the width with which the whole has so many points; its height, or 0 if it is wider."""
    views, columns = list(views_of(made)), columns_of(made)
    width = (points - 60 * columns) / columns
    least, best = _LEAST_PART * points / columns, (0.0, 0.0, 0.0)
    for _ in range(_ROUNDS):
        width = max(least, width)
        for view in views:
            view["width"] = width
        drawn, height = _drawn_size(made, engine)
        if drawn <= points + _NEAR:
            best = max(best, (drawn, width, height))
        if abs(drawn - points) <= _NEAR or (width == least and drawn > points):
            break
        width += (points - drawn) / columns
    drawn, width, height = best
    if not drawn:
        return 0.0
    for view in views:
        view["width"] = width
    if points - drawn > _NEAR:  # Vega rounds the widths of panels
        made["padding"] = dict.fromkeys(("left", "top", "bottom"), _PADDING)
        made["padding"]["right"] = _PADDING + points - drawn
    return height


def _set_legends(value: Any, columns: int) -> None:
    """Set the number of columns of every legend, also in those that say their own."""
    if isinstance(value, dict):
        for key, one in value.items():
            if key == "legend" and isinstance(one, dict):
                one["columns"] = columns
            else:
                _set_legends(one, columns)
    elif isinstance(value, list):
        for one in value:
            _set_legends(one, columns)


def _panels(specification: Mapping[str, Any]) -> int:
    return max(len(specification.get(key, ())) for key in PANELS)


def prepared(figure: Figure, paper: PaperFormat, columns: int) -> dict[str, Any]:
    """The specification with the text and heights of a paper; widths are not set.

    A narrow figure gets so many panels side by side.
    """
    made: dict[str, Any] = copy.deepcopy(dict(figure.specification))
    narrow = paper.width_mm < NARROW_MM
    if narrow and "hconcat" in made:
        made["concat"] = made.pop("hconcat")
    if narrow and "concat" in made:
        made["columns"] = columns
    if paper.titled:
        made.setdefault("title", figure.title)
    elif not any(key in made for key in PANELS):
        made.pop("title", None)
    for view in views_of(made):
        _dash_lines(view)
        _set_height(view, narrow, _panels(made))
        _thin_ticks(view)
    config = theme("#000000", "white") | {"font": FONT}
    part = 0.58 if narrow else 0.45 if columns_of(made) == 1 else 0.3
    limit = round(paper.points * part / columns_of(made))
    config["axis"]["labelLimit"] = limit
    for view in views_of(made):
        _wrap_names(view, limit)
        _wrap_axis_title(view, paper.points / columns_of(made))
    config["legend"] |= {"labelLimit": round(paper.points - 40), "columns": 1 if narrow else 3}
    config["legend"]["layout"] = {"bottom": {"anchor": "middle", "direction": "vertical"}}
    made["config"] = config
    _set_fonts(made)
    _wrap_titles(made, paper.points)
    return made


def _set_height(view: dict[str, Any], narrow: bool, panels: int) -> None:
    """Rows of text as close as 8 points allow; other plots in a column lower than in a page."""
    height = view.get("height")
    if not isinstance(height, int | float):
        return
    rows = len(row_names(view))
    if rows:
        view["height"] = ROW_POINTS * max(2, rows)
    elif narrow:
        view["height"] = min(height, NARROW_HEIGHT_POINTS if panels < MANY_PANELS else LOW_HEIGHT_POINTS)


def row_names(view: Mapping[str, Any]) -> list[str]:
    """The rows of a view whose vertical axis has names, from above; none for another."""
    parts = (view, *view.get("layer", ()))
    axes = [axis for part in parts if (axis := (part.get("encoding") or {}).get("y"))]
    axis = next((axis for axis in axes if axis.get("type") == "nominal" and "field" in axis), None)
    values = (view.get("data") or {}).get("values", ())
    if axis is None:
        return []
    names = list(dict.fromkeys(str(row.get(axis["field"])) for row in values))
    order = axis.get("sort", "ascending")
    if isinstance(order, Mapping):  # by the greatest of a field
        most = dict.fromkeys(names, -inf)
        for row in values:
            name = str(row.get(axis["field"]))
            most[name] = max(most[name], row[order["field"]])
        return sorted(names, key=lambda name: most[name])
    return names if order is None else sorted(names)


def _wrap_names(view: dict[str, Any], limit: float) -> None:
    """Break names of rows that are wider than this, in points, into lines, so that they are shown whole."""
    letters = int(limit / LETTER_POINTS)
    for part in (view, *view.get("layer", ())):
        encoding = (part.get("encoding") or {}).get("y") or {}
        if encoding.get("type") != "nominal":
            continue
        names = list(dict.fromkeys(str(row[encoding["field"]]) for row in view["data"]["values"]))
        lines = {
            name: textwrap.wrap(name, letters, break_on_hyphens=False)
            for name in names
            if len(name) > letters
        }
        encoding["axis"] = {**(encoding.get("axis") or {}), "labelLimit": round(limit * 1.2)}
        if lines:
            encoding["axis"]["labelExpr"] = f"{json.dumps(lines)}[datum.label] || datum.label"
            tall = max(map(len, lines.values())) * LINE_POINTS + 3
            view["height"] = max(view.get("height", 0), tall * len(names))


def _wrap_axis_title(view: dict[str, Any], width: float) -> None:
    """Break the title below a plot into lines: a long one makes the plot wider."""
    for part in (view, *view.get("layer", ())):
        encoding = (part.get("encoding") or {}).get("x") or {}
        title = encoding.get("title")
        if isinstance(title, str) and len(title) * LETTER_POINTS > width / 2:
            encoding["title"] = textwrap.wrap(title, max(12, int(width / 2 / LETTER_POINTS)))


def _thin_ticks(view: Mapping[str, Any]) -> None:
    """A logarithmic axis without ticks of its own gets one for each power, and no grid between them."""
    for part in (view, *view.get("layer", ())):
        for axis in "xy":
            encoding = (part.get("encoding") or {}).get(axis) or {}
            scale = encoding.get("scale") or {}
            if scale.get("type") == "log" and "axis" not in encoding:
                encoding["axis"] = {"tickCount": LOG_TICKS}
                if scale.get("base", 10) == 10:
                    encoding["axis"]["labelExpr"] = LOG_LABELS


def views_of(made: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The views that have a width of their own: not the layers of one."""
    panels = [panel for key in PANELS for panel in made.get(key, ())]
    if panels:
        for panel in panels:
            yield from views_of(panel)
    elif isinstance(made.get("spec"), dict):
        yield from views_of(made["spec"])
    else:
        yield made


def columns_of(made: Mapping[str, Any]) -> int:
    """How many panels are side by side."""
    if "hconcat" in made:
        return max(1, len(made["hconcat"]))
    panels = len(made.get("concat", ()))
    return max(1, min(panels, int(made.get("columns", panels))))


def _dash_lines(view: dict[str, Any]) -> None:
    """A line that only its colour distinguishes from others gets strokes of its own."""
    parts = [view, *(part for part in view.get("layer", ()) if isinstance(part, dict))]
    if any({"shape", "strokeDash"} & set(part.get("encoding") or ()) for part in parts):
        return
    for part in parts:
        mark = part.get("mark")
        kind = mark.get("type") if isinstance(mark, Mapping) else mark
        encoding: dict[str, Any] = part.get("encoding") or {}
        colour = encoding.get("color")
        if kind == "line" and isinstance(colour, Mapping) and "field" in colour:
            encoding["strokeDash"] = {k: v for k, v in colour.items() if k != "scale"}


def _set_fonts(value: Any) -> None:
    if isinstance(value, dict):
        for key, one in value.items():
            if key in _FONTS and isinstance(one, int | float):
                value[key] = TEXT_POINTS
            else:
                _set_fonts(one)
    elif isinstance(value, list):
        for one in value:
            _set_fonts(one)


def _wrap_titles(made: dict[str, Any], points: float) -> None:
    """Break titles into lines, of the figure and of its panels: Vega draws a long one past the plot."""
    for view, width in ((made, points), *((view, points / columns_of(made)) for view in views_of(made))):
        letters = max(12, int((width - 12) / (TEXT_POINTS * _TITLE_LETTER)))
        title = view.get("title")
        text = title.get("text") if isinstance(title, dict) else title
        if isinstance(text, str):
            lines = textwrap.wrap(text, letters) or [""]
            view["title"] = {**title, "text": lines} if isinstance(title, dict) else lines


def _drawn_size(made: Mapping[str, Any], engine: Any) -> tuple[float, float]:
    """Width and height of the drawing, in points."""
    svg = str(engine.vegalite_to_svg(made))
    match = re.search(r'<svg[^>]*\swidth="([0-9.]+)"[^>]*\sheight="([0-9.]+)"', svg)
    assert match is not None, "Vega writes the size of an SVG"
    return float(match[1]), float(match[2])


# --- files next to the drawing --------------------------------------------------------------------------

_LATEX = {
    **{c: f"\\{c}" for c in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


def latex(figure: Figure, paper: PaperFormat) -> str:
    """A figure environment with the PDF at its own size, the caption and a label."""
    place = "figure" if paper.width_mm < NARROW_MM else "figure*"
    return (
        f"\\begin{{{place}}}\n  \\centering\n"
        f"  \\includegraphics[width={paper.width_mm:g}mm]{{{figure.name}.pdf}}\n"
        f"  \\caption{{{_escaped(figure.caption)}}}\n  \\label{{fig:{figure.name}}}\n\\end{{{place}}}\n"
    )


def _escaped(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)


def with_metadata(pdf: bytes, figure: Figure) -> bytes:
    """The PDF with title, subject (the caption), keywords (the command) and creator: an incremental update.

    Source: ISO 32000-1, 7.5.6 (incremental updates) and 14.3.3 (document information dictionary). A file of
    another form than svg2pdf's is left as it is.
    """
    info = re.search(rb"/Info (\d+) 0 R", pdf)
    root = re.search(rb"/Root (\d+) 0 R", pdf)
    size = re.search(rb"/Size (\d+)", pdf)
    before = re.findall(rb"startxref\s+(\d+)", pdf)
    if not (info and root and size and before):
        return pdf
    facts = {
        "Title": figure.title,
        "Subject": figure.caption,
        "Keywords": figure.command,
        "Creator": "motecrypt",
    }
    body = b"".join(b"/%s %s\n" % (name.encode(), _pdf_text(text)) for name, text in facts.items())
    update = b"\n%s 0 obj\n<<\n%s>>\nendobj\n" % (info[1], body)
    table = b"xref\n%s 1\n%010d 00000 n\r\n" % (info[1], len(pdf) + 1)
    trailer = b"trailer\n<<\n/Size %s\n/Root %s 0 R\n/Info %s 0 R\n/Prev %s\n>>\n"
    named = trailer % (size[1], root[1], info[1], before[-1])
    return pdf + update + table + named + b"startxref\n%d\n%%%%EOF\n" % (len(pdf) + len(update))


def _pdf_text(text: str) -> bytes:
    """A text string in UTF-16 with its mark, as hexadecimal: nothing in it can end it."""
    return b"<" + (b"\xfe\xff" + text.encode("utf-16-be", "replace")).hex().encode() + b">"
