"""motecrypt reproduce: a published study beside our measurements."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

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
from motecrypt.results import Results
from motecrypt.setup import need
from motecrypt.studies import Needs, names, study


@click.command(epilog="Example: motecrypt reproduce rc4d")
@click.argument("studies", nargs=-1, metavar="[rc4d|pico|rf|wlan]...")
@click.option("--jobs", type=click.IntRange(1, 256), default=None, help="Firmwares run side by side.")
@db_option
@json_option
def command(studies: Sequence[str], jobs: int | None, db: Path | None, as_json: bool) -> None:
    """Measure what a published study measured and hold the two side by side; all of them by default.

    Work that is done is stored: stopped half-way, the command goes on where it was.
    """
    chosen = [(name, study(name)) for name in (studies or names())]
    rows = []
    with open_results(db) as results:
        for name, module in chosen:
            need(*module.KITS)
            ensure(name, module.needs(), results, jobs)
            if as_json:
                rows += module.comparisons(results)
            else:
                _print(module, results)
    if as_json:
        print_json(rows)


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
