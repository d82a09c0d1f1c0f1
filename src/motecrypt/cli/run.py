"""motecrypt run: any firmware, in the simulator."""

from __future__ import annotations

import codecs
import sys
from pathlib import Path
from typing import BinaryIO

import click

from motecrypt.app.run import RunRequest, run
from motecrypt.base.errors import MotecryptError
from motecrypt.cli._firmware import (
    device_option,
    eeprom_option,
    firmware_argument,
    input_option,
    libraries_option,
    until_option,
)
from motecrypt.cli._output import json_option, print_json
from motecrypt.cli._request import FiniteRange
from motecrypt.cli._unmodelled import show_unmodelled
from motecrypt.simulate.emulate.run import ChipSettings, Uart


@click.command(epilog="Example: motecrypt run Blink.ino --until ready --max-seconds 5")
@firmware_argument
@device_option
@until_option
@click.option(
    "--max-seconds",
    type=FiniteRange(min=0, min_open=True),
    help="End after this much simulated time (default: 10; without end with --uart).",
)
@click.option(
    "--max-output", type=click.IntRange(1), default=1 << 20, help="Limit for bytes from the UART (1 MiB)."
)
@click.option(
    "--uart",
    metavar="PORT",
    help="A port or virtual radio for the UART; 'pty', or a new path, makes a pseudo-terminal.",
)
@click.option(
    "--board", is_flag=True, help="With a pseudo-terminal: opening it resets the chip, as on a real UNO."
)
@click.option("--speed", type=click.Choice(["full", "real"]), help="full speed, or real time.")
@click.option("--raw", is_flag=True, help="Pass control characters of the UART on to the terminal.")
@click.option("--stamps", is_flag=True, help="Begin each line with its simulated time in seconds.")
@input_option
@eeprom_option
@click.option("--millivolts", type=click.IntRange(0, 5000), help="Voltage at the analogue inputs.")
@click.option(
    "--contention",
    is_flag=True,
    help="Pico: each core waits while the other has its bank of memory (slower).",
)
@libraries_option
@json_option
def command(
    firmware: Path,
    device: str,
    until: str | None,
    max_seconds: float | None,
    max_output: int,
    uart: str | None,
    board: bool,
    speed: str | None,
    raw: bool,
    stamps: bool,
    input_file: BinaryIO | None,
    eeprom: Path | None,
    millivolts: int | None,
    contention: bool,
    libraries: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Run FIRMWARE (.elf, .hex, .uf2, .bin or an Arduino .ino) in the simulator and say what it took.

    FIRMWARE may be the word optiboot: the UNO's bootloader; with --uart and --board a pretend UNO. With
    --device pico it may be a demo: aesTest, aesTest3 (Mbed TLS) or aesTest4 (tiny-AES-c), each with -256 for
    a longer key, or littleFsAes, which encrypts a file in the Pico's flash.
    Prints what its UART sends; at a terminal, control characters are shown as numbers, such as \\x1b, and
    with --uart it is not shown there, unless --raw is given.
    Ends with exit code 1 when a text asked for with --until did not come.

    FIRMWARE need not be trusted: it reaches its UART, the files and ports named here and nothing else of this
    computer (docs/security.md). A sketch is compiled first, which can read any file that you can.
    """
    speed = speed or ("full" if uart is None else "real")
    request = RunRequest(
        firmware,
        device,
        libraries,
        until,
        max_seconds=10.0 if max_seconds is None and uart is None else max_seconds,
        max_output=max_output if uart is None else None,
        uart=Uart(uart, board, speed == "real", stamps, input_file),
        chip=ChipSettings(eeprom, millivolts, contention),
    )
    printer = _Printer(raw or not sys.stdout.isatty())
    show = printer.show if _shows(uart, raw, sys.stdout.isatty()) else lambda _: None
    found = run(request, None if as_json else show, _tell)
    ended, image = found.ended, found.image
    if as_json:
        print_json(found.document())
    else:
        if not printer.at_line_start:
            print()
        ram = f"{image.ram_bytes:,}" if image.ram_bytes is not None else "?"
        stack = "?" if ended.stack_bytes is None else f"{ended.stack_bytes:,}"
        stack = ended.stack_reason or f"deepest stack {stack}"
        print(
            f"motecrypt: {ended.detail}: {ended.cycles:,} cycles, {ended.seconds:.6f} s simulated, "
            f"{stack}, variables {ram}, flash {image.flash_bytes:,} bytes",
            file=sys.stderr,
        )
        show_unmodelled(ended)
    if found.failure:
        raise MotecryptError(found.failure)


def _shows(uart: str | None, raw: bool, terminal: bool) -> bool:
    """Whether what the UART sends is printed, too: not on a terminal where a port takes it, as it is often a
    radio's packets; with --raw, and in a file or a pipe, always."""
    return uart is None or raw or not terminal


class _Printer:
    """Shows what the UART sends: its bytes to a file or a pipe, text without commands to a terminal."""

    def __init__(self, raw: bool) -> None:
        self.at_line_start = True
        self._raw = raw
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")

    def show(self, data: bytes) -> None:
        if self._raw:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        else:
            sys.stdout.write(self._decoder.decode(data.replace(b"\r", b"")))
            sys.stdout.flush()
        self.at_line_start = data.endswith(b"\n")


def _tell(kind: str, text: str) -> None:
    print(f"motecrypt: {'UART at ' if kind == 'port' else ''}{text}", file=sys.stderr, flush=True)
