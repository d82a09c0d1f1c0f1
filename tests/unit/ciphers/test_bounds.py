"""The page of bounds counts the rounds of our assembly as the assembler makes them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path

import pytest

from motecrypt.catalog import FIRMWARE, Catalog
from tool_sets import skip_without

PAGE = Path(__file__).resolve().parents[3] / "docs" / "bounds.md"
AES, CHACHA20_POLY1305 = FIRMWARE / "ciphers/aes", FIRMWARE / "ciphers/chacha20-poly1305"
ROUND = ["table reads", "offsets of table entries", "rotations or shifts", "sums", "round key"]
ROUND += ["mixing columns", "moves between registers", "loop"]
DOUBLE_ROUND = ["sums, 32 bits", "exclusive ors", "rotations", "counts", "words into low registers"]
DOUBLE_ROUND += ["words out of them", "loop, ten times"]
WORD = ["factors", "parts of the sum", "products", "sums of products", "carry and the rest"]


def page() -> list[list[str]]:
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in PAGE.read_text().splitlines()]


def loop_of(source: Path, section: str, folder: Path, having: str = "") -> list[tuple[str, str]]:
    """The instructions of the first loop in a section that has one of that name, with their operands."""
    pico = Catalog.load().device("pico")
    skip_without(pico.tool_set)
    compiler = [pico.compiler.command, *pico.compiler.machine_flags]
    made = folder / "made.o"
    subprocess.run([*compiler, "-c", source, "-o", made], check=True, timeout=60)
    dump = pico.compiler.command.replace("gcc", "objdump")
    command = [dump, "-d", "--no-show-raw-insn", "-j", section, made]
    text = subprocess.run(command, check=True, timeout=60, capture_output=True, text=True).stdout
    rows = re.findall(r"^ +([0-9a-f]+):\t([a-z]+)[.n]*\t?([^@;<\n]*)", text, re.M)
    at = [int(address, 16) for address, _, _ in rows]
    for end, (_, name, operands) in enumerate(rows):
        if name in ("b", "bne") and int(operands.split()[0], 16) < at[end]:
            begin = at.index(int(operands.split()[0], 16))
            loop = [(name, operands.strip()) for _, name, operands in rows[begin : end + 1]]
            if not having or having in dict(loop):
                return loop
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
        elif name in ("eors", "adds"):
            cycles["sums"] += 1
        else:
            assert name in ("mov", "movs"), (name, operands)
            cycles["moves between registers"] += 1
    return cycles


def registers(operands: str) -> int:
    """How many a list names."""
    listed = operands[operands.index("{") + 1 : operands.index("}")].replace("r", "").split(", ")
    ends = [[int(end) for end in part.split("-")] for part in listed]
    return sum(part[-1] - part[0] + 1 for part in ends)


def low(operand: str) -> bool:
    return operand.strip() in ("r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7")


def spent_by_chacha(loop: list[tuple[str, str]]) -> dict[str, int]:
    cycles = dict.fromkeys(DOUBLE_ROUND, 0)
    for name, operands in loop:
        if name in ("ldmia", "pop", "stmia", "push"):
            into = name in ("ldmia", "pop")
            cycles["words into low registers" if into else "words out of them"] += 1 + registers(operands)
        elif name == "add" and "sp" in operands:
            cycles["words into low registers"] += 1
        elif name == "mov":
            into = low(operands.split(",")[0])
            cycles["words into low registers" if into else "words out of them"] += 1
        elif name in ("add", "adds"):
            cycles["counts" if "#" in operands else "sums, 32 bits"] += 1
        elif name in ("bpl", "b"):
            cycles["loop, ten times"] += 2 if name == "b" else 1
        else:
            assert name in ("eors", "rors"), (name, operands)
            cycles["exclusive ors" if name == "eors" else "rotations"] += 1
    return cycles


def spent_by_poly1305(loop: list[tuple[str, str]]) -> dict[str, int]:
    cycles = dict.fromkeys(WORD, 0)
    seen = 0
    for name, operands in loop:
        multiplying, seen = seen < 16, seen + (name == "muls")
        if name == "ldmia":
            cycles["factors"] += 1 + registers(operands)
        elif name == "muls" and multiplying:
            cycles["products"] += 1
        elif seen <= 16 and name in ("sxth", "asrs") and low(operands.split(",")[1]) and multiplying:
            cycles["parts of the sum"] += 1
        elif seen <= 16 and name in ("add", "mov") and not low(operands.split(",")[0]):
            cycles["sums of products"] += 1
        else:
            cycles["carry and the rest"] += 2 if name in ("ldr", "str", "bne") else 1
    return cycles


@pytest.mark.parametrize(("variant", "column"), [("armv6m", 2), ("armv6m_small", 4)])
def test_a_round_is_counted_as_it_is(variant: str, column: int, tmp_path: Path) -> None:
    printed = {row[0]: row[column] for row in page() if row and row[0] in [*ROUND, "together"]}
    cycles = spent(loop_of(AES / f"aes_{variant}.S", ".text.aes_encrypt_words", tmp_path))
    assert printed == {
        name: str(count) for name, count in (*cycles.items(), ("together", sum(cycles.values())))
    }


def test_the_bound_is_the_sum_of_its_parts() -> None:
    rows = [row for row in page() if row and row[0] in ROUND]
    assert [row[0] for row in rows] == ROUND
    assert sum(int(row[1]) for row in rows) == 93
    assert "949" in PAGE.read_text() and 10 * 93 + 9 + 10 == 949


COLUMNS = [frozenset(row + 4 * i for i in range(4)) for row in range(4)]
DIAGONALS = [frozenset((row + i) % 4 + 4 * i for i in range(4)) for row in range(4)]
CHACHA = {
    "sums of bytes": ("add", "adc"),
    "exclusive ors of bytes": ("eor",),
    "rotations by four bits": ("mul", "movw", "mov", "or"),
    "rotations by one bit": ("bst", "lsr", "ror", "bld"),
    "words read and written": ("ld", "ldd", "st", "std"),
    "counting rounds": ("dec", "breq", "rjmp"),
}
TWO_CYCLES = ("mul", "ld", "ldd", "st", "std", "rjmp")


def words_read(quarters: Sequence[frozenset[int]], kept: int) -> int:
    """Words read in two rounds after the same two, with so many in registers: what is needed last goes."""
    held: set[int] = set()
    counts = []
    for turn in range(6):
        counts.append(0)
        for at, words in enumerate(quarters):
            counts[turn] += len(words - held)
            later = [*quarters[at + 1 :], *quarters[: at + 1]]
            wait = {word: next(n for n, q in enumerate(later) if word in q) for word in held | words}
            others = sorted((held | words) - later[0], key=lambda word: (wait[word], word))
            stay = later[0] & (held | words)
            held = set(stay) | set(others[: kept - len(later[0])])
    assert counts[-1] == counts[-2]
    return counts[-1]


def test_two_rounds_of_chacha_are_counted_as_they_are(tmp_path: Path) -> None:
    uno = Catalog.load().device("uno")
    skip_without(uno.tool_set)
    source, made = FIRMWARE / "ciphers/chacha20-poly1305/chacha_avr_rounds.S", tmp_path / "rounds.o"
    compiler = [uno.compiler.command, *uno.compiler.machine_flags]
    subprocess.run([*compiler, "-c", source, "-o", made], check=True, timeout=60)
    command = [uno.compiler.command.replace("gcc", "objdump"), "-d", "--no-show-raw-insn", made]
    text = subprocess.run(command, check=True, timeout=60, capture_output=True, text=True).stdout
    loop = re.findall(r"^ +[0-9a-f]+:\t([a-z]+)", text.partition("<columns>:")[2], re.M)
    cycles = {
        name: sum(1 + (word in TWO_CYCLES) for word in loop if word in words)
        for name, words in CHACHA.items()
    }
    assert sum(len([word for word in loop if word in words]) for words in CHACHA.values()) == len(loop)
    rows = {row[0]: row[1:] for row in page() if row and row[0] in [*CHACHA, "all together"]}
    together = sum(cycles.values())
    assert {name: row[1] for name, row in rows.items()} == {
        name: str(count) for name, count in (*cycles.items(), ("all together", together))
    }
    least = [int(rows[name][0]) for name in CHACHA]
    assert sum(least) == int(rows["all together"][0])
    assert f"{10 * together:,} cycles, {together / sum(least):.2f} times" in PAGE.read_text()


@pytest.mark.parametrize(("kept", "row", "count"), [(7, 0, 18), (6, 1, 22)])
def test_no_order_of_chachas_quarter_rounds_reads_fewer_words(kept: int, row: int, count: int) -> None:
    orders = [
        [COLUMNS[0], *columns, *diagonals]
        for columns in permutations(COLUMNS[1:])
        for diagonals in permutations(DIAGONALS)
    ]
    assert len(orders) == 144
    assert min(words_read(order, kept) for order in orders) == count
    printed = next(line for line in page() if line and line[0] == "words read and written")
    assert int(printed[1 + row]) == 16 * count


def test_a_double_round_of_chacha20_is_counted_as_it_is(tmp_path: Path) -> None:
    printed = {row[0]: row[2] for row in page() if row and row[0] in [*DOUBLE_ROUND, "two rounds"]}
    cycles = spent_by_chacha(loop_of(CHACHA20_POLY1305 / "chacha_armv6m.S", ".text.chacha20_block", tmp_path))
    counted = {**cycles, "two rounds": sum(cycles.values())}
    assert printed == {name: str(count) for name, count in counted.items()}


def test_a_word_of_poly1305_is_counted_as_it_is(tmp_path: Path) -> None:
    printed = {row[0]: row[2] for row in page() if row and row[0] in [*WORD, "a word"]}
    loop = loop_of(CHACHA20_POLY1305 / "poly1305_armv6m.S", ".text.poly1305_block", tmp_path, "muls")
    cycles = spent_by_poly1305(loop)
    assert printed == {name: str(count) for name, count in {**cycles, "a word": sum(cycles.values())}.items()}


@pytest.mark.parametrize(("parts", "together"), [(DOUBLE_ROUND, "two rounds"), (WORD, "a word")])
def test_the_bounds_of_chacha20_and_poly1305_are_the_sums_of_their_parts(
    parts: list[str], together: str
) -> None:
    printed = {row[0]: row[1] for row in page() if row and row[0] in [*parts, together]}
    assert int(printed[together]) == sum(int(printed[name] or 0) for name in parts)
