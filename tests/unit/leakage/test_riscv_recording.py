"""What the RISC-V driver counts of each instruction, against a short model; repeated runs; bad windows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from recorded import INPUT, Step, recorder, shown

from motecrypt.attack.leakage.recording import CHANNELS, Recorder
from motecrypt.attack.leakage.traces import Bytes
from motecrypt.base.errors import InputError, MotecryptError
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("riscv")

#: Every instruction of `window` has four bytes, but those between `.option rvc` and `.option norvc`.
BOTH = """
.option norvc
.global start, before, window
start:
    li sp, {input} + 0x400
    li a0, {input}
    li a1, {input} + 0x100
    lui a4, %hi(table)
    addi a4, a4, %lo(table)
    li a3, 0x55
    jal before
    j .
before:
    mv s0, ra
    jal window
    jr s0
.balign 4
window:
    addi sp, sp, -16
    sw ra, 12(sp)
    lbu a2, 1(a0)
    lw a3, 0(a0)
    xor a3, a3, a2
    sw a3, 4(a1)
    sb a2, 0(a1)
    andi a5, a2, 0x1c
    add a5, a5, a4
    lbu t0, 1(a5)
    sh a3, 8(a1)
    lb t1, 3(a0)
    beq a0, a1, start
{atomic}
.option rvc
    c.nop
    c.nop
    c.nop
.option norvc
    xor t2, a2, a3
.option rvc
    c.nop
.option norvc
    lw ra, 12(sp)
    addi sp, sp, 16
    ret
.balign 4
table:
    .fill 16, 4, 0x0F0F3C00
"""
TEXTS = {
    "hifive1": BOTH.format(input=INPUT["hifive1"], atomic="    amoxor.w t0, a2, (a0)"),
    "ch32v003": BOTH.format(input=INPUT["ch32v003"], atomic=""),
}
DEVICES = list(TEXTS)
SP, A0, A1, A2, A3, A4, A5, RA = 2, 10, 11, 12, 13, 14, 15, 1
T0, T1, T2 = 5, 6, 7


def words_of(what: Recorder, first: int, count: int) -> list[int]:
    """Words of the firmware's file from an address on."""
    segment = next(s for s in what.image.segments if s.address <= first < s.address + len(s.data))
    at = first - segment.address
    return [int.from_bytes(segment.data[at + 4 * i :][:4], "little") for i in range(count)]


def samples_of(what: Recorder, inputs: Bytes, count: int, processes: int = 1) -> np.ndarray:
    """All samples, (runs, channels, instructions)."""
    return np.concatenate([b.samples for b in what.record(inputs, count, processes=processes)])


@pytest.mark.parametrize("device", DEVICES)
def test_instructions_show_what_they_write_and_move(device: str, tmp_path: Path) -> None:
    what = recorder(TEXTS[device], device, tmp_path)
    inputs = [0x9C, 0x47, 0x21, 0xE8]
    word, b = 0xE821479C, 0x47
    x = word ^ b
    atomic = device == "hifive1"
    code = words_of(what, what.window.address, 40)
    table = what.window.address + 4 * code.index(0x0F0F3C00)
    base = INPUT[device]
    cell, top = base + 0x100, base + 0x400
    saved = what.window.address - 4  # the instruction after the call
    item, sign = table + (b & 0x1C), 0xFFFFFFE8
    last = 14 if atomic else 13
    steps = [
        Step(code[0:1], {SP: top - 16}),
        Step(code[1:2], stores=[(top - 4, saved)]),
        Step(code[2:3], {A2: b}, loads=[(base + 1, b, word)]),
        Step(code[3:4], {A3: word}, loads=[(base, word, word)]),
        Step(code[4:5], {A3: x}),
        Step(code[5:6], stores=[(cell + 4, x)]),
        Step(code[6:7], stores=[(cell, b)]),
        Step(code[7:8], {A5: b & 0x1C}),
        Step(code[8:9], {A5: item}),
        Step(code[9:10], {T0: 0x3C}, flash_loads=[(item + 1, 0x3C, 0x0F0F3C00)]),
        Step(code[10:11], stores=[(cell + 8, x & 0xFFFF)]),
        Step(code[11:12], {T1: sign}, loads=[(base + 3, 0xE8, word)]),
        Step(code[12:13]),
        *([Step(code[13:14], {T0: word}, [(base, word, word)], [(base, word ^ b)])] if atomic else []),
        Step(code[last : last + 1]),
        Step(),
        Step(code[last + 1 : last + 2]),
        Step(code[last + 2 : last + 3], {T2: x ^ b}),
        Step(),
        Step(code[last + 3 : last + 4], {RA: saved}, loads=[(top - 4, saved, saved)]),
        Step(code[last + 4 : last + 5], {SP: top}),
        Step(code[last + 5 : last + 6]),
    ]
    registers = {SP: top, A0: base, A1: cell, A4: table, A3: 0x55, RA: saved}
    found = samples_of(what, np.array([inputs], np.uint8), len(steps))[0]
    cells = {base: word}
    for channel, want, got in zip(CHANNELS, shown(steps, registers, cells), found.tolist(), strict=True):
        assert got == want, channel
    head = what.details(np.array([inputs], np.uint8))[0][0]
    assert (head.instructions, head.cut) == (len(steps), False)


@pytest.mark.parametrize("device", DEVICES)
def test_runs_begin_in_one_state_however_many_processes_share_them(device: str, tmp_path: Path) -> None:
    what = recorder(TEXTS[device], device, tmp_path)
    inputs = np.random.default_rng(1).integers(0, 256, (6000, 4), dtype=np.uint8)
    inputs[4000:] = inputs[:2000]
    once = samples_of(what, inputs, 21)
    assert np.array_equal(once[:2000], once[4000:])
    assert np.array_equal(once, samples_of(what, inputs, 21, processes=3))
    assert len(np.unique(once[:, 0])) > 2
    later = recorder(TEXTS[device], device, tmp_path, skip=4)
    part = np.concatenate([b.samples for b in later.record(inputs[:2], 3, ("result", "cell"))])
    assert np.array_equal(part, once[:2, [CHANNELS.index("result"), CHANNELS.index("cell")], 4:7])
    before = recorder(TEXTS[device], device, tmp_path, start="before")
    assert np.array_equal(samples_of(before, inputs[:5], 21), once[:5])


def test_a_value_is_traced_to_the_instruction_that_left_it(tmp_path: Path) -> None:
    what = recorder(TEXTS["hifive1"], "hifive1", tmp_path)
    detail = what.details(np.array([[0x9C, 0x31, 0x21, 0xE8]], np.uint8))[0][1]
    assert detail["pc"].tolist()[:3] == [what.window.address + 4 * i for i in range(3)]
    wanted = {("register", 3): (-1, A3), ("register", 4): (3, A3), ("data", 6): (5, INPUT["hifive1"] + 0x100)}
    for (channel, number), found in wanted.items():
        meeting = detail["meetings"][number, CHANNELS.index(channel)]
        assert (int(meeting["source"]), int(meeting["place"])) == found, (channel, number)


def test_windows_that_cannot_be_recorded_are_one_line(tmp_path: Path) -> None:
    text, inputs = TEXTS["hifive1"], np.zeros((1, 4), np.uint8)
    with pytest.raises(InputError, match="window: the window never begins"):
        recorder(text.replace("jal window", "nop"), "hifive1", tmp_path).details(inputs)
    with pytest.raises(InputError, match="not called after"):
        recorder(text.replace("jal window", "j ."), "hifive1", tmp_path, start="before").details(inputs)
    with pytest.raises(MotecryptError, match="input is outside"):
        far = recorder(text, "hifive1", tmp_path, input_bytes=1 << 20)
        far.details(np.zeros((1, 1 << 20), np.uint8))
    with pytest.raises(InputError, match="more than 131,072 instructions"):
        recorder(text.replace("    c.nop\n", "    j .\n", 1), "hifive1", tmp_path).details(inputs)
    with pytest.raises(MotecryptError, match="ebreak"):
        recorder(text.replace("    c.nop\n", "    ebreak\n", 1), "hifive1", tmp_path).details(inputs)
    some = recorder(text, "hifive1", tmp_path, instructions=5).details(inputs)[0]
    assert (some[0].instructions, some[0].cut, len(some[1])) == (5, True, 5)
