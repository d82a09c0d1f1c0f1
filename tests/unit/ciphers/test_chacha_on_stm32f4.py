"""ChaCha20-Poly1305 in assembly on a simulated STM32F4: messages in a chain against the oracle, as with our C
there, and what they take.

100,000 messages: `PYTHONPATH=src:tests .venv/bin/python -m unit.ciphers.sealed_on_pico stm32f4
chacha20-poly1305 armv7m 100000`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from unit.ciphers.sealed_on_pico import chained, measured, ran

CIPHER = "chacha20-poly1305"
MESSAGES = 400
STACK_BYTES = 360
CYCLES_OF_ROUNDS = {"armv7m": 10 * 78, "armv7m-small": 10 * 81}
CYCLES_AROUND = 190
CYCLES_OF_POLY1305 = 52
CYCLES_UNALIGNED = 48 * 2
"""What the benchmark's addresses cost: three accesses for each word."""


@pytest.mark.parametrize("variant", ["armv7m", "armv7m-small", "words13"])
def test_messages_are_those_of_the_oracle_and_all_take_the_same_time(tmp_path: Path, variant: str) -> None:
    """At each address, in place and not; bytes around them stay as they are; what is changed is refused."""
    tag, total, faults, *cycles = ran(tmp_path, CIPHER, variant, MESSAGES, device_name="stm32f4")
    assert (tag, int(total, 16), int(faults, 16)) == (*_told(MESSAGES), 0)
    least, most = [int(text, 16) for text in cycles[::2]], [int(text, 16) for text in cycles[1::2]]
    assert len(least) == 4 and least == most


def _told(messages: int) -> tuple[str, int]:
    tag, total = chained(CIPHER, messages)
    return tag.hex(), total


@pytest.mark.parametrize("variant", ["armv7m", "armv7m-small"])
def test_only_lengths_change_branches_and_addresses(tmp_path: Path, variant: str) -> None:
    """Whole blocks, and parts of one; with the stack that they take."""
    found = measured(tmp_path / "results.db", CIPHER, variant, "stm32f4", [0, 7, 33, 64, 128], ad_bytes=21)
    assert {m.status for m in found.values()} == {"ok"}
    assert {m.timing_varies for m in found.values()} == {False}
    assert 0 < max(m.stack_bytes or 0 for m in found.values()) <= STACK_BYTES
    cycles = {
        cell.message_bytes: m.cycles_max or 0 for cell, m in found.items() if cell.operation == "encrypt"
    }
    most = CYCLES_OF_ROUNDS[variant] + CYCLES_AROUND + 4 * CYCLES_OF_POLY1305 + CYCLES_UNALIGNED
    assert 10 * 74 + 4 * 48 < cycles[128] - cycles[64] <= most
