"""Builds programs of our own for the Pico 2 and runs them freely."""

from __future__ import annotations

import subprocess
from pathlib import Path

from motecrypt.catalog import Catalog
from motecrypt.measuring.experiments.files import flash_times
from motecrypt.simulate.emulate.images import read_image
from motecrypt.simulate.emulate.run import Ended, FreeRun, run_freely

HERE = Path(__file__).resolve().parent
PICO2 = Catalog.load().device("pico2")
FLAGS = ["-mcpu=cortex-m33", "-mthumb", "-mfloat-abi=softfp", "-mfpu=fpv5-sp-d16", "-Os", "-w"]


def built(folder: Path, source: str, *defines: str) -> Path:
    """The program of a file next to this one."""
    target = folder / "f.elf"
    flags = [*FLAGS, "-ffreestanding", "-nostdlib", f"-T{HERE / 'pico2.ld'}", *defines]
    subprocess.run(["arm-none-eabi-gcc", *flags, HERE / source, "-o", target], check=True, timeout=60)
    return target


def go(firmware: Path) -> tuple[str, Ended]:
    """All that comes from its UART, and how it ended."""
    said: list[str] = []
    free = FreeRun(max_seconds=2, flash_times=flash_times(PICO2))
    ended = run_freely(read_image(firmware, PICO2), PICO2, free, lambda data: said.append(data.decode()))
    return "".join(said), ended


def numbers(said: str, name: str) -> list[str]:
    """The numbers of each line that begins with this word."""
    lines = [line.split() for line in said.splitlines()]
    return [" ".join(line[1:]) for line in lines if line[:1] == [name]]
