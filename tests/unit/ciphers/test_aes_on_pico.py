"""AES in assembly on a simulated Pico: chains of blocks and keys against OpenSSL, as with our C there."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from kits import skip_without
from motecrypt.catalog import FIRMWARE, Catalog
from motecrypt.emulate.images import read_image
from motecrypt.emulate.run import FreeRun, run_freely
from unit.ciphers.test_aes_on_uno import chained

HERE = Path(__file__).parent
DOCS = HERE.parents[2] / "docs"
BLOCKS = 200
CATALOG = Catalog.load()
FLAGS = ("-std=gnu99", "-Wall", "-Wextra", "-Wconversion", "-Werror")
SIZES = [(16, 16), (16, 24), (24, 24), (16, 32), (24, 32), (32, 32)]
"""Bytes of the key, and of the longest that the build takes."""
CYCLES_OF_A_ROUND = {"armv6m": 108, "armv6m_small": 228}
"""At most, in either direction."""
STACK_BYTES = 44


def ran(
    folder: Path, variant: str, key_bytes: int, key_bytes_max: int, blocks: int, *defines: str, place: str
) -> list[str]:
    """What the chip prints: see aes_blocks.c."""
    pico = CATALOG.device("pico")
    skip_without(pico.kit)
    placement = pico.placements[place]
    sources = ["aes_tables.c"] if variant == "tables" else [f"aes_{variant}.S", "aes_armv6m_blocks.S"]
    command = [
        *(pico.compiler.command, *pico.compiler.machine_flags, *pico.compiler.flags, *FLAGS),
        *(f'-DBLOCK_HEADER="aes_{variant}.h"', f"-DCIPHER_KEY_BYTES_MAX={key_bytes_max}"),
        *(f"-D{define}" for define in (*defines, *placement.defines)),
        *(f"-DKEY_BYTES={key_bytes}", f"-DBLOCKS={blocks}u"),
        *(f"-I{FIRMWARE / 'include'}", f"-I{FIRMWARE / 'ciphers/aes'}", *pico.compiler.link_flags),
        *(flag.replace("{device}", str(pico.folder)) for flag in placement.link_flags),
        *(str(pico.folder / name) for name in pico.hal),
        *(str(FIRMWARE / "ciphers/aes" / name) for name in sources),
        *(str(HERE / "aes_blocks.c"), "-o", str(folder / "chain.elf")),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    output = bytearray()
    asked = FreeRun(until=".", max_seconds=3600)
    ended = run_freely(read_image(folder / "chain.elf", pico), pico, asked, output.extend)
    assert ended.reason == "until", ended
    return output.decode().rstrip(".").split()


@pytest.mark.parametrize(("key_bytes", "key_bytes_max"), SIZES)
@pytest.mark.parametrize("variant", ["armv6m", "armv6m_small", "tables"])
def test_blocks_are_those_of_openssl_and_all_take_the_same_time(
    tmp_path: Path, variant: str, key_bytes: int, key_bytes_max: int
) -> None:
    """At each address; bytes around a block and the key itself stay as they are."""
    block, faults, refused, stack, *cycles = ran(
        tmp_path, variant, key_bytes, key_bytes_max, BLOCKS, place="flash"
    )
    assert (block, int(faults, 16)) == (chained(key_bytes, BLOCKS).hex(), 0)
    # 0, 15, 17, 23, 24, 25, 31, 32, 33 and 255 bytes
    assert refused == {16: "1111111111", 24: "1111011111", 32: "1111011011"}[key_bytes_max]
    least, most = [int(text, 16) for text in cycles[::2]], [int(text, 16) for text in cycles[1::2]]
    assert len(least) == 4 and least == most
    if variant != "tables":
        assert max(least) < CYCLES_OF_A_ROUND[variant] * (key_bytes // 4 + 6) + 250
        assert least[0] + 60 < least[1], "words are loaded as words where they lie at multiples of four"
        assert least[2] + 60 < least[3]
        assert int(stack, 16) == STACK_BYTES
    if (variant, key_bytes, key_bytes_max) == ("armv6m", 16, 16):
        assert f"{least[0]:,} more" in (DOCS / "bounds.md").read_text()


@pytest.mark.parametrize("place", ["flash", "ram"])
@pytest.mark.parametrize("variant", ["armv6m", "armv6m_small"])
def test_a_build_that_encrypts_alone_does_the_same(tmp_path: Path, variant: str, place: str) -> None:
    alone = ran(tmp_path, variant, 32, 32, BLOCKS, "BLOCK_ENCRYPTS_ALONE", place=place)
    both = ran(tmp_path, variant, 32, 32, BLOCKS, place=place)
    assert alone[:3] == both[:3]
    assert alone[0] == chained(32, BLOCKS).hex()
    assert all(int(ours, 16) <= int(theirs, 16) for ours, theirs in zip(alone[4:], both[4:8], strict=True))
