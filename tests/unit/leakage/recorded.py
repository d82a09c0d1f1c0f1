"""Small firmwares to record, and a model of what instructions show, independent of the drivers."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from motecrypt.attack.leakage.recording import CHANNELS, Poke, Recorder, Window
from motecrypt.build.toolchain.sizes import symbols
from motecrypt.catalog import Catalog
from motecrypt.simulate.emulate.images import read_image

CATALOG = Catalog.load()
INPUT = {"uno": 0x200, "pico": 0x20000200, "hifive1": 0x80000200, "ch32v003": 0x20000200}
TEXT = {"hifive1": 0x20010000, "ch32v003": 0}


def recorder(
    text: str, device: str, folder: Path, *, input_bytes: int = 4, start: str = "window", **window: int
) -> Recorder:
    """Assemble a firmware with a function `window`, and prepare it with an input at `INPUT`."""
    source, elf = folder / "f.S", folder / "f.elf"
    source.write_text(text)
    if device == "uno":
        command = ["avr-gcc", "-mmcu=atmega328p", "-nostdlib"]
    elif device in TEXT:
        command = ["riscv64-unknown-elf-gcc", *CATALOG.device(device).compiler.machine_flags[:3], "-nostdlib"]
        command += [f"-Wl,-Ttext={TEXT[device]:#x}", "-Wl,-e,start", "-Wl,--no-relax,-n"]
    else:
        command = ["arm-none-eabi-gcc", "-mcpu=cortex-m0plus", "-mthumb", "-nostdlib"]
        command += ["-Wl,-Ttext=0x10000100", "-Wl,-e,start"]
    subprocess.run([*command, str(source), "-o", str(elf)], check=True, timeout=60)
    target = CATALOG.device(device)
    found = {name: address & ~1 for name, address in symbols(elf).items()}
    part = Window("window", found["window"], found[start], **window)
    poke = Poke("input", INPUT[device], input_bytes)
    return Recorder(read_image(elf, target), target, part, (poke,), max_seconds=0.01)


@dataclass(frozen=True)
class Step:
    """What one instruction does: registers it writes; what it loads or stores, as (address, value, word)."""

    fetched: Sequence[int] = ()
    writes: dict[int, int] = field(default_factory=dict)
    loads: Sequence[tuple[int, int, int]] = ()
    stores: Sequence[tuple[int, int]] = ()
    flash_loads: Sequence[tuple[int, int, int]] = ()


def shown(steps: Sequence[Step], registers: dict[int, int], cells: dict[int, int]) -> list[list[int]]:
    """Bits that each step shows, a list for each of `CHANNELS`."""
    found: dict[str, list[int]] = {name: [] for name in CHANNELS}
    bus = {"data": 0, "address": 0, "flash": 0, "latch": 0}

    def put(name: str, value: int) -> None:
        found[name][-1] += (bus[name] ^ value).bit_count()
        bus[name] = value

    for step in steps:
        for row in found.values():
            row.append(0)
        for word in step.fetched:
            put("flash", word)
        for number, value in step.writes.items():
            found["result"][-1] += value.bit_count()
            found["register"][-1] += (registers.get(number, 0) ^ value).bit_count()
            registers[number] = value
        for address, value, word in (*step.loads, *step.flash_loads):
            put("address", address)
            put("data", value)
            put("flash" if (address, value, word) in step.flash_loads else "latch", word)
        for address, value in step.stores:
            put("address", address)
            put("data", value)
            found["result"][-1] += value.bit_count()
            found["cell"][-1] += (cells.get(address, 0) ^ value).bit_count()
            cells[address] = value
    return list(found.values())
