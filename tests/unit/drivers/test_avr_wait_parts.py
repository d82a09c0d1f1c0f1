"""What makes a loop one that only waits (avr_wait.h), instruction by instruction and round by round."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from natively import ask, compiled

from motecrypt.build.toolchain.drivers import RECIPES
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("avr")

NOWHERE = 2**32 - 1
#: The instruction set manual's encodings (DS40002198) of what only looks; what no line has does more.
TABLE = """
0000000000000000 nop
00000001xxxxxxxx movw
000001xxxxxxxxxx cpc
00001xxxxxxxxxxx sbc add
0001xxxxxxxxxxxx cpse cp sub adc
0010xxxxxxxxxxxx and eor or mov
0011xxxxxxxxxxxx cpi
01xxxxxxxxxxxxxx sbci subi ori andi
10q0qq0xxxxx0qqq ldd Z
10q0qq0xxxxx1qqq ldd Y
1001000xxxxx0000 lds
1001000xxxxx1100 ld X
1001010xxxxx0000 com
1001010xxxxx0001 neg
1001010xxxxx0010 swap
1001010xxxxx0011 inc
1001010xxxxx0101 asr
1001010xxxxx0110 lsr
1001010xxxxx0111 ror
1001010xxxxx1010 dec
1001011xxxxxxxxx adiw sbiw
10011001qqqqqxxx sbic
10011011qqqqqxxx sbis
10110qqxxxxxqqqq in
1100xxxxxxxxxxxx rjmp
1110xxxxxxxxxxxx ldi
11110xxxxxxxxxxx brbs brbc
1111100xxxxx0xxx bld
1111101xxxxx0xxx bst
1111110xxxxx0xxx sbrc
1111111xxxxx0xxx sbrs
"""
WORD, X, Y, Z = 0x0155, 0x0142, 0x0133, 0x00F1
RJMP_BACK = 0xCFFE  # over one instruction
NOP, PUSH = 0x0000, 0x920F


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled("wait_harness.c", tmp_path_factory.mktemp("waits"), *RECIPES["simavr"].flags())


def looks_at() -> list[int]:
    """What the table says of each instruction's first word."""
    found = [0] * 0x10000
    for line in TABLE.strip().splitlines():
        pattern, name, *pointer = line.split()
        bits = [15 - at for at, kind in enumerate(pattern) if kind in "xq"]
        reads = [15 - at for at, kind in enumerate(pattern) if kind == "q"]
        fixed = int(re.sub("[xq]", "0", pattern), 2)
        start = {"lds": WORD, "ld": X, "ldd": Z if pointer == ["Z"] else Y, "in": 32, "sbic": 32, "sbis": 32}
        for number in range(1 << len(bits)):
            op = fixed | sum((number >> at & 1) << bit for at, bit in enumerate(bits))
            q = 0
            for bit in reads:
                q = q << 1 | op >> bit & 1
            found[op] = start[name] + q + 2 if name in start else 1
    return found


def test_every_instruction(program: Path) -> None:
    asked = [("looks", op, WORD, X, Y, Z) for op in range(0x10000)]
    expected = looks_at()
    found = ask(program, lines=asked)
    wrong = [(hex(op), found[op], expected[op]) for op in range(0x10000) if found[op] != expected[op]]
    assert wrong == []


def test_what_holds_still(program: Path) -> None:
    moving = (32, 40, 0xC0, 0xC8, 0xD0, 311)
    lines = [("moves", address) for address in moving]
    asked = [("holds_still", address) for address in (*range(0x1000), 0x10000)]
    still = ask(program, lines=[*lines, *asked])[len(lines) :]
    assert [address for address in range(0x900) if not still[address]] == list(moving)
    assert not any(still[0x900:])


def test_the_status_of_four_uarts_holds_still(program: Path) -> None:
    """It has a handler, which acts when the register is written."""
    status = (0xA0, 0xA8, 0xB0, 0xB8, 0xC0)
    for count in range(6):
        named = [1 << 16 | 0x90, *status[:count]][::-1]  # and a timer
        lines = [*(("moves", address) for address in (0x90, *status)), ("uarts", *named)]
        asked = [("holds_still", address) for address in (0x90, *status)]
        still = ask(program, lines=[*lines, *asked])[len(lines) :]
        assert still == [0, *(at < min(count, 4) for at in range(5))], count


def test_where_a_jump_leads(program: Path) -> None:
    pc = 0x4000
    asked, expected = [], []
    for op in range(0x10000):
        leads = NOWHERE
        if op >> 12 == 0xC:
            leads = pc + 2 + 2 * ((op & 0xFFF) - (op >> 11 & 1) * 0x1000)
        elif op >> 11 == 0x1E:
            leads = pc + 2 + 2 * ((op >> 3 & 0x7F) - (op >> 9 & 1) * 0x80)
        asked.append(("target", pc, op))
        expected.append(leads)
    found = ask(program, lines=asked)
    assert [hex(op) for op in range(0x10000) if found[op] != expected[op]] == []


HEAD, TAIL = 0x200, 0x202
#: The loop that does nothing, three cycles a round.
NOPS = [("at", HEAD, NOP, TAIL, 1), ("at", TAIL, RJMP_BACK, HEAD, 2)]
NOTHING, REGISTER, FLAG, INTERRUPT, LATER_EVENT, NO_EVENT = range(6)


def a_round(
    program: Path,
    *lines: tuple[object, ...],
    tail: int = TAIL,
    cycle: int = 1000,
    event: int = 0,
    until: int = 10_000,
    state: int = 0,
) -> tuple[int, int, int, int]:
    """The cycle after it, instructions that were run, cycles that were not, and refused loops."""
    asked = [("came_round", tail, HEAD, cycle, event, until, state), ("told", 0), ("told", 1), ("refused", 0)]
    after, runs, waited, refused = ask(program, lines=[*lines, *asked])[len(lines) :]
    return after, runs, waited, refused >> 32


@pytest.mark.parametrize(
    ("event", "until", "made"),
    [
        (0, 10_000, 2998),
        (10_000, 20_000, 2998),
        (20_000, 10_000, 2998),
        (0, 10_003, 2999),
        (0, 10_001, 2999),  # the last round would end at the event: one cycle before it is the last
        (0, 10_000 - 2, 2998),
        (0, 1007, 1),
        (0, 1006, 0),
        (0, 1004, 0),
    ],
)
def test_rounds_are_made_up_to_the_next_event(program: Path, event: int, until: int, made: int) -> None:
    assert (until - 1 - 1003 if event in (0, 20_000) else event - 1 - 1003) // 3 == made
    found = a_round(program, *NOPS, event=event, until=until)
    assert found == (1003 + 3 * made, 2, 3 * made, 0)


def test_cycles_that_were_not_stepped_add_up(program: Path) -> None:
    asked = ("came_round", TAIL, HEAD, 1000, 0, 1010, 0)
    assert ask(program, lines=[*NOPS, asked, asked, ("told", 1), ("told", 2)])[2:] == [1009, 1009, 12, HEAD]


def test_what_is_not_tried(program: Path) -> None:
    assert a_round(program, *NOPS, state=1) == (1000, 0, 0, 0)
    assert a_round(program, *NOPS, state=-1) == (1000, 0, 0, 0)
    assert a_round(program, *NOPS, ("at", TAIL, NOP, HEAD, 2)) == (1000, 0, 0, 0), "no jump"
    assert a_round(program, *NOPS, ("at", TAIL, RJMP_BACK + 1, HEAD, 2)) == (1000, 0, 0, 0), "to elsewhere"


@pytest.mark.parametrize(("until", "after", "runs"), [(1000, 1000, 0), (1001, 1001, 1), (1003, 1003, 2)])
def test_an_event_that_comes_first_ends_it(program: Path, until: int, after: int, runs: int) -> None:
    assert a_round(program, *NOPS, until=until) == (after, runs, 0, 0)


def test_a_way_out_ends_it(program: Path) -> None:
    for out in (HEAD - 2, TAIL + 2):
        assert a_round(program, ("at", HEAD, NOP, out, 1), NOPS[1]) == (1001, 1, 0, 0), out
    # The jump may lead out as well as back.
    branch = ("at", TAIL, 0xF3F1, TAIL + 2, 1)
    assert a_round(program, NOPS[0], branch) == (1002, 2, 0, 0)
    # A jump within the loop to its own end does not end it, nor does one to its head.
    ways = [
        ("at", HEAD, NOP, HEAD + 4, 1),
        ("at", HEAD + 4, NOP, HEAD + 2, 1),
        ("at", HEAD + 2, NOP, HEAD + 6, 1),
    ]
    tail = ("at", HEAD + 6, 0xCFFC, HEAD, 2)
    assert a_round(program, *ways, tail, tail=HEAD + 6, until=1012) == (1010, 4, 5, 0)


@pytest.mark.parametrize("length", [31, 32, 33])
def test_a_round_has_32_instructions_at_most(program: Path, length: int) -> None:
    nops = [("at", HEAD + 2 * n, NOP, HEAD + 2 * n + 2, 1) for n in range(length - 1)]
    tail = HEAD + 2 * (length - 1)
    found = a_round(program, *nops, ("at", tail, 0xD000 - length, HEAD, 2), tail=tail, until=2000)
    if length > 32:
        assert found == (1032, 32, 0, 1)
    else:
        rounds = 999 // (length + 1)
        assert found == (1000 + rounds * (length + 1), length, (rounds - 1) * (length + 1), 0)


def test_what_does_more_is_tried_once(program: Path) -> None:
    """A loop that was refused is not followed again; it is known by where it ends."""
    pushes = ("at", HEAD, PUSH, TAIL, 2)
    assert a_round(program, pushes, NOPS[1]) == (1000, 0, 0, 1)
    again = ("came_round", TAIL, HEAD, 1000, 0, 10_000, 0)
    assert a_round(program, pushes, NOPS[1], again, NOPS[0]) == (1000, 0, 0, 1)
    changed = [("at", HEAD, NOP, TAIL, 1, REGISTER, 31), NOPS[1], again]
    assert a_round(program, *changed) == (1000, 0, 0, 1)


@pytest.mark.parametrize(
    ("tail", "other", "known"),
    [
        (0x202, 0x204, False),
        (0x202, 0x8202, False),
        (0x202, 0xFE02, False),
        (0x202, 0x10202, True),
        (0x10200, 0x200, True),
    ],
)
def test_a_refused_loop_is_known_by_its_end(program: Path, tail: int, other: int, known: bool) -> None:
    lines: list[tuple[object, ...]] = []
    for end, op in ((tail, PUSH), (other, NOP)):
        lines += [("at", end - 2, op, end, 1), ("at", end, RJMP_BACK, end - 2, 2)]
        lines += [("came_round", end, end - 2, 1000, 0, 1010, 0)]
    answers = ask(program, lines=[*lines, ("refused", tail // 2 % 32768)])
    assert (answers[2], answers[5]) == (1000, 1000 if known else 1009)
    assert answers[-1] == 1 << 32 | 1


@pytest.mark.parametrize(("act", "which"), [(REGISTER, r) for r in range(33)] + [(FLAG, f) for f in range(8)])
def test_what_changes_a_register_or_a_flag_is_refused(program: Path, act: int, which: int) -> None:
    found = a_round(program, ("at", HEAD, NOP, TAIL, 1, act, which), NOPS[1])
    if (act, which) == (REGISTER, 32):  # what follows the registers
        assert found == (9997, 2, 8994, 0)
    else:
        assert found == (1003, 2, 0, 1)


def test_what_else_has_acted_ends_it(program: Path) -> None:
    for act in (INTERRUPT, LATER_EVENT, NO_EVENT):
        lines = [NOPS[0], ("at", TAIL, RJMP_BACK, HEAD, 2, act)]
        assert a_round(program, *lines, event=5000) == (1003, 2, 0, 0), act
    # An event beyond what may be run does not count.
    lines = [NOPS[0], ("at", TAIL, RJMP_BACK, HEAD, 2, LATER_EVENT)]
    assert a_round(program, *lines, event=20_000) == (9997, 2, 8994, 0)
