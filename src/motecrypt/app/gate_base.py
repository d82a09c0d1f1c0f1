"""Measures the base of a gate, entry by entry: one that is new or broken there leaves the others compared."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from motecrypt.app.gate import HinderedError, Taken, take, take_with_own_program
from motecrypt.base.errors import InputError, MotecryptError
from motecrypt.gate.figures import Benchmark
from motecrypt.gate.plan import FirmwareEntry, GatePlan, MeasuredEntry, read_gate_plan
from motecrypt.results import Results

if TYPE_CHECKING:
    from motecrypt.base.progress import Progress


def take_base(
    plan: GatePlan,
    tree: Path,
    head: Taken,
    history: Sequence[Benchmark],
    results: Results,
    jobs: int | None,
    report: Progress,
) -> tuple[Taken, list[str]]:
    """What was measured of the base, and in words what was not.

    Parameters
    ----------
    tree
        The folder of the config file as it was at the base.
    head
        What was measured of this tree.
    history
        What the history has of the base: used for the entries that cannot be measured.

    Raises
    ------
    InputError
        An entry that the base has too could not be measured, and the history has nothing of it.
    """
    there = _entries_at(tree / plan.file.name)
    taken, notes = Taken(), list[str]()
    for one, entry, prefix in _single(plan):
        try:
            mine = _measured(one, tree, results, jobs, report)
        except MotecryptError as error:
            names = {name for name in head.entries.get(entry, ()) if name.startswith(prefix)}
            mine = Taken([benchmark for benchmark in history if benchmark.name in names])
            notes.append(_note(one, there, error, bool(mine.benchmarks)))
        known = {benchmark.name for benchmark in taken.benchmarks}
        taken.benchmarks.extend(benchmark for benchmark in mine.benchmarks if benchmark.name not in known)
        taken.cells.update(mine.cells)
        taken.builds.update(mine.builds)
        taken.firmware.update(mine.firmware)
    return taken, notes


def _measured(one: GatePlan, tree: Path, results: Results, jobs: int | None, report: Progress) -> Taken:
    if not one.own_program:
        return take(one, tree, results, jobs, report)
    with tempfile.TemporaryDirectory(prefix="motecrypt-base.") as scratch:
        # its own format of results may be older than that of the user's file
        return take_with_own_program(one, tree, Path(scratch) / "results.db")


def _single(plan: GatePlan) -> Iterator[tuple[GatePlan, MeasuredEntry | FirmwareEntry, str]]:
    """The plan for each entry on each of its devices, the entry, and what the names there begin with."""
    for entry in plan.measured:
        for device in entry.devices:
            part = (replace(entry, devices=(device,)),)
            yield replace(plan, measured=part, firmware=()), entry, f"{Path(device).name}/"
    for firmware in plan.firmware:
        yield replace(plan, measured=(), firmware=(firmware,)), firmware, ""


def _entries_at(file: Path) -> set[MeasuredEntry | FirmwareEntry]:
    """The entries of the base's own file, each on one device; none where it has no file that can be read."""
    try:
        plan = read_gate_plan(file)
    except MotecryptError:
        return set()
    measured = {replace(entry, devices=(device,)) for entry in plan.measured for device in entry.devices}
    return {*measured, *plan.firmware}


def _note(
    one: GatePlan, there: set[MeasuredEntry | FirmwareEntry], error: MotecryptError, has_history: bool
) -> str:
    entry = one.measured[0] if one.measured else one.firmware[0]
    named = (
        f"{entry.folder or entry.cipher} on {entry.devices[0]}"
        if isinstance(entry, MeasuredEntry)
        else f"firmware {entry.name}"
    )
    if has_history:
        return f"{named}: the history is its base, since the base could not be measured: {error}"
    if entry in there or isinstance(error, HinderedError):
        raise InputError(
            f"{named}: could not be measured at the base, and the history has no figures of it: {error}; "
            "--no-base compares with nothing"
        )
    return f"{named}: new or changed in {one.file.name}, and not compared: the base says: {error}"
