"""Every Thumb instruction's class, its registers and what it touches, next to a table of ARM DDI 0419, A5."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from natively import ask, compiled

from motecrypt.build.toolchain.drivers import DRIVERS
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("host")

#: The manual's encodings: bits (x: any), the class, and what else there is to say, in the words of `what`.
TABLE = """
00xxxxxxxxxxxxxx alu
010000xxxxxxxxxx alu
0100001101xxxxxx multiply
01000100xxxxxxxx alu
010001001xxxx101 alu sp
010001001xxxx111 write_pc
01000101xxxxxxxx alu
01000110xxxxxxxx alu
010001101xxxx101 alu sp
010001101xxxx111 write_pc
01000111xxxxxxxx branch_exchange
01001xxxxxxxxxxx load pc
0101000xxxxxxxxx store index 4
0101001xxxxxxxxx store index 2
0101010xxxxxxxxx store index 1
0101011xxxxxxxxx load index 1
0101100xxxxxxxxx load index 4
0101101xxxxxxxxx load index 2
0101110xxxxxxxxx load index 1
0101111xxxxxxxxx load index 2
01100xxxxxxxxxxx store immediate 4
01101xxxxxxxxxxx load immediate 4
01110xxxxxxxxxxx store immediate 1
01111xxxxxxxxxxx load immediate 1
10000xxxxxxxxxxx store immediate 2
10001xxxxxxxxxxx load immediate 2
10010xxxxxxxxxxx store stack
10011xxxxxxxxxxx load stack
1010xxxxxxxxxxxx alu
1011xxxxxxxxxxxx alu
10110000xxxxxxxx alu sp
1011010xxxxxxxxx push push sp
1011110xxxxxxxxx pop pop sp
10111101xxxxxxxx pop_pc pop sp
1011111100100000 wait
1011111100110000 wait
11000xxxxxxxxxxx store_multiple multiple
11001xxxxxxxxxxx load_multiple multiple
1101xxxxxxxxxxxx branch_if
1101111xxxxxxxxx branch
11100xxxxxxxxxxx branch
"""
CLASSES = re.findall(r"^    X\((\w+)\)", (DRIVERS / "arm_thumb.h").read_text(), re.MULTILINE)
SP, PC = 13, 15
READS, WRITES = 1, 2


@dataclass(frozen=True)
class Row:
    mask: int
    bits: int
    name: str
    words: tuple[str, ...]


ROWS = [
    Row(int(b.replace("0", "1").replace("x", "0"), 2), int(b.replace("x", "0"), 2), name, tuple(words))
    for b, name, *words in (line.split() for line in TABLE.split("\n") if line)
]


def packed(name: str, count: int, bytes_: int, sp: bool, access: tuple[int, int, int, int, int, int]) -> int:
    """As the harness packs an answer."""
    kind, base, index, size, units, offset = access
    return (
        (CLASSES.index(name) << 56 | count << 48 | bytes_ << 44 | sp << 40 | kind << 36 | base << 32)
        | (index & 0xFF) << 24
        | (size << 4 | units) << 16
        | offset & 0xFFFF
    )


def expected(code: int) -> int:
    """What the table says of a halfword."""
    row = [row for row in ROWS if code & row.mask == row.bits][-1]  # the last that fits is the most exact
    direction = WRITES if row.name in ("store", "store_multiple", "push") else READS
    eight, seven = code & 0xFF, code >> 6 & 31
    nine = (code & 0x1FF).bit_count()
    access = (0, 0, 0, 0, 0, 0)
    count = 0
    match [word for word in row.words if word != "sp"]:
        case ["pc"]:
            access = (READS, PC, -1, 4, 1, 4 * eight)
        case ["stack"]:
            access = (direction, SP, -1, 4, 1, 4 * eight)
        case ["index", size]:
            access = (direction, code >> 3 & 7, code >> 6 & 7, int(size), 1, 0)
        case ["immediate", size]:
            access = (direction, code >> 3 & 7, -1, int(size), 1, seven * int(size))
        case ["multiple"]:
            count = eight.bit_count()
            access = (direction, code >> 8 & 7, -1, 4, count, 0)
        case ["push"]:
            count = nine
            access = (WRITES, SP, -1, 4, nine, -4 * nine)
        case ["pop"]:
            count = nine
            access = (READS, SP, -1, 4, nine, 0)
    return packed(row.name, count, 2, "sp" in row.words, access)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled("arm_parts_harness.c", tmp_path_factory.mktemp("thumb"))


def test_every_halfword(program: Path) -> None:
    codes = range(0xE800)
    answers = ask(program, lines=[("decode", code) for code in codes])
    wrong = {hex(code): hex(a) for code, a in zip(codes, answers, strict=True) if a != expected(code)}
    assert not wrong


@pytest.mark.parametrize(
    ("first", "second", "name", "sp"),
    [
        (0xF000, 0xF800, "branch_link", False),
        (0xF7FF, 0xFFFF, "branch_link", False),
        (0xF7FF, 0xD000, "branch_link", False),
        (0xF3BF, 0x8F5F, "barrier", False),
        (0xF3BF, 0x8F6F, "barrier", False),
        (0xF3EF, 0x8010, "special", False),  # mrs
        (0xF380, 0x8808, "special", True),  # msr msp
        (0xF390, 0x8808, "special", True),
        (0xF3A0, 0x8808, "special", False),
        (0xF3C0, 0x8808, "special", False),
        (0xF7F0, 0xA000, "special", False),  # undefined: not a branch with link
        (0xF7F0, 0xC000, "special", False),
        (0xF7F0, 0x9000, "special", False),
        (0xE800, 0xF800, "special", False),
        (0xF800, 0xF800, "special", False),
        (0xFFB0, 0x8F5F, "special", False),
    ],
)
def test_what_takes_two_halfwords(program: Path, first: int, second: int, name: str, sp: bool) -> None:
    (answer,) = ask(program, lines=[("decode", first, second)])
    assert answer == packed(name, 0, 4, sp, (0, 0, 0, 0, 0, 0))


def test_the_first_halfword_alone_tells_how_long_it_is(program: Path) -> None:
    codes = [0xE7FF, 0xE800, 0xF000, 0xFFFF]
    answers = ask(program, lines=[("decode", code, 0xF800) for code in codes])
    assert [answer >> 44 & 15 for answer in answers] == [2, 4, 4, 4]


def test_cycles_are_those_of_the_class_and_of_each_register(program: Path) -> None:
    each = 100 + CLASSES.index("per_register")
    for code, name, count in ((0x3001, "alu", 0), (0xB51F, "push", 6), (0xBD00, "pop_pc", 1)):
        (answer,) = ask(program, lines=[("cycles", code, 0)])
        assert answer == 100 + CLASSES.index(name) + count * each
