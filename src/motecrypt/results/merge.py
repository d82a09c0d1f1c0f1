"""Joins results files: the same cell by the same key is one row, whichever file it comes from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path

from motecrypt.base.model import Measurement
from motecrypt.results import rows
from motecrypt.results.store import EXPERIMENT, STORE_EXPERIMENT, Results

WHEN_AND_BY_WHAT = {"measured_at", "motecrypt_version"}
_COMPARED = tuple(field.name for field in fields(Measurement) if field.name not in WHEN_AND_BY_WHAT)
_TOGETHER = 500


@dataclass(frozen=True)
class Conflict:
    """A cell whose figures differ although its key, the hash of all that they depend on, is the same."""

    key: str
    ours: Measurement
    theirs: Measurement

    @property
    def differs(self) -> tuple[str, ...]:
        """The columns in which they differ."""
        return tuple(name for name in _COMPARED if getattr(self.ours, name) != getattr(self.theirs, name))

    def __str__(self) -> str:
        m, first = self.ours, self.differs[0]
        return (
            f"{m.device} {m.cipher} {m.implementation} {m.operation} {m.message_bytes} bytes: {first} is "
            f"{getattr(m, first)} here and {getattr(self.theirs, first)} there"
        )


@dataclass(frozen=True)
class Merged:
    """What came of joining one file: rows that were new, the same, or newer than a figure that varies."""

    new: int
    same: int
    newer: int
    experiments: int
    conflicts: tuple[Conflict, ...]


def merge(into: Results, source: Path) -> Merged:
    """Join a results file into another; nothing that is there is lost, and a second time changes nothing.

    A figure of a simulator never varies, so another value of the same key is a conflict: ours stays. Of
    figures that vary (this computer, a board) and of results the newest stays. What failed only for the
    moment yields to any figure.

    Raises
    ------
    InputError
        The source is not a results file, is damaged or from a newer motecrypt.
    """
    with Results(source, make=False) as other:
        merged = merge_rows(into, keyed(other))
        experiments = _take_experiments(into, other)
    return replace(merged, experiments=experiments)


def merge_rows(into: Results, every: Iterable[tuple[str, Measurement]], *, newest: bool = True) -> Merged:
    """Join measurements with their cell keys, as `merge` does those of a file.

    Parameters
    ----------
    newest
        Whether of figures that vary the newest stays; else ours, whatever date a stranger has written.
    """
    conflicts: list[Conflict] = []
    counts = {"new": 0, "same": 0, "newer": 0}
    for part in _parts(every):
        stored: dict[str, Measurement] = {}
        for key, theirs in part:
            ours = into.measurement(key)
            verdict = _verdict(ours, theirs, newest)
            if verdict == "conflict" and ours is not None:
                conflicts.append(Conflict(key, ours, theirs))
            else:
                counts[verdict] += 1
            if verdict in ("new", "newer"):
                stored[key] = theirs
        into.store(stored)
    return Merged(**counts, experiments=0, conflicts=tuple(conflicts))


def _verdict(ours: Measurement | None, theirs: Measurement, newest: bool) -> str:
    if ours is None or (ours.transient and not theirs.transient):
        return "new"
    if theirs.transient or all(getattr(ours, name) == getattr(theirs, name) for name in _COMPARED):
        return "same"
    if ours.cycles_exact or theirs.cycles_exact:  # where one failed, too
        return "conflict"
    return "newer" if newest and theirs.measured_at > ours.measured_at else "same"


def keyed(results: Results) -> Iterator[tuple[str, Measurement]]:
    """Every measurement with its cell key, one after the other, none of them kept."""
    where = str(results.path)
    reader = rows.Reader(where)
    for key, *row in results.in_parts(
        f"SELECT key, {', '.join(rows.COLUMNS)} FROM measurement ORDER BY key", ()
    ):
        yield rows.key(key, where), reader.measurement(row)


def _take_experiments(into: Results, other: Results) -> int:
    """Take over results that are missing here or newer there; returns how many."""
    known = "SELECT made_at FROM experiment WHERE kind = ? AND version = ? AND inputs = ?"
    taken = 0
    with into.transaction() as connection:
        for row in other.in_parts(f"SELECT {EXPERIMENT}, asked FROM experiment", ()):
            found = rows.experiment(row[:-1], str(other.path))
            here = connection.execute(known, row[:3]).fetchone()
            if here is None or str(here[0]) < found.made_at:
                connection.execute(STORE_EXPERIMENT, (*row[:-1], rows.question(row[-1], str(other.path))))
                taken += 1
    return taken


def _parts(every: Iterable[tuple[str, Measurement]]) -> Iterator[list[tuple[str, Measurement]]]:
    part: list[tuple[str, Measurement]] = []
    for row in every:
        part.append(row)
        if len(part) == _TOGETHER:
            yield part
            part = []
    yield part
