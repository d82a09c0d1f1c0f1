"""ChaCha20-Poly1305 in assembly on a simulated Pico: messages in a chain against the oracle, as our C."""

from __future__ import annotations

from pathlib import Path

import pytest

from unit.ciphers.sealed_on_pico import chained, ran

MESSAGES = 200
CIPHER = "chacha20-poly1305"
STACK_BYTES = 280
BOUNDS = (Path(__file__).resolve().parents[3] / "docs" / "bounds.md").read_text()


@pytest.mark.parametrize("variant", ["armv6m", "words13"])
def test_messages_are_those_of_the_oracle_and_all_take_the_same_time(tmp_path: Path, variant: str) -> None:
    """At each address, in place and not; bytes around them stay as they are; what is changed is refused."""
    tag, total, faults, stack, *cycles = ran(tmp_path, CIPHER, variant, MESSAGES, "TIMES_CHACHA")
    expected_tag, expected_total = chained(CIPHER, MESSAGES)
    assert (tag, int(total, 16), int(faults, 16)) == (expected_tag.hex(), expected_total, 0)
    least, most = [int(text, 16) for text in cycles[::2]], [int(text, 16) for text in cycles[1::2]]
    assert len(least) == 6 and least == most
    if variant == "armv6m":
        assert int(stack, 16) == STACK_BYTES
        assert f"`chacha20_block` takes {least[0]:,} cycles" in BOUNDS
        assert f"`poly1305_block` takes {least[1]:,}" in BOUNDS
        assert least[2] < min(least[3:]), "words are read as words where they are at multiples of four"
