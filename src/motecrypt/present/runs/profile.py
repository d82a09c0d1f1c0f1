"""What each function of a firmware cost, as tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from motecrypt.present.terminal import TextBlock, TextTable

if TYPE_CHECKING:
    from motecrypt.simulate.emulate.profiling import FunctionCost, Profile

COLUMNS = (
    *("function", "calls", "cycles", "own", "share", "one call: min", "median", "max", "own: median"),
    "stack",
)
LEAST = ("own: median", "one call: min", "max", "median", "stack", "calls", "share")


def profile_view(
    found: Profile, shown: Sequence[FunctionCost], there: int, lines: int, title: str
) -> list[TextBlock]:
    """The functions that are shown, of all that are there, and as many source lines."""
    total = max(1, found.ended.cycles)
    text = (
        f"{found.ended.detail}: {found.ended.cycles:,} cycles, {found.ended.seconds:.6f} s simulated; "
        "own: without called functions; share: own of all; stack: with return address and called functions"
    )
    if len(shown) < there:
        text += f"; {there - len(shown)} more functions: --json has all"
    if not found.symbols_found:
        text += "; the file has no symbols: functions are named by their addresses"
    if found.ended.stack_reason:
        text += f"; {found.ended.stack_reason}: cycles of a task do not count for another one"
    if found.calls_dropped:
        text += (
            f"; {found.calls_dropped:,} calls were too deep to be separated: their cycles are counted in the "
            "deepest function"
        )
    if found.calls_shared:
        text += (
            f"; the tree of callers is full: in --speedscope the cycles of {found.calls_shared:,} calls "
            "are counted in their callers"
        )
    rows = [_row(cost, total) for cost in shown]
    blocks: list[TextBlock] = [TextTable(f"Profile of {title}", COLUMNS, rows, text, LEAST, COLUMNS[:1])]
    if lines:
        told = [
            [f"{Path(x.file).name}:{x.line}", f"{x.times:,}", f"{x.cycles:,}", _share(x.cycles, total)]
            for x in found.lines[:lines]
        ]
        note = "" if found.lines else "the file has no debugging information: compile with -g"
        blocks.append(TextTable("Source lines", ("line", "times", "cycles", "share"), told, note))
    return blocks


def _share(cycles: int, total: int) -> str:
    return f"{100 * cycles / total:.1f} %"


def _row(cost: FunctionCost, total: int) -> list[object]:
    low, middle, high = cost.cycles_range or ("", "", "")
    own = cost.self_cycles_range
    return [
        f"{cost.name} (in {', '.join(cost.inlined_into) or '?'})" if cost.calls is None else cost.name,
        "inlined" if cost.calls is None else f"{cost.calls:,}",
        f"{cost.cycles:,}",
        f"{cost.self_cycles:,}",
        _share(cost.self_cycles, total),
        *(f"{x:,}" if x != "" else "" for x in (low, middle, high)),
        f"{own[1]:,}" if own else "",
        "" if cost.stack_bytes is None else f"{cost.stack_bytes:,}",
    ]
