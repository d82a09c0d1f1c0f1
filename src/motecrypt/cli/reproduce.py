"""motecrypt reproduce: a published study beside our measurements."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import click

from motecrypt import bench
from motecrypt.catalog import Catalog
from motecrypt.cli._output import (
    console,
    db_option,
    json_option,
    open_results,
    print_json,
    print_section,
    progress,
)
from motecrypt.errors import InputError
from motecrypt.paths import write_atomically
from motecrypt.results import Results
from motecrypt.setup import need
from motecrypt.studies import Needs, names, study


@click.command(epilog="Example: motecrypt reproduce rc4d")
@click.argument("studies", nargs=-1, metavar="[rc4d|pico|rf|wlan]...")
@click.option("--jobs", type=click.IntRange(1, 256), default=None, help="Firmwares run side by side.")
@click.option(
    "--figures",
    type=click.Path(path_type=Path, file_okay=False),
    default=None,
    help="A directory: the figures redrawn as SVG.",
)
@db_option
@json_option
def command(
    studies: Sequence[str], jobs: int | None, figures: Path | None, db: Path | None, as_json: bool
) -> None:
    """Measure what a published study measured and hold the two side by side; all of them by default.

    Work that is done is stored: stopped half-way, the command goes on where it was.
    """
    chosen = [(name, study(name)) for name in (studies or names())]
    rows = []
    with open_results(db) as results:
        for name, module in chosen:
            need(*module.KITS)
            ensure(name, module.needs(), results, jobs)
            if figures is not None and hasattr(module, "charts"):
                _draw(figures, module.charts(results))
            if as_json:
                rows += module.comparisons(results)
            else:
                _print(module, results)
    if as_json:
        print_json(rows)


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


def ensure(name: str, needs: Needs, results: Results, jobs: int | None = None) -> None:
    """Measure and run what a study needs, with progress."""
    with progress(name) as report:
        bench.ensure(needs.cells, results, Catalog.load(), jobs, report)
        total = len(needs.experiments)
        for number, experiment in enumerate(needs.experiments, start=1):
            experiment.ensure(results, lambda what, n=number: report(n - 1, total, what))  # type: ignore[misc]
            report(number, total, type(experiment).__name__)


def _print(module: ModuleType, results: Results) -> None:
    out = console()
    out.print(module.TITLE, style="bold underline", markup=False)
    out.print(module.SOURCE, markup=False)
    out.print()
    for section in module.sections(results):
        print_section(section)
