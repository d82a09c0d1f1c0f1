"""How many facts of a source have which verdict, with the numbers that each count is of. Pure."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import get_args

from motecrypt.base.text import spreadsheet_row
from motecrypt.studies.facts import Comparison, FactKind, LikeForLike, Verdict

Rows = Sequence[Comparison]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
KINDS: tuple[FactKind, ...] = get_args(FactKind)
#: Verdicts of a comparison that took place.
COMPARED: tuple[Verdict, ...] = ("matches", "differs")
#: Verdicts that say something against the source.
AGAINST: tuple[Verdict, ...] = ("differs", "paper is inconsistent")

#: Of rows whose code did not run here: they have a count of their own.
RECORDED: LikeForLike = "author's code, recorded"
_WITH: Mapping[LikeForLike, str] = {
    "author's code": "the author's code",
    RECORDED: "the author's code as recorded",
    "same algorithm, ours": "our code of the same algorithm",
    "other": "something else of ours (a model, a standard)",
    "the paper itself": "only the paper itself",
}
_OPEN: Mapping[Verdict, str] = {
    "paper is inconsistent": "contradicted by the paper itself, a standard or physics",
    "needs hardware": "left for hardware",
    "bring the code": "left for code that is not here",
    "not measured": "not measured",
}


#: Columns of the CSV of rows, in this order: the fields of a row, the tolerance as three of them.
COLUMNS = (
    *("id", "kind", "derived_from", "source", "table", "row", "column", "unit", "published", "measured"),
    *("ratio", "verdict", "better", "tolerance_share", "tolerance_absolute", "tolerance_origin"),
    *("like_for_like", "cause", "cause_known", "command", "missing", "note"),
)


def as_csv(rows: Rows) -> str:
    """Rows as CSV with a heading; an empty cell is nothing, several ids are separated by spaces, and text
    that a spreadsheet would take for a formula ("-27 %, -20 %") begins with an apostrophe."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        room = row.tolerance
        own = vars(row) | {
            "derived_from": " ".join(row.derived_from),
            "better": "" if row.better is None else "yes" if row.better else "no",
            "tolerance_share": None if room is None else room.share,
            "tolerance_absolute": None if room is None else room.absolute,
            "tolerance_origin": "" if room is None else room.origin,
        }
        writer.writerow(spreadsheet_row({column: own[column] for column in COLUMNS}).values())
    return text.getvalue()


def tolerance_text(row: Comparison) -> str:
    """The tolerance of a row for people, with its origin; "" where words were compared."""
    room = row.tolerance
    if room is None:
        return ""
    parts = [f"{100 * room.share:g} %"] if room.share else []
    parts += [f"{room.absolute:g} {row.unit}".strip()] if room.absolute else []
    return f"± {' and '.join(parts)} ({room.origin})" if parts else room.origin


def facts(rows: Rows) -> list[Comparison]:
    """The rows that count: one for each printed figure or claim."""
    return [row for row in rows if row.kind in ("figure", "claim") and row.verdict != "not printed"]


def by_kind(rows: Rows) -> dict[FactKind, dict[Verdict, int]]:
    """How many rows of each kind have which verdict; kinds and verdicts without rows are left out."""
    counted = Counter((row.kind, row.verdict) for row in rows)
    return {
        kind: {verdict: counted[kind, verdict] for verdict in VERDICTS if counted[kind, verdict]}
        for kind in KINDS
        if any(row.kind == kind for row in rows)
    }


def tally(rows: Rows) -> str:
    """How many facts have which verdict; derived rows, inputs and our additions are not among them."""
    counts = Counter(row.verdict for row in facts(rows))
    return ", ".join(f"{v} {counts[v]}" for v in VERDICTS if counts[v])


def sentences(rows: Rows) -> list[str]:
    """What the counts are of: figures by what they were compared with, claims, and what is not counted."""
    counted = facts(rows)
    figures = [row for row in counted if row.kind == "figure"]
    claims = [row for row in counted if row.kind == "claim"]
    told = [f"Of {_of(figures, 'printed figure')} {_compared(figures)}{_left(figures)}."] if figures else []
    if claims:
        judged = [row for row in claims if row.verdict in COMPARED]
        held = sum(row.verdict == "matches" for row in judged)
        told.append(
            f"Of {_of(claims, 'claim')} {_none(len(judged))} could be compared{_recorded(judged)}; {held} "
            f"{_verb(held, 'holds', 'hold')}{_left(claims)}."
        )
    derived = sum(row.kind == "derived" for row in rows)
    taken = sum(row.kind == "input" for row in rows)
    added = sum(row.kind != "derived" and row.verdict == "not printed" for row in rows)
    rest = [f"{derived} derived from these"] if derived else []
    rest += [f"{taken} used as inputs"] if taken else []
    rest += [f"{added} of ours for which nothing is printed"] if added else []
    listed = " and ".join([", ".join(rest[:-1]), *rest[-1:]] if len(rest) > 1 else rest)
    return [*told, f"Not counted: {listed}."] if rest else told


def _recorded(rows: Rows) -> str:
    """How many of these rest on code that did not run here."""
    count = sum(row.like_for_like == RECORDED for row in rows)
    return f", {count} of them with {_WITH[RECORDED]}" if count else ""


def _of(rows: Rows, name: str) -> str:
    return f"{len(rows)} {name}{'' if len(rows) == 1 else 's'}"


def _none(count: int) -> str:
    return str(count) if count else "none"


def _verb(count: int, one: str, many: str) -> str:
    return one if count == 1 else many


def _compared(rows: Rows) -> str:
    """The author's code first, even where there is none of it: this is what a reviewer asks for."""
    parts: list[str] = []
    for basis, name in _WITH.items():
        own = [row for row in rows if row.like_for_like == basis and row.verdict in COMPARED]
        if not own and basis != "author's code":
            continue
        text = f"{_none(len(own))} {'with' if parts else 'could be compared with'} {name}"
        if own:
            matching = sum(row.verdict == "matches" for row in own)
            text += f" ({matching} {_verb(matching, 'matches', 'match')}{_within(own)}"
            better = sum(bool(row.better) for row in own)
            text += f"; where not, ours is better in {better})" if better else ")"
        parts.append(text)
    return ", ".join(parts)


def _within(rows: Rows) -> str:
    shares = sorted(
        {row.tolerance.share for row in rows if row.tolerance is not None and row.tolerance.share}
    )
    if not shares:
        return ""
    least = f"{100 * shares[0]:g} to " if shares[0] != shares[-1] else ""
    return f" within {least}{100 * shares[-1]:g} %"


def _left(rows: Rows) -> str:
    counts = Counter(row.verdict for row in rows)
    parts = [f"{counts[verdict]} {text}" for verdict, text in _OPEN.items() if counts[verdict]]
    return f"; {', '.join(parts)}" if parts else ""
