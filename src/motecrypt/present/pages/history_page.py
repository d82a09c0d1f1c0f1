"""The page of a history: each figure that changed, over versions, with the versions that changed it."""

from __future__ import annotations

from typing import Any

from motecrypt.present.compare.history import FigureHistory, FigureStep, History
from motecrypt.present.pages.charts import Axis, Series, Tick, axis, line_chart
from motecrypt.present.pages.shell import count, render

CHARTS, OPEN_CHARTS = 100, 6
"""Figures that have a chart, and of these, those whose chart is open at first."""
ROWS = 2000
LABELS = 6
"""Versions that are named at an axis."""
NAMED_MAX = 14
"""Characters of a version's name at an axis."""


def history_page(made: History, threshold: float, command: str) -> str:
    """The page as HTML.

    Parameters
    ----------
    threshold
        Growth in per cent from which the last version counts as worse.
    command
        What the user typed.
    """
    changed = made.changed
    worse = {(figure.name, figure.figure) for figure in made.worse(threshold)}
    return render(
        "history.html",
        ("pages.js", "history.js"),
        {},
        title=f"History of {len(made.figures):,} figures over {len(made.versions):,} versions",
        command=command,
        versions=[_version(made, number) for number in range(len(made.versions))],
        changed=len(changed),
        same=len(made.figures) - len(changed),
        worse=len(worse),
        threshold=f"{threshold:g}",
        last=made.versions[-1].label,
        rows=[_row(figure, (figure.name, figure.figure) in worse) for figure in changed[:ROWS]],
        rows_left_out=max(0, len(changed) - ROWS),
        charts=[_chart(made, figure) for figure in changed[:CHARTS]],
        charts_left_out=max(0, len(changed) - CHARTS),
        open_charts=OPEN_CHARTS,
    )


def _version(made: History, number: int) -> dict[str, Any]:
    """A version with how many figures it changed, and how."""
    version = made.versions[number]
    steps = [step for figure in made.figures for step in figure.steps if step.version == version.label]
    kinds = [step.kind for step in steps]
    return {
        "version": version,
        "worse": kinds.count("worse"),
        "better": kinds.count("better"),
        "broke": kinds.count("broke"),
        "fixed": kinds.count("fixed"),
    }


def _said(step: FigureStep) -> str:
    if step.before is None or step.after is None:
        return f"{step.version}: {step.kind}"
    grew = "" if step.percent is None else f" ({step.percent:+.1f} %)"
    return f"{step.version}: {count(step.before)} to {count(step.after)}{grew}"


def _row(figure: FigureHistory, worse: bool) -> dict[str, Any]:
    known = figure.known
    return {
        "name": figure.name,
        "figure": f"{figure.figure}, {figure.unit}" if figure.unit != figure.figure else figure.figure,
        "first": known[0] if known else None,
        "last": known[-1] if known else None,
        "percent": figure.percent,
        "changed_in": figure.steps[0].version,
        "steps": "; ".join(map(_said, figure.steps)),
        "worse": worse,
    }


def _chart(made: History, figure: FigureHistory) -> dict[str, Any]:
    """The values over versions at equal distances; a gap where a version has none."""
    labels = [version.label for version in made.versions]
    last = max(1, len(labels) - 1)
    shown = sorted({round(n * last / (LABELS - 1)) for n in range(LABELS)} & set(range(len(labels))))
    x = Axis("version", 0, last, tuple(Tick(at / last, _short(labels[at])) for at in shown))
    known = figure.known
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    room = (high - low) or high or 1.0
    y = axis(figure.unit or figure.figure, max(0.0, low - room / 2), high)
    points = [None if value is None else (float(at), value) for at, value in enumerate(figure.values)]
    label = f"{figure.figure} of {figure.name} over versions. {'; '.join(map(_said, figure.steps))}."
    return {
        "title": f"{figure.name}: {figure.figure}",
        "said": "; ".join(map(_said, figure.steps)),
        "chart": line_chart(label, x, y, [Series(figure.figure, points, marks=True)]),
        "zero": y.low > 0,
        "rows": [
            {"version": name, "value": value, "failed": name in figure.failed}
            for name, value in zip(labels, figure.values, strict=True)
        ],
    }


def _short(label: str) -> str:
    return label if len(label) <= NAMED_MAX else f"{label[: NAMED_MAX - 1]}…"
