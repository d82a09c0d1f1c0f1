"""Secret taint: what it means where secrets steer the processor on the host. Pure.

Sightings come from a tool that follows undefined bytes (valgrind's memcheck). One branch is excused: the one
that acts on the outcome of the tag check, which everybody learns anyway. It differs from a
comparison that stops early by how often it runs: once a message, not once a byte.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from motecrypt.attack.audits.oracle import Weight

TaintVerdict = Literal["no secret dependence", "secrets choose addresses", "secrets choose branches"]

MEANING: dict[TaintVerdict, tuple[Weight, str]] = {
    "no secret dependence": ("good", "no branch and no address depends on key or message"),
    "secrets choose addresses": (
        "note",
        "addresses depend on secrets (tables): harmless without a cache, not here or in XIP flash",
    ),
    "secrets choose branches": ("bad", "branches depend on secrets"),
}


@dataclass(frozen=True)
class Sighting:
    """A place where a secret steers: `kind` branch or address, at a source line, and how many `times`."""

    kind: Literal["branch", "address"]
    function: str
    line: str
    times: int


def judge(
    runs: Mapping[str, Sequence[Sighting]], has_tag: bool
) -> tuple[TaintVerdict, tuple[Sighting, ...], tuple[Sighting, ...]]:
    """Return the verdict, the sightings it rests on, and those excused as the outcome of the tag check.

    Parameters
    ----------
    runs
        Sightings of the operations encrypt, decrypt and refuse (a wrong tag), each one message.
    has_tag
        Whether decryption ends in a tag check.
    """
    excused = set()
    if has_tag:
        seen_encrypting = {sighting.line for sighting in runs["encrypt"]}
        once = [
            {s.line for s in runs[operation] if s.kind == "branch" and s.times == 1}
            for operation in ("decrypt", "refuse")
        ]
        outcome = sorted((once[0] & once[1]) - seen_encrypting)
        excused = set(outcome[:1]) if len(outcome) == 1 else set()
    merged: dict[tuple[str, str, str], int] = {}
    set_aside: dict[tuple[str, str, str], int] = {}
    for sightings in runs.values():
        for sighting in sightings:
            into = set_aside if sighting.line in excused and sighting.kind == "branch" else merged
            key = (sighting.kind, sighting.function, sighting.line)
            into[key] = max(into.get(key, 0), sighting.times)
    found = _sightings(merged)
    verdict: TaintVerdict = "no secret dependence"
    if any(sighting.kind == "branch" for sighting in found):
        verdict = "secrets choose branches"
    elif found:
        verdict = "secrets choose addresses"
    return verdict, found, _sightings(set_aside)


def _sightings(merged: Mapping[tuple[str, str, str], int]) -> tuple[Sighting, ...]:
    return tuple(
        Sighting("branch" if kind == "branch" else "address", function, line, times)
        for (kind, function, line), times in sorted(merged.items())
    )
