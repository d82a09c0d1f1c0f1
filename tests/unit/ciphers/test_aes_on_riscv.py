"""AES in assembly on simulated RISC-V chips: chains of blocks, keys and messages, and what they take."""

from __future__ import annotations

from pathlib import Path

import pytest

from tool_sets import needs_tool_set
from unit.ciphers import sealed_on_pico
from unit.ciphers.blocks_on_arm import REFUSED, SIZES, ran
from unit.ciphers.sealed_on_pico import CATALOG
from unit.ciphers.test_aes_on_uno import chained

pytestmark = needs_tool_set("riscv")
CHIPS = ("hifive1", "esp32c3")
SOURCES = ["aes_rv32.S", "aes_rv32_blocks.c"]
BLOCKS = 200
MESSAGES = 200
ROUND = 96
"""Instructions of a round with mixed columns: 16 table reads of 4, 4 rotations of 3, sums, the round key."""


@pytest.mark.parametrize(("key_bytes", "key_bytes_max"), SIZES)
@pytest.mark.parametrize("define", [(), ("BLOCK_ENCRYPTS_ALONE",)])
def test_blocks_are_those_of_openssl(
    tmp_path: Path, define: tuple[str, ...], key_bytes: int, key_bytes_max: int
) -> None:
    """At each address; bytes around a block and the key itself stay as they are; all take the same time."""
    block, faults, refused, _, *cycles = ran(
        tmp_path, "esp32c3", SOURCES, key_bytes, key_bytes_max, BLOCKS, *define, place="flash"
    )
    assert (block, int(faults, 16)) == (chained(key_bytes, BLOCKS).hex(), 0)
    assert refused == REFUSED[key_bytes_max]
    least, most = [int(text, 16) for text in cycles[::2]], [int(text, 16) for text in cycles[1::2]]
    assert len(least) == (2 if define else 4)
    assert least[::2] == most[::2]


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("cipher", ["aes128-ccm16", "aes256-ccm16"])
def test_messages_are_those_of_the_oracle(tmp_path: Path, cipher: str, chip: str) -> None:
    """At each address, in place and not; bytes around them stay as they are; what is changed is refused."""
    tag, total, faults, *_ = sealed_on_pico.ran(tmp_path, cipher, "rv32", MESSAGES, device_name=chip)
    expected, length = sealed_on_pico.chained(cipher, MESSAGES)
    assert (tag, int(total, 16), int(faults, 16)) == (expected.hex(), length, 0)


@pytest.mark.parametrize(("cipher", "rounds"), [("aes128-ecb", 10), ("aes192-ecb", 12), ("aes256-ecb", 14)])
def test_a_block_takes_its_rounds_and_fewer_cycles_than_the_c_code(
    tmp_path: Path, cipher: str, rounds: int
) -> None:
    def of_a_block(variant: str, operation: str) -> int:
        found = sealed_on_pico.measured(
            tmp_path / f"{variant}.db", cipher, variant, "hifive1", [16, 32], ad_bytes=0
        )
        by_length = {
            cell.message_bytes: m.cycles_median for cell, m in found.items() if cell.operation == operation
        }
        assert by_length[16] is not None and by_length[32] is not None
        return by_length[32] - by_length[16]

    for operation in ("encrypt", "decrypt"):
        assembly = of_a_block("rv32", operation)
        assert rounds * ROUND < assembly < rounds * ROUND + 200
        assert assembly < 0.85 * of_a_block("tables", operation)


def test_each_chip_with_31_registers_has_it() -> None:
    for device in CATALOG.devices.values():
        if device.runner != "riscv":
            continue
        for cipher in ("aes128-ecb", "aes192-cbc", "aes256-cts", "aes128-ctr", "aes256-ccm8"):
            bodies = CATALOG.implementations_of(cipher, device.name, ["motecrypt"])
            assert ("rv32" in [body.variant for body in bodies]) == (device.core != "qingke-v2a")
