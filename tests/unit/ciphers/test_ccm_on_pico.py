"""AES-CCM around assembly on a simulated Pico: messages in a chain against the oracle, as with our C."""

from __future__ import annotations

from pathlib import Path

import pytest

from unit.ciphers.sealed_on_pico import chained, ran

MESSAGES = 200
MOST_CYCLES = {"armv6m": 12 * 1300, "armv6m-small": 12 * 1780}
"""Of a message of 64 bytes with 16 of associated data, which takes twelve blocks of AES."""


@pytest.mark.parametrize("variant", ["armv6m", "armv6m-small", "tables"])
def test_messages_are_those_of_the_oracle_and_all_take_the_same_time(tmp_path: Path, variant: str) -> None:
    """At each address, in place and not; bytes around them stay as they are; what is changed is refused."""
    tag, total, faults, *cycles = ran(tmp_path, "aes128-ccm16", variant, MESSAGES)
    expected_tag, expected_total = chained("aes128-ccm16", MESSAGES)
    assert (tag, int(total, 16), int(faults, 16)) == (expected_tag.hex(), expected_total, 0)
    least, most = [int(text, 16) for text in cycles[::2]], [int(text, 16) for text in cycles[1::2]]
    assert len(least) == 4 and least == most
    if variant != "tables":
        assert least[0] < MOST_CYCLES[variant]
        assert least[0] + 4 * 60 < min(least[1:]), (
            "words are read as words where they are at multiples of four"
        )
