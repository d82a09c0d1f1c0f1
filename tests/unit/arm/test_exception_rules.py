"""Exceptions by the rules of ARM's manuals (DDI 0419, B1.5; DDI 0403, B1.5; DDI 0553, B3).

Small programs in assembly for the Pico: which exception is taken, and what wakes a core.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from pico_assembly import STOP, TOLD, run, said, store
from test_pico_firmware import CHIP, UART_ON, enable

from tool_sets import needs_tool_set

pytestmark = needs_tool_set("pico")
SHORT = (*CHIP[:-1], "0.05")
NEXT = "    b 7f\n7:\n"
"""What a program does to the lines is seen between blocks of code."""
TABLE = 0x20001000
FORCE, ICPR, ISPR = 0x4005403C, 0xE000E280, 0xE000E200
"""FORCE: the timer's INTF, which holds the lines of its alarms up."""


def table(**numbers: int) -> str:
    """The vector table, with handlers by name."""
    code = store(0xE000ED08, TABLE)
    for name, number in numbers.items():
        code += f"    ldr r0, ={name}+1\n    ldr r1, ={TABLE + 4 * number:#x}\n    str r0, [r1]\n"
    return code


def handler(name: str, does: str) -> str:
    """A handler of this name."""
    return f"    .pool\n    .align 2\n{name}:\n{does}    bx lr\n"


@pytest.mark.parametrize("cleared", [1, 1 << 26], ids=["its own", "another one"])
def test_a_line_is_not_pending_again_while_its_handler_runs(tmp_path: Path, cleared: int) -> None:
    """The handler clears what is pending, then lets the line fall: it is over."""
    code = UART_ON + table(line=16) + enable(0) + store(FORCE, 1) + NEXT + said("m") + STOP
    code += handler("line", said("h") + store(ICPR, cleared) + store(FORCE, 0))
    assert run(code, tmp_path, *SHORT).output == b"hm"


def test_a_line_that_stays_up_is_pending_again(tmp_path: Path) -> None:
    """Where ICPR is written before its handler runs, and where the handler leaves the line up once."""
    code = UART_ON + table(line=16) + enable(0) + "    movs r6, #2\n    cpsid i\n" + store(FORCE, 1)
    code += store(ICPR, 1) + said("a") + "    cpsie i\n    nop\n" + said("m") + STOP
    code += handler("line", said("h") + "    subs r6, #1\n    bne 1f\n" + store(FORCE, 0) + "1:\n")
    assert run(code, tmp_path, *SHORT).output == b"ahhm"


def test_what_a_program_has_set_pending_it_can_take_back(tmp_path: Path) -> None:
    code = UART_ON + table(soft=16 + 26) + enable(26) + "    cpsid i\n" + store(ISPR, 1 << 26)
    code += store(ICPR, 1 << 26) + "    cpsie i\n    nop\n" + said("m") + STOP + handler("soft", said("h"))
    assert run(code, tmp_path, *SHORT).output == b"m"


def test_the_entry_to_a_handler_is_an_event(tmp_path: Path) -> None:
    """A first WFE in the handler does not sleep, a second one does: nothing wakes it."""
    code = UART_ON + table(line=16) + enable(0) + store(FORCE, 1) + NEXT + said("m") + STOP
    code += handler("line", "    wfe\n" + said("h") + "    wfe\n" + said("x"))
    ran = run(code, tmp_path, *SHORT)
    assert ran.output == b"h" and "nothing can wake it" in ran.end["detail"]


def test_the_configuration_register_reads_its_fixed_ones(tmp_path: Path) -> None:
    """STKALIGN and UNALIGN_TRP of an ARMv6-M core; a write leaves them."""
    code = UART_ON + store(0xE000ED14, 0) + "    ldr r0, [r1]\n" + TOLD + "    lsrs r0, #8\n" + TOLD
    assert run(code + STOP, tmp_path, *SHORT).output == b"\x08\x02"
