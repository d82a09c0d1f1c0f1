"""The door to Vega: its JavaScript for the page, and drawing a specification as SVG or PDF. No network.

Vega comes inside the Python package vl-convert-python (tool set `plots`); without it there are only tables.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
from collections.abc import Mapping
from typing import Any

from motecrypt.base.errors import InputError
from motecrypt.base.paths import cache_dir, write_atomically
from motecrypt.present.report.figure import Figure, theme

WIDTH = 440


def engine() -> Any:
    """The module that brings Vega; InputError, saying what to install, where it is missing."""
    try:
        return importlib.import_module("vl_convert")
    except ImportError:
        raise InputError(
            "drawing figures needs the Python package vl-convert-python: pip install 'motecrypt[plots]'"
        ) from None


def javascript() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script that names no address; empty without the tool set.

    Bundling takes seconds, so what it made is kept in the cache by version.
    """
    if importlib.util.find_spec("vl_convert") is None:
        return ""
    from importlib.metadata import version as version_of  # slow to import

    version = version_of("vl-convert-python")
    kept = cache_dir() / "report" / f"vega-embed-{version}.js"
    if kept.exists():
        return kept.read_text(encoding="utf-8")
    bundle = without_addresses(str(engine().javascript_bundle()))
    write_atomically(kept, bundle.encode())
    return bundle


def without_addresses(script: str) -> str:
    r"""A script in which no address can be followed or found.

    Names of XML namespaces must stay what they are: `//` is written `\/\/`, which a string reads the same.
    Of others (in messages, and the name of Vega's schema, which is only parsed) the scheme is left out.
    """
    script = re.sub(r"https?://(?!www\.w3\.org/)", "", script)
    return re.sub(r"(https?:)//", r"\1\\/\\/", script)


def svg(figure: Figure) -> str:
    """The figure as SVG, dark on white."""
    return str(engine().vegalite_to_svg(printable(figure)))


def printable(figure: Figure) -> dict[str, Any]:
    """The specification with a theme for paper, a width and its title."""
    specification: Mapping[str, Any] = figure.specification
    sized = {} if any(k in specification for k in ("hconcat", "vconcat", "concat")) else {"width": WIDTH}
    return {**sized, "title": figure.title, **specification, "config": theme("#1a1a1a", "white")}
