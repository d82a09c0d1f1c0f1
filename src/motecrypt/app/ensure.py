"""Make what a view needs; where that cannot be made here but is stored, report it and continue."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from motecrypt.app.toolchains import need_toolchain
from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.base.model import Cell
from motecrypt.base.process import processors
from motecrypt.build.setup import need
from motecrypt.build.toolchain.toolchain import BuildError
from motecrypt.catalog import Catalog
from motecrypt.measuring import bench
from motecrypt.results import Results
from motecrypt.results.experiments import recorded
from motecrypt.studies import Experiment, Needs

if TYPE_CHECKING:
    from motecrypt.base.progress import Progress


@dataclass
class NotMade:
    """What could not be made, in order; with nothing stored to serve instead, the first ends the command."""

    can_go_on: bool
    errors: list[MotecryptError] = field(default_factory=list)
    passing: list[str] = field(default_factory=list)

    def keep(self, error: MotecryptError) -> None:
        """Keep an error for later, or raise it where nothing is stored."""
        if not self.can_go_on:
            raise error
        self.errors.append(error)

    @property
    def reason(self) -> str:
        """The first of it in one line; empty where all went well."""
        reasons = list(dict.fromkeys([*map(str, self.errors), *self.passing]))
        more = f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else ""
        return f"{reasons[0]}{more}" if reasons else ""


def whole(needs: Needs, full: bool) -> Needs:
    """The needs with what takes minutes, where that is asked for."""
    if needs.long is None or not full:
        return needs
    return replace(
        needs,
        tool_sets=(*needs.tool_sets, *needs.long.tool_sets),
        experiments=(*needs.experiments, *needs.long.experiments),
    )


def is_alone(experiment: Experiment) -> bool:
    """Whether it times this computer, so that nothing else may run."""
    return bool(getattr(experiment, "alone", False))


def ensure(
    name: str,
    needs: Needs,
    results: Results,
    catalog: Catalog,
    jobs: int | None,
    report: Progress,
    full: bool = False,
) -> str:
    """Measure and run what is needed, with progress.

    What takes minutes is run where `full` is asked for; else what came with the program is stored for it.

    If a tool set, a compiler or a tool is not available, stored figures are used.

    Returns
    -------
    One line that reports this; empty where nothing was missing.

    Raises
    ------
    MotecryptError
        When nothing is stored that could serve, or a check failed of which nothing is stored.
    """
    needs = whole(needs, full)
    if needs.long is not None and not full:
        answers = recorded.read(recorded.file_of(name))
        results.store_recorded((answer.experiment, answer.asked) for answer in answers)
    trouble = NotMade(can_go_on=_stored(needs, results) > 0)
    for device, toolchain in needs.toolchains.items():
        try:
            need_toolchain(catalog, catalog.device(device), toolchain)
        except InputError as error:
            trouble.keep(error)
    for tool_set in needs.tool_sets:
        try:
            need(tool_set)
        except InputError as error:
            trouble.keep(error)
    _ensure_cells(needs.cells, results, catalog, jobs, report, trouble)
    _ensure_experiments(needs.experiments, results, jobs, report, trouble)
    if not trouble.reason:
        return ""
    wanted = len(set(needs.cells)) + len(needs.experiments)
    missing = wanted - _stored(needs, results)
    lacks = f"; {missing} of {wanted} figures are not stored" if missing else ""
    return f"{name}: showing stored results: {trouble.reason}{lacks}"


def _stored(needs: Needs, results: Results) -> int:
    """How many of the cells and experiments have a stored answer, however made."""
    found = [experiment for experiment in needs.experiments if experiment.find(results) is not None]
    return len(results.newest(needs.cells)) + len(found)


def _ensure_experiments(
    experiments: Sequence[Experiment],
    results: Results,
    jobs: int | None,
    report: Progress,
    trouble: NotMade,
) -> None:
    """Side by side; what times this computer by itself, afterwards."""
    if not experiments:
        return
    from concurrent.futures import ThreadPoolExecutor

    lock, total, done = threading.Lock(), len(experiments), 0

    def make(experiment: Experiment) -> None:
        nonlocal done
        said = [""]

        def told(what: str) -> None:
            said.append(what)
            tell(what)

        experiment.ensure(results, told)
        with lock:
            done += 1
            report(done, total, said[-1])

    def tell(what: str) -> None:
        with lock:
            report(done, total, what)

    for group, threads in (
        ([each for each in experiments if not is_alone(each)], jobs or processors()),
        ([each for each in experiments if is_alone(each)], 1),
    ):
        with ThreadPoolExecutor(threads) as pool:
            running = [(each, pool.submit(make, each)) for each in group]
            try:
                for experiment, outcome in running:
                    try:
                        outcome.result()
                    except MotecryptError as error:
                        missing_tool = isinstance(error, (InputError, BuildError))
                        if not missing_tool and experiment.find(results) is None:
                            raise  # a check failed
                        trouble.keep(error)
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise


def _ensure_cells(
    cells: Sequence[Cell],
    results: Results,
    catalog: Catalog,
    jobs: int | None,
    report: Progress,
    trouble: NotMade,
) -> None:
    """All cells together; if a compiler is missing, those of each device separately."""
    groups = [cells]
    while groups:
        group = groups.pop(0)
        try:
            made = bench.ensure(group, results, catalog, jobs, report)
        except MotecryptError as error:
            devices = dict.fromkeys(cell.device for cell in group)
            if len(devices) > 1:
                groups += [[cell for cell in group if cell.device == device] for device in devices]
            else:
                trouble.keep(error)
            continue
        trouble.passing += [m.reason for m in made.values() if m.transient]
