"""The published sources: tables, verdicts in plain words, and their figures redrawn next to ours. Generic.

Works for every study module and names none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

from motecrypt.base.errors import MotecryptError
from motecrypt.base.model import Section
from motecrypt.present.report import charts
from motecrypt.present.report.figure import Figure
from motecrypt.results import Results
from motecrypt.studies import names, study
from motecrypt.studies.counts import AGAINST, COMPARED, VERDICTS, by_kind, facts, sentences
from motecrypt.studies.facts import Comparison, Verdict

#: How the page says a verdict, with a sign that needs no colour.
WORDS = {
    "matches": ("✓", "matches"),
    "differs": ("✗", "differs"),
    "paper is inconsistent": ("!", "paper is inconsistent"),
    "not printed": ("+", "not printed"),
    "needs hardware": ("–", "needs hardware"),
    "bring the code": ("–", "bring the code"),
    "not measured": ("…", "not measured"),
}
#: A figure needs as many rows; fewer are read faster in the table.
LEAST_ROWS = 3
#: Contradictions shown at the top of a source; the table has all.
TOLD = 6
PAIRS_ON_PAPER = 8


@dataclass(frozen=True)
class SourcePart:
    """One published source next to our figures."""

    name: str
    title: str
    source: str
    command: str
    words: str
    counts: Mapping[str, int]
    against: Sequence[Comparison]
    sections: Sequence[Section]
    rows: Sequence[Comparison]
    figures: Sequence[Figure]

    @property
    def verdicts(self) -> list[Verdict]:
        """The verdicts that occur."""
        return [verdict for verdict in VERDICTS if any(row.verdict == verdict for row in self.rows)]

    @property
    def kinds(self) -> list[list[object]]:
        """How many rows of each kind have which of these verdicts."""
        return [
            [kind, *(counts.get(verdict, 0) for verdict in self.verdicts)]
            for kind, counts in by_kind(self.rows).items()
        ]

    @property
    def measured(self) -> bool:
        """Whether any row has a figure of ours."""
        return any(row.verdict in COMPARED for row in self.rows)


def sources(results: Results) -> list[SourcePart]:
    """Every study there is, in its order."""
    return [_source(name, study(name), results) for name in names()]


def _source(name: str, module: ModuleType, results: Results) -> SourcePart:
    command = f"motecrypt reproduce {name}"
    try:
        rows: list[Comparison] = list(module.comparisons(results))
        sections: list[Section] = list(module.sections(results))
        drawn = module.charts(results) if hasattr(module, "charts") else {}
    except MotecryptError as error:  # a study that cannot be shown does not stop the others
        words = f"It cannot be determined on this machine: {error}. {command} installs what it needs."
        nothing: dict[str, int] = dict.fromkeys(VERDICTS, 0)
        return SourcePart(name, module.TITLE, module.SOURCE, command, words, nothing, [], [], [], [])
    counts = Counter[str](row.verdict for row in facts(rows))
    return SourcePart(
        name=name,
        title=module.TITLE,
        source=module.SOURCE,
        command=command,
        words=_words(rows, command),
        counts={verdict: counts[verdict] for verdict in VERDICTS},
        against=_told(rows),
        sections=sections,
        rows=rows,
        figures=[*_redrawn(module, drawn, command), *_for_paper(_paired(name, module, rows, command))],
    )


def _for_paper(paired: Iterable[Figure]) -> list[Figure]:
    """The figures of tables; of a study with very many of them the printed report has none."""
    made = list(paired)
    return made if len(made) <= PAIRS_ON_PAPER else [replace(figure, on_paper=False) for figure in made]


def _words(rows: Sequence[Comparison], command: str) -> str:
    """The counts as sentences."""
    if not rows:
        return "It has no rows."
    told = sentences(rows)
    if any(row.verdict == "not measured" for row in facts(rows)):
        told.append(f"{command} measures what can be.")
    return " ".join(told)


def _told(rows: Sequence[Comparison]) -> list[Comparison]:
    """What does not hold: claims in words, each once, then one of each column of a table."""
    chosen: dict[tuple[str, str], Comparison] = {}
    against = [row for row in facts(rows) if row.verdict in AGAINST and row.note and not row.better]
    for row in sorted(against, key=lambda row: not _is_claim(row)):
        chosen.setdefault((row.table, row.row if _is_claim(row) else row.column), row)
    return list(chosen.values())[:TOLD]


def _is_claim(row: Comparison) -> bool:
    """Whether it is a sentence of the source; else a figure of one of its tables."""
    return row.kind == "claim" or "claim" in row.table.lower()


def _redrawn(module: ModuleType, drawn: Mapping[str, Mapping[str, Any]], command: str) -> Iterable[Figure]:
    """The figures that the study draws itself."""
    for name, specification in drawn.items():
        kept = {k: v for k, v in specification.items() if k not in ("$schema", "background", "title")}
        title = specification.get("title", name)
        title = title if isinstance(title, str) else str(title.get("text", name))
        title = f"{title[:1].upper()}{title[1:]}"
        caption = kept.pop("description", None) or (
            f"{title}. Redrawn after {module.SOURCE}, with our measurements; paper: the source's figures."
        )
        yield Figure(slug(name), title, caption, command, kept)


def _paired(
    study_name: str, module: ModuleType, rows: Sequence[Comparison], command: str
) -> Iterable[Figure]:
    """Print and ours side by side, a figure for each table and unit that has numbers on both sides; what was
    recomputed from the paper's other figures is named so, and never drawn with ours."""
    tables: dict[tuple[str, str, bool], dict[str, list[Comparison]]] = {}
    for row in rows:
        numbers = isinstance(row.published, int | float) and isinstance(row.measured, int | float)
        if numbers and row.unit and not _is_claim(row):
            tables.setdefault((row.table, row.unit, row.recomputed), {}).setdefault(row.column, []).append(
                row
            )
    for (table, unit, recomputed), columns in tables.items():
        kept = {column: own for column, own in columns.items() if _drawable(own)}
        if not kept:
            continue
        verdicts = Counter(row.verdict for own in kept.values() for row in own)
        said = ", ".join(f"{v} {verdicts[v]}" for v in VERDICTS if verdicts.get(v))
        place = f"{table[:1].upper()}{table[1:]}"
        columns_named = ", ".join(kept)
        title = f"{place}: {columns_named}" if len(kept) < 3 else f"{place}, in {unit}"
        circles = "recomputed from its other figures (circles)" if recomputed else _whose(kept.values())
        caption = (
            f"{place} ({columns_named}; {unit}) as printed in {module.SOURCE} (diamonds) and {circles}; "
            f"{sum(map(len, kept.values()))} rows: {said}."
        )
        against = charts.RECOMPUTED if recomputed else charts.OURS
        name = slug(f"{study_name}-{table}-{'-'.join(kept) if len(kept) < 3 else ''}-{unit}")
        yield Figure(name, title, caption, command, charts.paired(kept, unit, against))


_WHOSE = {
    charts.OURS: "motecrypt's code (circles)",
    "author's code": "the author's code, run here (squares)",
    "author's code, recorded": "the author's code, as recorded (triangles)",
}


def _whose(columns: Iterable[Sequence[Comparison]]) -> str:
    """Whose code the measured figures are of, each with its mark."""
    there = {charts.whose_code(row) for rows in columns for row in rows}
    return "as measured: " + ", ".join(text for name, text in _WHOSE.items() if name in there)


def _drawable(rows: Sequence[Comparison]) -> bool:
    return len(rows) >= LEAST_ROWS and len({row.row for row in rows}) == len(rows)


def slug(text: str) -> str:
    """A name for a file and a fragment: lower case, digits, hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
