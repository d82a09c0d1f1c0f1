"""The page of bounds counts AES on Cortex-M4 as the assembler makes it."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path

from motecrypt.catalog import FIRMWARE, Catalog
from tool_sets import skip_without
from unit.ciphers.test_bounds import PAGE, page, registers

AES = FIRMWARE / "ciphers/aes"
PARTS = ["reads of the table", "indices", "sums with rotations", "words of the key", "end of the loop"]


def code_of(source: str, section: str, folder: Path) -> list[tuple[int, str, str]]:
    """Addresses, instructions and their operands."""
    chip = Catalog.load().device("stm32f4")
    skip_without(chip.tool_set)
    made = folder / "made.o"
    compiler = [chip.compiler.command, *chip.compiler.machine_flags, "-DCIPHER_KEY_BYTES_MAX=16"]
    subprocess.run([*compiler, "-c", str(AES / source), "-o", str(made)], check=True, timeout=60)
    dump = chip.compiler.command.replace("gcc", "objdump")
    command = [dump, "-d", "--no-show-raw-insn", "-j", section, str(made)]
    text = subprocess.run(command, check=True, timeout=60, capture_output=True, text=True).stdout
    rows = re.findall(r"^ +([0-9a-f]+):\t([a-z]+)(?:\.[nw])?\t?([^@;<\n]*)", text, re.M)
    return [(int(address, 16), name, operands.strip()) for address, name, operands in rows]


def spent(loop: list[tuple[int, str, str]]) -> dict[str, int]:
    """Cycles of each class by ARM DDI 0439, table 3-1 and section 3.3.2."""
    cycles, before = dict.fromkeys(PARTS, 0), ""
    for _, name, operands in loop:
        if name == "ldr":
            cycles["reads of the table"] += 1 if before == "ldr" else 2
        elif name == "ldmia":
            cycles["words of the key"] += 1 + registers(operands)
        elif name in ("cmp", "bne"):
            cycles["end of the loop"] += 2 if name == "bne" else 1
        elif name == "uxtb" or (name == "mov" and "lsr" in operands):
            cycles["indices"] += 1
        else:
            assert name == "eor", (name, operands)
            cycles["sums with rotations"] += 1
        before = name
    return cycles


def test_two_rounds_with_a_table_are_counted_as_they_are(tmp_path: Path) -> None:
    code = code_of("aes_armv7m.S", ".text.block_encrypt", tmp_path)
    end = next(at for at, (_, name, _) in enumerate(code) if name == "bne")
    begin = [address for address, _, _ in code].index(int(code[end][2].split()[0], 16))
    cycles = spent(code[begin : end + 1])
    rows = {row[0]: row[1:] for row in page() if row and row[0] in [*PARTS, "both rounds"]}
    assert {name: int(row[1]) for name, row in rows.items()} == {
        **cycles,
        "both rounds": sum(cycles.values()),
    }
    least = {name: int(row[0]) for name, row in rows.items()}
    both = least.pop("both rounds")
    assert both == sum(least.values())
    assert f"at least {5 * both + 16} cycles" in PAGE.read_text()


def test_the_circuit_is_counted_as_it_is(tmp_path: Path) -> None:
    code = code_of("aes_armv7m_fixsliced.S", ".text.aes_substitute", tmp_path)
    counts = Counter(
        name.removesuffix("s") for _, name, operands in code if name != "nop" and "[sp, #32]" not in operands
    )
    kept = f"{counts['eor'] + counts['and'] - 113} sums made twice, {counts['str']} values stored and loaded"
    assert set(counts) == {"eor", "and", "str", "ldr"} and counts["str"] == counts["ldr"]
    assert kept in " ".join(PAGE.read_text().split())
