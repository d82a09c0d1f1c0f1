"""Which of several measurements is the best, among those that can be compared. Pure: it does not read the
catalog.

Two can be compared where device, key length, state of the flash cache, operation and lengths are the same,
and both ciphers authenticate or neither does. A broken cipher has its rank and is never the best.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from motecrypt.base.model import Measurement


class Group(NamedTuple):
    """What measurements that can be compared have in common."""

    device: str
    key_bits: int
    authenticated: bool
    cache: str
    operation: str
    message_bytes: int
    ad_bytes: int


@dataclass(frozen=True)
class RankedMeasurement:
    """A measurement's place by cycles among the `of` that it can be compared with. Equals share a rank."""

    measurement: Measurement
    group: Group
    rank: int
    of: int
    best: bool


def group_of(m: Measurement) -> Group:
    """The group of a measurement."""
    return Group(
        *(m.device, m.key_bits, m.tag_bytes > 0, m.cache, m.operation, m.message_bytes, m.ad_bytes),
    )


def ranked(measurements: Sequence[Measurement], broken: Collection[str] = ()) -> list[RankedMeasurement]:
    """Those that ran, by group in the order of the first of each, in a group the fastest first."""
    groups: dict[Group, list[Measurement]] = {}
    for m in measurements:
        if m.cycles_median is not None and m.status == "ok":
            groups.setdefault(group_of(m), []).append(m)
    places = []
    for group, members in groups.items():
        members.sort(key=_cycles)  # stable: equals stay in their order
        sound = [_cycles(m) for m in members if m.cipher not in broken]
        for m in members:
            rank = 1 + sum(_cycles(other) < _cycles(m) for other in members)
            best = m.cipher not in broken and len(members) > 1 and _cycles(m) == min(sound)
            places.append(RankedMeasurement(m, group, rank, len(members), best))
    return places


def smallest(
    places: Sequence[RankedMeasurement], group: Group, broken: Collection[str] = ()
) -> Measurement | None:
    """Of a group the one with the least flash, then the least RAM with its stack, whose cipher is not broken;
    None where no flash is known."""
    known = [
        (m.flash_bytes, (m.ram_bytes or 0) + (m.stack_bytes or 0), number, m)
        for number, m in enumerate(p.measurement for p in places if p.group == group)
        if m.flash_bytes is not None and m.cipher not in broken
    ]
    return min(known)[-1] if known else None


def _cycles(m: Measurement) -> int:
    assert m.cycles_median is not None, "only successful measurements are ranked"
    return m.cycles_median
