"""Which registers and flags each 16-bit Thumb instruction uses, next to a table of ARM DDI 0419, A6."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from natively import ask, compiled

from tool_sets import needs_tool_set

pytestmark = needs_tool_set("host")

#: Encodings, the first that fits: bits (x: any; d, m, n: of a register; D: the top bit of d), what is read,
#: what is written. N and Z go together. What is not here is in no waiting loop that is known: SP, PC, stores.
TABLE = """
0000000000mmmddd m   dN    MOVS
000110xmmmnnnddd mn  dNCV  ADDS, SUBS
000111xxxxnnnddd n   dNCV  ADDS, SUBS of a number
000xxxxxxxmmmddd m   dNC   LSLS, LSRS, ASRS
00100dddxxxxxxxx -   dN    MOVS of a number
00101nnnxxxxxxxx n   NCV   CMP
0011xdddxxxxxxxx d   dNCV  ADDS, SUBS
0100000000mmmddd dm  dN    ANDS
0100000001mmmddd dm  dN    EORS
0100000010mmmddd dmC dNC   LSLS
0100000011mmmddd dmC dNC   LSRS
0100000100mmmddd dmC dNC   ASRS
0100000101mmmddd dmC dNCV  ADCS
0100000110mmmddd dmC dNCV  SBCS
0100000111mmmddd dmC dNC   RORS
0100001000mmmddd dm  N     TST
0100001001mmmddd m   dNCV  RSBS
0100001010mmmddd dm  NCV   CMP
0100001011mmmddd dm  NCV   CMN
0100001100mmmddd dm  dN    ORRS
0100001101mmmddd dm  dN    MULS
0100001110mmmddd dm  dN    BICS
0100001111mmmddd m   dN    MVNS
01000100Dmmmmddd dm  d     ADD
01000101Dmmmmddd dm  NCV   CMP
01000110Dmmmmddd m   d     MOV
01001dddxxxxxxxx -   d     LDR of a constant
0101011mmmnnnddd mn  d     LDRSB
01011xxmmmnnnddd mn  d     LDR, LDRH, LDRB, LDRSH
01101xxxxxnnnddd n   d     LDR
01111xxxxxnnnddd n   d     LDRB
10001xxxxxnnnddd n   d     LDRH
10011dddxxxxxxxx -   d     LDR from the stack
10110010xxmmmddd m   d     SXTH, SXTB, UXTH, UXTB
1011101000mmmddd m   d     REV
1011101001mmmddd m   d     REV16
1011101011mmmddd m   d     REVSH
1011111100000000 -   -     NOP
1101000xxxxxxxxx N   -     BEQ, BNE
1101001xxxxxxxxx C   -     BCS, BCC
1101010xxxxxxxxx N   -     BMI, BPL
1101011xxxxxxxxx V   -     BVS, BVC
1101100xxxxxxxxx NC  -     BHI, BLS
1101101xxxxxxxxx NV  -     BGE, BLT
1101110xxxxxxxxx NV  -     BGT, BLE
11100xxxxxxxxxxx -   -     B
"""
FLAGS = {"N": 16, "C": 17, "V": 18, "-": None}
ROWS = [tuple(line.split()[:3]) for line in TABLE.split("\n") if line]
UNDEFINED = re.compile("1011101010......")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled("arm_parts_harness.c", tmp_path_factory.mktemp("uses"))


def matching(row: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(re.sub("[^01]", ".", row[0]))


PATTERNS = [matching(row) for row in ROWS]


def uses(code: int) -> int | None:
    """As the harness returns it; None: the architecture defines no such instruction."""
    bits = f"{code:016b}"
    if UNDEFINED.match(bits):
        return None
    row = next((row for row, pattern in zip(ROWS, PATTERNS, strict=True) if pattern.match(bits)), None)
    if row is None:
        return 0
    places, read, written = row
    fields: dict[str, str] = {"D": "", "d": "", "m": "", "n": ""}
    for place, bit in zip(places, bits, strict=True):
        if place in fields:
            fields[place] += bit
    numbers = {name: int(fields["D"] * (name == "d") + fields[name] or "0", 2) for name in "dmn"}
    if "D" in places and max(numbers["d"], numbers["m"]) >= 13:
        return 0

    def mask(letters: str) -> int:
        at = [numbers.get(letter, FLAGS.get(letter)) for letter in letters]
        return sum(1 << bit for bit in {bit for bit in at if bit is not None})

    return 1 | mask(read) << 1 | mask(written) << 32


def test_every_code_uses_what_the_manual_says(program: Path) -> None:
    codes = range(1 << 16)
    found = ask(program, lines=[("uses", code) for code in codes])
    wrong = [
        (f"{code:#06x}", f"{got:#x}", f"{want:#x}")
        for code, got in zip(codes, found, strict=True)
        if (want := uses(code)) is not None and got != want
    ]
    assert not wrong, (len(wrong), wrong[:5])


def test_a_cortex_m33_waits_for_what_an_instruction_reads(program: Path) -> None:
    """Of those that only compute; addresses of loads are of another table."""
    codes = [*range(0x4700), *range(0xB200, 0xB300), *range(0xBA00, 0xBB00)]
    known = {code: one for code in codes if (one := uses(code))}
    found = ask(program, lines=[("waits", code) for code in known])
    flags = 1 << 16 | 1 << 17 | 1 << 18
    expected = [(one >> 1 & 0xFFFF) | bool(one >> 32 & flags) << 16 for one in known.values()]
    wrong = [
        (hex(code), hex(got), hex(want))
        for code, got, want in zip(known, found, expected, strict=True)
        if got != want
    ]
    assert not wrong, (len(wrong), wrong[:5])
