"""Reproduce published studies: measure what they measured, and compare each figure and claim."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from motecrypt.app import several
from motecrypt.app.baseline import baseline
from motecrypt.app.ensure import ensure, whole
from motecrypt.app.toolchains import need_compilers
from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.base.paths import write_atomically
from motecrypt.base.progress import Watching, stage
from motecrypt.build.setup import need
from motecrypt.build.toolchain.toolchain import BuildError
from motecrypt.catalog import Catalog
from motecrypt.results import Results, Stored, opened
from motecrypt.studies import Needs, names, needs, study
from motecrypt.studies.facts import Comparison

if TYPE_CHECKING:
    from motecrypt.measuring.experiments.hardware import TimedProgram
    from motecrypt.measuring.experiments.sketch import SketchRun


@dataclass(frozen=True)
class ReproduceRequest:
    """What to reproduce.

    Attributes
    ----------
    studies : names, or paths of folders; empty: all there are.
    stored : measure nothing, and show what is stored.
    compilers : show the stored figures of these (part of a version line); measures nothing either.
    full : also run what takes minutes, instead of showing what is recorded.
    sketches : a row of a study's table and the sketch of its author (.ino or .elf) to run for it.
    programs : folders with programs for rows of the study "hardware" (hardware.toml) to build and run.
    report : also measure and install what the report needs.
    """

    studies: Sequence[str] = ()
    stored: bool = False
    compilers: Sequence[str] = ()
    full: bool = False
    sketches: Sequence[tuple[str, str]] = ()
    programs: Sequence[Path] = ()
    report: bool = False


@dataclass(frozen=True)
class ReproducePlan:
    """A request whose studies are found, and whose sketches and programs are read."""

    request: ReproduceRequest
    views: Mapping[str, ModuleType]
    wanted: Mapping[str, Needs]
    brought: Sequence[SketchRun | TimedProgram]

    @property
    def measures(self) -> bool:
        """Whether anything is measured; else what is stored is shown."""
        return bool(self.wanted)

    @property
    def advised(self) -> Needs | None:
        """What the report's adviser needs for an answer, built with the toolchains of the studies."""
        if not (self.request.report and self.measures):
            return None
        toolchains = {
            device: name for each in self.wanted.values() for device, name in each.toolchains.items()
        }
        return baseline(Catalog.load(), toolchains)


@dataclass(frozen=True)
class StudyResult:
    """A study.

    Attributes
    ----------
    view : its module: `TITLE`, `SOURCE`, and `sections(results)`, its tables.
    comparisons : each printed figure and claim next to ours, with a verdict.
    note : why something stored is shown where it should have been measured; empty: it was measured.
    """

    name: str
    view: ModuleType
    comparisons: Sequence[Comparison]
    note: str


@dataclass(frozen=True)
class ReproduceResult:
    """The studies of a request, in its order.

    Attributes
    ----------
    failed : why sketches and programs that were brought failed.
    note : why the report has fewer figures than it should.
    """

    studies: Sequence[StudyResult]
    failed: Sequence[MotecryptError] = ()
    note: str = ""

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary a printed figure or claim, as a table of pandas takes them."""
        return [asdict(row) for each in self.studies for row in each.comparisons]


def plan(request: ReproduceRequest) -> ReproducePlan:
    """Find the studies, build the sketches, read the programs and install what they are built with.

    Raises
    ------
    InputError
        A study, a row or a file that does not exist, or a choice that contradicts another.
    """
    views = {name: study(name) for name in request.studies or names()}
    measures = not request.stored and not request.compilers
    for given, what in (
        (request.sketches, "--sketch runs sketches"),
        (request.full, "--full runs what is recorded"),
        (request.programs, "--library runs programs"),
    ):
        if given and not measures:
            raise InputError(f"{what}: give it without --stored and --compiler")
    brought: list[SketchRun | TimedProgram] = [*_sketches(request, views), *_programs(request, views)]
    return ReproducePlan(request, views, {name: needs(name) for name in views if measures}, brought)


def reproduce(
    request: ReproduceRequest | None = None,
    results: Stored = None,
    jobs: int | None = None,
    progress: Watching = None,
) -> ReproduceResult:
    """Measure what published studies measured, and compare. The parameters are those of `measure`.

    Raises
    ------
    InputError
        As `plan`, or a tool is not available and nothing is stored that could serve.
    MotecryptError
        A check failed.
    """
    made = plan(request or ReproduceRequest())
    with opened(results, made.request.compilers, make=made.measures) as stored:
        failed = run_brought(made, stored)
        studies = tuple(studied(made, stored, jobs, progress))
        return ReproduceResult(studies, failed, measure_for_report(made, stored, jobs, progress))


def run_brought(made: ReproducePlan, results: Results) -> list[MotecryptError]:
    """Run what was brought and store what it takes; returns what failed. One alone raises its error."""
    failed: list[MotecryptError] = []
    for run in made.brought:
        try:
            run.ensure(results)
        except MotecryptError as error:
            if len(made.brought) == 1:
                raise
            names_itself = isinstance(error, (InputError, BuildError))
            failed.append(error if names_itself else MotecryptError(f"{run.name}: {error}"))
    return failed


def studied(
    made: ReproducePlan, results: Results, jobs: int | None, progress: Watching
) -> Iterator[StudyResult]:
    """Each study, as soon as it is measured; several are measured together first. Errors as `reproduce`."""
    request, count = made.request, len(made.views)
    if len(made.wanted) > 1:
        every = [whole(each, request.full) for each in made.wanted.values()]
        every += [advised] if (advised := made.advised) else []
        several.install(every, ("plots",) if request.report else ())
        if jobs != 1:
            with stage(progress, "measuring") as report:
                several.work(every, results, jobs, report)
    for number, (name, view) in enumerate(made.views.items(), start=1):
        note = ""
        if name in made.wanted:
            own = made.wanted[name]
            with stage(progress, name + (f" (study {number} of {count})" if count > 1 else "")) as report:
                note = ensure(name, own, results, own.catalog or Catalog.load(), jobs, report, request.full)
        yield StudyResult(name, view, view.comparisons(results), note)


def measure_for_report(made: ReproducePlan, results: Results, jobs: int | None, progress: Watching) -> str:
    """Measure what the adviser of the report needs, where that is asked for; what is wrong, in a line."""
    advised = made.advised
    if advised is None:
        return ""
    with stage(progress, "for the adviser") as report:
        try:
            return ensure("the adviser's ciphers", advised, results, Catalog.load(), jobs, report)
        except MotecryptError as error:
            return f"the report's adviser has no figures: {error}"


def draw(charts: Mapping[str, Mapping[str, Any]], folder: Path) -> list[Path]:
    """Write each Vega-Lite specification as an SVG file."""
    need("plots")
    from motecrypt.present.report.vega import engine

    drawn = []
    for name, specification in charts.items():
        drawn.append(folder / f"{name}.svg")
        write_atomically(drawn[-1], str(engine().vegalite_to_svg(dict(specification))).encode())
    return drawn


def _sketches(request: ReproduceRequest, views: Mapping[str, ModuleType]) -> list[SketchRun]:
    """The sketches, built or read; InputError for a row that no chosen study has."""
    if not request.sketches:
        return []
    from motecrypt.app.run import load_firmware
    from motecrypt.measuring.experiments.sketch import SketchRun

    rows = {q.row: q for view in views.values() for q in getattr(view, "sketch_questions", list)()}
    if not rows:
        raise InputError(f"--sketch: no rows for sketches in {', '.join(views)}")
    for row, file in request.sketches:
        if row not in rows or not file:
            pair = "=".join(filter(None, (row, file)))
            raise InputError(f"--sketch {pair}: give ROW=FILE; the rows are {', '.join(rows)}")
    catalog = Catalog.load()
    return [
        SketchRun(rows[row], load_firmware(Path(file), catalog.device(rows[row].device)), file)
        for row, file in request.sketches
    ]


def _programs(request: ReproduceRequest, views: Mapping[str, ModuleType]) -> list[TimedProgram]:
    """The programs of these folders, with their toolchains; InputError where no study has their rows."""
    if not request.programs:
        return []
    from motecrypt.adviser.hardware.recorded import STUDY
    from motecrypt.measuring.experiments.hardware import read_programs

    if STUDY not in views:
        raise InputError(f"--library is for the rows of 'reproduce {STUDY}': name that study")
    programs = [program for folder in request.programs for program in read_programs(folder)]
    need_compilers(Catalog.load(), ((p.device, name) for p in programs for name in p.toolchains))
    return programs
