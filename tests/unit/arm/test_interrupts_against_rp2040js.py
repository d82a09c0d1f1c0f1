"""Interrupts, alarms and SysTick against rp2040js: the same program says the same, event by event.

Not compared: SysTick's period, which rp2040js makes one cycle shorter than ARM DDI 0419, B3.3.1; the cycles
of an entry and a return; two alarms of one microsecond, which go off up to one apart there; how many cycles a
microsecond has, as it does not divide the reference clock.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

import pytest

from motecrypt.base import process
from tool_sets import NPM, needs_npm, needs_tool_set

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "drivers"))
from arm_assembly import ENTRY, VECTORS, assemble, run

MODULE = NPM / "rp2040js" / "dist" / "esm" / "index.js"
CHIP = ("--chip", "RP2040", "--bus", "2:3:1", "--free", "--until", "~", "--max-seconds", "10")
STACK, TABLE, FIRST = (
    0x20008000,
    0x20001000,
    26,
)  # rp2040js clears an interrupt at its entry from number 26 on
SOFT = range(FIRST, 32)

pytestmark = [pytest.mark.crosscheck, needs_tool_set("pico"), needs_npm(MODULE)]

BEGIN = f"""
    cpsid i
    ldr r0, =1
    str r0, [r4, #0x24]
    ldr r0, =0x301
    str r0, [r4, #0x30]
    ldr r0, ={TABLE:#x}
    ldr r1, =0xE000ED08
    str r0, [r1]
    movs r2, #48
    ldr r3, =handler+1
1:  str r3, [r0]
    adds r0, #4
    subs r2, #1
    bne 1b
"""
END = "    movs r0, #0x7e\n    str r0, [r4]\n    b .\n"


def store(address: int, value: int) -> str:
    return f"    ldr r1, ={address:#x}\n    ldr r0, ={value:#x}\n    str r0, [r1]\n"


def both(code: str, folder: Path) -> tuple[bytes, bytes]:
    """What the program sends here and there."""
    image = assemble(code, folder)
    ours = run(image, folder, *CHIP)
    assert ours.end["event"] == "until", ours.end
    job = {
        "segments": [[VECTORS, image.hex()]],
        "sp": STACK,
        "pc": ENTRY,
        "limit": 1_000_000,
        "end": ord("~"),
    }
    path = folder / "job.json"
    path.write_text(json.dumps(job))
    outcome = process.run(
        ["node", Path(__file__).with_name("rp2040js_program.mjs"), MODULE, path], timeout_s=60
    )
    assert outcome.ok, outcome.errors
    return ours.output, bytes.fromhex(outcome.output)


#: Says its number, makes others pending (once each time), and says its number again, with a bit more.
HANDLER = """
    .pool
    .align 2
handler:
    push {r4, lr}
    mrs r0, ipsr
    ldr r4, =0x40034000
    str r0, [r4]
    cmp r0, #42
    blt 9f
    movs r1, r0
    subs r1, #42
    lsls r1, #2
    ldr r2, =more
    ldr r1, [r2, r1]
    ldr r2, =0xE000E200
    str r1, [r2]
    dsb
    isb
9:  adds r0, #0x80
    str r0, [r4]
    pop {r4, pc}
    .pool
    .align 2
more:
"""


def interrupts(seed: int) -> str:
    """Six interrupts of random priorities, which make others pending; PendSV, SysTick, a supervisor call."""
    chance = random.Random(seed)
    priorities = {number: chance.choice((0, 0x40, 0x80, 0xC0)) for number in SOFT}
    more = {
        number: sum(1 << other for other in SOFT if other > number and chance.random() < 0.4)
        for number in SOFT
    }
    code = BEGIN
    for first in (24, 28):
        code += store(
            0xE000E400 + first,
            sum(priorities.get(first + i, 0) << 8 * i for i in range(4)),
        )
    system = chance.choice((0, 0x40, 0x80, 0xC0)) << 16 | chance.choice((0, 0x40, 0x80, 0xC0)) << 24
    code += store(0xE000ED20, system) + store(0xE000ED1C, chance.choice((0, 0x40, 0xC0)) << 24)
    enabled = sum(1 << number for number in SOFT if chance.random() < 0.9)
    code += store(0xE000E100, enabled) + store(0xE000E200, chance.choice((0xFC000000, 0x54000000)))
    code += store(0xE000ED04, chance.choice((1 << 28 | 1 << 26, 1 << 28, 1 << 26, 0)))
    code += "    cpsie i; nop; movs r0, #1; str r0, [r4]; svc #0; movs r0, #2; str r0, [r4]\n"
    code += store(0xE000E200, 1 << chance.choice(SOFT)) + "    dsb\n    isb\n"
    for register in (0xE000E100, 0xE000E41C, 0xE000ED20):  # ISER, IPR7, SHPR3
        code += f"    ldr r1, ={register:#x}\n    ldr r0, [r1]\n    lsrs r0, #24\n    str r0, [r4]\n"
    words = "".join(f"    .word {more[number]:#x}\n" for number in SOFT)
    return code + END + HANDLER + words


@pytest.mark.parametrize("seed", range(12))
def test_exceptions_come_and_nest_in_the_same_order(tmp_path: Path, seed: int) -> None:
    ours, theirs = both(interrupts(seed), tmp_path)
    assert ours == theirs and len(ours) > 10


#: Says which alarm, the alarms that have gone off and those still armed; then clears its own.
ON_ALARM = """
    .pool
    .align 2
handler:
    push {r4, lr}
    mrs r0, ipsr
    ldr r4, =0x40034000
    str r0, [r4]
    subs r0, #16
    movs r1, #1
    lsls r1, r0
    ldr r2, =0x40054000
    ldr r0, [r2, #0x40]
    str r0, [r4]
    ldr r0, [r2, #0x20]
    str r0, [r4]
    str r1, [r2, #0x34]
    ldr r2, =0x20000F00
    ldr r0, [r2]
    adds r0, #1
    str r0, [r2]
    pop {r4, pc}
"""
CRYSTAL = (
    store(0x40024000, 0xFAB000) + store(0x40008030, 2) + store(0x4000803C, 0) + store(0x4005802C, 1 << 9 | 12)
)


def alarms(seed: int) -> str:
    """Four alarms, in any order, one taken back; the core sleeps or spins until all have come."""
    chance = random.Random(seed)
    taken_back = chance.randrange(5)
    due = [100 * time for time in chance.sample(range(2, 8), 4)]
    code = BEGIN + CRYSTAL + store(0x20000F00, 0)
    code += store(0xE000E400, sum(chance.choice((0, 0x80)) << 8 * i for i in range(4)))
    code += (
        store(0xE000E100, 15) + store(0x40054038, 15) + "    ldr r3, =0x40054000\n    ldr r5, [r3, #0x28]\n"
    )
    for number in chance.sample(range(4), 4):
        code += f"    ldr r0, ={due[number]}\n    adds r0, r0, r5\n    str r0, [r3, #{0x10 + 4 * number}]\n"
    code += f"    movs r0, #{1 << taken_back & 15}\n    str r0, [r3, #0x20]\n    cpsie i\n"
    wait = "    wfi\n" if chance.random() < 0.5 else "    nop\n"
    code += "    ldr r3, =0x20000F00\n2:  cpsie i\n    nop\n    cpsid i\n    ldr r0, [r3]\n"
    code += f"    cmp r0, #{4 - (taken_back < 4)}\n    beq 3f\n{wait}    b 2b\n3:\n"
    code += "    ldr r3, =0x40054000; ldr r0, [r3, #0x20]; str r0, [r4]; ldr r0, [r3, #0x34]; str r0, [r4]\n"
    return code + END + ON_ALARM


@pytest.mark.parametrize("seed", range(8))
def test_alarms_go_off_in_the_same_order(tmp_path: Path, seed: int) -> None:
    ours, theirs = both(alarms(seed), tmp_path)
    assert ours == theirs and len(ours) >= 3 * 3 + 3


BODIES = {
    "nothing": "",
    "sums": "    adds r2, #1\n" * 7 + "    muls r2, r6\n",
    "memory": "    ldr r3, =0x20002000; str r2, [r3]; ldr r2, [r3, #4]; ldrb r2, [r3]; strh r2, [r3]\n",
    "many": "    ldr r3, =0x20002000; stmia r3!, {r0, r2, r5}; ldmia r3!, {r0, r2}\n"
    "    push {r0, r2}; pop {r0, r2}\n",
    "loop": "    movs r2, #50\n7:  subs r2, #1\n    bne 7b\n    b 8f\n8:\n",
    "call": "    bl 6f\n    b 8f\n6:  bx lr\n8:\n",
    "peripheral": "    ldr r3, =0x40058000\n    str r2, [r3, #0x10]\n    ldr r2, [r3, #0x10]\n",
    "one base, twice": "    ldr r3, =0x20002000; ldr r2, [r3, #8]; mov r8, r1; ldr r1, =0x20002000\n"
    "    ldr r2, [r1, #8]; mov r1, r8\n",
}


@pytest.mark.parametrize("name", BODIES)
def test_systick_counts_the_same_cycles(tmp_path: Path, name: str) -> None:
    """The difference of two reads, in 16 bits."""
    code = BEGIN + store(0xE000E014, 0xFFFFFF) + store(0xE000E018, 0) + store(0xE000E010, 5)
    code += "    ldr r1, =0xE000E010\n    nop\n    nop\n    ldr r7, [r1, #8]\n" + BODIES[name]
    code += "    ldr r0, [r1, #8]\n    subs r0, r7, r0\n    str r0, [r4]\n    lsrs r0, #8\n    str r0, [r4]\n"
    ours, theirs = both(code + END + HANDLER + "    .word 0\n", tmp_path)
    assert ours == theirs and ours[:2] != b"\0\0"
