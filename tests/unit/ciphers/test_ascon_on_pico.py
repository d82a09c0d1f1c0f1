"""Ascon in assembly on a simulated Pico: messages in a chain against the oracle, as with our C there."""

from __future__ import annotations

from pathlib import Path

import pytest

from unit.ciphers.sealed_on_pico import chained, ran

MESSAGES = 200


@pytest.mark.parametrize("variant", ["armv6m", "interleaved"])
def test_messages_are_those_of_the_oracle_and_all_take_the_same_time(tmp_path: Path, variant: str) -> None:
    """At each address, in place and not; bytes around them stay as they are; what is changed is refused."""
    tag, total, faults, *cycles = ran(tmp_path, "ascon-aead128", variant, MESSAGES, "TIMES_ASCON")
    expected_tag, expected_total = chained("ascon-aead128", MESSAGES)
    assert (tag, int(total, 16), int(faults, 16)) == (expected_tag.hex(), expected_total, 0)
    least, most = [int(text, 16) for text in cycles[::2]], [int(text, 16) for text in cycles[1::2]]
    assert len(least) == 5 and min(least) > 1000
    assert least == most
    if variant == "armv6m":
        assert least[0] < 12 * 142 + 120
        assert least[1] < min(least[2:]), "words are copied as words where they lie at multiples of four"
