"""Ascon in assembly on simulated RISC-V chips: messages in a chain against the oracle, and what they take."""

from __future__ import annotations

from pathlib import Path

import pytest

from tool_sets import needs_tool_set
from unit.ciphers.sealed_on_pico import CATALOG, chained, measured, ran

pytestmark = needs_tool_set("riscv")
CIPHER = "ascon-aead128"
CHIPS = ("hifive1", "esp32c3")
MESSAGES = 300
MISSED = 15
"""Cycles of five branches that the predictor does not know yet; whether it does depends on the compiler."""
ROUND = 117 + 2
"""Cycles of a round: its instructions and a loop whose branch is predicted."""


@pytest.mark.parametrize("chip", CHIPS)
def test_messages_are_those_of_the_oracle_and_all_take_the_same_time(tmp_path: Path, chip: str) -> None:
    """At each address, in place and not; bytes around them stay as they are; what is changed is refused."""
    tag, total, faults, *cycles = ran(tmp_path, CIPHER, "rv32", MESSAGES, device_name=chip)
    expected, length = chained(CIPHER, MESSAGES)
    assert (tag, int(total, 16), int(faults, 16)) == (expected.hex(), length, 0)
    least, most = [int(text, 16) for text in cycles[::2]], [int(text, 16) for text in cycles[1::2]]
    late = [slowest - fastest for fastest, slowest in zip(least, most, strict=True)]
    assert len(late) == 4 and late[1:] == [0, 0, 0]
    assert 0 <= late[0] <= MISSED  # the first message of all, before branches are predicted


@pytest.mark.parametrize("chip", CHIPS)
def test_only_lengths_change_branches_and_addresses(tmp_path: Path, chip: str) -> None:
    found = measured(tmp_path / "results.db", CIPHER, "rv32", chip, [0, 7, 33, 64, 80], ad_bytes=21)
    assert {m.status for m in found.values()} == {"ok"}, [m.reason for m in found.values()]
    assert {m.timing_varies for m in found.values()} == {False}


def test_a_block_takes_eight_rounds_and_half_the_cycles_of_the_c_code(tmp_path: Path) -> None:
    def of_a_block(variant: str) -> int:
        found = measured(tmp_path / f"{variant}.db", CIPHER, variant, "hifive1", [64, 80], ad_bytes=0)
        by_length = {
            cell.message_bytes: m.cycles_median for cell, m in found.items() if cell.operation == "encrypt"
        }
        assert by_length[64] is not None and by_length[80] is not None
        return by_length[80] - by_length[64]

    assembly = of_a_block("rv32")
    assert 8 * ROUND < assembly < 8 * ROUND + 250
    assert assembly < 0.75 * of_a_block("words")


def test_each_chip_with_31_registers_has_it_and_exports_it() -> None:
    for device in CATALOG.devices.values():
        if device.runner != "riscv":
            continue
        variants = [body.variant for body in CATALOG.implementations_of(CIPHER, device.name, ["motecrypt"])]
        assert ("rv32" in variants) == (device.core != "qingke-v2a")
