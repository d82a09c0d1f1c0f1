"""Small firmwares in assembly for an AVR, the ATmega328P by default, run in both drivers, and their cycles.

A firmware begins at `start` and ends with `finish`: it sleeps with interrupts off, which both drivers report
with the cycle. A handler is put into the vector table by its number.
"""

from __future__ import annotations

import json
import resource
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from motecrypt.base.model import Device
from motecrypt.build.toolchain.drivers import driver
from motecrypt.catalog import Catalog

UNO = Catalog.load().device("uno")
CLOCK_HZ = UNO.clock_hz

#: Numbers in the vector table (DS40002061B, table 12-6, counted from 0).
INT0, PCINT2, WDT, TIMER2_OVF = 1, 5, 6, 9
TIMER1_CAPT, TIMER1_COMPA, TIMER1_COMPB, TIMER1_OVF = 10, 11, 12, 13
TIMER0_COMPA, TIMER0_OVF, SPI_STC, USART_RX, USART_UDRE, USART_TX = 14, 16, 17, 18, 19, 20
ADC, EE_READY, TWI = 21, 22, 24

_HEAD = """
#include <avr/io.h>
#define REG(r) _SFR_IO_ADDR(r)
.macro put register, value
    ldi r16, \\value
    sts \\register, r16
.endm
.macro finish
    cli
    ldi r16, 1
#ifdef SMCR
    out REG(SMCR), r16
#else
    nop ; an ATmega8: libsimavr sleeps without SE
#endif
    sleep
.endm
    rjmp start
"""
#: What `rjmp start` and `finish` take.
FRAME_CYCLES = 2 + 4


@dataclass(frozen=True)
class Counted:
    """How a firmware ended: its cycles from reset, and its EEPROM."""

    cycles: int
    reason: str
    eeprom: bytes
    notes: tuple[str, ...] = ()


def assemble(
    folder: Path, body: str, handlers: Mapping[int, str] | None = None, *, device: Device = UNO
) -> Path:
    """The firmware as an ELF file; `handlers` maps vector numbers to labels in `body`."""
    vectors = "".join(
        f"    .org {4 * n}\n    rjmp {label}\n" for n, label in sorted((handlers or {}).items())
    )
    source, elf = folder / "counted.S", folder / "counted.elf"
    start = 0x68 if device is UNO else 0x100
    source.write_text(f"{_HEAD}{vectors}    .org {start}\nstart:\n{body}\n")
    chip = f"-mmcu={device.simulator['mcu']}"
    subprocess.run(["avr-gcc", chip, "-nostdlib", source, "-o", elf], check=True, timeout=60)
    return elf


def _limited() -> None:
    """In the new process: limits the seconds of processor time, so that endless runs are detected."""
    resource.setrlimit(resource.RLIMIT_CPU, (15, 15))


def run_counted(
    name: str, folder: Path, elf: Path, *options: str, eeprom: bytes = b"", device: Device = UNO
) -> Counted:
    """Run in the driver `name`: "avr_run" (of `motecrypt run`) or "simavr" (of `measure`)."""
    if name == "simavr":
        command = ["--mark", "0x3e", *options, str(elf)]
    else:
        image, kept = folder / "image", folder / "eeprom"
        subprocess.run(["avr-objcopy", "-O", "binary", elf, image], check=True, timeout=60)
        kept.write_bytes(eeprom.ljust(device.memory["eeprom"].bytes, b"\xff"))
        command = ["--image", str(image), "--eeprom", str(kept), "--max-cycles", "40000000", *options]
    done = subprocess.run(
        [driver(name), "--mcu", device.simulator["mcu"], "--clock", str(device.clock_hz), *command],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
        check=False,
        preexec_fn=_limited,
    )
    events = [json.loads(line) for line in done.stderr.splitlines()]
    end = events[-1]
    content = (folder / "eeprom").read_bytes() if name == "avr_run" else b""
    notes = tuple(event["detail"] for event in events if event["event"] == "note")
    return Counted(end["cycle"], end["detail"], content, notes)


def output_of(elf: Path, folder: Path) -> bytes:
    """What it sends, run freely."""
    image = folder / "image"
    subprocess.run(["avr-objcopy", "-O", "binary", elf, image], check=True, timeout=60)
    chip = ("--mcu", "atmega328p", "--clock", str(CLOCK_HZ), "--max-cycles", "40000000", "--image", image)
    done = subprocess.run([driver("avr_run"), *chip], capture_output=True, timeout=120, preexec_fn=_limited)
    return done.stdout
