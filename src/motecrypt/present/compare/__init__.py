"""Two sets of measurements, cell by cell: what became better, worse, new, or no longer runs. Pure.

For two compilers, two commits or two machines: a cell is matched by what was measured, not by who
built it. Opens nothing; anyone who has two results files hands their measurements over.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from motecrypt.base.model import Measurement, implementation_name

Kind = Literal["worse", "better", "broke", "fixed", "fails otherwise", "new", "vanished"]

BY_CELL = ("cycles_median", "stack_bytes")
BY_BUILD = ("flash_bytes", "ram_bytes")
"""Sizes belong to a build: compared once, not for each operation and length."""


@dataclass(frozen=True, slots=True)
class Change:
    """One figure of one cell (or build) that differs, or a cell that only one side has.

    Attributes
    ----------
    kind : "worse" and "better" for figures; "broke" (ran before, does not now), "fixed" and "fails
        otherwise" for states; "new" and "vanished" for cells.
    figure : which figure; "status" or empty otherwise.
    before, after : its value on both sides, or the reasons of failures.
    percent : growth in per cent; None if it grew from 0 or is not a number.
    beyond : whether it counts: past the threshold, or a cell that broke.
    """

    device: str
    cipher: str
    implementation: str
    key_bits: int
    operation: str
    message_bytes: int | None
    ad_bytes: int | None
    placement: str
    cache: str
    flags: str
    kind: Kind
    figure: str
    before: float | str | None
    after: float | str | None
    percent: float | None
    beyond: bool


@dataclass(frozen=True)
class ComparedFile:
    """A results file, its number of cells, and what measured them."""

    file: Path
    cells: int
    compilers: Sequence[str]
    versions: Sequence[str]


@dataclass(frozen=True)
class Difference:
    """All changes, those that count first, and how many cells were compared."""

    cells: int
    equal: int
    threshold_percent: float
    changes: tuple[Change, ...]

    @property
    def worse(self) -> bool:
        """Whether anything became worse past the threshold, or broke."""
        return any(c.beyond and c.kind in ("worse", "broke") for c in self.changes)


FIGURES = (*BY_CELL, *BY_BUILD)


class ComparedBuild(NamedTuple):
    """What one firmware is of; `flags_asked` is empty where any match."""

    device: str
    cipher: str
    library: str
    configuration: str
    variant: str
    placement: str
    flags_asked: str


class ComparedCell(NamedTuple):
    """What one cell is of."""

    build: ComparedBuild
    key_bits: int
    operation: str
    message_bytes: int
    ad_bytes: int
    cache: str


class _Compared(NamedTuple):
    """What is kept of a measurement until the other side's comes: its place in its row, and what counts."""

    place: int
    figures: tuple[int | None, ...]  # FIGURES
    status: str
    reason: str
    flags: str

    @property
    def ran(self) -> bool:
        return self.status == "ok"


def compare(
    before: Iterable[Measurement],
    after: Iterable[Measurement],
    threshold_percent: float = 2.0,
    across_flags: bool = False,
) -> Difference:
    """What differs from `before` to `after`.

    Parameters
    ----------
    before, after
        Measurements, newest first; of equal cells the first counts. Each is removed through once, `before`
        first; little more than its figures are kept of a measurement, and nothing where they are equal.
    threshold_percent
        A figure that grew or shrank by more than this counts. 0: any difference does.
    across_flags
        Match cells whatever flags were asked for: to compare flags with each other.
    """
    builds: dict[ComparedBuild, ComparedBuild] = {}  # each once
    old: dict[ComparedCell, _Compared] = {}
    for m in before:
        key = identity_of(m, across_flags, builds)
        if key not in old:
            old[key] = _kept(m, len(old))
    met = bytearray(len(old))  # by place
    others: set[ComparedCell] = set()  # after only
    found: dict[int, list[Change]] = {}  # by place
    sizes: dict[tuple[ComparedBuild, str], tuple[int, Change | None]] = {}
    new = []
    for number, m in enumerate(after):
        key = identity_of(m, across_flags, builds)
        now, was = _kept(m, number), old.get(key)
        if was is None:
            if key not in others:
                others.add(key)
                new.append(_change(key, now, "new", "", None, None, None, False))
            continue
        if met[was.place]:
            continue
        met[was.place] = 1
        changes = _cell_changes(key, was, now, threshold_percent)
        if changes:
            found[was.place] = changes
        for figure in BY_BUILD if was.ran and now.ran else ():
            told = sizes.get((key.build, figure))
            if told is None or was.place < told[0]:
                sizes[key.build, figure] = (was.place, _figure(key, was, now, figure, threshold_percent))
    for place, change in sizes.values():
        if change is not None:
            found.setdefault(place, []).append(change)
    changes = [change for place in sorted(found) for change in found[place]]
    changes += [
        _change(key, kept, "vanished", "", None, None, None, False)
        for key, kept in old.items()
        if not met[kept.place]
    ]
    changes += new
    order: Mapping[str, int] = {
        kind: rank
        for rank, kind in enumerate(
            ("broke", "worse", "fails otherwise", "fixed", "better", "vanished", "new")
        )
    }
    changes.sort(key=lambda c: (not c.beyond, order[c.kind], -abs(c.percent or 0.0)))
    both = sum(met)
    return Difference(both, both - len(found), threshold_percent, tuple(changes))


def identity_of(
    m: Measurement, across_flags: bool, builds: dict[ComparedBuild, ComparedBuild]
) -> ComparedCell:
    flags = "" if across_flags else m.flags_asked
    build = ComparedBuild(m.device, m.cipher, m.library, m.configuration, m.variant, m.placement, flags)
    build = builds.setdefault(build, build)
    return ComparedCell(build, m.key_bits, m.operation, m.message_bytes, m.ad_bytes, m.cache)


def _kept(m: Measurement, place: int) -> _Compared:
    figures = (m.cycles_median, m.stack_bytes, m.flash_bytes, m.ram_bytes)
    return _Compared(place, figures, m.status, m.reason, m.flags)


def _cell_changes(key: ComparedCell, old: _Compared, new: _Compared, threshold: float) -> list[Change]:
    if old.ran and new.ran:
        changes = (_figure(key, old, new, figure, threshold) for figure in BY_CELL)
        return [change for change in changes if change is not None]
    if old.status == new.status and old.reason == new.reason:
        return []
    kind: Kind = "broke" if old.ran else "fixed" if new.ran else "fails otherwise"
    was, now = (kept.reason or kept.status for kept in (old, new))
    return [_change(key, new, kind, "status", was, now, None, kind != "fails otherwise")]


def _figure(
    key: ComparedCell, old: _Compared, new: _Compared, figure: str, threshold: float
) -> Change | None:
    at = FIGURES.index(figure)
    was, now = old.figures[at], new.figures[at]
    if was is None or now is None or was == now:
        return None
    percent = (now - was) * 100 / was if was > 0 else None
    beyond = percent is None or abs(percent) > threshold
    kind: Kind = "worse" if now > was else "better"
    return _change(key, new, kind, figure, was, now, percent, beyond)


def _change(
    key: ComparedCell,
    kept: _Compared,
    kind: Kind,
    figure: str,
    before: float | str | None,
    after: float | str | None,
    percent: float | None,
    beyond: bool,
) -> Change:
    build = key.build
    of_build = figure in BY_BUILD
    return Change(
        device=build.device,
        cipher=build.cipher,
        implementation=implementation_name(build.library, build.configuration, build.variant),
        key_bits=key.key_bits,
        operation="" if of_build else key.operation,
        message_bytes=None if of_build else key.message_bytes,
        ad_bytes=None if of_build else key.ad_bytes,
        placement=build.placement,
        cache="" if of_build else key.cache,
        flags=kept.flags,
        kind=kind,
        figure=figure,
        before=before,
        after=after,
        percent=percent,
        beyond=beyond,
    )
