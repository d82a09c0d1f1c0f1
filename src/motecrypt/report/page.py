"""The HTML file: templates filled, styles, scripts and data put inside. Names no address on a network."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from motecrypt.advise import Point
from motecrypt.model import STANDINGS
from motecrypt.report import vega
from motecrypt.report.content import Content
from motecrypt.report.figure import theme
from motecrypt.report.sources import WORDS
from motecrypt.studies.counts import VERDICTS, tolerance_text
from motecrypt.text import printable

_HERE = Path(__file__).resolve().parent
STYLES = ("page.css", "print.css")
SCRIPTS = (
    *("charts.js", "page.js", "explorer.js"),
    *("adviser-notes.js", "adviser-exchange.js", "adviser.js", "adviser-form.js"),
)
#: Signs of the security statuses, readable without colour.
SIGNS = {"recommended": "●", "acceptable": "◐", "legacy": "○", "broken": "✕", "unrated": "?"}
WEIGHTS = {
    "good": ("✓", "good"),
    "note": ("i", "worth knowing"),
    "bad": ("✗", "bad"),
    "skipped": ("–", "skipped"),
}


def render(content: Content, bundle: str | None = None) -> str:
    """The report as one HTML document.

    Parameters
    ----------
    content
        What `gather` found.
    bundle
        Vega as a script; None: the one of the kit `plots`. Empty: tables only.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = number
    environment.filters["tolerance"] = tolerance_text
    environment.globals.update(
        verdicts=VERDICTS, words=WORDS, standings=STANDINGS, signs=SIGNS, weights=WEIGHTS
    )
    script = vega.javascript() if bundle is None else bundle
    data = {
        "theme": theme("currentColor", "transparent"),
        "figures": {figure.name: figure.specification for figure in content.all_figures()},
        "explorer": content.explorer,
        "adviser": _packed(content.adviser),
    }
    page = environment.get_template("page.html").render(
        content=content,
        style=Markup("\n".join(_static(name) for name in STYLES)),
        bundle=Markup(script),
        scripts=Markup("\n".join(_static(name) for name in SCRIPTS)),
        data=Markup(embedded(data)),
    )
    # What is left of addresses is in citations, which name the place and need no scheme.
    return re.sub(r"https?://", "", page)


def _shown(value: Any) -> Any:
    """Text without control characters: the page may be read in a terminal, too."""
    return printable(value) if type(value) is str else value


def _packed(adviser: Mapping[str, Any]) -> dict[str, Any]:
    """The adviser's data with the points of a candidate as plain rows, which adviser-form.js unpacks."""
    names = [field.name for field in fields(Point)]
    packed = {
        device: [
            {**one, "points": [[point[name] for name in names] for point in one["points"]]}
            for one in candidates
        ]
        for device, candidates in adviser["candidates"].items()
    }
    return {**adviser, "point_columns": names, "candidates": packed}


def embedded(value: Mapping[str, Any]) -> str:
    """JSON that cannot end the element it is in."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def number(value: float | int | str | None, digits: int = 4) -> str:
    """A figure for people: thousands with commas, at most so many significant digits; "" for None."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, int) or float(value).is_integer():
        return f"{int(value):,}"
    if abs(value) >= 10 ** (digits - 1):
        return f"{value:,.0f}"
    return f"{value:.{digits}g}" if abs(value) >= 1e-4 else f"{value:.2e}"


def _static(name: str) -> str:
    return (_HERE / "static" / name).read_text(encoding="utf-8")
