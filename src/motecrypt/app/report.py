"""The report: all results as one HTML file, its figures for papers, and as PDF."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from motecrypt.base.errors import InputError
from motecrypt.base.paths import check_replaceable, written_atomically
from motecrypt.base.progress import Watching, stage
from motecrypt.build.setup import need
from motecrypt.catalog import Catalog
from motecrypt.exports.targets import sleepers
from motecrypt.present.report import Content, export_figures, gather, pieces
from motecrypt.present.report.paper import PaperFormat, width_mm
from motecrypt.present.report.printing import PrintedReport, print_pdf
from motecrypt.results import Results, Stored, opened


@dataclass(frozen=True)
class ReportRequest:
    """What to write.

    Attributes
    ----------
    output : the HTML file.
    figures : a folder for every figure as SVG, PDF and CSV, with captions.
    width : of the figures, for a paper, such as "88mm"; None: that of the page.
    titled : whether a figure of a paper has its title above it.
    pdf : a file for the report as PDF.
    compilers : only the stored figures of these (part of a version line).
    """

    output: Path | str = "report.html"
    figures: Path | str | None = None
    width: str | None = None
    titled: bool = True
    pdf: Path | str | None = None
    compilers: Sequence[str] = ()


@dataclass(frozen=True)
class ReportResult:
    """What was written.

    Attributes
    ----------
    bytes : of the HTML file.
    content : all that the report shows.
    captions : the file with those of the figures.
    """

    path: Path
    bytes: int
    content: Content
    captions: Path | None
    pdf: PrintedReport | None


def report(
    request: ReportRequest | None = None, results: Stored = None, progress: Watching = None
) -> ReportResult:
    """Write what is in the results as one HTML file that opens anywhere, offline. Measures nothing.

    Raises
    ------
    InputError
        A tool is missing, or a file cannot be written.
    """
    request = request or ReportRequest()
    output = Path(request.output)
    figures, pdf = (None if path is None else Path(path) for path in (request.figures, request.pdf))
    if (request.width is not None and figures is None) or (request.width is None and not request.titled):
        raise InputError("--width needs --figures DIR, and --no-title needs --width")
    paper = None if request.width is None else PaperFormat(width_mm(request.width), titled=request.titled)
    if pdf is not None:  # before anything is read
        check_replaceable(pdf)
        if pdf.resolve() == output.resolve():
            raise InputError(f"--pdf {pdf}: this is the HTML file; name another")
        need("browser")
    content = write_report(output, results, request.compilers)
    captions = None
    if figures is not None:
        with stage(progress, "figures") as told:
            captions = export_figures(content.all_figures(), figures, told, paper)
    printed = None if pdf is None else print_pdf(output.read_text(encoding="utf-8"), pdf)
    return ReportResult(output, output.stat().st_size, content, captions, printed)


def write_report(output: Path, results: Stored = None, compilers: Sequence[str] = ()) -> Content:
    """Write the HTML file, completely or not at all; returns its content."""
    need("plots")
    with opened(results, compilers, make=False) as stored:
        content = content_of(stored)
    with written_atomically(output) as file:
        file.writelines(piece.encode() for piece in pieces(content))
    return content


def content_of(results: Results) -> Content:
    """What the report shows of these results."""
    catalog = Catalog.load()
    return gather(results, catalog, sleepers(catalog))
