"""Published studies next to our measurements: the verdicts counted, and the findings that matter most."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from motecrypt.base.model import Section
from motecrypt.present.terminal import BLANK, TextAnswer, TextBlock, TextTable, TextWords
from motecrypt.studies.counts import VERDICTS, by_kind, facts, sentences, tally
from motecrypt.studies.facts import Comparison


def studies_view(compared: Mapping[str, Sequence[Comparison]]) -> list[TextBlock]:
    """The verdicts of all studies, counted."""
    rows = {name: facts(own) for name, own in compared.items()}
    verdicts = [v for v in VERDICTS if any(row.verdict == v for own in rows.values() for row in own)]
    counted = [
        [name, len(own), *(sum(row.verdict == verdict for row in own) for verdict in verdicts)]
        for name, own in rows.items()
    ]
    return [TextTable("All studies", ("study", "facts", *verdicts), counted)]


def highlights_view(compared: Mapping[str, Sequence[Comparison]]) -> list[TextBlock]:
    """The findings that matter most of these studies."""
    from motecrypt.studies.highlights import highlights

    told = highlights(compared)
    if not told:
        return []
    blocks: list[TextBlock] = [TextWords("The most important findings", "bold")]
    for number, highlight in enumerate(told, start=1):
        study_name = f"[{highlight.study}] " if len(compared) > 1 else ""
        blocks.append(TextWords(f"{number}. {study_name}{highlight.text}."))
    return [*blocks, BLANK]


def study_view(
    title: str, source: str, sections: Iterable[Section], rows: Sequence[Comparison]
) -> list[TextBlock]:
    """A study: its tables, then the verdicts of each kind of row, counted, and of how many."""
    blocks: list[TextBlock] = [TextWords(title, "bold underline"), TextWords(source), BLANK]
    blocks += [TextTable(s.title, s.columns, s.rows, s.text) for s in sections]
    if not rows:
        return blocks
    kinds = by_kind(rows)
    verdicts = [verdict for verdict in VERDICTS if any(verdict in own for own in kinds.values())]
    counted = [
        [kind, sum(own.values()), *(own.get(verdict, 0) for verdict in verdicts)]
        for kind, own in kinds.items()
    ]
    blocks.append(TextTable("Outcomes", ("kind", "rows", *verdicts), counted))
    blocks.append(TextAnswer("", [("In all", tally(rows))]))
    return [*blocks, *map(TextWords, sentences(rows)), BLANK]
