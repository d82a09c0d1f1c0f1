"""Timing: where traces over random keys and messages part, and what that means on which device. Pure.

A trace is what a simulator saw between two marks: for each instruction its address, and the memory addresses
that it touched. Traces are compared instruction by instruction *address*, not by position: for each program
counter the sequence of what came next and the sequence of addresses touched. So one loop that runs longer
does not blame everything behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Literal

from motecrypt.audits.oracle import Weight

SplitKind = Literal["branch", "address"]
TimingVerdict = Literal[
    "constant",
    "addresses only, no cache",
    "addresses only, cached flash",
    "branches, equal cycles",
    "cycles vary",
]

#: How a simulator's dump writes "no address".
NO_ADDRESS = 0xFFFFFFFF


@dataclass(frozen=True)
class Trace:
    """One traced region, by program counter.

    Attributes
    ----------
    successors
        successors[pc]: the program counters that followed, in order.
    addresses
        addresses[pc]: the memory addresses touched there, in order.
    instructions
        How many instructions were executed.
    """

    successors: dict[int, list[int]]
    addresses: dict[int, list[int]]
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


def read_dump(lines: Iterable[str], wanted: Sequence[bool] | None = None) -> Iterator[Trace]:
    """Read a simulator's dump: a line for each instruction or access, "end" after each region.

    `wanted` says for each region whether it is worth reading; None: all are.
    """
    text = iter(lines)
    for number in count():
        if wanted is not None and (number >= len(wanted) or not wanted[number]):
            if not any(line.startswith("end") for line in text):
                return
            continue
        trace = _read_region(text)
        if trace is None:
            return
        yield trace


def _read_region(lines: Iterator[str]) -> Trace | None:
    successors: dict[int, list[int]] = {}
    addresses: dict[int, list[int]] = {}
    last, instructions = -1, 0
    for line in lines:
        if line.startswith("end"):
            return Trace(successors, addresses, instructions)
        pc_text, address_text = line.split()
        pc, address = int(pc_text, 16), int(address_text, 16)
        touches = address != NO_ADDRESS
        if not (touches and pc == last):  # else a further access of the same instruction
            if last >= 0:
                successors.setdefault(last, []).append(pc)
            last = pc
            instructions += 1
        if touches:
            addresses.setdefault(pc, []).append(address)
    return None


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
            if any(a != b for a, b in zip(following, other.successors.get(pc, ()), strict=False)):
                found.add(Split(pc, "branch"))
        for pc, touched in first.addresses.items():
            for a, b in zip(touched, other.addresses.get(pc, ()), strict=False):
                if a != b:
                    found.add(Split(pc, "address", memory_of(a)))
                    break
    return tuple(sorted(found, key=lambda split: (split.kind, split.pc)))


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
        "table addresses depend on secrets and are read through the flash cache: a hit or a miss tells which",
    ),
    "branches, equal cycles": (
        "note",
        "branches depend on secrets, yet all inputs took the same cycles: other compilers may differ",
    ),
    "cycles vary": ("bad", "the time taken depends on secrets"),
}
