"""What the studies say of made-up results, each alone and all together."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from goldens.text import digest, inline_values, outline, plain
from goldens.views.made_up import STATES, filled
from motecrypt.results import Results
from motecrypt.studies import highlights, names, study
from motecrypt.studies.counts import by_kind, sentences, tally
from motecrypt.studies.facts import Comparison


def _rows(rows: Sequence[Comparison]) -> list[Any]:
    return [sorted({row.source for row in rows}), *map(_row, rows)]


def _row(row: Comparison) -> dict[str, Any]:
    """What a row says, without what is empty and without the source, which all share."""
    return {k: v for k, v in plain(row).items() if k != "source" and v not in ("", {}, [], None)}


def _short_rows(rows: Sequence[Comparison]) -> list[Any]:
    """A line for each table and verdict: how many, a digest of all that they say, and one note."""
    groups: dict[tuple[str, str], list[Comparison]] = {}
    for row in rows:
        groups.setdefault((row.table, row.verdict), []).append(row)
    return [
        [*group, len(own), digest([*map(_row, own)]), own[0].row, own[-1].note]
        for group, own in groups.items()
    ]


def _sections(results: Results, name: str, full: bool) -> list[Any]:
    told: list[Any] = []
    for section in study(name).sections(results):
        told.append([section.title, section.text, len(section.rows), digest(plain(section.rows))])
        told += [list(section.columns), *plain(section.rows)] if full else []
    return told


def _charts(results: Results, name: str) -> dict[str, Any]:
    module = study(name)
    return plain(module.charts(results)) if hasattr(module, "charts") else {}


@lru_cache(maxsize=16)
def _compared(state: str, name: str) -> list[Comparison]:
    rows: list[Comparison] = study(name).comparisons(filled(state))
    return rows


def source(state: str, name: str) -> dict[str, Any]:
    """Comparisons, sections and charts of a study.

    Of the first state in full; of the others verdicts and what differs from row to row, and digests.
    """
    results, full, rows = filled(state), state == STATES[0], _compared(state, name)
    charts = _charts(results, name)
    return {
        "comparisons": _rows(rows) if full else _short_rows(rows),
        "sections": _sections(results, name, full),
        "charts": [
            [key, outline(chart), digest(chart), *(inline_values(chart) if full else ())]
            for key, chart in sorted(charts.items())
        ],
    }


def over_all() -> dict[str, Any]:
    """The findings over all studies, and how many rows came to what."""
    found: dict[str, Any] = {}
    for state in STATES:
        rows = {name: _compared(state, name) for name in names()}
        found[f"{state} highlights"] = plain(highlights.highlights(rows))
        found[f"{state} tally"] = [
            [tally(own), *sentences(own), plain(by_kind(own))] for own in rows.values()
        ]
    return found
