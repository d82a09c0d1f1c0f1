"""motecrypt profile: what each function of any firmware costs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

import click

from motecrypt.app.profile import profile
from motecrypt.app.run import RunRequest
from motecrypt.base.errors import MotecryptError
from motecrypt.base.paths import write_atomically
from motecrypt.cli._firmware import (
    device_option,
    eeprom_option,
    firmware_argument,
    input_option,
    libraries_option,
    until_option,
)
from motecrypt.cli._output import print_json, print_next, print_table, table_options, typed_with
from motecrypt.cli._unmodelled import show_used
from motecrypt.simulate.emulate.profiling import DID_NOT_RUN, FunctionCost, Profile, choose, speedscope
from motecrypt.simulate.emulate.run import ChipSettings, Uart

ROWS = 30


@click.command(epilog="Example: motecrypt profile firmware.elf --function 'aes*' --speedscope profile.json")
@firmware_argument
@device_option
@click.option(
    "--function", "functions", multiple=True, metavar="NAME", help="Only this function; may be repeated."
)
@until_option
@click.option(
    "--max-seconds",
    type=click.FloatRange(min=0, min_open=True),
    default=10.0,
    show_default=True,
    help="End after this much simulated time.",
)
@input_option
@click.option(
    "--lines", type=click.IntRange(0), default=0, metavar="N", help="The N source lines with most cycles."
)
@click.option(
    "--speedscope",
    "flame",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    help="Write a file for speedscope.app, a viewer of flame graphs.",
)
@click.option(
    "--html",
    "page",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    help="Write a page: flame graph, call tree, source with cycles, stack over time. One file, offline.",
)
@click.option(
    "--source",
    "sources",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    multiple=True,
    help="Folder whose sources --html may show, too; the firmware's own and the compilers' are read anyway.",
)
@eeprom_option
@libraries_option
@table_options
def command(
    firmware: Path,
    device: str,
    functions: Sequence[str],
    until: str | None,
    max_seconds: float,
    input_file: BinaryIO | None,
    lines: int,
    flame: Path | None,
    page: Path | None,
    sources: tuple[Path, ...],
    eeprom: Path | None,
    libraries: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Run FIRMWARE (.elf, .hex, .uf2 or an Arduino .ino) and count every function's calls, cycles and stack.

    The firmware needs no change. Interrupts count for themselves alone; how far the simulated cycles are the
    chip's, docs/fidelity.md says part by part. The firmware need not be trusted: it reaches its UART and
    nothing else of this computer (docs/security.md).
    """
    chip, uart = ChipSettings(eeprom), Uart(input=input_file)
    ran = profile(RunRequest(firmware, device, libraries, until, max_seconds, None, uart, chip))
    found = ran.profile
    show_used(ran.ended)
    chosen = choose(found.functions, functions, DID_NOT_RUN)
    if flame is not None:
        write_atomically(flame, json.dumps(speedscope(found, firmware.name)).encode())
    if page is not None:
        write_atomically(page, ran.page(sources, typed_with()).encode())
    if as_json:
        print_json(
            {
                "run": ran.ended,
                "functions": chosen,
                "lines": found.lines[:lines] if lines else found.lines,
                "calls_dropped": found.calls_dropped,
                "calls_shared": found.calls_shared,
            }
        )
    else:
        _print(found, chosen if functions else chosen[:ROWS], len(chosen), lines, firmware.name)
        print_next(_next(found, lines, flame))
    if ran.failure:
        raise MotecryptError(ran.failure)


def _next(found: Profile, lines: int, flame: Path | None) -> str:
    """The same with the source lines, then with a file for the viewer, then as JSON."""
    if not lines and found.lines:
        return typed_with("--lines", "10")
    return typed_with("--json") if flame is not None else typed_with("--speedscope", "profile.json")


COLUMNS = (
    "function",
    "calls",
    "cycles",
    "own",
    "share",
    "one call: min",
    "median",
    "max",
    "own: median",
    "stack",
)
LEAST = ("own: median", "one call: min", "max", "median", "stack", "calls", "share")


def _print(found: Profile, shown: Sequence[FunctionCost], there: int, lines: int, title: str) -> None:
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
    print_table(
        f"Profile of {title}", COLUMNS, [_row(cost, total) for cost in shown], text, LEAST, COLUMNS[:1]
    )
    if lines:
        rows = [
            [
                f"{Path(x.file).name}:{x.line}",
                f"{x.times:,}",
                f"{x.cycles:,}",
                f"{100 * x.cycles / total:.1f} %",
            ]
            for x in found.lines[:lines]
        ]
        note = "" if found.lines else "the file has no debugging information: compile with -g"
        print_table("Source lines", ("line", "times", "cycles", "share"), rows, note)


def _row(cost: FunctionCost, total: int) -> list[object]:
    low, middle, high = cost.cycles_range or ("", "", "")
    own = cost.self_cycles_range
    return [
        f"{cost.name} (in {', '.join(cost.inlined_into) or '?'})" if cost.calls is None else cost.name,
        "inlined" if cost.calls is None else f"{cost.calls:,}",
        f"{cost.cycles:,}",
        f"{cost.self_cycles:,}",
        f"{100 * cost.self_cycles / total:.1f} %",
        *(f"{x:,}" if x != "" else "" for x in (low, middle, high)),
        f"{own[1]:,}" if own else "",
        "" if cost.stack_bytes is None else f"{cost.stack_bytes:,}",
    ]
