"""The worst-case stacks of a firmware, as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from motecrypt.present.terminal import TextAnswer, TextBlock, TextTable

if TYPE_CHECKING:
    from motecrypt.simulate.callgraph.bounds import ProgramStack, StackBound

ROWS = 30
PATH_SHOWN = 5
COLUMNS = ("function", "own", "worst", "seen", "deepest path", "no bound because")
LEAST = ("deepest path", "own")


def functions_view(chosen: Sequence[StackBound], seen: Mapping[int, int], *, every: bool) -> list[TextBlock]:
    """The deepest functions, or all of those chosen, with the deepest stack seen by their address."""
    shown = chosen if every else chosen[:ROWS]
    left = len(chosen) - len(shown)
    more = f"; {left} more functions: --json has all" if left else ""
    text = (
        "bytes; worst: with what it calls, and the return address where the call pushes it; own: without "
        f"what it calls; seen: the deepest in the run{more}"
    )
    rows = [_row(bound, seen) for bound in shown]
    return [TextTable("Functions", COLUMNS, rows, text, LEAST, COLUMNS[:1])]


def _row(bound: StackBound, seen: Mapping[int, int]) -> list[object]:
    path = bound.path
    if len(path) > PATH_SHOWN:
        path = (*path[: PATH_SHOWN - 1], "...", path[-1])
    stack = seen.get(bound.address)
    return [
        bound.name,
        f"{bound.own:,}",
        f"{bound.worst:,}" if bound.bounded else f"at least {bound.worst:,}",
        "" if stack is None else f"{stack:,}",
        " > ".join(path[1:]),
        bound.reason,
    ]


def program_view(title: str, program: ProgramStack) -> list[TextBlock]:
    """The stacks of main and interrupts together."""
    return [TextAnswer(title, _lines(program))]


def _lines(program: ProgramStack) -> list[tuple[str, str]]:
    if program.main is None:
        return [("Program", "has no function main; see the functions")]
    total = program.main + program.interrupt_bytes
    most = f"{total:,} bytes" if program.bounded else f"at least {total:,} bytes"
    if program.interrupt:
        most += f" (main {program.main:,}, {program.interrupt} {program.interrupt_bytes:,})"
    told = [("Worst", most)]
    if program.several:
        told.append(("Stacks", "several in the run: this is main's; the functions of tasks are below"))
    if program.room is not None:
        known = program.bounded and not program.several
        fits = "does not fit" if total > program.room else "fits" if known else "not known to fit"
        told.append(("Room", f"{program.room:,} bytes of RAM above the data: {fits}"))
    return [*told, ("No bound", program.reason)] if program.reason else told
