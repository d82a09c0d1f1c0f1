"""motecrypt reproduce: a published study next to our measurements."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from motecrypt.app.reproduce import ReproduceRequest, draw, measure_for_report, plan, run_brought, studied
from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.base.paths import check_replaceable, default_results, write_atomically
from motecrypt.cli._output import (
    db_option,
    open_results,
    print_json,
    print_next,
    print_note,
    show,
    stages,
    table_options,
    typed_with,
)
from motecrypt.cli._request import FILE, FOLDER, jobs_option
from motecrypt.present.terminal import TextAnswer, TextTable
from motecrypt.present.terminal.reproduced import highlights_view, studies_view, study_view
from motecrypt.studies import folders, names, study
from motecrypt.studies.counts import as_csv
from motecrypt.studies.facts import Comparison


# Long: one branch for each of the command's forms.
@click.command(epilog="Example: motecrypt reproduce rc4d")
@click.argument("studies", nargs=-1, metavar=f"[{'|'.join(folders())}|FOLDER]...")
@jobs_option
@click.option("--figures", type=FOLDER, help="A directory for the figures, redrawn as SVG.")
@click.option(
    "--rows",
    "every",
    is_flag=True,
    help="Print every table, row by row; with --json, also those that compare nothing with the paper.",
)
@click.option("--csv", "csv_file", type=FILE, help="A file for every row as CSV.")
@click.option(
    "--bundle",
    type=FILE,
    help="A file for a review: results, inputs, versions, hashes of the firmware, and the report.",
)
@click.option(
    "--verify",
    "bundle_to_verify",
    type=FILE,
    help="Check such a file instead: its hashes, and every table made again from its results.",
)
@click.option("--remeasure", is_flag=True, help="With --verify, also measure its cells again and compare.")
@click.option(
    "--full",
    is_flag=True,
    help="Also run experiments that take minutes, instead of showing recorded results.",
)
@click.option("--stored", is_flag=True, help="Do not measure: show stored results.")
@click.option(
    "--sketch",
    "sketch_files",
    multiple=True,
    metavar="ROW=FILE",
    help="Run a sketch of the paper's author (.ino, or its .elf) for a row of the table; 'reproduce rc4d "
    "--rows' names the rows. May be repeated.",
)
@click.option(
    "--library",
    "library_folders",
    type=FOLDER,
    multiple=True,
    help="A folder with programs for rows of 'reproduce hardware' (hardware.toml, docs/hardware.md): build "
    "and run them. May be repeated.",
)
@click.option(
    "--compiler",
    "compilers",
    multiple=True,
    help="Show the stored figures of this compiler (part of its version line, such as 5.4.0) instead of the "
    "newest. Does not measure.",
)
@db_option
@table_options
def command(
    studies: Sequence[str],
    jobs: int | None,
    figures: Path | None,
    every: bool,
    csv_file: Path | None,
    bundle: Path | None,
    bundle_to_verify: Path | None,
    remeasure: bool,
    full: bool,
    stored: bool,
    sketch_files: Sequence[str],
    library_folders: Sequence[Path],
    compilers: Sequence[str],
    db: Path | None,
    as_json: bool,
) -> None:
    """Measure what a published study measured and compare the two; all studies by default.

    Prints how many printed figures and claims have which verdict, what these counts are of, and the most
    important findings; --rows prints every table. All studies together end with the report, next to the
    results file, and also measure the recommended ciphers on the UNO and the Pico for its adviser. Work
    that is done is stored: stopped half-way, the command continues where it was. Where a compiler or
    another tool is missing, what is stored is shown, and a line on standard error reports it. What takes
    minutes is shown as recorded, with its date, until --full runs it. FOLDER is a study of your own, such
    as ./mystudy.
    """
    if bundle_to_verify is not None:
        _verify(bundle_to_verify, remeasure, jobs, as_json)
        return
    if remeasure:
        raise InputError("--remeasure belongs to --verify FILE")
    for target in (bundle, csv_file):
        if target is not None:  # before anything is measured
            check_replaceable(target)
    sketches = [pair.partition("=")[::2] for pair in sketch_files]
    made = plan(
        ReproduceRequest(studies, stored, compilers, full, sketches, library_folders, report=not studies)
    )
    chosen = list(made.views)
    if bundle is not None:
        _can_be_packed(chosen, compilers)
    if figures is not None and not any(hasattr(view, "charts") for view in made.views.values()):
        drawn = ", ".join(name for name in names() if hasattr(study(name), "charts"))
        raise InputError(f"--figures: none to redraw in {', '.join(chosen)}; there are in: {drawn}")
    compared: dict[str, Sequence[Comparison]] = {}
    own: dict[str, Mapping[str, Sequence[Mapping[str, Any]]]] = {}
    with open_results(db, compilers, make=made.measures) as results, _told_what_is_kept(made.measures):
        failed = _told_failures(run_brought(made, results), len(made.brought))
        for each in studied(made, results, jobs, stages):
            view = each.view
            print_note(each.note)
            if figures is not None and hasattr(view, "charts"):
                for file in draw(view.charts(results), figures):
                    print_note(str(file))
            compared[each.name] = each.comparisons
            own[each.name] = view.tables(results) if as_json and every and hasattr(view, "tables") else {}
            if not as_json:
                whole = every or not each.comparisons
                tables = view.sections if whole else getattr(view, "overview", lambda _: ())
                show(*study_view(view.TITLE, view.SOURCE, tables(results), each.comparisons))
                if len(chosen) == 1:
                    show(*highlights_view(compared))
        print_note(measure_for_report(made, results, jobs, stages))
        if bundle is not None:
            from motecrypt.app.bundle import write_bundle

            count, sha256 = write_bundle(bundle, results, chosen)
            print_note(f"{bundle}: {count} files, SHA-256 {sha256}")
    if csv_file is not None:
        write_atomically(csv_file, as_csv([row for rows in compared.values() for row in rows]).encode())
        print_note(str(csv_file))
    if as_json:
        print_json(
            {name: {"comparisons": compared[name], "tables": own[name]} for name in compared}
            if every
            else [row for rows in compared.values() for row in rows]
        )
        _end(failed)
        return
    if len(compared) > 1:
        show(*studies_view(compared), *highlights_view(compared))
    if not studies:
        from motecrypt.app.report import write_report

        written = (db or default_results()).resolve().parent / "report.html"
        write_report(written, db, compilers)
        print(f"The report, for a browser: {written}\n")
    print_next(_next(studies, db, compilers, every))
    _end(failed)


#: Options that say what --verify does not do. Some have other names as parameters.
_NOT_OF_VERIFY = {
    "studies": "a study",
    "figures": "--figures",
    "every": "--rows",
    "csv_file": "--csv",
    "bundle": "--bundle",
    "full": "--full",
    "stored": "--stored",
    "sketch_files": "--sketch",
    "library_folders": "--library",
    "compilers": "--compiler",
    "db": "--db",
}
_HOLDS = {True: "ok", False: "FAILED", None: ""}


def _verify(path: Path, remeasure: bool, jobs: int | None, as_json: bool) -> None:
    """Print each check of a bundle; an error where one failed."""
    given = click.get_current_context().params
    other = [option for name, option in _NOT_OF_VERIFY.items() if given[name]]
    if other:
        raise InputError(f"--verify checks a bundle by itself; omit {', '.join(other)}")
    from motecrypt.app.bundle import verify_bundle

    found = verify_bundle(path, remeasure, jobs, stages)
    for note in found.notes:
        print_note(note)
    if as_json:
        print_json(found.document())
    else:
        rows = [[check.what, _HOLDS[check.holds], check.told] for check in found.checks]
        table = TextTable(f"Bundle of {found.made_at}", ("check", "outcome", "details"), rows)
        show(table, TextAnswer("", [("SHA-256", found.sha256), ("Studies", ", ".join(found.studies))]))
    if found.failed:
        failed = ", ".join(check.what for check in found.failed)
        raise MotecryptError(f"{path}: {len(found.failed)} of {len(found.checks)} checks failed: {failed}")
    if not as_json and not remeasure:
        print_next(typed_with("--remeasure"))


def _can_be_packed(studies: Sequence[str], compilers: Sequence[str]) -> None:
    """Before anything is measured."""
    from motecrypt.present.bundle import checked

    checked(studies)
    if compilers:
        raise InputError("--bundle packs the newest figures: omit --compiler")


def _end(code: int) -> None:
    """End with an exit code other than 0."""
    if code:
        raise click.exceptions.Exit(code)


def _told_failures(failed: Sequence[MotecryptError], count: int) -> int:
    """Print why programs that were brought failed; the exit code."""
    for error in failed:
        print_note(str(error))
    if failed:
        print_note(f"{len(failed)} of {count} programs failed")
    return max((error.exit_code for error in failed), default=0)


def _next(studies: Sequence[str], db: Path | None, compilers: Sequence[str], every: bool) -> str:
    """The tables of the same results; where these were printed, the report."""
    words = ["report", "-o", "report.html"] if every else ["reproduce", *studies, "--stored", "--rows"]
    words += [] if db is None else ["--db", str(db)]
    return shlex.join(["motecrypt", *words, *(w for name in compilers for w in ("--compiler", name))])


@contextmanager
def _told_what_is_kept(measures: bool) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        if measures:
            print_note("finished work is stored; the same command continues from there")
        raise
