"""`compare` over many versions: the table and the JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from motecrypt.present.compare.history import FigureHistory, FigureStep, History
from motecrypt.present.terminal import BLANK, TextBlock, TextTable, TextWords, more_rows

SHOWN_MAX = 1000
COLUMNS = ("figure of", "figure", "first", "last", "change", "versions that changed it")


def history_view(made: History, every: bool, threshold: float) -> list[TextBlock]:
    """The versions, then the figures that changed, or all."""
    blocks: list[TextBlock] = []
    for version in made.versions:
        of = f"{version.cells:,} cells" if version.cells else "no figures"
        blocks.append(TextWords(f"{version.label}: {', '.join([of, *version.compilers])}"))
    blocks.append(BLANK)
    shown = made.figures if every else made.changed
    if shown:
        rows, more = [_row(figure) for figure in shown[:SHOWN_MAX]], more_rows(len(shown), SHOWN_MAX)
        blocks.append(TextTable("Figures over versions", COLUMNS, rows, more, ("first", "last")))
    same = len(made.figures) - len(made.changed)
    counted = (
        f"{len(made.versions)} versions, {len(made.figures):,} figures: {len(made.changed):,} changed, "
        f"{same:,} did not; {_worse(made, threshold)}"
    )
    return [*blocks, TextWords(counted)]


def _worse(made: History, threshold: float) -> str:
    count = len(made.worse(threshold))
    last = made.versions[-1].label
    return f"{last} made {count:,} worse by more than {threshold:g} %" if count else f"{last} made none worse"


def _row(figure: FigureHistory) -> list[object]:
    known = figure.known
    return [
        figure.name,
        figure.figure,
        f"{known[0]:,.10g}" if known else "",
        f"{known[-1]:,.10g}" if known else "",
        "" if figure.percent is None else f"{figure.percent:+.1f} %",
        "; ".join(step_in_words(step) for step in figure.steps),
    ]


def step_in_words(step: FigureStep) -> str:
    """A change in a few words, the version first."""
    if step.percent is not None:
        return f"{step.version} {step.percent:+.1f} %"
    return f"{step.version} {step.kind}"


def history_document(made: History, threshold: float) -> dict[str, Any]:
    """Every version and figure as JSON; `first_changed` is the label of the first version that changed it."""
    return {
        "versions": [asdict(version) for version in made.versions],
        "figures": list(_told(made)),
        "threshold_percent": threshold,
        "worse": bool(made.worse(threshold)),
    }


def _told(made: History) -> Iterator[dict[str, Any]]:
    for figure in made.figures:
        first = figure.steps[0].version if figure.steps else None
        yield {**asdict(figure), "percent": figure.percent, "first_changed": first}
