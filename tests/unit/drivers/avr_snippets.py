"""AVR assembly of a few lines as a whole firmware, and a run of it in a driver."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from motecrypt.emulate.images import Segment, elf_of
from motecrypt.toolchain.drivers import driver

AVR = 83
CHIP = ("--mcu", "atmega328p", "--clock", "16000000")
DEADLINE_S = 40.0

#: A UART as fast as the chip allows, subroutines that send and take r24, and the way round them.
UART = """
    .equ UCSR0A, 0xC0
    .equ UCSR0B, 0xC1
    .equ UDR0, 0xC6
    rjmp uart_on
send:
    lds r25, UCSR0A
    sbrs r25, 5
    rjmp send
    sts UDR0, r24
    ret
take:
    lds r25, UCSR0A
    sbrs r25, 7
    rjmp take
    lds r24, UDR0
    ret
uart_on:
    ldi r24, 2
    sts UCSR0A, r24
    ldi r24, 0x18
    sts UCSR0B, r24
"""
#: Says a frame, so that the driver looks at its input.
GREETING = UART + "    ldi r24, '!'\n    rcall send\n    ldi r24, 0x7e\n    rcall send\n"
STOP = "    cli\n    rjmp .-2\n"


def assemble(text: str, folder: Path) -> bytes:
    """The code from address 0 on."""
    source, built, flat = folder / "f.s", folder / "f.built", folder / "f.flat"
    source.write_text(text)
    command = ["avr-gcc", "-mmcu=atmega328p", "-nostdlib", "-Wl,-Ttext=0", str(source), "-o", str(built)]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    subprocess.run(["avr-objcopy", "-O", "binary", str(built), str(flat)], check=True, timeout=60)
    return flat.read_bytes()


@dataclass(frozen=True)
class Outcome:
    """What a driver said."""

    code: int
    output: bytes
    events: list[dict[str, Any]]
    said: list[str]
    """Lines on standard error that are no events."""

    @property
    def end(self) -> dict[str, Any]:
        return self.events[-1]


def waiting(given: bytes) -> int:
    """A pipe's end with all of the input in it: how fast this computer is does not say when it comes."""
    there, into = os.pipe()
    assert len(given) <= 65536, "what a pipe holds"
    os.write(into, given)
    os.close(into)
    return there


def outcome(command: list[str | Path], given: bytes = b"") -> Outcome:
    """Run a driver whose events go to standard error."""
    there = waiting(given)
    try:
        done = subprocess.run(command, stdin=there, capture_output=True, timeout=DEADLINE_S, check=False)
    finally:
        os.close(there)
    lines = done.stderr.decode().splitlines()
    events = [json.loads(line) for line in lines if line.startswith("{")]
    return Outcome(done.returncode, done.stdout, events, [line for line in lines if not line.startswith("{")])


def simavr(
    code: bytes | str, folder: Path, *options: str | Path, given: bytes = b"", more: tuple[Segment, ...] = ()
) -> Outcome:
    """Run code in the driver that benchmarks use."""
    data = assemble(code, folder) if isinstance(code, str) else code
    (folder / "f.elf").write_bytes(elf_of([Segment(0, data), *more], AVR, 0))
    return outcome([driver("simavr"), *CHIP, *options, folder / "f.elf"], given)


def avr_run(code: bytes | str, folder: Path, *options: str | Path, given: bytes = b"") -> Outcome:
    """Run code in the driver of free runs."""
    (folder / "image").write_bytes(assemble(code, folder) if isinstance(code, str) else code)
    return outcome([driver("avr_run"), *CHIP, "--image", folder / "image", *options], given)
