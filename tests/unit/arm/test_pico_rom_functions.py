"""The functions of the Pico's boot ROM (RP2040 data sheet, 2.8.3.1): their results and cycles."""

from __future__ import annotations

from pathlib import Path

from pico_assembly import STOP, run
from test_pico_firmware import CHIP, UART_ON

from tool_sets import needs_tool_set

pytestmark = needs_tool_set("pico")
SHORT = (*CHIP[:-1], "0.1")
RAM, FROM, TO = 0x20004000, 0x20004000, 0x20004100
#: In the order of the ROM's table.
CODES = ["P3", "R3", "L3", "T3", "MS", "S4", "MC", "C4", "IF", "EX", "RE", "RP", "FC", "CX"]
#: Function, r0 to r2; r0 afterwards, and its cycles.
CALLS = [
    ("P3", (0xF0000001, 0, 0), 5, 18),
    ("P3", (0xFFFFFFFF, 0, 0), 32, 18),
    ("R3", (0x80000002, 0, 0), 0x40000001, 22),
    ("L3", (0x00010000, 0, 0), 15, 20),
    ("L3", (0, 0, 0), 32, 20),
    ("T3", (0x00010000, 0, 0), 16, 20),
    ("T3", (0, 0, 0), 32, 20),
    ("MS", (TO, 0x1A5, 35), TO, 20 + 2 * 8 + 4),
    ("S4", (TO + 36, 0x5A, 20), TO + 36, 20 + 8 + 4),
    ("MC", (TO, FROM, 16), TO, 20 + 13),
    ("MC", (TO + 17, FROM, 3), TO + 17, 12 + 3 * 7),
    ("MC", (TO + 20, FROM + 1, 3), TO + 20, 12 + 3 * 7),
    ("MC", (TO + 56, FROM + 4, 9), TO + 56, 20 + 3 * 6),
    ("C4", (TO + 24, FROM + 1, 7), TO + 24, 20 + 2 * 6),
    ("C4", (TO + 31, FROM, 33), TO + 31, 20 + 2 * 13 + 6),
    ("MS", (0, 1, 0), 0, 20),
    ("MC", (0, 0, 0), 0, 20),
    ("IF", (1, 2, 3), 1, 200),
    ("EX", (1, 2, 3), 1, 300),
    ("RE", (0, 0, 0), 0, 100),
    ("RP", (0, 0, 0), 0, 100),
    ("FC", (1, 2, 3), 1, 40),
    ("CX", (1, 2, 3), 1, 300),
]
PROGRAM = """
    ldr r0, =0xE000E010
    ldr r1, =0xFFFFFF
    str r1, [r0, #4]
    movs r1, #5
    str r1, [r0]
    ldr r6, =calls
    ldr r5, =0xE000E010
next:
    ldr r1, [r6]
    cmp r1, #0
    beq dump
    movs r0, #0x14
    ldrh r0, [r0]
    movs r2, #0x18
    ldrh r2, [r2]
    ldr r3, [r5, #8]
    mov r9, r3
    blx r2
    ldr r3, [r5, #8]
    mov r7, r9
    subs r7, r3
    mov r10, r7
    mov r7, r0
    ldr r0, [r6, #4]
    ldr r1, [r6, #8]
    ldr r2, [r6, #12]
    ldr r3, [r5, #8]
    mov r9, r3
    blx r7
    ldr r3, [r5, #8]
    mov r7, r9
    subs r7, r3
    bl word
    mov r0, r7
    bl word
    mov r0, r10
    bl word
    adds r6, #16
    b next
dump:
    ldr r6, =0x20004100
1:  ldr r0, [r6]
    bl word
    adds r6, #4
    lsls r0, r6, #24
    lsrs r0, #24
    cmp r0, #0x44
    bne 1b
    movs r0, #0x14
    ldrh r0, [r0]
    ldr r1, ='Z' + 'Z' * 256
    movs r2, #0x18
    ldrh r2, [r2]
    blx r2
    bl word
"""
WORD = """
    .pool
    .align 2
word:
    movs r2, #4
1:  ldr r3, [r4, #0x18]
    lsls r3, #26
    bmi 1b
    str r0, [r4]
    lsrs r0, #8
    subs r2, #1
    bne 1b
    bx lr
    .align 2
calls:
"""


def fill() -> str:
    """Sixty-four bytes at FROM, each its number and 0x40."""
    return f"""
    ldr r0, ={FROM:#x}
    movs r1, #0x40
1:  strb r1, [r0]
    adds r0, #1
    adds r1, #1
    cmp r1, #0x80
    bne 1b
"""


def test_results_and_cycles_of_each_function(tmp_path: Path) -> None:
    table = "".join(
        f"    .word {ord(name[0]) | ord(name[1]) << 8:#x}, {', '.join(map(hex, given))}\n"
        for name, given, *_ in CALLS
    )
    ran = run(UART_ON + fill() + PROGRAM + STOP + WORD + table + "    .word 0\n", tmp_path, *SHORT)
    words = [int.from_bytes(ran.output[i : i + 4], "little") for i in range(0, len(ran.output), 4)]
    count = len(CALLS)
    assert len(words) == 3 * count + 17 + 1, ran.end
    around = words[1] - 18  # the call and the reads of the count
    found = [words[3 * i : 3 * i + 3] for i in range(count)]
    assert [one[0] for one in found] == [result for _, _, result, _ in CALLS]
    assert [one[1] - around for one in found] == [cycles for *_, cycles in CALLS]
    assert 0 < around < 15
    searched = [9 * CODES.index(name) for name, *_ in CALLS]  # the table is read pair by pair
    assert [one[2] - found[0][2] for one in found] == searched
    memory = b"".join(word.to_bytes(4, "little") for word in words[3 * count : -1])
    expected = bytearray(b"\xa5" * 35 + b"\0" + b"\x5a" * 20 + bytes(12))
    source = bytes(range(0x40, 0x80))
    for name, (to, at, size), *_ in CALLS:
        if name in ("MC", "C4") and size:
            expected[to - TO : to - TO + size] = source[at - FROM : at - FROM + size]
    assert memory == bytes(expected)
    assert words[-1] == 0, "there is no such function"
