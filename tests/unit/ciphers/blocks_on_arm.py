"""Runs chains of blocks and keys of AES on a simulated ARM or RISC-V (aes_blocks.c)."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from motecrypt.catalog import FIRMWARE, Catalog
from motecrypt.simulate.emulate.images import read_image
from motecrypt.simulate.emulate.run import FreeRun, run_freely
from tool_sets import skip_without

HERE = Path(__file__).parent
CATALOG = Catalog.load()
FLAGS = ("-std=gnu99", "-Wall", "-Wextra", "-Wconversion", "-Werror")
SIZES = [(16, 16), (16, 24), (24, 24), (16, 32), (24, 32), (32, 32)]
"""Bytes of the key, and of the longest that the build takes."""
REFUSED = {16: "1111111111", 24: "1111011111", 32: "1111011011"}
"""The status of keys of 0, 15, 17, 23, 24, 25, 31, 32, 33 and 255 bytes, by the longest that is taken."""


def ran(
    folder: Path,
    device_name: str,
    sources: Sequence[str],
    key_bytes: int,
    key_bytes_max: int,
    blocks: int,
    *defines: str,
    place: str,
) -> list[str]:
    """What the chip prints: see aes_blocks.c. The first source has the name of its header."""
    device = CATALOG.device(device_name)
    skip_without(device.tool_set)
    placement = device.placements[place]
    command = [
        *(device.compiler.command, *device.compiler.machine_flags, *device.compiler.flags, *FLAGS),
        *(f'-DBLOCK_HEADER="{Path(sources[0]).stem}.h"', f"-DCIPHER_KEY_BYTES_MAX={key_bytes_max}"),
        *(f"-D{define}" for define in (*defines, *placement.defines)),
        *(f"-DKEY_BYTES={key_bytes}", f"-DBLOCKS={blocks}u"),
        *(f"-I{FIRMWARE / 'include'}", f"-I{FIRMWARE / 'ciphers/aes'}", *device.compiler.link_flags),
        *(flag.replace("{device}", str(device.folder)) for flag in placement.link_flags),
        *(str(device.folder / name) for name in device.hal),
        *(str(FIRMWARE / "ciphers/aes" / name) for name in sources),
        *(str(HERE / "aes_blocks.c"), "-o", str(folder / "chain.elf")),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    output = bytearray()
    asked = FreeRun(until=".", max_seconds=3600)
    ended = run_freely(read_image(folder / "chain.elf", device), device, asked, output.extend)
    assert ended.reason == "until", ended
    return output.decode().rstrip(".").split()
