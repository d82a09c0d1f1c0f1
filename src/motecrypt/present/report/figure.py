"""A figure: one Vega-Lite specification with its data inside, a caption, and what makes it again. Pure."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from motecrypt.base.text import spreadsheet_row
from motecrypt.present.report.looks import PALETTE, SHAPES

Specification = Mapping[str, Any]


@dataclass(frozen=True)
class Figure:
    """One figure of the report.

    Attributes
    ----------
    name
        Also the name of its files: lower case, digits and hyphens.
    title
        A line above it.
    caption
        Can go into a paper as it is: what is shown, of what, measured how.
    command
        What makes the data again.
    specification
        Vega-Lite, without theme: colours of text and grid come from anyone who draws it.
    rows
        The data for people and for CSV; taken from the specification where empty.
    on_paper
        Whether it is also in the printed report.
    """

    name: str
    title: str
    caption: str
    command: str
    specification: Specification
    rows: Sequence[Mapping[str, Any]] = field(default_factory=tuple)
    on_paper: bool = True

    @property
    def panels(self) -> int:
        """How many panels are side by side; 0 for a single one."""
        return max(len(self.specification.get(key, ())) for key in ("hconcat", "vconcat", "concat"))

    def data(self) -> list[Mapping[str, Any]]:
        """The figure's data, a mapping for each row."""
        return list(self.rows) or list(_values(self.specification))

    def as_csv(self) -> str:
        """The figure's data as CSV, with a header."""
        rows = self.data()
        columns = list(dict.fromkeys(name for row in rows for name in row))
        text = io.StringIO()
        writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(map(spreadsheet_row, rows))
        return text.getvalue()


def _values(specification: Specification, panel: str = "") -> Iterator[Mapping[str, Any]]:
    """Every inline value of a specification, with the title of its panel where it has several."""
    title = specification.get("title", panel)
    name = title if isinstance(title, str) else str(title.get("text", panel))
    data = specification.get("data", {})
    values = data.get("values", ()) if isinstance(data, Mapping) else ()
    for value in values:
        if isinstance(value, Mapping):
            yield {"panel": name, **value} if panel else value
    for key in ("layer", "hconcat", "vconcat", "concat"):
        for part in specification.get(key, ()):
            yield from _values(part, name or "panel")
    if isinstance(specification.get("spec"), Mapping):
        yield from _values(specification["spec"], panel)


def theme(ink: str, background: str) -> dict[str, Any]:
    """The configuration that gives a specification its looks: text and lines in one ink.

    Parameters
    ----------
    ink
        A CSS colour; in a page `currentColor` follows light, dark and print.
    background
        A CSS colour, or transparent.
    """
    return {
        "background": background,
        "font": "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif",
        "view": {"stroke": None},
        "title": {"color": ink, "fontSize": 13, "fontWeight": 600, "anchor": "start"},
        "axis": {
            "labelColor": ink,
            "titleColor": ink,
            "tickColor": ink,
            "domainColor": ink,
            "gridColor": ink,
            "gridOpacity": 0.13,
            "domainOpacity": 0.5,
            "tickOpacity": 0.5,
            "labelFontSize": 11,
            "titleFontSize": 11,
            "titleFontWeight": 500,
            "labelLimit": 210,
        },
        "legend": {
            "labelColor": ink,
            "titleColor": ink,
            "labelFontSize": 11,
            "titleFontSize": 11,
            "symbolBaseStrokeColor": ink,
            "symbolBaseFillColor": ink,
            "labelLimit": 260,
            "orient": "bottom",
        },
        "header": {"labelColor": ink, "titleColor": ink},
        "text": {"color": ink},
        "rule": {"color": ink},
        "range": {"category": list(PALETTE), "symbol": list(SHAPES)},
    }
