"""Functions of the AVR driver of benchmarks, each by itself, for all that they may be given."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from natively import DEADLINE_S, ask, compiled

from motecrypt.build.toolchain import libraries
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("avr")

NEXT, X, Y, Z, RAMPZ = 0x8B17, 0x9234, 0xA5B7, 0x8155, 3
PROGRAM = 0x10000
ERROR, WARNING, OUTPUT = 2, 3, 1


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    flags = libraries.flags("simavr", "gcc")
    return compiled("simavr_harness.c", tmp_path_factory.mktemp("simavr"), *flags)


def touches(op: int) -> int | None:
    """By the instruction set manual (DS40002198); None: no address in the encoding."""
    if op & 0xD000 == 0x8000:  # LDD, STD: 10q0 qqsr rrrr yqqq
        return (Y if op & 8 else Z) + (op >> 8 & 32 | op >> 7 & 24 | op & 7)
    if op in (0x95C8, 0x95D8):  # LPM, ELPM to R0
        return PROGRAM + Z + (RAMPZ << 16 if op == 0x95D8 else 0)
    if op >> 10 != 0b100100:
        return None
    program = {4: Z, 5: Z, 6: RAMPZ << 16 | Z, 7: RAMPZ << 16 | Z}
    data = {0: NEXT, 1: Z, 2: Z - 1, 9: Y, 10: Y - 1, 12: X, 13: X, 14: X - 1}
    if op & 15 in program:
        return None if op & 0x200 else PROGRAM + program[op & 15]
    return data.get(op & 15)


def test_what_every_instruction_touches(program: Path) -> None:
    asked = [("touched", op, NEXT, 0x11002) for op in range(0x10000)]
    found = ask(program, lines=[("chip",), ("pointers", X, Y, Z, RAMPZ), *asked])
    assert found[0] == 1
    wrong = []
    for op, answer in enumerate(found[2:]):
        expected = touches(op)
        if answer - 1 != (-1 if expected is None else expected):
            wrong.append((hex(op), answer - 1, expected))
    assert wrong == []


def test_the_uart_neither_prints_nor_sleeps(program: Path) -> None:
    assert ask(program, lines=[("chip",), ("flags",)]) == [1, 0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a \033[31mred\033[0m %d~\t\x7f!\n", "a red 65~!\n"),
        ("ends in a colour\033[31", "ends in a colour\n"),
        ("\033[0m", "\n"),
        ("0123456789" * 60, ("0123456789" * 60)[:511] + "\n"),
    ],
)
def test_the_first_complaint_is_said_plainly(program: Path, text: str, said: str) -> None:
    asked = "".join(f"complain {level} 65\n" for level in (WARNING, OUTPUT, ERROR, ERROR))
    done = subprocess.run(
        [program, text], input=asked, capture_output=True, text=True, timeout=DEADLINE_S, check=True
    )
    assert (done.stdout, done.stderr) == ("0\n" * 4, said)
