"""Timing: where traces over random keys and messages part, and what that means on which device. Pure.

A trace is what a simulator saw between two marks: for each instruction its address, and the memory addresses
that it touched. Traces are compared instruction by instruction *address*, not by position: for each program
counter the sequence of what came next and the sequence of addresses touched. So one loop that runs longer
does not blame everything behind it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from motecrypt.attack.audits.oracle import Weight

SplitKind = Literal["branch", "address"]
TimingVerdict = Literal[
    "constant",
    "addresses only, no cache",
    "addresses only, cached flash",
    "branches, equal cycles",
    "cycles vary",
]

#: How a simulator's dump writes "no address".
NO_ADDRESS = "ffffffff"


@dataclass(frozen=True)
class Trace:
    """One traced region, by program counter.

    Attributes
    ----------
    successors
        successors[pc]: the program counters that followed, in order, as the dump writes them.
    addresses
        addresses[pc]: the memory addresses touched there, in order, as the dump writes them.
    instructions
        How many instructions were executed.
    """

    successors: Mapping[int, Sequence[str]]
    addresses: Mapping[int, Sequence[str]]
    instructions: int


@dataclass(frozen=True)
class Split:
    """A program counter at which traces part.

    `kind` "branch": what comes next depends on the data; "address": the memory touched does, in `memory`
    (flash or ram).
    """

    pc: int
    kind: SplitKind
    memory: str = ""


def read_dump(dump: str, wanted: Sequence[bool] | None = None) -> Iterator[Trace]:
    """Read a simulator's dump: a line for each instruction or access, "end" after each region.

    `wanted` says for each region whether it is worth reading; None: all are.
    """
    regions = dump.split("end\n")[:-1]
    for number, region in enumerate(regions):
        if wanted is None or (number < len(wanted) and wanted[number]):
            yield _read_region(region)


def _read_region(text: str) -> Trace:
    # Numbers stay text in the loop, which runs millions of times; only the keys are read as numbers.
    successors: defaultdict[str, list[str]] = defaultdict(list)
    addresses: defaultdict[str, list[str]] = defaultdict(list)
    words = text.split()
    last, instructions = "", 0
    for pc, address in zip(words[::2], words[1::2], strict=True):
        if address == NO_ADDRESS:
            successors[last].append(pc)
            last = pc
            instructions += 1
            continue
        addresses[pc].append(address)
        if pc != last:  # else a further access of the same instruction
            successors[last].append(pc)
            last = pc
            instructions += 1
    successors.pop("", None)
    return Trace(
        {int(pc, 16): following for pc, following in successors.items()},
        {int(pc, 16): touched for pc, touched in addresses.items()},
        instructions,
    )


def splits(traces: Sequence[Trace], memory_of: Callable[[int], str]) -> tuple[Split, ...]:
    """Return where the traces part, by program counter.

    Parameters
    ----------
    traces
        Traces of one operation over different secrets.
    memory_of
        Names the memory (flash, ram) of an address in a dump.
    """
    found: set[Split] = set()
    first = traces[0]
    for other in traces[1:]:
        for pc, following in first.successors.items():
            if _first_difference(following, other.successors.get(pc, ())) is not None:
                found.add(Split(pc, "branch"))
        for pc, touched in first.addresses.items():
            differing = _first_difference(touched, other.addresses.get(pc, ()))
            if differing is not None:
                found.add(Split(pc, "address", memory_of(int(differing, 16))))
    return tuple(sorted(found, key=lambda split: (split.kind, split.pc)))


@dataclass(frozen=True)
class Parting:
    """How traces part at one program counter: its executions around the first that differs.

    Attributes
    ----------
    first
        Number of the first execution that is shown, from 0.
    sequences
        For each trace, by execution: the program counter that followed (branch), or the address that was
        touched. A trace that came there less often is shorter.
    """

    first: int
    sequences: tuple[tuple[int, ...], ...]


PARTING_BEFORE, PARTING_SHOWN = 4, 32
"""Executions shown before the first that differs, and in all."""


def parting(traces: Sequence[Trace], split: Split) -> Parting:
    """What the traces did at the place of a split."""
    pick = "successors" if split.kind == "branch" else "addresses"
    seen = [getattr(trace, pick).get(split.pc, ()) for trace in traces]
    most = max(map(len, seen), default=0)
    parts = (at for at in range(most) if len({one[at] for one in seen if at < len(one)}) > 1)
    first = max(0, next(parts, 0) - PARTING_BEFORE)
    return Parting(
        first, tuple(tuple(int(text, 16) for text in one[first : first + PARTING_SHOWN]) for one in seen)
    )


def _first_difference(left: Sequence[str], right: Sequence[str]) -> str | None:
    """The first element of `left` that differs from `right`, as far as both reach."""
    if left == right:
        return None
    return next((a for a, b in zip(left, right, strict=False) if a != b), None)


def verdict(cycles: Iterable[int], found: Sequence[Split], flash_cached: bool) -> TimingVerdict:
    """Return what splits and cycle counts mean on a device.

    Parameters
    ----------
    cycles
        Cycles of the operation over the inputs.
    found
        Where the traces part.
    flash_cached
        Whether flash is read through a cache in this placement.
    """
    if len(set(cycles)) > 1 and not _cache_alone(found, flash_cached):
        return "cycles vary"
    if any(split.kind == "branch" for split in found):
        return "branches, equal cycles"
    if any(split.memory == "flash" for split in found) and flash_cached:
        return "addresses only, cached flash"
    return "addresses only, no cache" if found else "constant"


def _cache_alone(found: Sequence[Split], flash_cached: bool) -> bool:
    return flash_cached and bool(found) and all(split.kind == "address" for split in found)


MEANING: dict[TimingVerdict, tuple[Weight, str]] = {
    "constant": ("good", "no branch and no address depends on key or message"),
    "addresses only, no cache": (
        "good",
        "only table addresses depend on secrets, in a memory without a cache: harmless on this chip",
    ),
    "addresses only, cached flash": (
        "bad",
        "table addresses depend on secrets and are read through the flash cache: hits and misses leak them",
    ),
    "branches, equal cycles": (
        "note",
        "branches depend on secrets, but all inputs took the same cycles: other compilers may differ",
    ),
    "cycles vary": ("bad", "the time taken depends on secrets"),
}
