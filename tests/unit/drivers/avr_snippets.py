"""AVR assembly of a few lines as a whole firmware, and a run of it in a driver."""

from __future__ import annotations

import subprocess
from pathlib import Path

from driver_runs import Outcome, outcome

from motecrypt.build.toolchain.drivers import driver
from motecrypt.simulate.emulate.images import Segment, elf_of

AVR = 83
CHIP = ("--mcu", "atmega328p", "--clock", "16000000")

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
LOOP = b"\xff\xcf"  # to itself, interrupts off
RUNS = b"\x78\x94\xff\xcf"  # the same with interrupts on: one cycle, then two each
SHORT = ("--max-cycles", "200000")  # of a free run


def assemble(text: str, folder: Path) -> bytes:
    """The code from address 0 on."""
    source, built, flat = folder / "f.s", folder / "f.built", folder / "f.flat"
    source.write_text(text)
    command = ["avr-gcc", "-mmcu=atmega328p", "-nostdlib", "-Wl,-Ttext=0", str(source), "-o", str(built)]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    subprocess.run(["avr-objcopy", "-O", "binary", str(built), str(flat)], check=True, timeout=60)
    return flat.read_bytes()


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


def profile_options(folder: Path, functions: str) -> tuple[str | Path, ...]:
    """Have a free run counted, by functions: their first and last addresses, a line each."""
    (folder / "functions").write_text(functions)
    return ("--profile", folder / "p", "--functions", folder / "functions")
