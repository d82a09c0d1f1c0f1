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
from motecrypt.cli._output import print_json, print_next, show, table_options, typed_with
from motecrypt.cli._request import FILE, FiniteRange
from motecrypt.cli._unmodelled import show_used
from motecrypt.present.runs.stack import functions_view, program_view
from motecrypt.present.terminal import BLANK
from motecrypt.simulate.callgraph.bounds import dot
from motecrypt.simulate.emulate.profiling import choose


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
@click.option("--until", metavar="TEXT", help="End the run when the UART has sent this text.")
@click.option(
    "--max-seconds",
    type=FiniteRange(min=0, min_open=True),
    default=1.0,
    show_default=True,
    help="End the run after this much simulated time.",
)
@click.option("--graph", type=FILE, help="Write the graph of calls for Graphviz (dot).")
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
        show(*program_view(f"Stack of {firmware.name} on {found.device.title}", found.program), BLANK)
    show(*functions_view(chosen, seen, every=bool(functions)))
    print_next(typed_with("--json") if graph else typed_with("--graph", "calls.dot"))


def _pointed(pairs: Sequence[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for pair in pairs:
        caller, equals, target = pair.partition("=")
        if not (caller and equals and target):
            raise InputError(f"--pointer '{pair}': write CALLER=TARGET, two functions")
        found.setdefault(caller, []).append(target)
    return found
