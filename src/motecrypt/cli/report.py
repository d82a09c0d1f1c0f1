"""motecrypt report: all results as one HTML file, and its figures for papers."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

import click

from motecrypt.catalog import Catalog
from motecrypt.cli._output import (
    compiler_option,
    db_option,
    json_option,
    open_results,
    print_json,
    print_next,
    progress,
    typed_with,
)
from motecrypt.paths import write_atomically
from motecrypt.report import Content, export_figures, gather, render
from motecrypt.setup import need

DEFAULT = Path("report.html")


@click.command(epilog="Example: motecrypt report -o report.html --figures figures")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    default=DEFAULT,
    show_default=True,
    help="The HTML file.",
)
@click.option(
    "--figures",
    type=click.Path(path_type=Path, file_okay=False),
    default=None,
    help="A directory for every figure as SVG, PDF and CSV, with captions.",
)
@compiler_option
@db_option
@json_option
def command(
    output: Path, figures: Path | None, compilers: Sequence[str], db: Path | None, as_json: bool
) -> None:
    """Write what is in the results as one HTML file that opens anywhere, offline. Does not measure."""
    content = write_report(output, db, compilers)
    size = output.stat().st_size
    count = len(content.all_figures())
    written: dict[str, object] = {"report": str(output), "bytes": size, "figures": count}
    if figures is not None:
        with progress("figures") as told:
            captions = export_figures(content.all_figures(), figures, told)
        written |= {"captions": str(captions)}
    if as_json:
        print_json(written)
        return
    print(f"{output}: {size / 1e6:.1f} MB, {count} figures")
    if figures is not None:
        print(f"{figures}: {count} figures as SVG, PDF and CSV; captions in {captions.name}")
    of = () if db is None else ("--db", str(db))
    if content.empty:
        print("The results are empty: the report lists the commands that fill them.")
        print_next(shlex.join(["motecrypt", "reproduce", "rc4d", *of]))
    elif figures is None:
        print_next(typed_with("--figures", "figures"))
    else:
        print_next(shlex.join(["motecrypt", "results", "--format", "csv", *of]))


def write_report(output: Path, db: Path | None, compilers: Sequence[str] = ()) -> Content:
    """Make the report from the results and write it, completely or not at all; returns its content."""
    need("plots")
    with open_results(db, compilers, make=False) as results:
        from motecrypt.export.targets import sleepers

        catalog = Catalog.load()
        content = gather(results, catalog, sleepers(catalog))
    write_atomically(output, render(content).encode())
    return content
