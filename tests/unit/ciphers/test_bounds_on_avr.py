"""The page of bounds counts AES and Ascon on AVR as the assembler makes them, and its arguments hold."""

from __future__ import annotations

import re
import subprocess
from itertools import combinations
from pathlib import Path

from motecrypt.catalog import FIRMWARE, Catalog
from tool_sets import skip_without
from unit.ciphers.test_aes_on_uno import ran as chain_of_blocks
from unit.ciphers.test_bounds import PAGE, page
from unit.ciphers.test_bounds_of_ascon import ROTATIONS

AES_ROUND = [
    "lookups in the table",
    "bytes of the key read",
    "bytes of the key added",
    "doublings in columns",
]
AES_ROUND += ["sums in columns", "moves of bytes", "counting rounds of AES"]
ASCON_ROUND = ["S-box, 64 columns in bytes", "shifts of bytes, linear layer", "sums of bytes, linear layer"]
ASCON_ROUND += ["constant, one byte", "bytes read and written", "copies and factors"]
ASCON_ROUND += ["counting rounds of a byte"]
CYCLES = {"lpm": 3, "ret": 4, "mul": 2, "adiw": 2, "sbiw": 2, "rjmp": 2, "push": 2, "pop": 2}
CYCLES |= dict.fromkeys(("ld", "ldd", "st", "std"), 2)
"""Of instructions that take more than one: ATmega328P data sheet, instruction set summary."""
Instruction = tuple[int, str, str]


def code_of(source: Path, function: str, folder: Path) -> list[Instruction]:
    """Addresses, instructions and their operands."""
    uno = Catalog.load().device("uno")
    skip_without(uno.tool_set)
    made = folder / "made.elf"
    compiler = [uno.compiler.command, *uno.compiler.machine_flags, "-DCIPHER_KEY_BYTES_MAX=16"]
    # only the linker fills in jumps
    subprocess.run([*compiler, "-nostdlib", str(source), "-o", str(made)], check=True, timeout=60)
    command = [uno.compiler.command.replace("gcc", "objdump"), "-d", "--no-show-raw-insn", str(made)]
    text = subprocess.run(command, check=True, timeout=60, capture_output=True, text=True).stdout
    text = text.partition(f"<{function}>:")[2]
    rows = re.findall(r"^ +([0-9a-f]+):\t([a-z]+)\t?([^;\n]*)", text, re.M)
    code = [(int(address, 16), name, operands.strip()) for address, name, operands in rows]
    return code[: next(at for at, (_, name, _) in enumerate(code) if name == "ret")]


def loop_in(code: list[Instruction]) -> tuple[int, int]:
    """Where the loop begins, and the jump back that ends it."""
    addresses = [address for address, _, _ in code]
    for end, (address, name, operands) in enumerate(code):
        if name == "rjmp" and operands.startswith(".-"):
            return addresses.index(address + 2 + int(operands[1:])), end
    raise AssertionError(code)


def cycles_of(code: list[Instruction]) -> int:
    """Cycles if no branch is taken."""
    return sum(CYCLES.get(name, 1) for _, name, _ in code)


def test_a_round_of_aes_is_counted_as_it_is(tmp_path: Path) -> None:
    code = code_of(FIRMWARE / "ciphers/aes/aes_avr.S", "block_encrypt", tmp_path)
    first, last = loop_in(code)
    cycles = dict.fromkeys(AES_ROUND, 0)
    before = ""
    for part in code[first : last + 1]:
        _, name, _ = part
        if name in ("lpm", "ldd", "ld"):
            kind = "lookups in the table" if name == "lpm" else "bytes of the key read"
        elif name in ("mov", "movw"):
            kind = "moves of bytes"
        elif name in ("adiw", "dec", "breq", "rjmp"):
            kind = "counting rounds of AES"
        elif name in ("add", "adc", "lsl", "sbc", "and") or before == "and":
            kind = "doublings in columns"
        else:
            assert name == "eor", part
            kind = "bytes of the key added" if before in ("ld", "ldd") else "sums in columns"
        cycles[kind] += cycles_of([part])
        before = name
    rows = {row[0]: row[1:] for row in page() if row and row[0] in [*AES_ROUND, "a round on AVR"]}
    together = sum(cycles.values())
    assert {name: int(row[1]) for name, row in rows.items()} == {**cycles, "a round on AVR": together}
    least = {name: int(row[0]) for name, row in rows.items()}
    bound = least.pop("a round on AVR")
    assert bound == sum(least.values())
    # the first of ten passes begins after the mixing, and the last one leaves the loop by its branch
    enters = code[first - 1]
    assert enters[1] == "rjmp"
    substitutes = [address for address, _, _ in code].index(enters[0] + 2 + int(enters[2].split()[0][1:]))
    block = cycles_of(code[:first]) + 9 * together + cycles_of(code[substitutes:last]) + 1
    block += cycles_of(code[last + 1 :])
    least_block = 9 * bound + 64 + 48 + 96
    text = " ".join(PAGE.read_text().split())
    assert f"AES-128 takes at least {least_block:,} cycles" in text
    assert f"takes {block:,} without its call and return: {block / least_block:.2f} times" in text
    between = (
        f"Of the {block - least_block} cycles between them {9 * (together - bound)} are in the nine rounds"
    )
    assert between in text
    measured = int(chain_of_blocks(tmp_path, 16, 16, 1)[3], 16)
    assert 8 <= measured - block <= 16, "the call, its arguments and the return"


def rank(vectors: list[int]) -> int:
    """Of vectors over GF(2), each a number's bits."""
    kept: list[int] = []
    for vector in vectors:
        for other in kept:
            vector = min(vector, vector ^ other)
        if vector:
            kept.append(vector)
    return len(kept)


def test_the_arguments_on_mixing_a_column_hold() -> None:
    doubled = [1 << row | 1 << (row + 1) % 4 for row in range(4)]
    plain = [0b1111 ^ 1 << row for row in range(4)]
    assert rank(doubled) == 3 and rank(plain) == 4
    assert all(rank(list(three)) == 3 for three in combinations(doubled, 3))
    for value in ((0xDB, 0x13, 0x53, 0x45), (0xF2, 0x0A, 0x22, 0x5C)):
        for row in range(4):
            parts = [byte for at, byte in enumerate(value) if plain[row] >> at & 1]
            for at, byte in enumerate(value):
                if doubled[row] >> at & 1:
                    parts.append(byte << 1 & 0xFF ^ (0x1B if byte & 0x80 else 0))
            mixed = 0
            for part in parts:
                mixed ^= part
            expected = {0xDB: (0x8E, 0x4D, 0xA1, 0xBC), 0xF2: (0x9F, 0xDC, 0x58, 0x9D)}
            assert mixed == expected[value[0]][row]


def test_a_round_of_ascon_is_counted_as_it_is(tmp_path: Path) -> None:
    code = code_of(FIRMWARE / "ciphers/ascon/ascon_avr.S", "ascon_permute", tmp_path)
    first, last = loop_in(code)
    loop = code[first : last + 1]
    cycles = dict.fromkeys(ASCON_ROUND, 0)
    # the S-box ends where the first word is copied
    linear = next(at for at, (_, name, _) in enumerate(loop) if name == "movw")
    for at, part in enumerate(loop):
        _, name, operands = part
        if name in ("ld", "ldd", "st", "std"):
            kind = "bytes read and written"
        elif name in ("mov", "movw", "ldi") or (name == "eor" and operands == "r1, r1"):
            kind = "copies and factors"
        elif name in ("cpi", "breq", "subi", "rjmp"):
            kind = "counting rounds of a byte"
        elif operands.endswith("r26") and at < linear:
            kind = "constant, one byte"
        elif name in ("eor", "or", "and", "com"):
            kind = "S-box, 64 columns in bytes" if at < linear else "sums of bytes, linear layer"
        else:
            assert name in ("mul", "bst", "bld", "lsr", "ror", "add", "adc"), part
            kind = "shifts of bytes, linear layer"
        cycles[kind] += cycles_of([part])
    rows = {row[0]: row[1:] for row in page() if row and row[0] in [*ASCON_ROUND, "all of a round"]}
    together = sum(cycles.values())
    assert {name: int(row[1]) for name, row in rows.items()} == {**cycles, "all of a round": together}
    least = {name: int(row[0]) for name, row in rows.items()}
    bound = least.pop("all of a round")
    assert bound == sum(least.values())
    assert f"{8 * together:,} cycles, {together / bound:.2f} times the bound. Most" in PAGE.read_text()
    loads = sum(name in ("ld", "ldd") for _, name, _ in loop)
    stores = sum(name in ("st", "std") for _, name, _ in loop)
    assert f"reads {loads} bytes and writes {stores}" in " ".join(PAGE.read_text().split())


def test_the_arguments_on_ascons_linear_layer_hold() -> None:
    for one, other in ROTATIONS:
        apart = [one, other, other - one]
        assert all(by % 8 for by in apart)
        assert len({min(by % 64, -by % 64) for by in apart}) == 3
