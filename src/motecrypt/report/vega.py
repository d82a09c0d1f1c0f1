"""The door to Vega: its JavaScript for the page, and drawing a specification as SVG or PDF. No network.

Vega comes inside the Python package vl-convert-python (kit `plots`); without it the report has tables only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from motecrypt.errors import InputError
from motecrypt.paths import cache_dir, write_atomically
from motecrypt.report.figure import Figure, theme

_SNIPPET = "window.vega=vega; window.vegaLite=vegaLite;"
WIDTH = 440


def javascript() -> str:
    """Vega and Vega-Lite as one script that names no address; empty where the kit is missing.

    Bundling takes seconds, so what it made is kept in the cache by version.
    """
    try:
        import vl_convert
    except ImportError:
        return ""
    kept = cache_dir() / "report" / f"vega-{vl_convert.__version__}.js"
    if kept.exists():
        return kept.read_text(encoding="utf-8")
    bundle = without_addresses(str(vl_convert.javascript_bundle(_SNIPPET)))
    write_atomically(kept, bundle.encode())
    return bundle


def without_addresses(script: str) -> str:
    r"""A script in which no address can be followed or found.

    Names of XML namespaces must stay what they are: `//` is written `\/\/`, which a string reads the same.
    Any other address is one in a message.
    """
    script = re.sub(r"https?://(?!www\.w3\.org/)[^\s\"'`)\\]+", "about:blank", script)
    return re.sub(r"(https?):(//www\.w3\.org)", lambda m: m[1] + r":\/\/" + m[2][2:], script)


def svg(figure: Figure) -> str:
    """The figure as SVG, dark on white."""
    import_or_explain()
    import vl_convert

    return str(vl_convert.vegalite_to_svg(printable(figure)))


def pdf(figure: Figure) -> bytes:
    """The figure as PDF, dark on white."""
    import_or_explain()
    import vl_convert

    return bytes(vl_convert.vegalite_to_pdf(printable(figure)))


def import_or_explain() -> None:
    """Raise InputError, saying what to install, where Vega is missing."""
    try:
        import vl_convert  # noqa: F401
    except ImportError:
        raise InputError(
            "drawing figures needs the Python package vl-convert-python: pip install 'motecrypt[plots]'"
        ) from None


def printable(figure: Figure) -> dict[str, Any]:
    """The specification with a theme for paper, a width and its title."""
    specification: Mapping[str, Any] = figure.specification
    sized = {} if any(k in specification for k in ("hconcat", "vconcat", "concat")) else {"width": WIDTH}
    return {**sized, "title": figure.title, **specification, "config": theme("#1a1a1a", "white")}
