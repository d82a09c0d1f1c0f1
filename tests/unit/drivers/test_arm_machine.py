"""What the ARM driver derives from instructions before they run (arm_machine.h): costs, stack, the last
one."""

from __future__ import annotations

from pathlib import Path

import pytest
from natively import ask, compiled

from motecrypt.build.toolchain.drivers import RECIPES
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("pico")

BASE, BYTES = 0x20000000, 0x20000
RUNS_ON, CALLS, RETURNS = range(3)
#: The classes' costs by arm_thumb.h: 100 and the class's place.
CLASSES = (
    "alu multiply load store load_multiple store_multiple push pop pop_pc branch branch_if branch_if_taken "
    "branch_link branch_exchange write_pc special barrier wait per_register"
)
COST = {name: 100 + at for at, name in enumerate(CLASSES.split())}
FIELDS = (
    "address bytes next cycles instructions extra stack_bytes stack_left last moves_sp is_empty_loop "
    "evicted all_instructions slot"
)
FIELDS_COUNT = 14
ONES = 2**64 - 1


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled("machine_harness.c", tmp_path_factory.mktemp("machine"), *RECIPES["arm"].flags())


def lowers(code: int) -> int:
    """By ARM DDI 0419, A5.2.5: PUSH, POP, SUB SP, ADD SP."""
    if code >> 9 in (0xB400 >> 9, 0xBC00 >> 9):
        return 4 * (code & 0x1FF).bit_count() * (1 if code < 0xB800 else -1)
    if code >> 8 == 0xB0:
        return 4 * (code & 0x7F) * (1 if code & 0x80 else -1)
    return 0


def ends(code: int) -> int:
    """BL, BLX; BX, POP with the PC, and what writes it (A5.2.3)."""
    if 0xF000 <= code < 0xF800 or code & 0xFF80 == 0x4780:
        return CALLS
    if code & 0xFF80 == 0x4700 or code >> 8 == 0xBD or code & 0xFD87 == 0x4487:
        return RETURNS
    return RUNS_ON


def test_every_halfword(program: Path) -> None:
    asked = [(name, code, 0xF800) for name in ("stack", "last") for code in range(0x10000)]
    found = ask(program, lines=asked)
    expected = [lowers(code) % 2**32 for code in range(0x10000)] + [ends(code) for code in range(0x10000)]
    wrong = [(line, a, b) for line, a, b in zip(asked, found, expected, strict=True) if a != b]
    assert wrong == []


def test_what_lies_in_a_memory(program: Path) -> None:
    memories = [("memory", base, size) for base, size in ((0x1000, 0x100), (0x1100, 0x10), (0, 1), (1, 1))]
    asked = [
        (0x1000, 1, 0x1000),
        (0x1000, 0x100, 0x1000),
        (0x1000, 0x101, ONES),
        (0x10FF, 1, 0x10FF),
        (0x10FF, 2, ONES),
        (0x0FFF, 1, ONES),
        (10, 1, ONES),
        (0x1100, 0x10, 0x1100),
        (0x110F, 1, 0x110F),
        (0x1110, 0, ONES),
    ]
    found = ask(program, lines=[*memories, *(("where", at, size) for at, size, _ in asked)])[4:]
    assert found == [place for _, _, place in asked]


NOP, PUSH, POP, POP_PC, SUB_SP, ADD_SP = 0xBF00, 0xB501, 0xBC01, 0xBD01, 0xB082, 0xB001
MOV_SP, MULS, BNE, LOOP, BLX, BX, LDM = 0x4685, 0x4348, 0xD1FE, 0xE7FE, 0x4780, 0x4700, 0xC807
BL = (0xF000, 0xF800)


def measured(program: Path, codes: tuple[int, ...], at: int = BASE + 0x1FE) -> dict[str, int]:
    """All derived properties of these instructions, as a block that begins."""
    lines = [("memory", BASE, BYTES), *(("code", at + 2 * n, code) for n, code in enumerate(codes))]
    lines += [("block", at, 2 * len(codes)), *(("told", n) for n in range(FIELDS_COUNT))]
    return dict(zip(FIELDS.split(), ask(program, lines=lines)[-FIELDS_COUNT:], strict=True))


@pytest.mark.parametrize(
    ("codes", "costs", "stack", "left", "last", "moves", "more"),
    [
        ((NOP,), "alu", 0, 0, RUNS_ON, 0, 0),
        ((MULS, NOP, LOOP), "multiply alu branch", 0, 0, RUNS_ON, 0, 0),
        ((LDM, BNE), "load_multiple 3 branch_if", 0, 0, RUNS_ON, 0, COST["branch_if_taken"]),
        ((BNE, NOP), "branch_if alu", 0, 0, RUNS_ON, 0, 0),
        ((PUSH, SUB_SP, *BL), "push 2 alu branch_link", 16, 16, CALLS, 0, 0),
        ((PUSH, ADD_SP, ADD_SP, BX), "push 2 alu alu branch_exchange", 8, 0, RETURNS, 0, 0),
        ((ADD_SP, PUSH, POP_PC), "alu push 2 pop_pc 2", 4, -4, RETURNS, 0, 0),
        ((MOV_SP, POP, BLX), "alu pop 1 branch_exchange", 0, -4, CALLS, 1, 0),
    ],
)
def test_a_block_is_measured_whole(
    program: Path, codes: tuple[int, ...], costs: str, stack: int, left: int, last: int, moves: int, more: int
) -> None:
    """Costs: the classes, and how many registers."""
    words = costs.split()
    cycles = sum(COST[word] if word in COST else int(word) * COST["per_register"] for word in words)
    instructions = sum(word in COST for word in words)
    assert measured(program, codes) == {
        "address": BASE + 0x1FE,
        "bytes": 2 * len(codes),
        "next": BASE + 0x1FE + 2 * len(codes),
        "cycles": cycles,
        "instructions": instructions,
        "extra": more,
        "stack_bytes": stack,
        "stack_left": left % 2**64,
        "last": last,
        "moves_sp": moves,
        "is_empty_loop": 0,
        "evicted": 0,
        "all_instructions": instructions,
        "slot": 0xFF,
    }


def test_a_block_of_nothing_is_nothing(program: Path) -> None:
    """Independent of the block that was there before."""
    lines = [("memory", BASE, BYTES), ("code", BASE, PUSH), ("code", BASE + 2, BNE)]
    lines += [("block", BASE, 4), ("block", BASE, 0), *(("told", n) for n in range(FIELDS_COUNT))]
    told = ask(program, lines=lines)[-FIELDS_COUNT:]
    assert told == [BASE, 0, BASE, *[0] * 8, BASE, 2, 0]


def test_an_empty_loop_is_one_branch_to_itself(program: Path) -> None:
    for codes, empty in (((LOOP,), 1), ((NOP, LOOP), 0), ((0xE7FD,), 0), ((NOP,), 0)):
        assert measured(program, codes)["is_empty_loop"] == empty


def test_a_block_is_measured_again_where_another_had_its_place(program: Path) -> None:
    """Places are taken by addresses, 2**15 halfwords apart; the one that goes is reported."""
    far = BASE + 0x10000
    lines = [("memory", BASE, BYTES), ("code", BASE, LOOP), ("code", far, NOP), ("code", far + 2, NOP)]
    asked = [
        ("block", BASE, 2),
        ("told", 11),
        ("block", far, 2),  # from the loop, which does not go there: no cycles more
        ("told", 11),
        ("block", far, 4),
        ("told", 11),
        ("told", 3),
        ("told", 12),
    ]
    branch, nop = COST["branch"], COST["alu"]
    found = ask(program, lines=[*lines, *asked])[len(lines) :]
    assert found == [branch, 0, branch + nop, BASE, branch + 3 * nop, far, 2 * nop, 4]


def test_a_branch_that_is_taken_costs_its_cycles_when_the_next_block_begins(program: Path) -> None:
    lines = [("memory", BASE, BYTES), ("code", BASE, BNE), ("code", BASE + 2, NOP), ("code", BASE + 4, NOP)]
    asked = [("block", at, 2) for at in (BASE, BASE + 2, BASE, BASE + 4, BASE + 2)]
    branch, taken, nop = COST["branch_if"], COST["branch_if_taken"], COST["alu"]
    steps = (branch, nop, branch, taken + nop, nop)
    assert ask(program, lines=[*lines, *asked])[4:] == [sum(steps[: n + 1]) for n in range(5)]
