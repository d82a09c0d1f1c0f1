"""The page of bounds counts the rounds of our assembly as the assembler makes them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from kits import skip_without
from motecrypt.catalog import FIRMWARE, Catalog

PAGE = Path(__file__).resolve().parents[3] / "docs" / "bounds.md"
ROUND = ["table reads", "offsets of table entries", "rotations or shifts", "sums", "round key"]
ROUND += ["mixing columns", "moves between registers", "loop"]


def page() -> list[list[str]]:
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in PAGE.read_text().splitlines()]


def loop_of(variant: str, folder: Path) -> list[tuple[str, str]]:
    """The instructions of a round of encryption, with their operands."""
    pico = Catalog.load().device("pico")
    skip_without(pico.kit)
    compiler = [pico.compiler.command, *pico.compiler.machine_flags]
    source, made = FIRMWARE / f"ciphers/aes/aes_{variant}.S", folder / "aes.o"
    subprocess.run([*compiler, "-c", source, "-o", made], check=True, timeout=60)
    dump = pico.compiler.command.replace("gcc", "objdump")
    command = [dump, "-d", "--no-show-raw-insn", "-j", ".text.aes_encrypt_words", made]
    text = subprocess.run(command, check=True, timeout=60, capture_output=True, text=True).stdout
    rows = re.findall(r"^ +([0-9a-f]+):\t([a-z]+)[.n]*\t?([^@;<\n]*)", text, re.M)
    at = [int(address, 16) for address, _, _ in rows]
    for end, (_, name, operands) in enumerate(rows):
        if name in ("b", "bne") and int(operands.split()[0], 16) < at[end]:
            begin = at.index(int(operands.split()[0], 16))
            return [(name, operands.strip()) for _, name, operands in rows[begin : end + 1]]
    raise AssertionError(text)


def spent(loop: list[tuple[str, str]]) -> dict[str, int]:
    """Cycles of each class by ARM DDI 0484C, table 3-1."""
    cycles = dict.fromkeys(ROUND, 0)
    mixing = False
    for name, operands in loop:
        mixing |= (name, operands) == ("movs", "r6, #27")
        if name in ("ldr", "ldrb"):
            cycles["table reads"] += 2
        elif name == "ldmia":
            cycles["round key"] += 1 + operands.split("{")[1].count("r")
        elif name in ("cmp", "beq", "b", "bne"):
            cycles["loop"] += 2 if (name, operands) == loop[-1] else 1
        elif mixing:
            cycles["mixing columns"] += 1
        elif name == "rors" or (name, operands.split(" ")[-1]) == ("lsls", "#8"):
            cycles["rotations or shifts"] += 1
        elif name in ("lsls", "lsrs", "ands", "uxtb"):
            cycles["offsets of table entries"] += 1
        elif name == "eors":
            cycles["sums"] += 1
        else:
            assert name in ("mov", "movs"), (name, operands)
            cycles["moves between registers"] += 1
    return cycles


@pytest.mark.parametrize(("variant", "column"), [("armv6m", 2), ("armv6m_small", 4)])
def test_a_round_is_counted_as_it_is(variant: str, column: int, tmp_path: Path) -> None:
    printed = {row[0]: row[column] for row in page() if row and row[0] in [*ROUND, "together"]}
    cycles = spent(loop_of(variant, tmp_path))
    assert printed == {
        name: str(count) for name, count in (*cycles.items(), ("together", sum(cycles.values())))
    }


def test_the_bound_is_the_sum_of_its_parts() -> None:
    rows = [row for row in page() if row and row[0] in ROUND]
    assert [row[0] for row in rows] == ROUND
    assert sum(int(row[1]) for row in rows) == 93
    assert "949" in PAGE.read_text() and 10 * 93 + 9 + 10 == 949
