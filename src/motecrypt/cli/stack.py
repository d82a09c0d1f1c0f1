"""motecrypt stack: the worst-case stack of each function, from the call graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from motecrypt.app.run import RunRequest
from motecrypt.app.stack import StackRequest, stack
from motecrypt.base.errors import InputError
from motecrypt.base.paths import write_atomically
from motecrypt.cli._firmware import device_option, firmware_argument
from motecrypt.cli._output import print_answer, print_json, print_next, print_table, table_options, typed_with
from motecrypt.cli._unmodelled import show_used
from motecrypt.simulate.callgraph.bounds import ProgramStack, StackBound, dot
from motecrypt.simulate.emulate.profiling import choose

ROWS = 30
PATH_SHOWN = 5
COLUMNS = ("function", "own", "worst", "seen", "deepest path", "no bound because")
LEAST = ("deepest path", "own")


@click.command(epilog="Example: motecrypt stack firmware.elf --device pico --graph calls.dot")
@firmware_argument
@device_option
@click.option(
    "--function", "functions", multiple=True, metavar="NAME", help="Only this function; may be repeated."
)
@click.option(
    "--pointer",
    "pointers",
    multiple=True,
    metavar="CALLER=TARGET",
    help="A function that CALLER calls by a pointer; may be repeated.",
)
@click.option("--no-run", is_flag=True, help="Do not run the firmware for the deepest stack seen.")
@click.option("--until", default=None, metavar="TEXT", help="End the run when the UART has sent this text.")
@click.option(
    "--max-seconds",
    type=click.FloatRange(min=0, min_open=True),
    default=1.0,
    show_default=True,
    help="End the run after this much simulated time.",
)
@click.option(
    "--graph",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    help="Write the graph of calls for Graphviz (dot).",
)
@table_options
def command(
    firmware: Path,
    device: str,
    functions: Sequence[str],
    pointers: Sequence[str],
    no_run: bool,
    until: str | None,
    max_seconds: float,
    graph: Path | None,
    as_json: bool,
) -> None:
    """Bound the stack of each function of FIRMWARE (an .elf with symbols, or an Arduino .ino): AVR, Cortex-M.

    The bound comes from the instructions, and so includes assembly and the C library: what each function
    pushes and reserves, and the deepest path of calls below it. Recursion, calls by a pointer, and stacks of
    variable size are named, since no bound follows from the code there. The deepest stack that a run has seen
    is next to the bound.
    """
    run = RunRequest(firmware, device, until=until, max_seconds=max_seconds)
    found = stack(StackRequest(run, _pointed(pointers), no_run))
    ended, seen = found.ran.ended if found.ran else None, found.seen
    if ended is not None:
        show_used(ended)
    if graph is not None:
        write_atomically(graph, dot(found.bounds).encode())
    chosen = choose(found.bounds, functions)
    if as_json:
        figures = ("stack_bytes", "stack_reason", "notes", "unmodelled")
        print_json(
            {
                "functions": [
                    {**asdict(b), "bounded": b.bounded, "seen": seen.get(b.address)} for b in chosen
                ],
                "program": found.program,
                "run": ended and {name: getattr(ended, name) for name in figures},
            }
        )
        return
    if not functions:
        print_answer(f"Stack of {firmware.name} on {found.device.title}", _lines(found.program))
        print()
    rows = [_row(bound, seen) for bound in (chosen if functions else chosen[:ROWS])]
    more = (
        "" if functions or len(chosen) <= ROWS else f"; {len(chosen) - ROWS} more functions: --json has all"
    )
    text = (
        "bytes; worst: with what it calls, and the return address where the call pushes it; own: without "
        f"what it calls; seen: the deepest in the run{more}"
    )
    print_table("Functions", COLUMNS, rows, text, LEAST, COLUMNS[:1])
    print_next(typed_with("--json") if graph else typed_with("--graph", "calls.dot"))


def _pointed(pairs: Sequence[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for pair in pairs:
        caller, equals, target = pair.partition("=")
        if not (caller and equals and target):
            raise InputError(f"--pointer '{pair}': write CALLER=TARGET, two functions")
        found.setdefault(caller, []).append(target)
    return found


def _row(bound: StackBound, seen: dict[int, int]) -> list[object]:
    path = (
        bound.path
        if len(bound.path) <= PATH_SHOWN
        else (*bound.path[: PATH_SHOWN - 1], "...", bound.path[-1])
    )
    stack = seen.get(bound.address)
    return [
        bound.name,
        f"{bound.own:,}",
        f"{bound.worst:,}" if bound.bounded else f"at least {bound.worst:,}",
        "" if stack is None else f"{stack:,}",
        " > ".join(path[1:]),
        bound.reason,
    ]


def _lines(program: ProgramStack) -> list[tuple[str, str]]:
    """The answer in lines."""
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
