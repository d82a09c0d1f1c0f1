"""motecrypt reproduce: a published study beside our measurements."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import click

from motecrypt.catalog import Catalog
from motecrypt.cli import _several
from motecrypt.cli._ensure import ensure, whole
from motecrypt.cli._output import (
    console,
    db_option,
    json_option,
    open_results,
    print_json,
    print_section,
    print_table,
    progress,
)
from motecrypt.errors import InputError
from motecrypt.model import Comparison
from motecrypt.paths import default_results, write_atomically
from motecrypt.results import Results
from motecrypt.setup import need
from motecrypt.studies import Needs, folders, names, needs, study


@click.command(epilog="Example: motecrypt reproduce rc4d")
@click.argument("studies", nargs=-1, metavar=f"[{'|'.join(folders())}|FOLDER]...")
@click.option("--jobs", type=click.IntRange(1, 256), default=None, help="Firmwares run side by side.")
@click.option(
    "--figures",
    type=click.Path(path_type=Path, file_okay=False),
    default=None,
    help="A directory: the figures redrawn as SVG.",
)
@click.option("--full", is_flag=True, help="Also run what takes minutes, instead of showing it as recorded.")
@click.option("--stored", is_flag=True, help="Measure nothing: show what is stored.")
@click.option(
    "--compiler",
    "compilers",
    multiple=True,
    help="Show the stored figures of this compiler (part of its version line, such as 5.4.0) instead of the "
    "newest. Measures nothing.",
)
@db_option
@json_option
def command(
    studies: Sequence[str],
    jobs: int | None,
    figures: Path | None,
    full: bool,
    stored: bool,
    compilers: Sequence[str],
    db: Path | None,
    as_json: bool,
) -> None:
    """Measure what a published study measured and hold the two side by side; all of them by default.

    All of them end with the findings that matter most and the report, beside the results file. Work that
    is done is stored: stopped half-way, the command goes on where it was. Where a compiler or another tool is
    missing, what is stored is shown, and a line on standard error says so. What takes minutes is shown as
    recorded, with its date, until --full runs it. FOLDER is a study of your own, such as ./mystudy.
    """
    chosen = [(name, study(name)) for name in (studies or names())]
    if figures is not None and not any(hasattr(module, "charts") for _, module in chosen):
        drawn = ", ".join(name for name in names() if hasattr(study(name), "charts"))
        raise InputError(
            f"--figures: none to redraw in {', '.join(n for n, _ in chosen)}; there are in: {drawn}"
        )
    compared: dict[str, list[Comparison]] = {}
    measures = not stored and not compilers
    with open_results(db, compilers, make=measures) as results:
        wanted = [needs(name) for name, _ in chosen] if measures else []
        if len(wanted) > 1:
            with _told_what_is_kept():
                _together([whole(each, full) for each in wanted], results, jobs, not studies)
        for number, (name, module) in enumerate(chosen, start=1):
            where = f" (study {number} of {len(chosen)})" if len(chosen) > 1 else ""
            for each in wanted[number - 1 : number]:
                with _told_what_is_kept(), progress(name + where) as report:
                    ensure(name, each, results, each.catalog or Catalog.load(), jobs, report, full)
            if figures is not None and hasattr(module, "charts"):
                _draw(figures, module.charts(results))
            compared[name] = module.comparisons(results)
            if not as_json:
                _print(module, results)
    if as_json:
        print_json([row for rows in compared.values() for row in rows])
    elif not studies:
        from motecrypt.cli.report import write_report

        _print_findings(compared)
        written = (db or default_results()).resolve().parent / "report.html"
        write_report(written, db, compilers)
        print(f"\nThe report, for a browser: {written}")


@contextmanager
def _told_what_is_kept() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        print("motecrypt: what is done is stored; the same command goes on from there", file=sys.stderr)
        raise


def _together(every: Sequence[Needs], results: Results, jobs: int | None, reported: bool) -> None:
    _several.install(every, ("plots",) if reported else ())
    if jobs != 1:
        with progress("measuring") as report:
            _several.work(every, results, jobs, report)


def _print_findings(compared: Mapping[str, Sequence[Comparison]]) -> None:
    """What all studies came to: the verdicts counted, and the five findings that matter most."""
    from motecrypt.studies.highlights import findings, tally

    print_table(
        "All studies",
        ("study", "rows", "came out"),
        [(name, len(rows), tally(rows)) for name, rows in compared.items()],
    )
    out = console()
    out.print("The most important findings", style="bold")
    for number, highlight in enumerate(findings(compared), start=1):
        out.print(f"{number}. [{highlight.study}] {highlight.text}.", markup=False)


def _draw(folder: Path, charts: Mapping[str, Mapping[str, Any]]) -> None:
    """Each Vega-Lite specification as an SVG file."""
    need("plots")
    try:
        import vl_convert
    except ImportError:
        raise InputError(
            "--figures needs the Python package vl-convert-python: pip install 'motecrypt[plots]'"
        ) from None
    for name, specification in charts.items():
        drawn: str = vl_convert.vegalite_to_svg(dict(specification))
        write_atomically(folder / f"{name}.svg", drawn.encode())
        print(f"motecrypt: {folder / name}.svg", file=sys.stderr)


def _print(module: ModuleType, results: Results) -> None:
    out = console()
    out.print(module.TITLE, style="bold underline", markup=False)
    out.print(module.SOURCE, markup=False)
    out.print()
    for section in module.sections(results):
        print_section(section)
