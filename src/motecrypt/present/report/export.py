"""Figures as files: SVG, PDF and CSV, with their captions and commands in one text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from motecrypt.base.paths import write_atomically
from motecrypt.present.report import vega
from motecrypt.present.report.figure import Figure
from motecrypt.present.report.paper import PaperFormat, fitted, latex, with_metadata
from motecrypt.present.report.patterns import patterned
from motecrypt.present.report.sheets import sheets

if TYPE_CHECKING:
    from motecrypt.base.progress import Progress


def export_figures(
    figures: Sequence[Figure],
    folder: Path,
    progress: Progress | None = None,
    paper: PaperFormat | None = None,
) -> Path:
    """Write NAME.svg, NAME.pdf and NAME.csv for each figure, and captions.md; returns the latter.

    For a paper, figures have its width, text of 8 points and bars with patterns, and NAME.tex is written as
    well; one whose rows a page has no room for is drawn as NAME-1, NAME-2 ...

    Raises
    ------
    InputError
        When Vega is missing or a file cannot be written.
    """
    engine = vega.engine()
    told = ["# Figures", ""]
    for number, figure in enumerate(figures):
        if progress is not None:
            progress(number, len(figures), figure.name)
        parts = [figure] if paper is None else sheets(figure, paper)
        for part in parts:
            _draw(part, folder, paper, engine)
        write_atomically(folder / f"{figure.name}.csv", figure.as_csv().encode())
        several = [f"Over {len(parts)} pages: {', '.join(part.name for part in parts)}.", ""]
        told += [
            f"## {figure.name}",
            "",
            figure.caption,
            "",
            *(several if len(parts) > 1 else ()),
            f"Command to make it again: `{figure.command}`.",
            "",
        ]
    captions = folder / "captions.md"
    write_atomically(captions, "\n".join(told).encode())
    return captions


def _draw(figure: Figure, folder: Path, paper: PaperFormat | None, engine: Any) -> None:
    if paper is None:
        svg = vega.svg(figure)
    else:
        svg = patterned(str(engine.vegalite_to_svg(fitted(figure, paper, engine))))
        write_atomically(folder / f"{figure.name}.tex", latex(figure, paper).encode())
    write_atomically(folder / f"{figure.name}.svg", svg.encode())
    pdf = bytes(engine.svg_to_pdf(svg))
    write_atomically(folder / f"{figure.name}.pdf", with_metadata(pdf, figure))
