"""Two sets of measurements, cell by cell: what became better, worse, new, or no longer runs. Pure.

For two compilers, two commits or two machines: a cell is matched by what was measured, not by who
built it. Opens nothing; whoever has two results files hands their measurements over.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from motecrypt.model import Measurement

Kind = Literal["worse", "better", "broke", "mended", "fails otherwise", "new", "vanished"]

BY_CELL = ("cycles_median", "stack_bytes")
BY_BUILD = ("flash_bytes", "ram_bytes")
"""Sizes belong to a build: compared once for all operations and lengths of it."""


@dataclass(frozen=True)
class Change:
    """One figure of one cell (or build) that differs, or a cell that only one side has.

    Attributes
    ----------
    kind : "worse" and "better" for figures; "broke" (ran before, does not now), "mended" and "fails
        otherwise" for states; "new" and "vanished" for cells.
    figure : which figure; "status" or empty otherwise.
    before, after : its value on both sides, or the reasons of failures.
    percent : growth in per cent; None where it grew from nothing or is no number.
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


Key = tuple[str | int, ...]


def compare(
    before: Sequence[Measurement],
    after: Sequence[Measurement],
    threshold_percent: float = 2.0,
    across_flags: bool = False,
) -> Difference:
    """What differs from `before` to `after`.

    Parameters
    ----------
    before, after
        Measurements, newest first; of equal cells the first counts.
    threshold_percent
        A figure that grew or shrank by more than this counts. 0: any difference does.
    across_flags
        Match cells whatever flags were asked for: to compare flags with each other.
    """
    old, new = _by_cell(before, across_flags), _by_cell(after, across_flags)
    changes: list[Change] = []
    equal = 0
    both = [key for key in old if key in new]
    seen: set[tuple[Key, str]] = set()
    for key in both:
        found = _cell_changes(old[key], new[key], threshold_percent)
        builds = _build_key(old[key], across_flags)
        for figure in BY_BUILD:
            if (builds, figure) not in seen and _ran(old[key], new[key]):
                seen.add((builds, figure))
                found += _figure(old[key], new[key], figure, threshold_percent)
        equal += not found
        changes += found
    changes += [_only(m, "vanished") for key, m in old.items() if key not in new]
    changes += [_only(m, "new") for key, m in new.items() if key not in old]
    order: Mapping[str, int] = {
        kind: rank
        for rank, kind in enumerate(
            ("broke", "worse", "fails otherwise", "mended", "better", "vanished", "new")
        )
    }
    changes.sort(key=lambda c: (not c.beyond, order[c.kind], -abs(c.percent or 0.0)))
    return Difference(len(both), equal, threshold_percent, tuple(changes))


def _by_cell(measurements: Sequence[Measurement], across_flags: bool) -> dict[Key, Measurement]:
    found: dict[Key, Measurement] = {}
    for m in measurements:
        found.setdefault((*_build_key(m, across_flags), *_run_key(m)), m)
    return found


def _build_key(m: Measurement, across_flags: bool) -> Key:
    flags = "" if across_flags else m.flags_asked
    return (m.device, m.cipher, m.library, m.configuration, m.variant, m.placement, flags)


def _run_key(m: Measurement) -> Key:
    return (m.key_bits, m.operation, m.message_bytes, m.ad_bytes, m.cache)


def _ran(old: Measurement, new: Measurement) -> bool:
    return old.status == "ok" and new.status == "ok"


def _cell_changes(old: Measurement, new: Measurement, threshold: float) -> list[Change]:
    if _ran(old, new):
        return [c for figure in BY_CELL for c in _figure(old, new, figure, threshold)]
    if old.status == new.status and old.reason == new.reason:
        return []
    kind: Kind = "broke" if old.status == "ok" else "mended" if new.status == "ok" else "fails otherwise"
    was, now = (m.reason or m.status for m in (old, new))
    return [_change(new, kind, "status", was, now, None, kind != "fails otherwise")]


def _figure(old: Measurement, new: Measurement, figure: str, threshold: float) -> list[Change]:
    was, now = getattr(old, figure), getattr(new, figure)
    if was is None or now is None or was == now:
        return []
    percent = (now - was) * 100 / was if was > 0 else None
    beyond = percent is None or abs(percent) > threshold
    kind: Kind = "worse" if now > was else "better"
    return [_change(new, kind, figure, was, now, percent, beyond)]


def _only(m: Measurement, kind: Kind) -> Change:
    return _change(m, kind, "", None, None, None, False)


def _change(
    m: Measurement,
    kind: Kind,
    figure: str,
    before: float | str | None,
    after: float | str | None,
    percent: float | None,
    beyond: bool,
) -> Change:
    of_build = figure in BY_BUILD
    return Change(
        device=m.device,
        cipher=m.cipher,
        implementation=m.implementation,
        key_bits=m.key_bits,
        operation="" if of_build else m.operation,
        message_bytes=None if of_build else m.message_bytes,
        ad_bytes=None if of_build else m.ad_bytes,
        placement=m.placement,
        cache="" if of_build else m.cache,
        flags=m.flags,
        kind=kind,
        figure=figure,
        before=before,
        after=after,
        percent=percent,
        beyond=beyond,
    )
