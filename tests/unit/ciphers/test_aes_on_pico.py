"""AES in assembly on a simulated Pico: chains of blocks and keys against OpenSSL, as with our C there."""

from __future__ import annotations

from pathlib import Path

import pytest

from unit.ciphers.blocks_on_arm import REFUSED, SIZES, ran
from unit.ciphers.test_aes_on_uno import chained

DOCS = Path(__file__).parents[3] / "docs"
BLOCKS = 200
CYCLES_OF_A_ROUND = {"armv6m": 108, "armv6m_small": 228}
"""At most, in either direction."""
STACK_BYTES = 44
SOURCES = {
    "armv6m": ["aes_armv6m.S", "aes_armv6m_blocks.S"],
    "armv6m_small": ["aes_armv6m_small.S", "aes_armv6m_blocks.S"],
    "tables": ["aes_tables.c"],
}


@pytest.mark.parametrize(("key_bytes", "key_bytes_max"), SIZES)
@pytest.mark.parametrize("variant", ["armv6m", "armv6m_small", "tables"])
def test_blocks_are_those_of_openssl_and_all_take_the_same_time(
    tmp_path: Path, variant: str, key_bytes: int, key_bytes_max: int
) -> None:
    """At each address; bytes around a block and the key itself stay as they are."""
    block, faults, refused, stack, *cycles = ran(
        tmp_path, "pico", SOURCES[variant], key_bytes, key_bytes_max, BLOCKS, place="flash"
    )
    assert (block, int(faults, 16)) == (chained(key_bytes, BLOCKS).hex(), 0)
    assert refused == REFUSED[key_bytes_max]
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
    alone = ran(tmp_path, "pico", SOURCES[variant], 32, 32, BLOCKS, "BLOCK_ENCRYPTS_ALONE", place=place)
    both = ran(tmp_path, "pico", SOURCES[variant], 32, 32, BLOCKS, place=place)
    assert alone[:3] == both[:3]
    assert alone[0] == chained(32, BLOCKS).hex()
    assert all(int(ours, 16) <= int(theirs, 16) for ours, theirs in zip(alone[4:], both[4:8], strict=True))
