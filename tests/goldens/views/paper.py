"""What figures for a paper are made of, with sizes and ends of lines by a rule in place of a drawing."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from typing import Any

from goldens.text import digest, outline, plain
from motecrypt.present.report.figure import Figure
from motecrypt.present.report.labels import NAME
from motecrypt.present.report.paper import (
    PaperFormat,
    columns_of,
    fitted,
    latex,
    row_names,
    views_of,
    with_metadata,
)
from motecrypt.present.report.patterns import patterned
from motecrypt.present.report.sheets import sheets

WIDTHS = (60, 88, 119.5, 120, 180, 400)
NAMES = (
    "srf, confirmed",
    "nrf24",
    "802.15.4 without a confirmation",
    "all",
    "last",
    "a sixth with a long name",
)
LONG = 4000
PDF = b"%PDF-1.7\nstartxref\n3\n%%EOF\n<<\n/Size 17\n/Root 3 0 R\n/Info 16 0 R\n>>\nstartxref\n99\n%%EOF"


class Drawing:
    """In place of Vega: 61.3 points around each plot; a line ends where the last of its values says."""

    def __init__(self, wider: float = 0.0) -> None:
        self.wider = wider

    def vegalite_to_svg(self, made: dict[str, Any]) -> str:
        """An SVG with a size, and paths with the names of `probe`."""
        views, columns = list(views_of(made)), columns_of(made)
        width = columns * (views[0].get("width", 200) + 61.3) + self.wider * (
            len(NAMES) if _legend(made) else 0
        )
        height = 40 + sum(view.get("height", 100) for view in views[::columns])
        paths = "".join(path for view in views for path in _paths(view))
        return f'<svg class="marks" width="{width:.2f}" height="{height:.2f}">{paths}</svg>'


def _legend(made: Mapping[str, Any]) -> bool:
    return '"legend": {' in str(made).replace("'", '"')


def _paths(view: Mapping[str, Any]) -> Iterator[str]:
    layers = view.get("layer") or [{}]
    if "description" not in layers[0].get("encoding", {}):
        return
    rows = view["data"]["values"]
    for name in dict.fromkeys(row[NAME] for row in rows):
        places = [f"{row['x']},{float(row['y']) % view['height']:.2f}" for row in rows if row[NAME] == name]
        label = html.escape(name)
        yield f'<path aria-label="{label}" aria-roledescription="line mark" d="M{"L".join(places)}"/>'


def paper() -> dict[str, Any]:
    """For each figure and width: its specification without what all have, the files next to it, its parts."""
    found: dict[str, Any] = {"patterns": [patterned(svg) for svg in _drawings()]}
    for name, specification in _specifications().items():
        figure = Figure(
            name,
            f"Title of {name} that has more than a few words",
            "50 % of_x & ~",
            "motecrypt x",
            specification,
        )
        rows = []
        for number, width in enumerate(WIDTHS):
            format_ = PaperFormat(width, titled=number % 2 == 0)
            made = fitted(figure, format_, Drawing(9.0 if number in (1, 3) else 0.0))
            config = made.pop("config")
            rows.append(
                [
                    width,
                    _short(outline(plain(made))),
                    digest(plain(made)),
                    digest(plain(config)),
                    config["axis"]["labelLimit"],
                    plain(config["legend"]),
                ]
            )
        found[name] = rows
        parts = [sheets(figure, PaperFormat(width)) for width in WIDTHS]
        found[f"{name}, parts"] = [
            [
                [
                    p.name,
                    p.title,
                    p.caption,
                    [row_names(v) for v in views_of(dict(p.specification))],
                    digest(plain(p.specification)),
                ]
                for p in own
            ]
            for own in parts
        ]
    texts = [latex(figure, PaperFormat(width)) for width in WIDTHS]
    found["beside"] = [*texts, with_metadata(PDF, figure).decode(), with_metadata(b"%PDF", figure).decode()]
    return found


def _short(made: dict[str, Any]) -> Any:
    """What a reader can compare; of more, which has a digest anyway, the names of its members."""
    return made if len(str(made)) < LONG else sorted(made)


def _lines(count: int, many: int = 9, scale: float = 1.0) -> dict[str, Any]:
    rows = [
        {"x": x, "y": scale * (30 * (k // 2) + x), "name": NAMES[k]}
        for k in range(count)
        for x in range(many)
    ]
    return {"values": rows}


def _specifications() -> dict[str, dict[str, Any]]:
    series = {"field": "name", "type": "nominal", "title": None, "scale": {"range": ["#111111"]}}
    legend = series | {"legend": {"orient": "bottom", "columns": 4}}
    x = {
        "field": "x",
        "type": "quantitative",
        "title": "a title that is longer than half of the width of a column, in ms",
    }
    y = {"field": "y", "type": "quantitative", "scale": {"type": "log"}}
    line = {
        "data": _lines(6),
        "height": 160,
        "mark": {"type": "line", "point": True},
        "encoding": {"x": x, "y": y, "color": legend},
    }
    plain_line = {
        "data": _lines(2),
        "height": 40,
        "mark": "line",
        "title": {"text": "Inside " * 30, "fontSize": 11},
        "encoding": {"x": x, "y": y, "color": series},
    }
    dots = {
        "data": _lines(3),
        "height": 200,
        "mark": "point",
        "encoding": {"x": x, "y": y | {"scale": {"type": "log", "base": 2}}, "color": legend},
    }
    layered = {
        "data": _lines(4),
        "height": 130,
        "encoding": {"x": x | {"title": "short"}, "y": y | {"axis": {"tickCount": 9}}},
        "layer": [
            {
                "mark": "line",
                "encoding": {"color": legend, "strokeDash": series, "tooltip": [{"field": "x"}]},
            },
            {"mark": {"type": "point", "filled": True}, "encoding": {"shape": series}},
            {
                "mark": {"type": "rule"},
                "encoding": {"color": legend, "y": {"value": 3}, "tooltip": {"field": "x"}},
            },
        ],
    }
    names = [
        f"an implementation of number {n} in AES-{128 + n}, with its key's set-up, decrypting"
        for n in range(70)
    ]
    rows = [
        {"row": name, "n": 3 + (7 * n) % 50, "from": -n, "by": (13 * n) % 70} for n, name in enumerate(names)
    ]
    row = {"field": "row", "type": "nominal", "title": None}
    counted = {"field": "n", "type": "quantitative"}
    bars = {
        "data": {"values": rows[:3]},
        "height": 38,
        "mark": "bar",
        "encoding": {"y": row | {"sort": None}, "x": counted},
    }
    tall = {
        "data": {"values": rows},
        "height": 900,
        "layer": [
            {
                "mark": "bar",
                "encoding": {
                    "y": row | {"sort": {"field": "by", "op": "max"}},
                    "x": counted,
                    "x2": {"field": "from"},
                },
            },
            {"mark": "point", "encoding": {"y": row, "x": counted | {"scale": {"type": "log"}}}},
        ],
    }
    short = {
        "data": {"values": [r | {"row": r["row"][24:38]} for r in rows[:20]]},
        "height": 700,
        "mark": "bar",
        "encoding": {"y": row, "x": counted},
    }
    return {
        "line": line,
        "plain line": plain_line,
        "dots": dots,
        "layered": layered,
        "bars": bars,
        "tall": tall,
        "side by side": {"hconcat": [line, dots, layered], "title": "All"},
        "below": {"vconcat": [bars, plain_line]},
        "many": {"concat": [line | {"title": f"Panel {n} " * 9} for n in range(5)], "columns": 3},
        "facets": {"spec": dots, "facet": {"field": "name"}, "columns": 2},
        "tall panels": {"hconcat": [tall, short, bars]},
    }


def _drawings() -> list[str]:
    """SVGs with fills of every lightness, in bars, areas and legends; and one with a fill for each value."""
    colours = [
        "#000000",
        "#FFFFFF",
        "#D55E00",
        "#0072b2",
        "#8c8c8c",
        "#0a0a0a",
        "#0b0b0b",
        "#999999",
        "#4C78A8",
    ]
    bars = "".join(f'<path d="M0,0h1v1h-1Z" fill="{c}"/>' for c in colours)
    symbols = "".join(f'<path d="M-4.5,-4.5h9v9h-9Z" fill="{c}"/>' for c in colours[:2])
    rounds = f'<path d="M4,0A4,4,0,1,1,-4,0" fill="{colours[2]}"/>'
    legend = '<g class="mark-symbol role-legend-symbol" x="y">'
    legends = f"{legend}{symbols}</g>{legend}{rounds}</g>"
    whole = f'<svg width="9"><g class="mark-rect role-mark marks">{bars}</g>{legends}</svg>'
    many = "".join(f'<path d="M0,0h1v1h-1Z" fill="#0000{n:02x}"/>' for n in range(13))
    few = re.sub('<path d="M0,0h1v1h-1Z" fill="#00000c"/>', "", many)
    boxes = [f'<svg width="9"><g class="mark-area role-mark m">{each}</g></svg>' for each in (many, few)]
    return [whole, whole.replace("mark-rect", "mark-line"), *boxes, '<svg width="9"></svg>']
