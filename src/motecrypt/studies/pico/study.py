"""Dharmani, "String and File Encryption with AES" on a Raspberry Pi Pico: its four libraries next to ours."""

from __future__ import annotations

from typing import Any

from motecrypt.base.model import Section
from motecrypt.results import Results
from motecrypt.studies.facts import Comparison
from motecrypt.studies.pico import evictions, figures, file_tables, files, remains, second_core, strings

ORDER = 20
TITLE = "AES libraries on a Raspberry Pi Pico"
SOURCE = figures.SOURCE


def comparisons(results: Results) -> list[Comparison]:
    """Every figure and claim of the source next to ours."""
    parts = (strings, files, remains, second_core)
    return [row for part in parts for row in part.comparisons(results)]


def sections(results: Results) -> list[Section]:
    """The same for people."""
    parts = (strings, file_tables, remains, second_core)
    return [section for part in parts for section in part.sections(results)]


def tables(results: Results) -> dict[str, list[dict[str, Any]]]:
    """The sweep of other code between two passes, as plain records."""
    return {"evictions": evictions.table(figures.timings(results))}


def charts(results: Results) -> dict[str, dict[str, Any]]:
    """Files of all sizes, as a Vega-Lite specification."""
    return file_tables.charts(results)
