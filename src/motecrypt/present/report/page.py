"""The HTML file: templates filled, styles, scripts and data put inside. Names no address on a network."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from motecrypt.adviser.api import example_command
from motecrypt.adviser.exported import packed
from motecrypt.adviser.hardware.bounds import bound_named
from motecrypt.base.model import SECURITY_STATUSES
from motecrypt.base.text import printable
from motecrypt.present.report import vega
from motecrypt.present.report.content import Content
from motecrypt.present.report.figure import theme
from motecrypt.present.report.looks import as_data
from motecrypt.present.report.sources import WORDS
from motecrypt.present.report.tables import number, source_tables
from motecrypt.present.report.translate import javascript
from motecrypt.studies.counts import VERDICTS, tolerance_text

if TYPE_CHECKING:
    from jinja2 import Environment

_HERE = Path(__file__).resolve().parent
STATIC = _HERE / "static"
STYLES = ("page.css", "explorer.css", "print.css")
SCRIPTS = (
    *("charts.js", "page.js"),
    *("explorer-data.js", "explorer-charts.js", "explorer-table.js", "explorer.js"),
    "python.js",
)
#: What the adviser's form and charts take from the adviser, and they themselves.
ADVISER = (
    "motecrypt.adviser.asked.answered",
    "motecrypt.adviser.asked.asked_in",
    "motecrypt.adviser.asked.check_measured",
    "motecrypt.adviser.asked.setting_of",
    "motecrypt.adviser.defaults.command_of",
    "motecrypt.adviser.exported.node_from",
    "motecrypt.adviser.exported.unpacked",
    "motecrypt.adviser.shown.NOTHING_FITS",
    "motecrypt.adviser.shown.NOTHING_TO_WATCH",
    "motecrypt.adviser.shown.days",
    "motecrypt.adviser.shown.in_years",
    "motecrypt.adviser.shown.number",
    "motecrypt.adviser.shown.percent",
    "motecrypt.adviser.shown.row",
)
ADVISER_SCRIPTS = ("adviser-charts.js", "adviser-form.js")
#: Only in a page that is served: the file has nobody to ask.
LIVE_SCRIPTS = ("serve.js",)
#: Rows of a table that are made into text at a time.
PIECE = 500
#: Signs of the security statuses, readable without colour.
SIGNS = {"recommended": "●", "acceptable": "◐", "legacy": "○", "broken": "✕", "unrated": "?"}
WEIGHTS = {
    "good": ("✓", "good"),
    "note": ("i", "worth knowing"),
    "bad": ("✗", "bad"),
    "skipped": ("–", "skipped"),
}


@cache
def _environment() -> Environment:
    """The templates, compiled once."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        loader=FunctionLoader(lambda name: _source(_HERE / "templates" / name)),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = number
    environment.filters["tolerance"] = tolerance_text
    environment.globals.update(
        verdicts=VERDICTS,
        words=WORDS,
        statuses=SECURITY_STATUSES,
        signs=SIGNS,
        weights=WEIGHTS,
        example_command=example_command(),
    )
    return environment


def render(content: Content, bundle: str | None = None, live: bool = False) -> str:
    """The report as one HTML document; see `pieces`."""
    return "".join(pieces(content, bundle, live))


def pieces(content: Content, bundle: str | None = None, live: bool = False) -> Iterator[str]:
    """The report's HTML in the order of the file, so that a writer never holds copies of all of it.

    Parameters
    ----------
    content
        What `gather` found.
    bundle
        Vega as a script; None: the one of the tool set `plots`. Empty: tables only.
    live
        Whether a `ReportServer` serves it: it then has a form to measure, and may ask its own server.
    """
    from markupsafe import Markup

    script = vega.javascript() if bundle is None else bundle
    data = {
        "theme": theme("currentColor", "transparent"),
        "looks": as_data(content.catalog.devices),
        "figures": {figure.name: figure.specification for figure in content.all_figures()},
        "explorer": content.explorer,
        "adviser": {
            **packed(content.adviser),
            "bounds": {part.device.name: bound_named(part.device.name) for part in content.devices},
        },
        "signs": {verdict: sign for verdict, (sign, _) in WORDS.items()},
        "tables": source_tables(content.sources),
    }
    own = (*ADVISER_SCRIPTS, *LIVE_SCRIPTS) if live else ADVISER_SCRIPTS
    scripts = [*map(_static, SCRIPTS), javascript(ADVISER, "adviser"), *map(_static, own)]
    page = (
        _environment()
        .get_template("page.html")
        .generate(
            content=content,
            live=live,
            style=Markup("\n".join(map(_static, STYLES))),
            bundle=Markup(script),
            scripts=Markup("\n".join(scripts)),
            data=map(Markup, embedded(data)),
        )
    )
    # What is left of addresses is in citations, which need no scheme; a piece has whole ones.
    for piece in page:
        yield re.sub(r"https?://", "", piece)


def _shown(value: Any) -> Any:
    """Text without control characters: the page may be read in a terminal, too."""
    return printable(value) if type(value) is str else value


def embedded(value: Any) -> Iterator[str]:
    """JSON that cannot end the element it is in, in pieces: a large table's rows are never one text."""
    if isinstance(value, dict):
        between = "{"
        for name, inner in value.items():
            yield f"{between}{_json(str(name))}:"
            yield from embedded(inner)
            between = ","
        yield "}" if value else "{}"
    elif isinstance(value, list) and len(value) > PIECE:
        for start in range(0, len(value), PIECE):
            yield "," if start else "["
            yield _json(value[start : start + PIECE])[1:-1]
        yield "]"
    else:
        yield _json(value)


def _json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _static(name: str) -> str:
    return _source(STATIC / name)


def _source(path: Path) -> str:
    """A style, script or template without indentation and lines of comment, which are for its readers."""
    return re.sub(r"^[ \t]*//.*\n|^[ \t]+", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
