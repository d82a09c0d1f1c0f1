"""The benchmark firmware on QEMU's microbit (Cortex-M0): the Pico's core with other memories.

The requests are compiled in, so that the same file runs in QEMU and in our driver without a serial line.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from pathlib import Path

from motecrypt.base.frames import encode
from motecrypt.base.model import Device, Memory, Placement

QEMU = "qemu-system-arm"
FOLDER = Path(__file__).with_name("microbit")
MARK = 0x40008540  # see microbit/hal.c
FLASH_BYTES = 256 * 1024
RUNS_IT = ("-M", "microbit", "-display", "none", "-monitor", "none", "-serial", "none", "-semihosting")


def requests(wanted: Iterable[tuple[str, bytes]]) -> bytes:
    """The frames of these requests, each a kind and its data; a nonce without bytes is left out."""
    return b"".join(
        encode(n, kind, data) for n, (kind, data) in enumerate(wanted, start=1) if kind != "N" or data
    )


def microbit(pico: Device, sent: bytes) -> Device:
    """The Pico's core with QEMU's memories, fed with compiled-in requests."""
    return dataclasses.replace(
        pico,
        name="microbit",
        folder=FOLDER,
        hal=("hal.c", str(pico.folder / "startup.S")),
        memory={
            "flash": Memory(FLASH_BYTES, 0, 0x10000000),
            "ram": Memory(16 * 1024, 0x20000000, 0x10000000),
        },
        compiler=dataclasses.replace(pico.compiler, defines=("REQUESTS=" + ",".join(map(str, sent)),)),
        placements={"flash": Placement("flash", link_flags=("-T{device}/microbit.ld",))},
        bench={"key": 64, "nonce": 32, "ad": 64, "message": 256},
        simulator={**pico.simulator, "vectors": 0, "mark_address": MARK, "max_cycles": 50_000_000},
    )
