"""The AVR driver of benchmarks by itself: its options, what it counts, how it ends; on a few instructions."""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
from pathlib import Path

import pytest
from avr_snippets import AVR, CHIP, GREETING, STOP, UART, Outcome, assemble, outcome, simavr

from motecrypt.build.toolchain.drivers import driver
from motecrypt.simulate.emulate.images import Segment, elf_of
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("avr")

MARK = ("--mark", "0x3e")
SHORT = ("--max-cycles", "20000")
ONES = 2**64 - 1
BEGIN = "    ldi r16, 1\n    ldi r17, 0\n    out 0x1e, r16\n"
FINISH = "    out 0x1e, r17\n"
BURST = 4096


def regions(ran: Outcome) -> list[dict[str, object]]:
    return [event for event in ran.events if event["event"] == "region"]


def ended(ran: Outcome, code: int, kind: str, detail: str) -> bool:
    event = "end" if code == 0 else "fault"
    found = (ran.code, ran.end["event"], ran.end["kind"], ran.end["detail"])
    assert found == (code, event, kind, detail)
    return True


# --- the command line ------------------------------------------------------------------------------------


def test_what_cannot_be_run_is_said(tmp_path: Path) -> None:
    loop = tmp_path / "loop.elf"
    loop.write_bytes(elf_of([Segment(0, b"\xff\xcf")], AVR, 0))
    ran = outcome([driver("simavr"), "--nonesuch", "1", loop])
    assert (ran.code, ran.said, ran.events) == (2, ["simavr: unknown option --nonesuch"], [])
    ended(outcome([driver("simavr"), *CHIP]), 3, "", "the firmware's file is not named")
    ended(outcome([driver("simavr"), *CHIP, "--mark"]), 3, "", "the firmware's file is not named")
    ended(outcome([driver("simavr"), *CHIP, "none"]), 3, "", "the firmware's file cannot be opened")
    ran = outcome([driver("simavr"), "--clock", "16000000", loop])
    ended(ran, 3, "", "libsimavr does not know the chip ")
    ran = outcome([driver("simavr"), "--mcu", "z80", loop])
    ended(ran, 3, "", "libsimavr does not know the chip z80")
    assert (ran.end["cycle"], ran.end["pc"]) == (0, 0)


def test_the_flash_is_as_large_as_the_chips(tmp_path: Path) -> None:
    stop = b"\xf8\x94\xff\xcf"
    fits = simavr(stop + bytes(32768 - 4), tmp_path, *SHORT)
    ended(fits, 3, "silent", "no answer within 20000 cycles: the firmware is at 0x2")
    ended(
        simavr(stop + bytes(32769 - 4), tmp_path, *SHORT),
        3,
        "",
        "the firmware's file does not fit in the flash",
    )
    apart = simavr(stop, tmp_path, *SHORT, more=(Segment(32764, bytes(4)),))
    ended(apart, 3, "silent", "no answer within 20000 cycles: the firmware is at 0x2")
    apart = simavr(stop, tmp_path, *SHORT, more=(Segment(32764, bytes(5)),))
    ended(apart, 3, "", "the firmware's file does not fit in the flash")


READ_EEPROM = """
    ldi r26, {low}
    ldi r27, {high}
    out 0x21, r26
    out 0x22, r27
    sbi 0x1f, 0
    in r24, 0x20
    rcall send
"""


def test_a_segment_of_the_eeprom_goes_there(tmp_path: Path) -> None:
    code = UART
    for at in (0, 1, 2, 1023):
        code += READ_EEPROM.format(low=at & 255, high=at >> 8)
    data = assemble(code + STOP, tmp_path)
    more = (Segment(0x810001, b"\x12\x34"), Segment(0x810000 + 1023, b"\x56"))
    ran = simavr(data, tmp_path, *SHORT, more=more)
    assert ran.output == b"\xff\x12\x34\x56"
    # Beyond are fuses, lock bits and the signature, which no firmware reads here.
    ran = simavr(data, tmp_path, *SHORT, more=(Segment(0x810400, b"\x99"), Segment(0x820000, b"\x99")))
    assert ran.output == b"\xff\xff\xff\xff" and ended(ran, 3, "silent", ran.end["detail"])


@pytest.mark.parametrize(("address", "told"), [("0x4a", 1), ("0x8ff", 1), ("0x900", 0), ("0", 0)])
def test_a_firmware_that_looks_is_told_that_it_is_simulated(tmp_path: Path, address: str, told: int) -> None:
    where = int(address, 0) or 0x4A
    code = UART + f"    lds r24, {where}\n    rcall send\n" + STOP
    if where < 0x900:
        assert simavr(code, tmp_path, *SHORT, "--simulated", address).output == bytes([told])
    else:
        assert simavr(UART + STOP, tmp_path, *SHORT, "--simulated", address).end["kind"] == "silent"


def test_without_being_told_nothing_is_set(tmp_path: Path) -> None:
    code = "    mov r23, r0\n" + UART + "    mov r24, r23\n    rcall send\n    in r24, 0x2a\n    rcall send\n"
    assert simavr(code + STOP, tmp_path, *SHORT).output == bytes(2)


def test_the_clock_is_the_callers(tmp_path: Path) -> None:
    """The EEPROM takes its 3.4 ms of the clock that the driver has."""
    code = (
        BEGIN + "    sbi 0x1f, 2\n    sbi 0x1f, 1\nbusy:\n    sbic 0x1f, 1\n    rjmp busy\n" + FINISH + STOP
    )
    (tmp_path / "f.elf").write_bytes(elf_of([Segment(0, assemble(code, tmp_path))], AVR, 0))
    for clock in (1_000_000, 16_000_000):
        chip = ("--mcu", "atmega328p", "--clock", str(clock), *MARK, *SHORT)
        (region,) = regions(outcome([driver("simavr"), *chip, tmp_path / "f.elf"]))
        assert region["cycles"] == pytest.approx(clock * 0.0034, abs=20)


def test_a_wait_for_the_eeprom_is_traced_round_by_round(tmp_path: Path) -> None:
    """SBIC at 10 and RJMP at 12 take their turns for 3.4 ms: three cycles a round, the last time one."""
    wait = "    sbi 0x1f, 2\n    sbi 0x1f, 1\nbusy:\n    sbic 0x1f, 1\n    rjmp busy\n"
    code = BEGIN + wait + FINISH + STOP
    long = ("--max-cycles", "100000")
    ran = simavr(code, tmp_path, *MARK, *long, "--trace", "--dump", tmp_path / "dump")
    (region,) = regions(ran)
    lines = [line.split() for line in (tmp_path / "dump").read_text().splitlines()[:-1]]
    pcs = [int(line[0], 16) for line in lines]
    rounds = len(pcs) // 2 - 2
    assert pcs == [6, 8, *[10, 12] * rounds, 10, 14] and len(pcs) == region["instructions"]
    assert 3 * rounds == pytest.approx(16_000_000 * 0.0034, abs=6)
    assert int(str(region["cycles"])) - 3 * rounds == pytest.approx(2 + 2 + 2 + 2 + 1, abs=3)
    digest = 0xCBF29CE484222325
    for pc, address in lines:
        digest = mix(digest, int(pc, 16) << 32 | int(address, 16))
    assert region["trace"] == f"{digest:016x}"


# --- regions ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cycles", [1, 2, 9])
def test_a_region_counts_the_cycles_between_its_marks(tmp_path: Path, cycles: int) -> None:
    nops = "    nop\n" * (cycles - 1)
    ran = simavr(BEGIN + nops + FINISH + FINISH + STOP, tmp_path, *MARK, *SHORT)
    assert regions(ran) == [{"event": "region", "cycles": cycles}]
    twice = BEGIN + "    nop\n    out 0x1e, r16\n" + nops + FINISH + BEGIN + FINISH
    ran = simavr(twice + STOP, tmp_path, *MARK, *SHORT)
    assert [r["cycles"] for r in regions(ran)] == [cycles, 1], "the last beginning counts"
    assert regions(simavr(twice + STOP, tmp_path, *SHORT)) == []


def test_a_mark_is_kept_in_its_register(tmp_path: Path) -> None:
    code = UART + "    ldi r16, 0x5a\n    out 0x1e, r16\n    in r24, 0x1e\n    rcall send\n"
    assert simavr(code + STOP, tmp_path, *MARK, *SHORT).output == b"\x5a"


#: Each instruction, and what its line of the trace says that it touches: X is 0x123, Y 0x234, Z 0x145.
POINTERS = (
    "    ldi r26, 0x23\n    ldi r27, 1\n    ldi r28, 0x34\n    ldi r29, 2\n    ldi r30, 0x45\n"
    "    ldi r31, 1\n"
)
TOUCHES = [
    ("nop", -1),
    ("ld r0, X", 0x123),
    ("st X, r0", 0x123),
    ("ld r0, X+", 0x123),
    ("st X+, r0", 0x124),
    ("ld r0, -X", 0x124),
    ("st -X, r0", 0x123),
    ("ld r0, Y", 0x234),
    ("st Y, r0", 0x234),
    ("ld r0, Y+", 0x234),
    ("ld r0, -Y", 0x234),
    ("ldd r0, Y+1", 0x235),
    ("ldd r0, Y+2", 0x236),
    ("ldd r0, Y+4", 0x238),
    ("ldd r0, Y+8", 0x23C),
    ("std Y+16, r0", 0x244),
    ("ldd r0, Y+32", 0x254),
    ("std Y+63, r31", 0x273),
    ("ld r0, Z", 0x145),
    ("ldd r16, Z+17", 0x156),
    ("std Z+46, r0", 0x173),
    ("ld r0, Z+", 0x145),
    ("st -Z, r0", 0x145),
    ("lds r0, 0x167", 0x167),
    ("sts 0x168, r0", 0x168),
    ("lpm", 0x10145),
    ("lpm r4, Z", 0x10145),
    ("lpm r4, Z+", 0x10145),
    ("push r0", -1),
    ("pop r0", -1),
    ("mov r0, r1", -1),
    ("adiw r30, 1", -1),
    ("ldi r16, 1", -1),
    ("movw r2, r4", -1),
    ("rjmp .+0", -1),
    ("swap r0", -1),
]


def mix(digest: int, value: int) -> int:
    """As drivers/simavr.c does: a polynomial, modulo 2^64, over what each value is spread to."""
    value = value * 0x9E3779B97F4A7C15 & ONES
    return (digest * 0x5851F42D4C957F2D + (value ^ value >> 32)) & ONES


def test_a_trace_tells_every_instruction_and_address(tmp_path: Path) -> None:
    body = "".join(f"    {instruction}\n" for instruction, _ in TOUCHES)
    code = POINTERS + BEGIN + body + FINISH + BEGIN + "    nop\n" + FINISH + STOP
    ran = simavr(code, tmp_path, *MARK, *SHORT, "--trace", "--dump", tmp_path / "dump")
    first, second = regions(ran)
    lines = (tmp_path / "dump").read_text().splitlines()
    assert lines.count("end") == 2
    told = [tuple(int(part, 16) for part in line.split()) for line in lines[: lines.index("end")]]
    pc = 2 * 9
    digest = 0xCBF29CE484222325
    expected = []
    for instruction, address in [*TOUCHES, ("out", -1)]:
        expected.append((pc, address & 0xFFFFFFFF))
        digest = mix(digest, pc << 32 | address & 0xFFFFFFFF)
        pc += 4 if instruction[:3] in ("lds", "sts") else 2
    assert told == expected
    assert first["instructions"] == len(expected) and first["trace"] == f"{digest:016x}"
    assert first["stack"] == 1 and second["stack"] == 0 and second["instructions"] == 2
    untraced = simavr(code, tmp_path, *MARK, *SHORT, "--dump", tmp_path / "other")
    assert [r["cycles"] for r in regions(untraced)] == [first["cycles"], second["cycles"]]
    assert (tmp_path / "other").read_text() == "end\nend\n"


def test_a_wait_that_is_made_at_once_is_traced_as_if_it_were_stepped(tmp_path: Path) -> None:
    """18,000 rounds of a loop that waits for the EEPROM: the digest is that of every line of the dump."""
    wait = "    sbi 0x1f, 2\n    sbi 0x1f, 1\n1:  sbic 0x1f, 1\n    rjmp 1b\n"
    traced = (*MARK, "--max-cycles", "200000", "--trace")
    code = BEGIN + wait + FINISH + STOP
    (region,) = regions(simavr(code, tmp_path, *traced, "--dump", tmp_path / "dump"))
    *lines, _ = (tmp_path / "dump").read_text().splitlines()
    digest = 0xCBF29CE484222325
    for pc, address in (line.split() for line in lines):
        digest = mix(digest, int(pc, 16) << 32 | int(address, 16))
    assert len(lines) == region["instructions"] > 36_000
    assert (region["trace"], region["cycles"]) == (f"{digest:016x}", 54_400 + 8)
    (undumped,) = regions(simavr(code, tmp_path, *traced))
    assert undumped == region


def test_elpm_reaches_beyond_64_kib(tmp_path: Path) -> None:
    words = [0xE00E | 1 << 8, 0xE001, 0xBF0B]  # placeholders of the three below
    words = [0xE001, 0xE0F0, 0xE1E2, 0xBF0B]  # ldi r16, 1; ldi r31, 0; ldi r30, 0x12; out RAMPZ, r16
    words += [0xE011, 0xBB1E, 0x95D8, 0x9046, 0x9057, 0x95C8, 0xE010, 0xBB1E, 0x94F8, 0xCFFF]
    (tmp_path / "f.elf").write_bytes(
        elf_of([Segment(0, b"".join(w.to_bytes(2, "little") for w in words))], AVR, 0)
    )
    chip = [
        "--mcu",
        "atmega1280",
        "--clock",
        "16000000",
        *MARK,
        *SHORT,
        "--trace",
        "--dump",
        str(tmp_path / "dump"),
    ]
    outcome([driver("simavr"), *chip, tmp_path / "f.elf"])
    told = [line.split()[1] for line in (tmp_path / "dump").read_text().splitlines()[:4]]
    assert told == ["20012", "20012", "20012", "10013"]
    push = [*words[:4], 57361, 47902, 37391, 36879, 37895, 57360, 47902, 38136, 53247]
    (tmp_path / "f.elf").write_bytes(
        elf_of([Segment(0, b"".join(w.to_bytes(2, "little") for w in push))], AVR, 0)
    )
    outcome([driver("simavr"), *chip, tmp_path / "f.elf"])
    assert [line.split()[1] for line in (tmp_path / "dump").read_text().splitlines()[:3]] == ["ffffffff"] * 3


def test_a_push_touches_no_address_that_its_encoding_tells(tmp_path: Path) -> None:
    """Store forms of the encodings that LPM and ELPM have: XCH, LAS, LAC, LAT, which this chip has not."""
    for op in (0x9204, 0x9205, 0x9206, 0x9207):
        words = [0xE001, 0xE010, 0xBB0E, op, 0x94F8, 0xCFFF]
        simavr(
            b"".join(w.to_bytes(2, "little") for w in words),
            tmp_path,
            *MARK,
            *SHORT,
            "--trace",
            "--dump",
            tmp_path / "d",
        )
        assert (tmp_path / "d").read_text().startswith("6 ffffffff\n")


def test_output_that_a_pipe_takes_in_parts_comes_whole(tmp_path: Path) -> None:
    """A pipe of one page: writes are cut short and continue where they were."""
    code = (
        UART
        + FRAME
        + MUCH.format(n=1).replace(
            "rcall send\n    dec r19", "inc r24\n    andi r24, 63\n    rcall send\n    dec r19"
        )
    )
    (tmp_path / "f.elf").write_bytes(elf_of([Segment(0, assemble(code + STOP, tmp_path))], AVR, 0))
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
    command = [driver("simavr"), *CHIP, "--max-cycles", "100000000", tmp_path / "f.elf"]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=writer, stderr=subprocess.PIPE
    ) as running:
        os.close(writer)
        with os.fdopen(reader, "rb") as file:
            got = file.read(100) + file.read()
        running.wait(20)
    first = got[0]
    assert got == bytes((first + n) & 63 for n in range(40_000)) + b"!~"


def test_complaints_lose_their_colour(tmp_path: Path) -> None:
    ran = simavr("    ldi r27, 9\n    st X, r16\n    st X, r16\n", tmp_path, *SHORT)
    (said,) = ran.said
    assert re.fullmatch(r"CORE: \*\*\* Invalid write address PC=0002 SP=08ff O=930c .*", said), said


def test_the_deepest_stack_of_a_region(tmp_path: Path) -> None:
    halves = """
    in r28, 0x3d
    in r29, 0x3e
    sbiw r28, 40
    out 0x3e, r29
    out 0x3d, r28
    adiw r28, 40
    out 0x3e, r29
    out 0x3d, r28
"""
    code = (
        "    push r0\n    push r0\n" + BEGIN + "    push r0\n    push r0\n    pop r0\n    push r0\n" + FINISH
    )
    ran = simavr(code + STOP, tmp_path, *MARK, *SHORT, "--trace")
    assert regions(ran)[0]["stack"] == 2
    ran = simavr(BEGIN + halves + FINISH + STOP, tmp_path, *MARK, *SHORT, "--trace")
    assert regions(ran)[0]["stack"] == 40
    crossing = (
        "    ldi r28, 0x10\n    ldi r29, 8\n    out 0x3e, r29\n    out 0x3d, r28\n" + BEGIN + halves + FINISH
    )
    ran = simavr(crossing + STOP, tmp_path, *MARK, *SHORT, "--trace")
    assert regions(ran)[0]["stack"] == 40, "what the pointer holds between its halves is no depth"


def test_a_stack_in_the_data_is_a_fault_at_once(tmp_path: Path) -> None:
    code = BEGIN + "    push r0\n    push r0\n" + FINISH + STOP
    traced = (*MARK, *SHORT, "--trace", "--data-end")
    assert simavr(code, tmp_path, *traced, str(0x8FF - 2)).end["kind"] == "silent"
    pushless = BEGIN + "    nop\n" + FINISH + STOP
    assert simavr(pushless, tmp_path, *traced, "0x900").end["kind"] == "silent", "it has not moved"
    ran = simavr(code, tmp_path, *traced, str(0x8FF - 1))
    ended(ran, 3, "stack", "the stack ran into the data: stack pointer 0x8fd, data end at 0x8fe")
    assert (ran.end["cycle"], ran.end["pc"]) == (3 + 4, 10)
    assert (ran.end["stack_pointer"], ran.end["stack_limit"]) == (0x8FD, 0x8FE)


# --- the UART --------------------------------------------------------------------------------------------

ECHO = GREETING + "again:\n    rcall take\n    rcall send\n    rjmp again\n"


def test_input_is_read_when_a_frame_has_been_answered(tmp_path: Path) -> None:
    frames = b"".join(b"%04d~" % n for n in range(1300))  # more than the driver reads in one call
    ran = simavr(ECHO, tmp_path, "--max-cycles", "1000000", given=frames)
    ended(ran, 0, "", "input closed")
    assert ran.output == b"!~" + frames
    ran = simavr(ECHO, tmp_path, *SHORT, given=b"no frame")
    assert ran.output == b"!~no frame" and ran.end["kind"] == "silent"
    ran = simavr(ECHO, tmp_path, *SHORT, given=b"~~")  # delimiters alone are not a frame
    assert ran.output == b"!~~~" and ran.end["kind"] == "silent"
    ended(simavr(ECHO, tmp_path, *SHORT), 0, "", "input closed")


def test_without_a_frame_nothing_is_read(tmp_path: Path) -> None:
    silent = UART + "    ldi r24, 0x7e\n    rcall send\n    rcall take\n    rcall send\n" + STOP
    ran = simavr(silent, tmp_path, *SHORT, given=b"x")
    assert ran.output == b"~" and ran.end["kind"] == "silent"


WORK = """
    ldi r18, 100
longer{n}:
    ldi r19, 199
long{n}:
    dec r19
    brne long{n}
    dec r18
    brne longer{n}
    rcall frame
"""
FRAME = "    rjmp on\nframe:\n    ldi r24, '!'\n    rcall send\n    ldi r24, 0x7e\n    rjmp send\non:\n"


def test_each_request_has_its_own_cycles(tmp_path: Path) -> None:
    """60,000 cycles before the first request and as many after it."""
    code = UART + FRAME + WORK.format(n=1) + "    rcall take\n" + WORK.format(n=2) + "    rcall take\n"
    ran = simavr(code, tmp_path, "--max-cycles", "80000", given=b"x")
    ended(ran, 0, "", "input closed")
    assert ran.output == b"!~!~" and 120_000 < ran.end["cycle"] < 130_000


TAKE = "    rcall take\n"


def test_requests_that_come_together_have_their_own_cycles_and_are_all_answered(tmp_path: Path) -> None:
    work = [WORK.format(n=n) for n in (1, 2)]
    for code in (2 * TAKE + work[0] + 2 * TAKE + work[1], 4 * TAKE + work[0] + work[1]):
        ran = simavr(
            UART + FRAME + "    rcall frame\n" + code + TAKE,
            tmp_path,
            *("--max-cycles", "80000"),
            given=b"a~b~",
        )
        ended(ran, 0, "", "input closed")
        assert ran.output == b"!~!~!~" and 120_000 < ran.end["cycle"] < 130_000
    ran = simavr(
        UART + FRAME + "    rcall frame\n" + 4 * TAKE + work[0] + STOP, tmp_path, *SHORT, given=b"a~b~"
    )
    assert ran.end["kind"] == "silent", "the second has no answer"


def test_a_flood_is_a_fault(tmp_path: Path) -> None:
    ran = simavr(UART + "again:\n    rcall send\n    rjmp again\n", tmp_path)
    ended(ran, 3, "flood", "the firmware floods its UART: more than 65536 bytes without being asked")
    assert len(ran.output) == 65537


MUCH = """
    ldi r18, 160
outer{n}:
    ldi r19, 250
inner{n}:
    rcall send
    dec r19
    brne inner{n}
    dec r18
    brne outer{n}
    rcall frame
"""


def test_as_much_after_each_request_is_no_flood(tmp_path: Path) -> None:
    code = UART + FRAME + MUCH.format(n=1) + "    rcall take\n" + MUCH.format(n=2) + "    rcall take\n"
    ran = simavr(code, tmp_path, "--max-cycles", "100000000", given=b"x")
    ended(ran, 0, "", "input closed")
    assert len(ran.output) == 2 * 40_002


# --- how runs end ----------------------------------------------------------------------------------------


def test_a_request_has_its_deadline(tmp_path: Path) -> None:
    loop = b"\xff\xcf"  # two cycles each
    for most, cycle in ((13 * 2 * BURST - 1, 13), (13 * 2 * BURST, 14)):
        ran = simavr(loop, tmp_path, "--max-cycles", str(most))
        ended(ran, 3, "silent", f"no answer within {most} cycles: the firmware is at 0x0")
        assert ran.end["cycle"] == cycle * 2 * BURST
    ran = simavr("    sei\n    ldi r16, 1\n    out 0x33, r16\n    sleep\n", tmp_path)
    ended(ran, 3, "silent", "no answer within 400000000 cycles: the firmware is at 0x8")
    traced = simavr(BEGIN + "    rjmp .-2\n", tmp_path, *MARK, "--trace", "--max-cycles", "1000")
    assert traced.end["kind"] == "silent" and 1000 < traced.end["cycle"] <= 1003


def test_what_the_firmware_does_last(tmp_path: Path) -> None:
    ran = simavr("    nop\n    .word 0x0001\n", tmp_path)
    ended(ran, 3, "", "the firmware crashed at 0x2: this chip has no instruction 0x0001")
    ran = simavr("    nop\n    cli\n    ldi r16, 1\n    out 0x33, r16\n    sleep\n    nop\n", tmp_path)
    ended(ran, 3, "", "the firmware stopped: it sleeps with interrupts off at 0xa")
    traced = simavr(BEGIN + "    .word 0x0001\n", tmp_path, *MARK, "--trace")
    assert traced.end["detail"].endswith(": this chip has no instruction 0x0001")
    traced = simavr(BEGIN + "    cli\n    out 0x33, r16\n    sleep\n", tmp_path, *MARK, "--trace")
    assert traced.end["detail"].startswith("the firmware stopped: it sleeps with interrupts off")
