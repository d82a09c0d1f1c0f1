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
from motecrypt.cli._output import print_json, print_next, show, table_options, typed_with
from motecrypt.cli._request import FILE, FiniteRange
from motecrypt.cli._unmodelled import show_used
from motecrypt.present.runs.profile import profile_view
from motecrypt.simulate.emulate.profiling import DID_NOT_RUN, Profile, choose, speedscope
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
    type=FiniteRange(min=0, min_open=True),
    default=10.0,
    show_default=True,
    help="End after this much simulated time.",
)
@input_option
@click.option(
    "--lines", type=click.IntRange(0), default=0, metavar="N", help="The N source lines with most cycles."
)
@click.option(
    "--speedscope", "flame", type=FILE, help="Write a file for speedscope.app, a viewer of flame graphs."
)
@click.option(
    "--html",
    "page",
    type=FILE,
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
        shown = chosen if functions else chosen[:ROWS]
        show(*profile_view(found, shown, len(chosen), lines, firmware.name))
        print_next(_next(found, lines, flame))
    if ran.failure:
        raise MotecryptError(ran.failure)


def _next(found: Profile, lines: int, flame: Path | None) -> str:
    """The same with the source lines, then with a file for the viewer, then as JSON."""
    if not lines and found.lines:
        return typed_with("--lines", "10")
    return typed_with("--json") if flame is not None else typed_with("--speedscope", "profile.json")
