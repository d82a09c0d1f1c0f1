"""What the gate of `ci` judged, as a table and sentences."""

from __future__ import annotations

from collections.abc import Sequence

from motecrypt.gate.forms import change, title
from motecrypt.gate.judge import Delta, Judgement, number
from motecrypt.present.terminal import TextBlock, TextTable, TextWords, more_rows

COLUMNS = ("benchmark", "measure", "base", "here", "change", "demanded", "cause")
LEAST = ("demanded", "change")
ROWS = 20


def ci_view(judgement: Judgement, name: str, based: bool, facts: Sequence[str]) -> list[TextBlock]:
    """The checks that failed, and what was compared; `based`: there is a base commit."""
    rows = []
    for check in judgement.failed[:ROWS]:
        delta = Delta(check.benchmark, check.measure, check.base, check.value)
        ran = check.rule != "runs"
        rows.append(
            [
                *(check.benchmark, check.measure, number(check.base), number(check.value)),
                *(change(delta) if ran and check.base is not None else "", check.demand),
                "; ".join(check.causes[:3]) or check.reason,
            ]
        )
    more = more_rows(len(judgement.failed), ROWS)
    table = TextTable("Failed", COLUMNS, rows, more, LEAST, COLUMNS[:1])
    said = [f"{title(judgement, name)}."]
    if based:
        said.append(f"{judgement.equal:,} of {judgement.figures:,} figures are equal to the base.")
    return [*([table] if rows else []), *map(TextWords, (*said, *judgement.notes, *facts))]
