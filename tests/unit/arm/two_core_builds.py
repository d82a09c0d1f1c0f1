"""The firmware for both cores (two_cores.c), for tests and for the benchmark of their speed."""

from __future__ import annotations

import subprocess
from pathlib import Path

from motecrypt.catalog import FIRMWARE

SOURCE = Path(__file__).with_name("two_cores.c")
DEVICE = FIRMWARE / "devices" / "pico"


def build(folder: Path, part: int) -> Path:
    """An ELF of one part of it."""
    target = folder / f"part{part}.elf"
    own = [DEVICE / name for name in ("hal.c", "startup.S", "boot2.S")]
    link = ["-nostartfiles", "--specs=nano.specs", f"-T{DEVICE / 'flash.ld'}", f"-I{FIRMWARE / 'include'}"]
    link += [f"-Wl,--section-start=.sram{n}={0x20040000 + 0x1000 * (n - 4):#x}" for n in (4, 5)]
    flags = ["-mcpu=cortex-m0plus", "-mthumb", "-Os", f"-DPART={part}"]
    subprocess.run(["arm-none-eabi-gcc", *flags, *link, *own, SOURCE, "-o", target], check=True)
    return target
