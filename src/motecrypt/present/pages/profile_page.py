"""The page of a profile: where the cycles are, by function, caller, line and instruction, and the stack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from motecrypt.present.pages.charts import Series, axis, line_chart
from motecrypt.present.pages.shell import render, share
from motecrypt.simulate.emulate.annotate import Listing
from motecrypt.simulate.emulate.profiling import CallNode, FunctionCost, Profile, StackOverTime

FLAME_PART = 1 / 4000
"""Nodes with less of all cycles are put together with their neighbours: nobody sees them."""
TREE_PART = 1 / 500
TREE_ROWS = 300
FUNCTION_ROWS = 500
LISTINGS = 60
INSTRUCTIONS = 20_000
"""Beyond these, lines are shown without their instructions."""
STACK_ROWS = 48
NAMED = 3
"""Functions that the answer names."""
UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))


@dataclass(frozen=True)
class _Branch:
    """A node with what it calls counted in. `place`: of the node in the pruned tree's order."""

    parent: int
    name: str
    calls: int
    own: int
    cycles: int


def profile_page(
    found: Profile, listings: Sequence[Listing], name: str, device: str, clock_hz: int, command: str
) -> str:
    """The page as HTML.

    Parameters
    ----------
    listings
        As `emulate.annotate` gives them.
    name
        The firmware's file, without its folder.
    clock_hz
        Of the device: cycles become time.
    command
        What the user typed.
    """
    total = max(1, found.ended.cycles)
    whole = _branches(found.tree)
    flame = _pruned(whole, total * FLAME_PART)
    return render(
        "profile.html",
        ("pages.js", "flame.js", "source.js"),
        {
            "total": total,
            "flame": _packed(flame),
            "stack": _slots(found.stack_over_time, clock_hz),
            "instructions": _instructions(listings[:LISTINGS]),
        },
        title=f"Profile of {name} on {device}",
        command=command,
        ended=found.ended,
        device=device,
        total=total,
        answer=_answer(found, total),
        functions=[_function(cost, total) for cost in found.functions[:FUNCTION_ROWS]],
        functions_left_out=max(0, len(found.functions) - FUNCTION_ROWS),
        tree=_tree_rows(_pruned(whole, total * TREE_PART), total),
        notes=_notes(found),
        listings=[_listing(listing, total) for listing in listings[:LISTINGS]],
        listings_left_out=max(0, len(listings) - LISTINGS),
        stack=_stack(found.stack_over_time, clock_hz),
    )


def _answer(found: Profile, total: int) -> str:
    most = [cost for cost in found.functions if cost.calls is not None][:NAMED]
    named = ", ".join(f"{cost.name} {share(cost.self_cycles, total)}" for cost in most)
    return f"Hottest functions: {named}."


def _notes(found: Profile) -> list[str]:
    told = list(found.ended.notes)
    if not found.symbols_found:
        told.append("The file has no symbols: functions are named by their addresses.")
    if found.calls_dropped:
        told.append(
            f"{found.calls_dropped:,} calls were too deep to be separated: their cycles are counted in the "
            "deepest function."
        )
    if found.calls_shared:
        told.append(
            f"The tree of callers is full: the cycles of {found.calls_shared:,} calls are counted in their "
            "callers."
        )
    return told


# --- the tree of callers -------------------------------------------------------------------------------


def _branches(tree: Sequence[CallNode]) -> list[_Branch]:
    """The same nodes, each with the cycles of what it calls."""
    cycles = [node.self_cycles for node in tree]
    for at in range(len(tree) - 1, -1, -1):
        if tree[at].parent >= 0:
            cycles[tree[at].parent] += cycles[at]
    return [
        _Branch(node.parent, node.name, node.calls, node.self_cycles, cycles[at])
        for at, node in enumerate(tree)
    ]


def _pruned(tree: Sequence[_Branch], least: float) -> list[_Branch]:
    """The tree depth first, the largest of a caller first, without what has less than `least` cycles."""
    below: dict[int, list[int]] = {}
    for at, node in enumerate(tree):
        below.setdefault(node.parent, []).append(at)
    kept: list[_Branch] = []
    ahead = [(at, -1) for at in sorted(below.get(-1, []), key=lambda at: tree[at].cycles)]
    while ahead:
        at, parent = ahead.pop()
        node = tree[at]
        if node.cycles < least:
            continue
        kept.append(_Branch(parent, node.name, node.calls, node.own, node.cycles))
        place = len(kept) - 1
        ahead += [(n, place) for n in sorted(below.get(at, []), key=lambda n: tree[n].cycles)]
    return kept


def _packed(tree: Sequence[_Branch]) -> dict[str, Any]:
    """Names once, and a row for each node: parent, name, calls, cycles with and without what it calls."""
    names = {name: at for at, name in enumerate(dict.fromkeys(node.name for node in tree))}
    return {
        "names": list(names),
        "nodes": [[n.parent, names[n.name], n.calls, n.cycles, n.own] for n in tree],
    }


def _tree_rows(tree: Sequence[_Branch], total: int) -> dict[str, Any]:
    depth: list[int] = []
    rows = []
    parents = {node.parent for node in tree}
    for at, node in enumerate(tree):
        depth.append(depth[node.parent] + 1 if node.parent >= 0 else 0)
        row = {
            "place": at,
            "parent": node.parent,
            "depth": depth[at],
            "name": node.name,
            "calls": node.calls,
            "cycles": node.cycles,
            "own": node.own,
            "share": share(node.cycles, total),
            "has": at in parents,
        }
        rows.append(row)
    return {"rows": rows[:TREE_ROWS], "left_out": max(0, len(rows) - TREE_ROWS), "least": 100 * TREE_PART}


def _function(cost: FunctionCost, total: int) -> dict[str, Any]:
    low, middle, high = cost.cycles_range or (None, None, None)
    return {
        "name": cost.name,
        "inlined": ", ".join(cost.inlined_into) if cost.calls is None else "",
        "calls": cost.calls,
        "cycles": cost.cycles,
        "own": cost.self_cycles,
        "share": share(cost.self_cycles, total),
        "low": low,
        "middle": middle,
        "high": high,
        "stack": cost.stack_bytes,
        "place": f"{PurePath(cost.file).name}:{cost.line}" if cost.file else "",
    }


# --- lines and instructions ----------------------------------------------------------------------------


def _listing(listing: Listing, total: int) -> dict[str, Any]:
    most = max((line.cycles for line in listing.lines), default=0) or 1
    before = None
    rows = []
    for line in listing.lines:
        rows.append(
            {
                "number": line.number or None,
                "text": line.text,
                "times": line.times,
                "cycles": line.cycles,
                "share": share(line.cycles, total) if line.cycles else "",
                "heat": f"{0.5 * line.cycles / most:.2f}",
                "has": bool(line.instructions),
                "gap": before is not None and line.number != before + 1,
            }
        )
        before = line.number
    ran = sum(1 for line in listing.lines if line.instructions)
    return {
        "name": listing.name,
        "found": listing.found,
        "of_function": [line.number for line in listing.lines] == [0],
        "cycles": listing.cycles,
        "share": share(listing.cycles, total),
        "ran": ran,
        "rows": rows,
    }


def _instructions(listings: Sequence[Listing]) -> list[list[list[list[Any]]]]:
    """For each listing and line: rows of address, text, times, cycles. None of a listing that is too long."""
    left = INSTRUCTIONS
    told = []
    for listing in listings:
        size = sum(len(line.instructions) for line in listing.lines)
        left -= size
        told.append(
            [
                [[f"{i.address:x}", i.text, i.times, i.cycles] for i in line.instructions]
                for line in listing.lines
            ]
            if left >= 0
            else []
        )
    return told


# --- the stack over time -------------------------------------------------------------------------------


def _unit(seconds: float) -> tuple[float, str]:
    return next((unit for unit in UNITS if seconds >= unit[0]), UNITS[-1])


def _slots(stack: StackOverTime | None, clock_hz: int) -> dict[str, Any]:
    """What the slider reads: names once, and of each slot its bytes and the number of its function."""
    if stack is None:
        return {}
    names = {n: at for at, n in enumerate(dict.fromkeys(slot[1] for slot in stack.slots if slot))}
    seconds = stack.slot_cycles / clock_hz
    scale, unit = _unit(seconds * len(stack.slots))
    return {
        "names": list(names),
        "unit": unit,
        "slot": seconds / scale,
        "slots": [[slot[0], names[slot[1]]] if slot else None for slot in stack.slots],
    }


def _stack(stack: StackOverTime | None, clock_hz: int) -> dict[str, Any] | None:
    if stack is None:
        return None
    seconds = stack.slot_cycles / clock_hz
    scale, unit = _unit(seconds * len(stack.slots))
    step = seconds / scale
    deepest = max(slot for slot in stack.slots if slot)
    x = axis(f"time since the start, {unit}", 0, step * len(stack.slots), ends=True)
    y = axis("deepest stack, bytes", 0, deepest[0])
    points: list[tuple[float, float] | None] = []
    for at, slot in enumerate(stack.slots):
        points += [(at * step, slot[0]), ((at + 1) * step, slot[0])] if slot else [None]
    label = (
        f"Stack over time: at most {deepest[0]} bytes, in {deepest[1]}. The table below has the same data."
    )
    return {
        "chart": line_chart(label, x, y, [Series("stack", points, steps=True, filled=True)]),
        "rows": _stack_rows(stack, step),
        "unit": unit,
        "slot_cycles": stack.slot_cycles,
        "deepest": deepest,
        "last": len(stack.slots) - 1,
    }


def _stack_rows(stack: StackOverTime, step: float) -> list[dict[str, Any]]:
    """The slots in at most STACK_ROWS groups, of each the deepest."""
    each = -(-len(stack.slots) // STACK_ROWS)
    rows = []
    for first in range(0, len(stack.slots), each):
        some = [slot for slot in stack.slots[first : first + each] if slot]
        if some:
            deepest = max(some)
            last = min(len(stack.slots), first + each)
            rows.append(
                {
                    "from": f"{first * step:.4g}",
                    "to": f"{last * step:.4g}",
                    "bytes": deepest[0],
                    "name": deepest[1],
                }
            )
    return rows
