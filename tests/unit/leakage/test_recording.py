"""What the drivers count of each instruction, against a short model; repeated runs; windows that fail."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from recorded import CATALOG, Step, recorder, shown

from motecrypt.attack.leakage import recording
from motecrypt.attack.leakage.recording import CHANNELS, Recorder
from motecrypt.attack.leakage.traces import Bytes
from motecrypt.base import process
from motecrypt.base.errors import InputError, MotecryptError

AVR = """
    ldi r16, 0x08
    out 0x3E, r16
    ldi r16, 0xFF
    out 0x3D, r16
    ldi r18, 0x55
    ldi r19, 0x0F
    ldi r20, 0xF0
    ldi r21, 0x33
    ldi r26, 0x01
    ldi r27, 0x02
    ldi r28, 0x00
    ldi r29, 0x03
    ldi r30, lo8(table)
    ldi r31, hi8(table)
    rcall before
    rjmp .-2
before:
    rcall window
    ret
.global before, window
window:
    lds r18, 0x200
    eor r19, r18
    cp r18, r19
    ld r20, X+
    st Y+, r18
    std Y+4, r20
    movw r22, r18
    mul r18, r20
    lpm r21, Z+
    push r19
    pop r24
    adiw r24, 7
    swap r24
    nop
    ret
.balign 2
table:
    .byte 0xA5, 0x5A
"""

ARM = """
    .syntax unified
    .cpu cortex-m0plus
    .thumb
    .word 0x20004000
    .word start + 1
.global start, window
.thumb_func
start:
    ldr r0, =0x20000200
    ldr r1, =0x20000300
    ldr r6, =table
    bl window
    b .
.thumb_func
.balign 4
window:
    push {r4, lr}
    ldrb r2, [r0, #1]
    ldr r3, [r0]
    eors r3, r2
    cmp r3, r2
    str r3, [r1, #4]
    strb r2, [r1]
    ldrb r4, [r6, r2]
    stmia r1!, {r2, r3}
    mov r8, r3
    ldr r5, [sp]
    pop {r4, pc}
    .ltorg
.balign 4
table:
    .fill 64, 4, 0x0F0F3C00
"""


def samples_of(what: Recorder, inputs: Bytes, count: int, processes: int = 1) -> np.ndarray:
    """All samples, (runs, channels, instructions)."""
    return np.concatenate([b.samples for b in what.record(inputs, count, processes=processes)])


def words_of(what: Recorder, first: int, count: int, size: int) -> list[int]:
    """Words of the firmware's file from an address on."""
    segment = next(s for s in what.image.segments if s.address <= first < s.address + len(s.data))
    at = first - segment.address
    return [int.from_bytes(segment.data[at + size * i :][:size], "little") for i in range(count)]


def test_avr_instructions_show_what_they_write_and_move(tmp_path: Path) -> None:
    what = recorder(AVR, "uno", tmp_path)
    a, b = 0x9C, 0x47
    op = words_of(what, what.window.address, 17, 2)
    c = a ^ 0x0F
    top = 0x8FF - 2 * 2  # below two return addresses
    product = a * b
    z = what.window.address + 2 * 16  # the table
    steps = [
        Step(op[0:2], {18: a}, loads=[(0x200, a, a)]),
        Step(op[2:3], {19: c}),
        Step(op[3:4]),
        Step(op[4:5], {20: b, 26: 0x02, 27: 0x02}, loads=[(0x201, b, b)]),
        Step(op[5:6], {28: 0x01, 29: 0x03}, stores=[(0x300, a)]),
        Step(op[6:7], stores=[(0x305, b)]),
        Step(op[7:8], {22: a, 23: c}),
        Step(op[8:9], {0: product & 0xFF, 1: product >> 8}),
        Step([op[9], 0x5AA5], {21: 0xA5, 30: (z + 1) & 0xFF, 31: (z + 1) >> 8}),
        Step(op[10:11], stores=[(top, c)]),
        Step(op[11:12], {24: c}, loads=[(top, c, c)]),
        Step(op[12:13], {24: (c + 7) & 0xFF, 25: (c + 7) >> 8}),
        Step(op[13:14], {24: ((c + 7) & 0xF) << 4 | (c + 7 & 0xF0) >> 4}),
        Step(op[14:15]),
        Step(op[15:16]),
    ]
    registers = {18: 0x55, 19: 0x0F, 20: 0xF0, 21: 0x33, 26: 1, 27: 2, 28: 0, 29: 3, 30: z & 0xFF, 31: z >> 8}
    found = samples_of(what, np.array([[a, b, 0, 0]], np.uint8), len(steps))[0]
    for channel, want, got in zip(CHANNELS, shown(steps, registers, {}), found.tolist(), strict=True):
        assert got == want, channel


def test_arm_instructions_show_what_they_write_and_move(tmp_path: Path) -> None:
    what = recorder(ARM, "pico", tmp_path)
    inputs = [0x9C, 0x47, 0x21, 0xE8]
    word, b = 0xE821479C, 0x47
    x = word ^ b
    code = words_of(what, what.window.address, 6, 4)
    base, cell, top = 0x20000200, 0x20000300, 0x20004000
    from_table = 0x0F0F3C00 >> 8 * (b & 3) & 0xFF
    lr = (what.window.address - 2) | 1  # after the call and a branch to itself
    table = words_of(what, what.window.address + 24, 20, 4)
    table_at = what.window.address + 24 + 4 * table.index(0x0F0F3C00)
    table_word = 0x0F0F3C00
    steps = [
        Step(code[0:1], {13: top - 8}, stores=[(top - 8, 0), (top - 4, lr)]),
        Step([], {2: b}, loads=[(base + 1, b, word)]),
        Step(code[1:2], {3: word}, loads=[(base, word, word)]),
        Step([], {3: x}),
        Step(code[2:3]),
        Step([], stores=[(cell + 4, x)]),
        Step(code[3:4], stores=[(cell, b)]),
        Step([], {4: from_table}, flash_loads=[(table_at + b, from_table, table_word)]),
        Step(code[4:5], {1: cell + 8}, stores=[(cell, b), (cell + 4, x)]),
        Step([], {8: x}),
        Step(code[5:6], {5: 0}, loads=[(top - 8, 0, 0)]),
        Step([], {4: 0, 13: top}, loads=[(top - 8, 0, 0), (top - 4, lr, lr)]),
    ]
    registers = {0: base, 1: cell, 6: table_at, 13: top}
    cells: dict[int, int] = {}
    found = samples_of(what, np.array([inputs], np.uint8), len(steps))[0]
    for channel, want, got in zip(CHANNELS, shown(steps, registers, cells), found.tolist(), strict=True):
        assert got == want, channel


@pytest.mark.parametrize(("device", "text"), [("uno", AVR), ("pico", ARM)])
def test_runs_begin_in_one_state_however_many_processes_share_them(
    device: str, text: str, tmp_path: Path
) -> None:
    what = recorder(text, device, tmp_path)
    inputs = np.random.default_rng(1).integers(0, 256, (9000, 4), dtype=np.uint8)
    inputs[:, 1] &= 0x3F  # within the table
    inputs[6000:] = inputs[:3000]
    once = samples_of(what, inputs, 9)
    assert once.shape == (9000, len(CHANNELS), 9)
    assert np.array_equal(once[:3000], once[6000:])
    assert np.array_equal(once, samples_of(what, inputs, 9, processes=3))
    assert len(np.unique(once[:, 0])) > 2


def test_a_run_does_not_begin_at_the_reset_again(tmp_path: Path) -> None:
    """Start-up code that clears the input has run before the first run."""
    inputs = np.array([[3, 4, 5, 6], [7, 8, 9, 10]], np.uint8)
    clears = AVR.replace("    ldi r18, 0x55\n", "    ldi r18, 0x55\n    sts 0x200, r1\n    sts 0x201, r1\n")
    results = (samples_of(recorder(text, "uno", tmp_path), inputs, 8)[:, 0] for text in (AVR, clears))
    assert np.array_equal(*results) and CHANNELS[0] == "result"


def test_some_channels_and_some_instructions_are_the_same_as_of_all(tmp_path: Path) -> None:
    inputs = np.array([[3, 4, 5, 6], [7, 8, 9, 10]], np.uint8)
    whole = samples_of(recorder(AVR, "uno", tmp_path), inputs, 15)
    later = recorder(AVR, "uno", tmp_path, skip=4)
    part = np.concatenate([b.samples for b in later.record(inputs, 3, ("result", "cell"))])
    assert np.array_equal(part, whole[:, [CHANNELS.index("result"), CHANNELS.index("cell")], 4:7])
    before = recorder(AVR, "uno", tmp_path, start="before")
    assert np.array_equal(samples_of(before, inputs, 15), whole)


@pytest.mark.parametrize(("device", "text"), [("uno", AVR), ("pico", ARM)])
def test_details_name_the_values_that_meet_and_who_left_the_first(
    device: str, text: str, tmp_path: Path
) -> None:
    what = recorder(text, device, tmp_path)
    inputs = np.array([[0x9C, 0x31, 0x21, 0xE8], [1, 2, 3, 4]], np.uint8)
    heads_and_details = what.details(inputs)
    samples = samples_of(what, inputs, heads_and_details[0][0].instructions)
    for (head, detail), row in zip(heads_and_details, samples, strict=True):
        assert (head.instructions, head.cut) == (len(detail), False)
        assert detail["pc"][0] == what.window.address
        met = detail["meetings"]
        distance = np.bitwise_count(met["before"] ^ met["after"]).T
        assert (distance <= row).all()
        one_value = [CHANNELS.index("latch"), CHANNELS.index("cell")]
        assert (distance[one_value] == row[one_value]).mean() > 0.9
        for channel in (CHANNELS.index("register"), CHANNELS.index("data")):
            for number, meeting in enumerate(met[:, channel]):
                source = int(meeting["source"])
                assert source <= number
                if 0 <= source < number and channel == CHANNELS.index("data"):
                    assert met[source, channel]["after"] == meeting["before"]
    assert (heads_and_details[0][1]["meetings"]["source"] > 0).any()
    ended = what.ended(inputs)
    assert (ended.reason, ended.unmodelled, ended.stack_reason) == ("recorded", (), "")


def test_a_path_that_depends_on_the_input_is_told(tmp_path: Path) -> None:
    text = AVR.replace("    cp r18, r19\n", "    cpi r18, 9\n    brne .+2\n    nop\n")
    what = recorder(text, "uno", tmp_path)
    inputs = np.array([[9, 0, 0, 0], [8, 0, 0, 0], [9, 1, 0, 0]], np.uint8)
    batch = next(what.record(inputs, 40))
    assert batch.paths[0] == batch.paths[2] != batch.paths[1]
    assert batch.instructions.tolist() == [17, 16, 17]
    assert (batch.samples[1, :, 16:] == 0).all()


@pytest.mark.parametrize(("device", "text"), [("uno", AVR), ("pico", ARM)])
def test_windows_that_cannot_be_recorded_are_one_line(device: str, text: str, tmp_path: Path) -> None:
    inputs = np.zeros((1, 4), np.uint8)
    call = "rcall before" if device == "uno" else "bl window"
    with pytest.raises(InputError, match="window: the window never begins"):
        recorder(text.replace(call, "nop"), device, tmp_path).details(inputs)
    what = recorder(text, device, tmp_path)
    with pytest.raises(InputError, match="4 bytes are needed"):
        what.details(np.zeros((1, 5), np.uint8))
    with pytest.raises(MotecryptError, match="input is outside"):
        far = recorder(text, device, tmp_path, input_bytes=1 << 20)
        far.details(np.zeros((1, 1 << 20), np.uint8))


def test_a_function_that_does_not_end_is_one_line(tmp_path: Path) -> None:
    inputs = np.zeros((1, 4), np.uint8)
    what = recorder(AVR.replace("    nop\n    ret", "    rjmp .-2\n    ret"), "uno", tmp_path)
    with pytest.raises(InputError, match="more than 131,072 instructions"):
        what.details(inputs)
    with pytest.raises(InputError, match="--skip 1000000000 leaves none"):
        recorder(
            AVR.replace("    nop\n    ret", "    rjmp .-2\n    ret"), "uno", tmp_path, skip=10**9
        ).details(inputs)
    with pytest.raises(InputError, match="--skip 100 leaves none"):
        recorder(AVR, "uno", tmp_path, skip=100).details(inputs)
    some = recorder(AVR, "uno", tmp_path, instructions=5).details(inputs)[0]
    assert (some[0].instructions, some[0].cut, len(some[1])) == (5, True, 5)


def test_a_device_that_does_not_record_is_one_line(tmp_path: Path) -> None:
    what = recorder(AVR, "uno", tmp_path)
    with pytest.raises(InputError, match="host: traces are recorded on simulated devices only"):
        replace(what, device=CATALOG.device("host"))


def test_a_function_that_is_not_called_after_the_start_is_one_line(tmp_path: Path) -> None:
    text = AVR.replace("    rcall window\n    ret\n", "    rjmp .-2\n")
    with pytest.raises(InputError, match="not called after"):
        recorder(text, "uno", tmp_path, start="before").details(np.zeros((1, 4), np.uint8))
    with pytest.raises(InputError, match="not called after"):
        next(recorder(text, "uno", tmp_path, start="before").record(np.zeros((1, 4), np.uint8), 3))


@pytest.mark.parametrize(
    ("device", "text", "wanted"),
    [
        ("uno", AVR, {("register", 1): (-1, 19), ("register", 12): (11, 24), ("data", 10): (9, 0x8FB)}),
        ("pico", ARM, {("register", 1): (-1, 2), ("register", 3): (2, 3), ("data", 5): (2, 0x20000304)}),
    ],
)
def test_a_value_is_traced_to_the_instruction_that_left_it(
    device: str, text: str, wanted: dict[tuple[str, int], tuple[int, int]], tmp_path: Path
) -> None:
    detail = recorder(text, device, tmp_path).details(np.array([[0x9C, 0x31, 0x21, 0xE8]], np.uint8))[0][1]
    for (channel, number), found in wanted.items():
        meeting = detail["meetings"][number, CHANNELS.index(channel)]
        assert (int(meeting["source"]), int(meeting["place"])) == found, (channel, number)


def test_a_simulator_that_hangs_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def hangs(*_: object) -> None:
        raise process.Hangs("after 1 s")

    what = recorder(AVR, "uno", tmp_path)
    monkeypatch.setattr(recording.process, "readable", hangs)
    with pytest.raises(MotecryptError, match="window: no trace: the simulator was killed after 1 s"):
        samples_of(what, np.zeros((1, 4), np.uint8), 15)
