"""motecrypt reproduce: a published study next to our measurements."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import click

from motecrypt.app.ensure import ensure, whole
from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.base.paths import check_replaceable, default_results, write_atomically
from motecrypt.build.setup import need
from motecrypt.build.toolchain.toolchain import BuildError
from motecrypt.catalog import Catalog
from motecrypt.cli import _several
from motecrypt.cli._baseline import baseline
from motecrypt.cli._output import (
    db_option,
    open_results,
    print_answer,
    print_json,
    print_next,
    print_note,
    print_section,
    print_table,
    print_words,
    progress,
    table_options,
)
from motecrypt.results import Results
from motecrypt.studies import Needs, folders, names, needs, study
from motecrypt.studies.counts import VERDICTS, as_csv, by_kind, facts, sentences, tally
from motecrypt.studies.facts import Comparison

if TYPE_CHECKING:
    from motecrypt.measuring.experiments.hardware import TimedProgram
    from motecrypt.measuring.experiments.sketch import SketchRun


@click.command(epilog="Example: motecrypt reproduce rc4d")
@click.argument("studies", nargs=-1, metavar=f"[{'|'.join(folders())}|FOLDER]...")
@click.option(
    "--jobs", type=click.IntRange(1, 256), default=None, help="Number of firmwares to run at the same time."
)
@click.option(
    "--figures",
    type=click.Path(path_type=Path, file_okay=False),
    default=None,
    help="A directory for the figures, redrawn as SVG.",
)
@click.option(
    "--rows",
    "every",
    is_flag=True,
    help="Print every table, row by row; with --json, also those that compare nothing with the paper.",
)
@click.option(
    "--csv",
    "csv_file",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    help="A file for every row as CSV.",
)
@click.option(
    "--bundle",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    help="A file for a review: results, inputs, versions, hashes of the firmware, and the report.",
)
@click.option(
    "--verify",
    "bundle_to_verify",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
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
    type=click.Path(path_type=Path, file_okay=False),
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
    chosen = [(name, study(name)) for name in (studies or names())]
    for target in (bundle, csv_file):
        if target is not None:  # before anything is measured
            check_replaceable(target)
    if bundle is not None:
        _can_be_packed([name for name, _ in chosen], compilers)
    if figures is not None and not any(hasattr(module, "charts") for _, module in chosen):
        drawn = ", ".join(name for name in names() if hasattr(study(name), "charts"))
        raise InputError(
            f"--figures: none to redraw in {', '.join(n for n, _ in chosen)}; there are in: {drawn}"
        )
    compared: dict[str, list[Comparison]] = {}
    own: dict[str, Mapping[str, Sequence[Mapping[str, Any]]]] = {}
    measures = not stored and not compilers
    if sketch_files and not measures:
        raise InputError("--sketch runs sketches: give it without --stored and --compiler")
    if full and not measures:
        raise InputError("--full runs what is recorded: give it without --stored and --compiler")
    if library_folders and not measures:
        raise InputError("--library runs programs: give it without --stored and --compiler")
    brought: list[SketchRun | TimedProgram] = [
        *_sketches(sketch_files, chosen),
        *_programs(library_folders, chosen),
    ]
    with open_results(db, compilers, make=measures) as results:
        failed = _run_brought(brought, results)
        wanted = [needs(name) for name, _ in chosen] if measures else []
        advised = _advised(wanted) if wanted and not studies else None
        if len(wanted) > 1:
            every_need = [whole(each, full) for each in wanted] + ([advised] if advised else [])
            with _told_what_is_kept():
                _together(every_need, results, jobs, not studies)
        for number, (name, module) in enumerate(chosen, start=1):
            where = f" (study {number} of {len(chosen)})" if len(chosen) > 1 else ""
            for each in wanted[number - 1 : number]:
                with _told_what_is_kept(), progress(name + where) as report:
                    print_note(
                        ensure(name, each, results, each.catalog or Catalog.load(), jobs, report, full)
                    )
            if figures is not None and hasattr(module, "charts"):
                _draw(figures, module.charts(results))
            compared[name] = module.comparisons(results)
            own[name] = module.tables(results) if as_json and every and hasattr(module, "tables") else {}
            if not as_json:
                _print(module, results, compared[name], every)
                if len(chosen) == 1:
                    _print_findings("The most important findings", compared)
        if advised is not None:
            _advise(advised, results, jobs)
        if bundle is not None:
            from motecrypt.cli import _bundle

            _bundle.write(bundle, results, [name for name, _ in chosen])
    if csv_file is not None:
        rows = [row for each in compared.values() for row in each]
        write_atomically(csv_file, as_csv(rows).encode())
        print(f"motecrypt: {csv_file}", file=sys.stderr)
    if as_json:
        print_json(
            {name: {"comparisons": compared[name], "tables": own[name]} for name in compared}
            if every
            else [row for rows in compared.values() for row in rows]
        )
        _end(failed)
        return
    if len(compared) > 1:
        _print_all(compared)
    if not studies:
        from motecrypt.cli.report import write_report

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


def _verify(bundle: Path, remeasure: bool, jobs: int | None, as_json: bool) -> None:
    given = click.get_current_context().params
    other = [option for name, option in _NOT_OF_VERIFY.items() if given[name]]
    if other:
        raise InputError(f"--verify checks a bundle by itself; omit {', '.join(other)}")
    from motecrypt.cli import _bundle

    _bundle.print_verified(bundle, remeasure, jobs, as_json)


def _can_be_packed(studies: Sequence[str], compilers: Sequence[str]) -> None:
    """Before anything is measured."""
    from motecrypt.present.bundle import checked

    checked(studies)
    if compilers:
        raise InputError("--bundle packs the newest figures: omit --compiler")


def _sketches(given: Sequence[str], chosen: Sequence[tuple[str, ModuleType]]) -> list[SketchRun]:
    """The sketches of ROW=FILE, built or read; InputError for a row that no chosen study has."""
    if not given:
        return []
    from motecrypt.cli._firmware import load_firmware
    from motecrypt.measuring.experiments.sketch import SketchRun

    rows = {q.row: q for _, module in chosen for q in getattr(module, "sketch_questions", list)()}
    if not rows:
        raise InputError(f"--sketch: no rows for sketches in {', '.join(name for name, _ in chosen)}")
    pairs = []
    for pair in given:
        row, _, file = pair.partition("=")
        if row not in rows or not file:
            raise InputError(f"--sketch {pair}: give ROW=FILE; the rows are {', '.join(rows)}")
        pairs.append((rows[row], Path(file)))
    catalog = Catalog.load()
    return [
        SketchRun(question, load_firmware(file, catalog.device(question.device)), str(file))
        for question, file in pairs
    ]


def _end(code: int) -> None:
    """End with an exit code other than 0."""
    if code:
        raise click.exceptions.Exit(code)


def _run_brought(brought: Sequence[SketchRun | TimedProgram], results: Results) -> int:
    """Run them and store what they take; the exit code. One that fails is reported, the others are run."""
    failed: list[int] = []
    for run in brought:
        try:
            run.ensure(results)
        except MotecryptError as error:
            if len(brought) == 1:
                raise
            named = "" if isinstance(error, (InputError, BuildError)) else f"{run.name}: "
            print(f"motecrypt: {named}{error}", file=sys.stderr)
            failed.append(error.exit_code)
    if failed:
        print(f"motecrypt: {len(failed)} of {len(brought)} programs failed", file=sys.stderr)
    return max(failed, default=0)


def _programs(folders: Sequence[Path], chosen: Sequence[tuple[str, ModuleType]]) -> list[TimedProgram]:
    """The programs of these folders, with their toolchains; InputError where no study has their rows."""
    if not folders:
        return []
    from motecrypt.adviser.hardware.recorded import STUDY
    from motecrypt.app.toolchains import need_toolchain
    from motecrypt.measuring.experiments.hardware import read_programs

    if STUDY not in (name for name, _ in chosen):
        raise InputError(f"--library is for the rows of 'reproduce {STUDY}': name that study")
    programs = [program for folder in folders for program in read_programs(folder)]
    catalog = Catalog.load()
    for device, name in dict.fromkeys((p.device, name) for p in programs for name in p.toolchains):
        if name:
            need_toolchain(catalog, catalog.device(device), name)
        else:
            need(catalog.device(device).kit)
    return programs


def _next(studies: Sequence[str], db: Path | None, compilers: Sequence[str], every: bool) -> str:
    """The tables of the same results; where these were printed, the report."""
    words = ["report", "-o", "report.html"] if every else ["reproduce", *studies, "--stored", "--rows"]
    words += [] if db is None else ["--db", str(db)]
    return shlex.join(["motecrypt", *words, *(w for name in compilers for w in ("--compiler", name))])


@contextmanager
def _told_what_is_kept() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        print("motecrypt: finished work is stored; the same command continues from there", file=sys.stderr)
        raise


def _together(every: Sequence[Needs], results: Results, jobs: int | None, reported: bool) -> None:
    _several.install(every, ("plots",) if reported else ())
    if jobs != 1:
        with progress("measuring") as report:
            _several.work(every, results, jobs, report)


def _advised(wanted: Sequence[Needs]) -> Needs:
    """What the report's adviser needs for an answer, built with the toolchains of the studies."""
    toolchains = {device: name for each in wanted for device, name in each.toolchains.items()}
    return baseline(Catalog.load(), toolchains)


def _advise(needed: Needs, results: Results, jobs: int | None) -> None:
    """Measure what the adviser of the report needs. A failure is reported, not raised."""
    with _told_what_is_kept(), progress("for the adviser") as report:
        try:
            print_note(ensure("the adviser's ciphers", needed, results, Catalog.load(), jobs, report))
        except MotecryptError as error:
            print(f"motecrypt: the report's adviser has no figures: {error}", file=sys.stderr)


def _print_all(compared: Mapping[str, Sequence[Comparison]]) -> None:
    """What all studies showed: the verdicts counted, and the five findings that matter most."""
    rows = {name: facts(own) for name, own in compared.items()}
    verdicts = [v for v in VERDICTS if any(row.verdict == v for own in rows.values() for row in own)]
    counted = [
        [name, len(own), *(sum(row.verdict == verdict for row in own) for verdict in verdicts)]
        for name, own in rows.items()
    ]
    print_table("All studies", ("study", "facts", *verdicts), counted)
    _print_findings("The most important findings", compared)


def _print_findings(title: str, compared: Mapping[str, Sequence[Comparison]]) -> None:
    from motecrypt.studies.highlights import findings

    told = findings(compared)
    if told:
        print_words(title, "bold")
    for number, highlight in enumerate(told, start=1):
        study_name = f"[{highlight.study}] " if len(compared) > 1 else ""
        print_words(f"{number}. {study_name}{highlight.text}.")
    if told:
        print()


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


def _print(module: ModuleType, results: Results, rows: Sequence[Comparison], every: bool) -> None:
    """A study: the verdicts of each kind of row, counted, and of how many; with `every` its tables first."""
    print_words(module.TITLE, "bold underline")
    print_words(module.SOURCE)
    print()
    shown = module.sections if every or not rows else getattr(module, "overview", None)
    for section in shown(results) if shown is not None else ():
        print_section(section)
    if not rows:
        return
    kinds = by_kind(rows)
    verdicts = [verdict for verdict in VERDICTS if any(verdict in own for own in kinds.values())]
    counted = [
        [kind, sum(own.values()), *(own.get(verdict, 0) for verdict in verdicts)]
        for kind, own in kinds.items()
    ]
    print_table("Outcomes", ("kind", "rows", *verdicts), counted)
    print_answer("", [("In all", tally(rows))])
    for sentence in sentences(rows):
        print_words(sentence)
    print()
