"""motecrypt stack: the worst-case stack of each function, from the call graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import click

from motecrypt.app.firmware import load_firmware
from motecrypt.app.selection import select
from motecrypt.base.errors import InputError
from motecrypt.base.model import Device
from motecrypt.base.paths import write_atomically
from motecrypt.catalog import nearest
from motecrypt.cli._choices import device_option
from motecrypt.cli._output import print_answer, print_json, print_next, print_table, table_options, typed_with
from motecrypt.cli._unmodelled import show_used, unmodelled_json
from motecrypt.simulate.callgraph.bounds import StackBound, dot, stack_bounds
from motecrypt.simulate.emulate.images import Image
from motecrypt.simulate.emulate.profiling import Profile, profile
from motecrypt.simulate.emulate.run import Ended, FreeRun
from motecrypt.simulate.emulate.symbols import DEMANGLERS, read_symbols

ROWS = 30
PATH_SHOWN = 5
COLUMNS = ("function", "own", "worst", "seen", "deepest path", "no bound because")
LEAST = ("deepest path", "own")


@click.command(epilog="Example: motecrypt stack firmware.elf --device pico --graph calls.dot")
@click.argument("firmware", type=click.Path(path_type=Path, dir_okay=False), metavar="FIRMWARE")
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
    target = select(devices=[device]).device
    image = load_firmware(firmware, target)
    if image.elf is None:
        raise InputError(f"{firmware}: has no symbols; give the .elf that it was made from")
    symbols = read_symbols(image.elf, DEMANGLERS[target.runner])
    bounds = stack_bounds(image.elf, target, symbols, _pointed(pointers))
    ran = None if no_run else _run(image, target, until, max_seconds)
    seen = {} if ran is None else _seen(ran)
    if ran is not None:
        show_used(ran.ended)
    if graph is not None:
        write_atomically(graph, dot(bounds).encode())
    chosen = _chosen(bounds, functions)
    whole = _Whole.of(bounds, image, target, several=ran is not None and bool(ran.ended.stack_reason))
    if as_json:
        told = [{**asdict(b), "bounded": b.bounded, "seen": seen.get(b.address)} for b in chosen]
        used = None if ran is None else _run_json(ran.ended)
        print_json({"functions": told, "program": asdict(whole), "run": used})
        return
    if not functions:
        print_answer(f"Stack of {firmware.name} on {target.title}", whole.lines())
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


def _run(image: Image, device: Device, until: str | None, max_seconds: float) -> Profile:
    return profile(image, device, FreeRun(until=until, max_seconds=max_seconds), lambda data: None)


def _run_json(ended: Ended) -> dict[str, object]:
    return {
        "stack_bytes": ended.stack_bytes,
        "stack_reason": ended.stack_reason,
        "notes": list(ended.notes),
        "unmodelled": unmodelled_json(ended),
    }


def _seen(found: Profile) -> dict[int, int]:
    """The deepest stack of each function that ran, by address."""
    return {c.address: c.stack_bytes for c in found.functions if c.stack_bytes is not None and c.calls}


def _chosen(bounds: Sequence[StackBound], names: Sequence[str]) -> list[StackBound]:
    if not names:
        return list(bounds)
    found: dict[StackBound, None] = {}
    for name in names:
        matching = [
            b for b in bounds if fnmatchcase(b.name, name) or fnmatchcase(b.name.partition("(")[0], name)
        ]
        if not matching:
            raise InputError(nearest("function", name, {b.name.partition("(")[0] for b in bounds}))
        found.update(dict.fromkeys(matching))
    return list(found)


def why(bound: StackBound) -> str:
    """Why there is no bound, with the functions that are the reason; empty where there is one."""
    said = [f"recursion {' > '.join(cycle)}" for cycle in bound.recursion]
    said += [f"{name} calls by a pointer" for name in bound.pointers]
    said += [f"{name} has a stack of variable size" for name in bound.dynamic]
    return "; ".join(said[:3]) + (f"; and {len(said) - 3} more" if len(said) > 3 else "")


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
        why(bound),
    ]


@dataclass(frozen=True)
class _Whole:
    """The program: main, with the deepest interrupt where the core's interrupts are known by their names.

    `several`: the run had several stacks, so this one is not all that the program needs.
    """

    main: int | None
    interrupt: str
    interrupt_bytes: int
    bounded: bool
    reason: str
    room: int | None
    several: bool

    @staticmethod
    def of(bounds: Sequence[StackBound], image: Image, device: Device, *, several: bool) -> _Whole:
        main = next((b for b in bounds if b.name.partition("(")[0] == "main"), None)
        vectors = [b for b in bounds if b.name.startswith("__vector_") and b.name != "__vector_default"]
        deepest = max(vectors, key=lambda b: b.worst, default=None)
        open_ended = [
            b for b in vectors if not b.bounded
        ]  # each may be deeper than the deepest that is known
        needed = list(dict.fromkeys(b for b in (main, deepest, *open_ended) if b is not None))
        ram = device.memory["ram"]
        end = image.data_end
        return _Whole(
            main=main.worst if main else None,
            interrupt=deepest.name if deepest else "",
            interrupt_bytes=deepest.worst if deepest else 0,
            bounded=all(b.bounded for b in needed),
            reason="; ".join(dict.fromkeys(filter(None, map(why, needed)))),
            room=ram.address + ram.bytes - end if end and ram.holds(end) else None,
            several=several,
        )

    def lines(self) -> list[tuple[str, str]]:
        """The answer in lines."""
        if self.main is None:
            return [("Program", "has no function main; see the functions")]
        total = self.main + self.interrupt_bytes
        most = f"{total:,} bytes" if self.bounded else f"at least {total:,} bytes"
        parts = f" (main {self.main:,}, {self.interrupt} {self.interrupt_bytes:,})" if self.interrupt else ""
        told = [("Worst", most + parts)]
        if self.room is not None:
            known = self.bounded and not self.several
            fits = "does not fit" if total > self.room else "fits" if known else "not known to fit"
            told.append(("Room", f"{self.room:,} bytes of RAM above the data: {fits}"))
        if self.several:
            told.insert(1, ("Stacks", "several in the run: this is main's; the functions of tasks are below"))
        return [*told, ("No bound", self.reason)] if self.reason else told
