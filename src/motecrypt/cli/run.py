"""motecrypt run: any firmware, in the simulator."""

from __future__ import annotations

import codecs
import sys
from pathlib import Path
from typing import BinaryIO

import click

from motecrypt.app.firmware import demo_of, judge, load_firmware
from motecrypt.app.selection import select
from motecrypt.cli._choices import device_option
from motecrypt.cli._output import json_option, print_json
from motecrypt.cli._unmodelled import show_unmodelled, unmodelled_json


@click.command(epilog="Example: motecrypt run Blink.ino --until ready --max-seconds 5")
@click.argument("firmware", type=click.Path(path_type=Path, dir_okay=False), metavar="FIRMWARE")
@device_option
@click.option("--until", default=None, metavar="TEXT", help="End when the UART has sent this text.")
@click.option(
    "--max-seconds",
    type=click.FloatRange(min=0, min_open=True),
    default=None,
    help="End after this much simulated time (default: 10; without end with --uart).",
)
@click.option(
    "--max-output", type=click.IntRange(1), default=1 << 20, help="Limit for bytes from the UART (1 MiB)."
)
@click.option(
    "--uart",
    default=None,
    metavar="PORT",
    help="A port or virtual radio for the UART; 'pty', or a new path, makes a pseudo-terminal.",
)
@click.option(
    "--board", is_flag=True, help="With a pseudo-terminal: opening it resets the chip, as on a real UNO."
)
@click.option("--speed", type=click.Choice(["full", "real"]), default=None, help="full speed, or real time.")
@click.option("--raw", is_flag=True, help="Pass control characters of the UART on to the terminal.")
@click.option("--stamps", is_flag=True, help="Begin each line with its simulated time in seconds.")
@click.option(
    "--input", "input_file", type=click.File("rb"), default=None, help="What the UART receives; - is stdin."
)
@click.option(
    "--eeprom",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    help="A file that keeps the EEPROM.",
)
@click.option(
    "--millivolts", type=click.IntRange(0, 5000), default=None, help="Voltage at the analogue inputs."
)
@click.option(
    "--contention",
    is_flag=True,
    help="Pico: each core waits while the other has its bank of memory (slower).",
)
@click.option(
    "--libraries",
    type=click.Path(path_type=Path, file_okay=False),
    multiple=True,
    help="Folder of Arduino libraries.",
)
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
    target = select(devices=[device]).device
    image = load_firmware(firmware, target, libraries)
    from motecrypt.measuring.experiments.files import flash_times
    from motecrypt.simulate.emulate.run import FreeRun, run_freely

    demo = demo_of(firmware, target)

    how = FreeRun(
        until=until,
        max_seconds=max_seconds if max_seconds is not None else (None if uart else 10.0),
        max_output=None if uart else max_output,
        uart=uart,
        resets_on_open=board,
        real_time=speed == "real" or (speed is None and uart is not None),
        stamps=stamps,
        input=None if input_file is None else input_file.fileno(),
        eeprom=eeprom,
        millivolts=millivolts,
        cache="none" if demo is None else demo.cache,
        flash_times=flash_times(target) if target.chip in ("RP2040", "RP2350") else "",
        contention=contention,
    )
    text = bytearray()
    printer = _Printer(raw or not sys.stdout.isatty())
    show = printer.show if _shows(uart, raw, sys.stdout.isatty()) else _nothing
    ended = run_freely(image, target, how, text.extend if as_json else show, _tell)
    figures = {
        "device": target.name,
        "reason": ended.reason,
        "detail": ended.detail,
        "cycles": ended.cycles,
        "seconds": ended.seconds,
        "stack_bytes": ended.stack_bytes,
        "stack_reason": ended.stack_reason,
        "flash_bytes": image.flash_bytes,
        "ram_bytes": image.ram_bytes,
        "interrupts": ended.interrupts,
        "notes": list(ended.notes),
        "touched": [
            {"address": t.address, "name": t.name, "reads": t.reads, "writes": t.writes}
            for t in ended.touched
        ],
        "unmodelled": unmodelled_json(ended),
    }
    if as_json:
        print_json({**figures, "uart": bytes(text).decode("utf-8", "backslashreplace")})
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
    judge(ended, until, how.max_seconds)


def _shows(uart: str | None, raw: bool, terminal: bool) -> bool:
    """Whether what the UART sends is printed, too: not on a terminal where a port takes it, as it is often a
    radio's packets; with --raw, and in a file or a pipe, always."""
    return uart is None or raw or not terminal


def _nothing(_: bytes) -> None:
    pass


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
