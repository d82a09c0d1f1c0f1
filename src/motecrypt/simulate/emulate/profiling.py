"""Profiles of any firmware: calls, cycles, stack and lines, from what the simulator counted.

The counting is done in C while the firmware runs (drivers/shadow.h); here names and lines are put to it.
"""

from __future__ import annotations

import fnmatch
import json
import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

from motecrypt.base.errors import InputError
from motecrypt.base.model import Device
from motecrypt.catalog import nearest
from motecrypt.simulate.emulate.images import Image
from motecrypt.simulate.emulate.run import Ended, FreeRun, run_freely
from motecrypt.simulate.emulate.symbols import DEMANGLERS, Symbols, read_symbols

START_UP = "(start-up)"
DID_NOT_RUN = "function {name} did not run: "


class _HasName(Protocol):
    @property
    def name(self) -> str: ...


_Named = TypeVar("_Named", bound=_HasName)


@dataclass(frozen=True)
class FunctionCost:
    """What one function took, in cycles; interrupts never count for what they interrupt.

    Parameters
    ----------
    calls
        How often it was called; None for an inlined function, which nobody calls.
    cycles, self_cycles
        With and without what it calls, over all calls. Of a recursion, `cycles` counts the outermost call.
    cycles_range, self_cycles_range
        Minimum, median and maximum of one call that ended; None when none has.
    stack_bytes
        The deepest stack of one call, with its return address and what it calls; None where it is not known,
        as of the function that a task begins with.
    inlined_into
        For an inlined function: into which functions. Its cycles are then those of its own instructions.
    """

    name: str
    address: int
    calls: int | None
    cycles: int
    self_cycles: int
    cycles_range: tuple[int, int, int] | None
    self_cycles_range: tuple[int, int, int] | None
    stack_bytes: int | None
    file: str = ""
    line: int = 0
    inlined_into: tuple[str, ...] = ()


@dataclass(frozen=True)
class LineCost:
    """What the instructions of one source line took: how often the first of them ran, and cycles of all."""

    file: str
    line: int
    times: int
    cycles: int


@dataclass(frozen=True)
class CallNode:
    """A function in the tree of callers: one for each path on which it was called.

    Parameters
    ----------
    parent
        Its place in the tree; -1 for what nobody called. A parent comes before what it calls.
    self_cycles
        Of its own instructions on this path.
    """

    parent: int
    name: str
    calls: int
    self_cycles: int


@dataclass(frozen=True)
class StackOverTime:
    """The deepest stack in each slot of time, in bytes, and the function that ran with it.

    Parameters
    ----------
    slot_cycles
        How many cycles a slot has; the first begins with the run.
    slots
        None where no stack pointer was seen.
    """

    slot_cycles: int
    slots: tuple[tuple[int, str] | None, ...]


@dataclass(frozen=True)
class Profile:
    """A whole run: functions by their own cycles, lines by theirs, and the tree of callers."""

    ended: Ended
    functions: tuple[FunctionCost, ...]
    lines: tuple[LineCost, ...]
    stacks: tuple[tuple[tuple[str, ...], int], ...]
    symbols_found: bool
    places: Mapping[str, tuple[str, int]]
    calls_dropped: int = 0
    """Calls deeper than the shadow stack: their cycles count for the deepest function in it."""
    calls_shared: int = 0
    """Calls from places beyond the largest tree of callers: in it, their cycles count for their callers."""
    tree: tuple[CallNode, ...] = ()
    stack_over_time: StackOverTime | None = None
    instructions: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    """By address: how often the instruction ran, and its cycles."""
    symbols: Symbols = field(default_factory=lambda: Symbols((), {}, (), ()))


def profile(image: Image, device: Device, how: FreeRun, output: Callable[[bytes], None]) -> Profile:
    """Run a firmware and profile it. Without symbols, functions are called by their addresses."""
    symbols = read_symbols(image.elf, DEMANGLERS[device.runner]) if image.elf else Symbols((), {}, (), ())
    with tempfile.TemporaryDirectory(prefix="motecrypt-profile.") as scratch:
        counted, functions = Path(scratch) / "profile", Path(scratch) / "functions"
        functions.write_text("".join(f"{f.start:x} {f.end:x}\n" for f in symbols.functions))
        ended = run_freely(image, device, replace(how, profile=(counted, functions)), output)
        if not counted.exists():
            raise InputError(f"{image.path}: the simulator wrote no profile ({ended.detail})")
        rows = [json.loads(line) for line in counted.read_text().splitlines()]
    return _put_together(rows, symbols, ended)


def _put_together(rows: Sequence[Mapping[str, Any]], symbols: Symbols, ended: Ended) -> Profile:
    costs, names = [], {}
    for row in rows:
        if "function" in row:
            known = row["function"] <= len(symbols.functions)
            function = symbols.functions[row["function"] - 1] if known and row["function"] else None
            name = (
                START_UP
                if not row["function"]
                else function.name
                if function
                else symbols.name_at(row["start"])
            )
            names[row["function"]] = name
            costs.append(_cost(row, name, symbols))
    ran = {row["pc"]: (row["n"], row["c"]) for row in rows if "pc" in row}
    costs += _inlined(symbols, ran)
    costs.sort(key=lambda cost: cost.name)
    costs.sort(key=lambda cost: cost.self_cycles, reverse=True)
    nodes = [row for row in rows if "node" in row]
    places = {c.name: (c.file, c.line) for c in costs if c.file}
    left_out: Mapping[str, int] = next((row for row in rows if "dropped" in row), {})
    return Profile(
        ended,
        tuple(costs),
        _lines(symbols, ran),
        _stacks(nodes, names),
        bool(symbols.functions),
        places,
        calls_dropped=left_out.get("dropped", 0),
        calls_shared=left_out.get("shared", 0),
        tree=_tree(nodes, names),
        stack_over_time=_stack_over_time(rows, names),
        instructions=ran,
        symbols=symbols,
    )


def _cost(row: Mapping[str, Any], name: str, symbols: Symbols) -> FunctionCost:
    file, line = symbols.line_at(row["start"]) or ("", 0) if row["function"] else ("", 0)
    ranges = [tuple(row[key]) if key in row else None for key in ("inclusive_range", "self_range")]
    return FunctionCost(
        name=name,
        address=row["start"],
        calls=row["calls"],
        cycles=row["inclusive"],
        self_cycles=row["self"],
        cycles_range=ranges[0],
        self_cycles_range=ranges[1],
        stack_bytes=row["stack"] if row["function"] else None,
        file=file,
        line=line,
    )


def _inlined(symbols: Symbols, ran: Mapping[int, tuple[int, int]]) -> list[FunctionCost]:
    parts: dict[str, list[Any]] = defaultdict(list)
    for one in symbols.inlined:
        parts[one.name].append(one)
    costs = []
    for name, places in parts.items():
        inside = {
            pc: cycles
            for pc, (_, cycles) in ran.items()
            if any(a <= pc < b for place in places for a, b in place.ranges)
        }
        if inside:
            into = tuple(sorted({place.into for place in places if place.into}))
            file, line = symbols.line_at(min(inside)) or ("", 0)
            total = sum(inside.values())
            costs.append(
                FunctionCost(name, min(inside), None, total, total, None, None, None, file, line, into)
            )
    return costs


def _lines(symbols: Symbols, ran: Mapping[int, tuple[int, int]]) -> tuple[LineCost, ...]:
    times: dict[tuple[str, int], int] = {}
    cycles: dict[tuple[str, int], int] = defaultdict(int)
    for pc in sorted(ran):
        place = symbols.line_at(pc)
        if place is not None:
            times.setdefault(place, ran[pc][0])
            cycles[place] += ran[pc][1]
    ordered = sorted(sorted(cycles), key=lambda place: cycles[place], reverse=True)
    return tuple(
        LineCost(file=file, line=line, times=times[file, line], cycles=cycles[file, line])
        for file, line in ordered
    )


def _stacks(
    nodes: Sequence[Mapping[str, Any]], names: Mapping[int, str]
) -> tuple[tuple[tuple[str, ...], int], ...]:
    by_number = {node["node"]: node for node in nodes}
    stacks: list[tuple[tuple[str, ...], int]] = []
    for node in nodes:
        path: list[str] = []
        at: Mapping[str, Any] | None = node
        while at is not None:
            path.append(names.get(at["of"], START_UP))
            at = by_number.get(at["parent"])
        if node["self"]:
            stacks.append((tuple(reversed(path)), node["self"]))
    return tuple(stacks)


def _tree(nodes: Sequence[Mapping[str, Any]], names: Mapping[int, str]) -> tuple[CallNode, ...]:
    """A node's number is larger than its parent's, so their order is already that of the tree."""
    place = {node["node"]: at for at, node in enumerate(nodes)}
    return tuple(
        CallNode(place.get(node["parent"], -1), names.get(node["of"], START_UP), node["calls"], node["self"])
        for node in nodes
    )


def _stack_over_time(rows: Sequence[Mapping[str, Any]], names: Mapping[int, str]) -> StackOverTime | None:
    told = next((row for row in rows if "slots" in row), None)
    if told is None:
        return None
    top = max(told["stack_top"], *(sp for sp, _ in told["slots"]))
    slots = ((top - sp, names.get(function, START_UP)) if sp else None for sp, function in told["slots"])
    return StackOverTime(told["slot_cycles"], tuple(slots))


def choose(functions: Sequence[_Named], wanted: Sequence[str], absent: str = "") -> list[_Named]:
    """The functions of these names (patterns such as "rc4*" are fine); all when none is named.

    Raises
    ------
    InputError
        There is none of that name; `absent` says that first, of the "{name}".
    """
    if not wanted:
        return list(functions)
    chosen: dict[_Named, None] = {}
    for name in wanted:
        matching = [function for function in functions if _matches(function.name, name)]
        if not matching:
            there = set(filter(None, (each.name.partition("(")[0] for each in functions)))  # no START_UP
            raise InputError(absent.format(name=name) + nearest("function", name, there))
        chosen.update(dict.fromkeys(matching))
    return list(chosen)


def _matches(name: str, pattern: str) -> bool:
    short = name.partition("(")[0]
    return any(fnmatch.fnmatchcase(n, pattern) for n in (name, short, short.rpartition("::")[2]))


def speedscope(found: Profile, title: str) -> dict[str, Any]:
    """The file of speedscope.app (its file-format-schema.json): each stack weighted with its own cycles."""
    frames: dict[str, int] = {}
    samples, weights = [], []
    for stack, cycles in found.stacks:
        samples.append([frames.setdefault(name, len(frames)) for name in stack])
        weights.append(cycles)
    return {
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "name": title,
        "exporter": "motecrypt",
        "shared": {"frames": [_frame(name, found.places) for name in frames]},
        "profiles": [
            {
                "type": "sampled",
                "name": f"{title}, cycles",
                "unit": "none",
                "startValue": 0,
                "endValue": sum(weights),
                "samples": samples,
                "weights": weights,
            }
        ],
    }


def _frame(name: str, places: Mapping[str, tuple[str, int]]) -> dict[str, Any]:
    file, line = places.get(name) or (None, None)
    return {"name": name, "file": file, "line": line} if file else {"name": name}
