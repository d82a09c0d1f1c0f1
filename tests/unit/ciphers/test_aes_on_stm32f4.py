"""AES in assembly on a simulated STM32F4: chains of blocks, keys and messages, as with our C there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from unit.ciphers import sealed_on_pico
from unit.ciphers.blocks_on_arm import REFUSED, SIZES, ran
from unit.ciphers.test_aes_on_uno import chained

BOUNDS = " ".join((Path(__file__).parents[3] / "docs" / "bounds.md").read_text().split())
BLOCKS = 200
MESSAGES = 200
SOURCES = {
    "armv7m": ["aes_armv7m.S", "aes_armv7m_keys.S"],
    "armv7m-small": ["aes_armv7m_small.S"],
    "armv7m-fixsliced": ["aes_armv7m_fixsliced.S", "aes_armv7m_fixsliced_back.S"],
    "tables": ["aes_tables.c"],
}
MOST_CYCLES = {
    "armv7m": {16: 612, 24: 724, 32: 836},
    "armv7m-small": {16: 4340, 24: 5215, 32: 6090},
    "armv7m-fixsliced": {16: 2437, 24: 2950, 32: 3360},
}
"""Of a block in either direction, or of a pair of blocks encrypted, beyond a function that only returns."""
MOST_CYCLES_BACK = {16: 3560, 24: 4225, 32: 4927}
"""Of a pair of blocks decrypted without tables."""
STACK_BYTES = {"armv7m": 40, "armv7m-small": 56, "armv7m-fixsliced": 92}
MOST_CYCLES_OF_A_MESSAGE = {"armv7m": 8300, "armv7m-small": 24000, "armv7m-fixsliced": 17900, "tables": 15900}
"""With 64 bytes, and 16 of associated data."""


@pytest.mark.parametrize(("key_bytes", "key_bytes_max"), SIZES)
@pytest.mark.parametrize("variant", SOURCES)
def test_blocks_are_those_of_openssl_and_all_take_the_same_time(
    tmp_path: Path, variant: str, key_bytes: int, key_bytes_max: int
) -> None:
    """At each address; bytes around a block and the key itself stay as they are."""
    defines = ["BLOCK_ENCRYPTS_ALONE"] if variant == "armv7m-fixsliced" else []
    block, faults, refused, stack, *cycles = ran(
        tmp_path, "stm32f4", SOURCES[variant], key_bytes, key_bytes_max, BLOCKS, *defines, place="flash"
    )
    assert (block, int(faults, 16)) == (chained(key_bytes, BLOCKS).hex(), 0)
    assert refused == REFUSED[key_bytes_max]
    least, most = [int(text, 16) for text in cycles[::2]], [int(text, 16) for text in cycles[1::2]]
    assert len(least) == (2 if defines else 4) and least == most
    if variant != "tables":
        assert max(least) <= MOST_CYCLES[variant][key_bytes]
        assert int(stack, 16) == STACK_BYTES[variant]
    if (variant, key_bytes_max) in (("armv7m", 16), ("armv7m-fixsliced", 16)):
        assert re.search(rf"\b{least[0]:,} (more than|cycles of a pair)", BOUNDS)


@pytest.mark.parametrize(("key_bytes", "key_bytes_max"), [(16, 32), (24, 24), (32, 32)])
@pytest.mark.parametrize("define", ["BLOCK_ENCRYPTS_ALONE", "TABLES_IN_RAM"])
@pytest.mark.parametrize("variant", ["armv7m", "armv7m-small"])
def test_other_builds_do_the_same(
    tmp_path: Path, variant: str, define: str, key_bytes: int, key_bytes_max: int
) -> None:
    usual, other = (
        ran(tmp_path, "stm32f4", SOURCES[variant], key_bytes, key_bytes_max, 40, *defines, place="flash")
        for defines in ([], [define])
    )
    assert other[:3] == usual[:3]
    assert other[0] == chained(key_bytes, 40).hex()
    assert max(int(text, 16) for text in other[4:]) <= MOST_CYCLES[variant][key_bytes]


@pytest.mark.parametrize(("key_bytes", "key_bytes_max"), SIZES)
def test_blocks_without_tables_come_back_alone_and_in_pairs(
    tmp_path: Path, key_bytes: int, key_bytes_max: int
) -> None:
    """At each address."""
    block, faults, _, stack, *cycles = ran(
        tmp_path, "stm32f4", SOURCES["armv7m-fixsliced"], key_bytes, key_bytes_max, BLOCKS, place="flash"
    )
    assert (block, int(faults, 16)) == (chained(key_bytes, BLOCKS).hex(), 0)
    least, most = [int(text, 16) for text in cycles[::2]], [int(text, 16) for text in cycles[1::2]]
    assert len(least) == 4 and least == most
    assert max(least[:2]) <= MOST_CYCLES["armv7m-fixsliced"][key_bytes]
    assert max(least[2:]) <= MOST_CYCLES_BACK[key_bytes]
    assert int(stack, 16) == STACK_BYTES["armv7m-fixsliced"]


@pytest.mark.parametrize(
    ("cipher", "most"), [("aes128-ccm8", 240), ("aes192-ccm8", 240), ("aes256-ccm8", 378)]
)
def test_round_keys_take_no_more_than_those_of_public_assembly(
    tmp_path: Path, cipher: str, most: int
) -> None:
    """Which are 238, 232 and 378 cycles; the call around ours is compiled."""
    found = sealed_on_pico.measured(tmp_path / "results.db", cipher, "armv7m", "stm32f4", [16], ad_bytes=0)
    (setup,) = [m for cell, m in found.items() if cell.operation == "setup"]
    assert setup.status == "ok" and setup.cycles_min == setup.cycles_max
    assert 0 < (setup.cycles_median or 0) <= most


def test_the_small_variant_is_below_our_c_in_flash_and_in_cycles(tmp_path: Path) -> None:
    small, plain = (
        sealed_on_pico.measured(tmp_path / "results.db", "aes128-ecb", variant, "stm32f4", [16], ad_bytes=0)
        for variant in ("armv7m-small", "small")
    )
    for cell, m in small.items():
        other = next(o for c, o in plain.items() if c.operation == cell.operation)
        assert m.status == "ok" and m.cycles_min == m.cycles_max
        assert (m.flash_bytes or 0) < 0.98 * (other.flash_bytes or 0)
        assert (m.cycles_max or 0) < 0.4 * (other.cycles_median or 0)


@pytest.mark.parametrize("variant", SOURCES)
def test_messages_are_those_of_the_oracle_and_all_take_the_same_time(tmp_path: Path, variant: str) -> None:
    """At each address, in place and not; bytes around them stay as they are; what is changed is refused."""
    tag, total, faults, *cycles = sealed_on_pico.ran(
        tmp_path, "aes128-ccm16", variant, MESSAGES, device_name="stm32f4"
    )
    expected_tag, expected_total = sealed_on_pico.chained("aes128-ccm16", MESSAGES)
    assert (tag, int(total, 16), int(faults, 16)) == (expected_tag.hex(), expected_total, 0)
    least, most = [int(text, 16) for text in cycles[::2]], [int(text, 16) for text in cycles[1::2]]
    assert len(least) == 4 and least == most
    assert max(least) < MOST_CYCLES_OF_A_MESSAGE[variant]
