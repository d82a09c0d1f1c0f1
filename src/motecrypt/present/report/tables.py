"""The tables of the sources as data, from which the page makes them when they are opened. Pure.

A text is kept once: a cell is its place in `words`. As markup the same tables take a third of the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from motecrypt.base.model import Section
from motecrypt.present.report.sources import SourcePart
from motecrypt.studies.counts import tolerance_text
from motecrypt.studies.facts import Comparison

#: Titles of the table of all rows. `where` is shown small, below `what`.
COLUMNS = ("verdict", "why", "what", "where", "printed", "ours", "ratio", "tolerance")
#: A cell that is a bar and nothing else: these are for terminals.
_BAR = re.compile("[\u2580-\u259f]+ *")


def source_tables(sources: Iterable[SourcePart]) -> dict[str, Any]:
    """`words`; `columns` of the rows; by source its `rows` and `sections` (title, columns, rows, text)."""
    words: dict[str, int] = {}

    def row(cells: Iterable[object]) -> list[int]:
        return [words.setdefault("" if cell is None else str(cell), len(words)) for cell in cells]

    made: dict[str, Any] = {}
    for source in sources:
        shown = [without_bars(section) for section in source.sections]
        made[source.name] = {
            "rows": [row(_cells(one)) for one in source.rows],
            "sections": [
                {
                    "title": section.title,
                    "columns": list(section.columns),
                    "rows": [row(cells) for cells in section.rows],
                    "text": section.text,
                }
                for section in shown
            ],
        }
    return {"columns": list(COLUMNS), "words": list(words), "sources": made}


def without_bars(section: Section) -> Section:
    """The section without the columns that draw bars of block characters."""
    kept = [
        index
        for index in range(len(section.columns))
        if not any(_BAR.fullmatch(str(cells[index])) for cells in section.rows)
    ]
    rows = [[cells[index] for index in kept] for cells in section.rows]
    return Section(section.title, [section.columns[index] for index in kept], rows, section.text)


def _cells(row: Comparison) -> Sequence[str]:
    """What the table of all rows says of one, in the order of COLUMNS."""
    verdict = f"{row.verdict}: {row.missing}" if row.missing else row.verdict
    if row.better is not None:
        verdict += f" (ours is {'better' if row.better else 'not better'})"
    cause = f"{row.cause} ({row.cause_known})" if row.cause else ""
    note = "" if row.missing and row.note == row.missing else row.note
    why = ". ".join(part for part in (note, cause, row.command) if part)
    what = ", ".join(part for part in (row.row, row.column) if part)
    origin = ""
    if row.derived_from:
        origin = f" from {', '.join(row.derived_from[:2])}"
        if len(row.derived_from) > 2:
            origin += f" and {len(row.derived_from) - 2} more"
    like = f"ours is {row.like_for_like}" if row.like_for_like else ""
    ours = number(row.measured)
    if row.recomputed:
        like, ours = "not ours: from the paper's other figures", ours and f"{ours} (recomputed)"
    where = "; ".join(part for part in (row.table, f"{row.kind}{origin}", like, row.id) if part)
    unit = f" {row.unit}" if row.unit and isinstance(row.published, int | float) else ""
    return (
        *(verdict, why, what, where, f"{number(row.published)}{unit}", ours),
        *(number(row.ratio, 3), tolerance_text(row)),
    )


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
