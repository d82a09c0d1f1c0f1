"""Thumb assembly of a few lines as a whole firmware for the ARM driver, and a run of it there."""

from __future__ import annotations

import subprocess
from pathlib import Path

from driver_runs import Outcome, outcome

from motecrypt.build.toolchain.drivers import driver
from motecrypt.simulate.emulate.images import ARM, Segment, elf_of

FLASH, RAM, VECTORS = 0x10000000, 0x20000000, 0x10000100
MEMORY_BYTES = 0x10000
STACK_TOP = RAM + 0x8000
MARK = 0x4005800C
ENTRY = VECTORS + 8

COSTS = {
    "alu": 1,
    "multiply": 1,
    "load": 2,
    "store": 2,
    "load_multiple": 1,
    "store_multiple": 1,
    "push": 1,
    "pop": 1,
    "pop_pc": 3,
    "branch": 2,
    "branch_if": 1,
    "branch_if_taken": 1,
    "branch_link": 3,
    "branch_exchange": 2,
    "write_pc": 2,
    "special": 3,
    "barrier": 3,
    "wait": 2,
    "per_register": 1,
}
#: r7 the mark, r6 one, r5 zero, r4 the UART, r2 some RAM.
PRELUDE = """
    .syntax unified
    .cpu cortex-m0plus
    .thumb
    .word 0x20008000
    .word 0x10000109
    ldr r7, =0x4005800C
    movs r6, #1
    movs r5, #0
    ldr r4, =0x40034000
    ldr r2, =0x20004000
"""
PRELUDE_CYCLES, PRELUDE_INSTRUCTIONS, PRELUDE_BYTES = 8, 5, 10
#: Says a frame and waits for a request, which never comes.
WAIT = (
    "    movs r0, #'!'\n    str r0, [r4]\n    movs r0, #0x7e\n    str r0, [r4]\nrest:\n"
    "    ldr r0, [r4, #0x18]\n    b rest\n"
)
BEGIN, FINISH = "    str r6, [r7]\n", "    str r5, [r7]\n"


def assemble(text: str, folder: Path, base: int = VECTORS, prelude: str = PRELUDE) -> bytes:
    """The code, for `base`."""
    source, built, flat = folder / "f.s", folder / "f.built", folder / "f.flat"
    source.write_text(prelude + text)
    command = [
        "arm-none-eabi-gcc",
        "-nostdlib",
        f"-Wl,-Ttext={base:#x}",
        "-Wl,-e0",
        str(source),
        "-o",
        str(built),
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    subprocess.run(["arm-none-eabi-objcopy", "-O", "binary", str(built), str(flat)], check=True, timeout=60)
    return flat.read_bytes()


def options(**costs: int) -> list[str]:
    """A small machine."""
    table = ",".join(f"{name}={cycles}" for name, cycles in (COSTS | costs).items())
    machine = ["--core", "cortex-m0plus", "--cycles", table, "--flash", f"{FLASH:#x}:{MEMORY_BYTES:#x}"]
    machine += ["--ram", f"{RAM:#x}:{MEMORY_BYTES:#x}", "--vectors", hex(VECTORS), "--mark", hex(MARK)]
    return machine


def run(
    text: str | bytes,
    folder: Path,
    *more: str | Path,
    given: bytes | int = b"",
    segments: tuple[Segment, ...] = (),
    costs: dict[str, int] | None = None,
) -> Outcome:
    """Run it; `given` is its input, or a descriptor of it."""
    image = assemble(text, folder) if isinstance(text, str) else text
    (folder / "f.elf").write_bytes(elf_of([Segment(VECTORS, image), *segments], ARM, ENTRY | 1))
    return outcome([driver("arm"), *options(**(costs or {})), *more, folder / "f.elf"], given)


SHORT = ("--max-cycles", "100000")
FREE = ("--free", "--max-seconds", "0.01")
CACHE = ("--cache", "1024:2:8", "--miss-cycles", "50")
TOLD = "    str r0, [r4]\n"  # r0's low byte to the UART
STOP = "    cpsid i\n    b .\n"
AT = ENTRY + PRELUDE_BYTES


def bytes_of(ran: Outcome) -> list[int]:
    """What it sent, without the frame of WAIT."""
    return [*ran.output.removesuffix(b"!~")]
