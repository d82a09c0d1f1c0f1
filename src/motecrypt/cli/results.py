"""motecrypt results: what has been measured so far."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, fields
from functools import cache
from itertools import chain, islice
from pathlib import Path

import click

from motecrypt.base.errors import InputError
from motecrypt.base.model import Measurement
from motecrypt.base.paths import written_atomically
from motecrypt.catalog import Catalog
from motecrypt.cli._output import (
    compiler_option,
    db_option,
    json_option,
    open_results,
    print_json,
    print_note,
    print_table,
    show,
    wide_option,
)
from motecrypt.cli._request import FILE, FOLDER, PATH
from motecrypt.present.terminal.measurements import measurements_view

TABLE_ROWS = 1000
"""The most rows of a query that are printed as a table."""


@click.group(invoke_without_command=True, epilog="Example: motecrypt results --cipher rc4d --format csv")
@click.option("--device", "devices", multiple=True, help="Only these devices.")
@click.option("--cipher", "ciphers", multiple=True, help="Only these ciphers or families.")
@click.option("--public-key", "public_keys", multiple=True, help="Only these public-key algorithms.")
@click.option("--library", "libraries", multiple=True, help="Only these libraries.")
@click.option("--status", help="Only this status, such as ok or does-not-fit.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "csv", "json", "parquet"]),
    default="table",
    show_default=True,
    help="Parquet is for a file (-o).",
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option("-o", "--output", type=FILE, help="Write CSV, JSON or Parquet to this file.")
@click.option("--columns", "meanings", is_flag=True, help="Print what each column means, and no figures.")
@click.option(
    "--all",
    "every",
    is_flag=True,
    help="Also older figures of cells that were measured again, with other code or another compiler.",
)
@compiler_option
@wide_option
@db_option
@click.pass_context
def command(
    context: click.Context,
    devices: Sequence[str],
    ciphers: Sequence[str],
    public_keys: Sequence[str],
    libraries: Sequence[str],
    status: str | None,
    form: str,
    as_json: bool,
    output: Path | None,
    meanings: bool,
    every: bool,
    compilers: Sequence[str],
    db: Path | None,
) -> None:
    """Show stored measurements, the newest of each cell. Does not measure."""
    if context.invoked_subcommand is not None:
        return
    if as_json and form not in ("table", "json"):
        raise InputError(f"--json and --format {form}: give one of them")
    form = "json" if as_json else form
    if meanings:
        if form == "parquet" or output is not None:
            raise InputError("--columns prints a table, CSV or JSON; omit -o and --format parquet")
        _print_meanings(form)
        return
    if form == "parquet" and output is None:
        raise InputError("--format parquet writes a file: name it with -o, such as -o results.parquet")
    if form == "table" and output is not None:
        raise InputError("-o writes CSV, JSON or Parquet: add --format, such as --format csv")
    from motecrypt.app.results import StoredRequest, stored_in

    catalog = Catalog.load()
    request = StoredRequest(devices, ciphers, public_keys, libraries, status, every)
    with open_results(db, compilers, make=False) as results:
        found = stored_in(results, request, catalog)
        first = next(found, None)
        if first is None:
            print_note(f"no such measurement in {results.path} yet; 'motecrypt measure'")
        found = found if first is None else chain((first,), found)
        if form == "table":
            newest_first = sorted(found, key=lambda m: m.measured_at, reverse=True)
            show(*measurements_view(newest_first, catalog))
        elif output is None:
            for part in _text(form, found):
                sys.stdout.write(part)
        else:
            _write(output, form, found)


@command.command(epilog="Example: motecrypt results merge shard1.db shard2.db shard3.db --db all.db")
@click.argument("sources", metavar="FILE...", nargs=-1, required=True, type=PATH)
@db_option
@json_option
def merge(sources: Sequence[Path], db: Path | None, as_json: bool) -> None:
    """Join results files, such as those of a sweep's shards, into one.

    A cell is the same wherever it was measured with the same sources, compiler and simulator. Joining a
    file twice changes nothing. Where a simulated figure differs in two files, the one that is there stays,
    both are printed, and the exit code is 1. Of figures that vary, such as this computer's, the newest stays.
    """
    from motecrypt.app.results import merged_one_by_one

    conflicts, told = 0, []
    with open_results(db) as results:
        for source, merged in merged_one_by_one(sources, results):
            conflicts += len(merged.conflicts)
            told.append({"file": source, **asdict(merged), "conflicts": list(map(str, merged.conflicts))})
            if not as_json:
                counts = f"{merged.new:,} new, {merged.same:,} the same, {merged.newer:,} newer"
                counts += f"; {merged.experiments:,} experiments; {len(merged.conflicts):,} conflicts"
                print(f"{source}: {counts}")
                for conflict in merged.conflicts:
                    print(f"  {conflict}")
    if as_json:
        print_json(told)
    click.get_current_context().exit(int(conflicts > 0))


@command.command(
    epilog="Example: motecrypt results publish figures --name me@example.org --key ~/.ssh/id_ed25519"
)
@click.argument("folder", metavar="DIR", type=FOLDER)
@click.option("--name", "publisher", required=True, help="Your name for readers, such as an e-mail address.")
@click.option("--key", type=PATH, help="The SSH key that signs; without one: unsigned.")
@click.option("--device", "devices", multiple=True, help="Only these devices, such as uno-board.")
@db_option
def publish(folder: Path, publisher: str, key: Path | None, devices: Sequence[str], db: Path | None) -> None:
    """Write the measurements as a set of files that others can verify and join.

    Put it into a repository or on a web server. Publishing again into the same folder replaces it.
    """
    from motecrypt.app.results import publish_results

    count = publish_results(folder, publisher, key, devices, db)
    print(f"{folder}: {count:,} measurements, {'signed' if key else 'not signed'}, as {publisher}")


@command.command(epilog="Example: motecrypt results fetch figures --signers allowed_signers")
@click.argument("folder", metavar="DIR", type=FOLDER)
@click.option(
    "--signers",
    type=PATH,
    help="Whose signatures count: lines of NAME and public key (ssh-keygen's allowed signers).",
)
@click.option("--unsigned", is_flag=True, help="Take the set without looking at a signature.")
@db_option
def fetch(folder: Path, signers: Path | None, unsigned: bool, db: Path | None) -> None:
    """Verify a published set and join it into the results.

    Signature and hashes are checked before anything is stored. What is stored here stays. Simulated figures
    that disagree with it are printed, and the exit code is 1.
    """
    from motecrypt.app.results import fetch_results

    if (signers is None) != unsigned:
        raise InputError("say whose signatures count: --signers FILE, or --unsigned")
    publisher, merged = fetch_results(folder, signers, db)
    counts = f"{merged.new:,} new, {merged.same:,} there already"
    by = f"by {publisher}{', not verified' if unsigned else ''}"
    print(f"{folder}: {by}: {counts}; {len(merged.conflicts):,} conflicts")
    for conflict in merged.conflicts:
        print(f"  {conflict}")
    click.get_current_context().exit(int(bool(merged.conflicts)))


@command.command(
    epilog="Example: motecrypt results query 'SELECT device, min(cycles_median) FROM results GROUP BY device'"
)
@click.argument("sql")
@click.option(
    "--parquet",
    "files",
    multiple=True,
    type=PATH,
    help="Ask this file of 'results --format parquet' instead; repeat it for several.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "csv", "json"]),
    default="table",
    show_default=True,
    help="JSON: an object on each line.",
)
@db_option
def query(sql: str, files: Sequence[Path], form: str, db: Path | None) -> None:
    """Ask the measurements with SQL: the table `results`, whose columns 'results --columns' explains.

    It has the newest measurement of each cell; the table `every` has older ones, too. Where the results have
    changed, a copy for queries is made first. Rows of CSV and JSON are written one by one.
    """
    from motecrypt.app.results import query_results

    answer = query_results(sql, files, db)
    _print_answer(answer.columns, answer.rows, form)


def _print_answer(names: Sequence[str], rows: Iterator[tuple[object, ...]], form: str) -> None:
    from motecrypt.results.forms import answer_as_csv, answer_as_json

    if form != "table":
        for part in answer_as_csv(names, rows) if form == "csv" else answer_as_json(names, rows):
            sys.stdout.write(part)
        return
    print_table("Answer", names, list(islice(rows, TABLE_ROWS)))
    if next(rows, None) is not None:
        print_note(f"only the first {TABLE_ROWS:,} rows; --format csv has all")


def _text(form: str, measurements: Iterable[Measurement]) -> Iterator[str]:
    from motecrypt.adviser.hardware.bounds import bound_fields
    from motecrypt.results.forms import as_csv, as_json

    return as_csv(measurements) if form == "csv" else as_json(measurements, cache(bound_fields))


def _write(output: Path, form: str, measurements: Iterable[Measurement]) -> None:
    """All measurements in one file, or no file."""
    from motecrypt.results.forms import write_parquet

    with written_atomically(output) as file:
        if form == "parquet":
            write_parquet(measurements, file)
        else:
            for part in _text(form, measurements):
                file.write(part.encode())
    print_note(str(output))


def _print_meanings(form: str) -> None:
    from motecrypt.results.columns import Column, columns
    from motecrypt.results.forms import answer_as_csv

    if form == "json":
        print_json(columns())
        return
    names = [field.name for field in fields(Column)]
    told = [{**asdict(column), "empty": "yes" if column.empty else ""} for column in columns()]
    rows = [tuple(each[name] for name in names) for each in told]
    if form == "csv":
        print("".join(answer_as_csv(names, rows)), end="")
        return
    print_table("Columns of a measurement", names, rows, "empty: there may be no value", ("unit", "empty"))
