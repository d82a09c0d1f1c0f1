"""Figures as files: SVG, PDF and CSV, with their captions and commands in one text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from motecrypt.paths import write_atomically
from motecrypt.report import vega
from motecrypt.report.figure import Figure


def export_figures(
    figures: Sequence[Figure], folder: Path, progress: Callable[[int, int, str], None] | None = None
) -> Path:
    """Write NAME.svg, NAME.pdf and NAME.csv for each figure, and captions.md; returns the latter.

    Raises
    ------
    InputError
        When Vega is missing or a file cannot be written.
    """
    vega.engine()
    told = ["# Figures", ""]
    for number, figure in enumerate(figures):
        if progress is not None:
            progress(number, len(figures), figure.name)
        write_atomically(folder / f"{figure.name}.svg", vega.svg(figure).encode())
        write_atomically(folder / f"{figure.name}.pdf", vega.pdf(figure))
        write_atomically(folder / f"{figure.name}.csv", figure.as_csv().encode())
        told += [
            f"## {figure.name}",
            "",
            figure.caption,
            "",
            f"Command to make it again: `{figure.command}`.",
            "",
        ]
    captions = folder / "captions.md"
    write_atomically(captions, "\n".join(told).encode())
    return captions
