"""The ARM driver by itself, on a few instructions: what it counts, how it ends, storage, free runs."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import time
from pathlib import Path

import pytest
from arm_assembly import (
    BEGIN,
    ENTRY,
    FINISH,
    FLASH,
    PRELUDE_BYTES,
    PRELUDE_CYCLES,
    PRELUDE_INSTRUCTIONS,
    RAM,
    VECTORS,
    WAIT,
    Outcome,
    assemble,
    options,
    run,
)
from natively import ended_in_time

from motecrypt.emulate.images import ARM, Segment, elf_of
from motecrypt.setup import have
from motecrypt.toolchain.drivers import driver

pytestmark = pytest.mark.skipif(not have("pico"), reason="kit pico is missing (motecrypt doctor)")

SHORT = ("--max-cycles", "100000")
TOLD = "    str r0, [r4]\n"  # r0's low byte to the UART
ONES = 2**64 - 1
CACHE = ("--cache", "1024:2:8", "--miss-cycles", "50")
STOP = "    cpsid i\n    b .\n"


def ended(ran: Outcome, code: int, event: str, detail: str, kind: str = "") -> None:
    found = (ran.code, ran.end["event"], ran.end["detail"], ran.end.get("kind", ""))
    assert found == (code, event, detail, kind)


def bytes_of(ran: Outcome) -> list[int]:
    return [*ran.output.removesuffix(b"!~")]


# --- counting --------------------------------------------------------------------------------------------


def test_the_end_tells_all_that_was_counted(tmp_path: Path) -> None:
    ran = run(WAIT, tmp_path)
    assert (ran.code, ran.output, ran.said) == (0, b"!~", [])
    # It looks at the UART twice before the driver believes that it waits.
    cycles = PRELUDE_CYCLES + 2 * (1 + 2) + 2 * (2 + 2)
    assert ran.events == [
        {
            "event": "end",
            "kind": "",
            "detail": "input closed",
            "cycle": cycles,
            "instructions": PRELUDE_INSTRUCTIONS + 4 + 2 * 2,
            "cache_misses": 0,
            "clock_hz": 6500000,
            "baud": 0,
        }
    ]


def test_a_region_is_what_lies_between_two_marks(tmp_path: Path) -> None:
    ran = run(BEGIN + "    nop\n    nop\n    ldr r0, [r2]\n" + FINISH + FINISH + WAIT, tmp_path, *SHORT)
    assert ran.regions == [{"event": "region", "cycles": 2 + 1 + 1 + 2, "instructions": 4}]
    twice = BEGIN + "    nop\n" + BEGIN + FINISH + "    movs r3, #0x85\n    str r3, [r7]\n    nop\n" + FINISH
    ran = run(twice + BEGIN + FINISH + WAIT, tmp_path, *SHORT)
    assert ran.regions == [
        {"event": "region", "cycles": 2, "instructions": 1},
        {"event": "region", "cycles": 3, "instructions": 2, "label": 0x42},
        {"event": "region", "cycles": 2, "instructions": 1},
    ]
    loop = "    movs r3, #3\nagain:\n    subs r3, #1\n    bne again\n"
    (region,) = run(BEGIN + loop + FINISH + WAIT, tmp_path, *SHORT).regions
    assert (region["cycles"], region["instructions"]) == (2 + 1 + 3 * 2 + 2 * 1, 2 + 6)
    (region,) = run(BEGIN + loop + FINISH + WAIT, tmp_path, *SHORT, costs={"branch_if_taken": 9}).regions
    assert region["cycles"] == 2 + 1 + 3 * 2 + 2 * 9
    skip = (
        "    cmp r5, #0\n    beq over\nover:\n    nop\n"  # a branch to what comes next is not seen as taken
    )
    (region,) = run(BEGIN + skip + FINISH + WAIT, tmp_path, *SHORT).regions
    assert region["cycles"] == 2 + 1 + 1 + 1


def test_marks_are_elsewhere_when_told_so(tmp_path: Path) -> None:
    code = BEGIN + FINISH + "    movs r3, #4\n    str r6, [r7, r3]\n    nop\n    str r5, [r7, r3]\n" + WAIT
    (region,) = run(code, tmp_path, *SHORT, "--mark", "0x40058010").regions
    assert region["cycles"] == 3
    halves = "    strb r6, [r7]\n    nop\n    strh r5, [r7]\n"
    (region,) = run(halves + WAIT, tmp_path, *SHORT).regions
    assert region["cycles"] == 3 and "label" not in region


def test_what_waits_on_a_bus_costs_more_and_the_port_less(tmp_path: Path) -> None:
    for code, cycles in (
        ("    ldr r0, [r7]\n", 2 + 7),
        ("    str r6, [r4, #4]\n", 2 + 9),
        ("    ldr r0, [r3]\n", 1),
        ("    str r0, [r3]\n", 1),
        ("    ldr r0, [r1, #8]\n    str r0, [r1, #12]\n", 4),  # the core's own
    ):
        whole = "    ldr r3, =0xD0000010\n    ldr r1, =0xE000E000\n" + BEGIN + code + FINISH
        (region,) = run(whole + WAIT, tmp_path, *SHORT, "--bus", "7:9:1").regions
        assert region["cycles"] == (2 + 9) + cycles, code


def test_a_register_is_read_and_written_by_its_bytes(tmp_path: Path) -> None:
    code = "    ldr r3, =0x40014000\n    ldr r0, =0x44332211\n    str r0, [r3]\n"
    for read in (
        "ldrb r0, [r3]",
        "ldrb r0, [r3, #1]",
        "ldrb r0, [r3, #2]",
        "ldrb r0, [r3, #3]",
        "ldrh r0, [r3, #2]",
    ):
        code += f"    {read}\n{TOLD}"
    for write, read in (
        ("strb r6", "ldrb r0, [r3, #3]"),
        ("strh r6", "ldrb r0, [r3, #2]"),
        ("strh r6", "ldrb r0, [r3, #1]"),
    ):
        code += f"    {write}, [r3]\n    {read}\n{TOLD}"
    assert bytes_of(run(code + WAIT, tmp_path)) == [0x11, 0x22, 0x33, 0x44, 0x33, 1, 1, 0]


def test_the_time_within_a_run_of_instructions(tmp_path: Path) -> None:
    """SysTick is read several times without a branch between: each reading is of its own moment."""
    clock = (
        "    ldr r3, =0xE000E010\n    ldr r0, =0xFFFFFF\n    str r0, [r3, #4]\n    movs r0, #5\n"
        "    str r0, [r3]\n"
    )
    reads = (
        "    ldr r0, [r3, #8]\n    nop\n    ldr r1, [r3, #8]\n    muls r6, r6\n    nop\n"
        "    ldr r2, [r3, #8]\n    nop\n    nop\n"
    )
    told = (
        "    subs r1, r0, r1\n    subs r2, r0, r2\n    str r1, [r4]\n    str r2, [r4]\n"
        "    subs r0, #1\n    mvns r0, r0\n"
    )
    told += "    lsls r0, #8\n    lsrs r0, #8\n    str r0, [r4]\n"
    ran = run(clock + reads + told + WAIT, tmp_path, costs={"multiply": 4})
    assert bytes_of(ran)[:2] == [3, 3 + 2 + 4 + 1]
    looped = (
        "    movs r3, #0\n    ldr r1, =0xE000E010\n    ldr r0, =0xFFFFFF\n    str r0, [r1, #4]\n"
        "    movs r0, #5\n    str r0, [r1]\n"
    )
    looped += (
        "    ldr r2, [r1, #8]\nagain:\n    ldr r0, [r1, #8]\n    subs r0, r2, r0\n"
        "    str r0, [r4]\n    adds r3, #1\n    cmp r3, #3\n    bne again\n"
    )
    assert bytes_of(run(looped + WAIT, tmp_path)) == [2, 2 + 9, 2 + 18]


# --- the trace -------------------------------------------------------------------------------------------


def mix(digest: int, value: int) -> int:
    digest = (digest ^ value) * 0x9E3779B97F4A7C15 & ONES
    return digest ^ digest >> 29


def test_a_trace_tells_every_instruction_and_address(tmp_path: Path) -> None:
    body = """
    push {r0, r1, lr}
    ldr r0, [sp, #4]
    pop {r0, r1}
    movs r3, #6
    ldrh r0, [r2, r3]
    strb r0, [r2, #5]
    ldr r0, =0x11223344
    ldm r2!, {r0, r1}
    dmb
    b over
    nop
over:
    add sp, #4
"""
    code = BEGIN + body + FINISH + BEGIN + FINISH + WAIT
    ran = run(code, tmp_path, *SHORT, "--trace", "--dump", tmp_path / "dump")
    lines = (tmp_path / "dump").read_text().splitlines()
    assert lines.count("end") == 2
    image = assemble(code, tmp_path)
    pool = VECTORS + image.index(bytes.fromhex("44332211"))
    pc = ENTRY + PRELUDE_BYTES + 2
    sp, ram, none = RAM + 0x8000, RAM + 0x4000, 0xFFFFFFFF
    touched: list[tuple[int, list[int]]] = [
        (2, [sp - 12, sp - 8, sp - 4]),
        (2, [sp - 12 + 4]),
        (2, [sp - 12, sp - 8]),
        (2, []),
        (2, [ram + 6]),
        (2, [ram + 5]),
        (2, [pool]),
        (2, [ram, ram + 4]),
        (4, []),
        (4, []),  # and over the nop
        (2, []),
        (2, [0x4005800C]),
    ]
    expected, digest = [], 0xCBF29CE484222325
    for size, addresses in touched:
        digest = mix(digest, pc << 32)
        for address in addresses:
            digest = mix(digest, address)
        expected += [f"{pc:x} {address:x}" for address in addresses or [none]]
        pc += size
    assert lines[: lines.index("end")] == expected
    first, second = ran.regions
    assert (first["stack"], first["trace"]) == (12, f"{digest:016x}")
    assert second["stack"] == 0
    untraced = run(code, tmp_path, *SHORT, "--dump", tmp_path / "other")
    assert [r["cycles"] for r in untraced.regions] == [r["cycles"] for r in ran.regions]
    assert (tmp_path / "other").read_text() == "end\nend\n"


def test_the_deepest_stack_of_a_region(tmp_path: Path) -> None:
    deep = (
        "    push {r0-r3}\n"
        + BEGIN
        + "    push {r0}\n    sub sp, #8\n    add sp, #8\n    pop {r0}\n    mov r0, sp\n"
        "    subs r0, #40\n    mov r1, sp\n    mov sp, r0\n    mov sp, r1\n"
    )
    (region,) = run(deep + FINISH + WAIT, tmp_path, *SHORT, "--trace").regions
    assert region["stack"] == 40


def test_a_stack_below_its_limit_is_a_fault(tmp_path: Path) -> None:
    code = "    push {r0}\n    push {r0}\n    nop\n" + WAIT
    top = RAM + 0x8000
    assert run(code, tmp_path, "--trace", "--stack-limit", hex(top - 8)).end["event"] == "end"
    ran = run(code, tmp_path, "--trace", "--stack-limit", hex(top - 7))
    where = f"stack pointer {top - 8:#x}, limit {top - 7:#x}, at {ENTRY + PRELUDE_BYTES + 4:#x}"
    detail = f"the stack ran into the data: {where}"
    ended(ran, 3, "fault", detail, "stack")
    assert run(code, tmp_path, "--trace", "--stack-limit", hex(top)).end["event"] == "end", (
        "no stack below that"
    )
    falls = "    ldr r0, =0x20000008\n    mov sp, r0\nagain:\n    push {r0}\n    b again\n"
    ran = run(falls, tmp_path, "--stack-limit", "0x20000000")
    assert ran.end["kind"] == "stack" and ran.end["detail"].startswith(
        "the stack ran out of its memory: stack pointer 0x"
    )
    assert ", limit 0x20000000, at 0x1000" in ran.end["detail"]
    below = "    ldr r0, =0x1FFFF{}\n    ldr r0, [r0]\n"
    for address, kind in (("000", "stack"), ("FFC", "stack")):
        assert run(below.format(address), tmp_path, "--stack-limit", "0x20000000").end["kind"] == kind
    ran = run("    ldr r0, =0x1FFFEFFC\n    ldr r0, [r0]\n", tmp_path, "--stack-limit", "0x20000000")
    assert ran.end["kind"] == ""


def test_unaligned_accesses_are_faults_where_they_are_looked_for(tmp_path: Path) -> None:
    for code, address in (("ldr r0, [r2, r6]", 1), ("ldrh r0, [r2, r6]", 1), ("ldr r0, [r2, r3]", 2)):
        ran = run(f"    movs r3, #2\n    {code}\n" + WAIT, tmp_path, "--trace")
        at = ENTRY + PRELUDE_BYTES + 2
        ended(ran, 3, "fault", f"unaligned access to {RAM + 0x4000 + address:#x} at {at:#x}")
    for code in ("ldrb r0, [r2, r6]", "ldrh r0, [r2, r3]"):
        assert run(f"    movs r3, #2\n    {code}\n" + WAIT, tmp_path, "--trace").end["event"] == "end"


# --- the flash cache -------------------------------------------------------------------------------------


def test_misses_of_a_region(tmp_path: Path) -> None:
    code = (
        BEGIN + "    nop\n" * 40 + FINISH + "    .balign 8\n" + BEGIN + "    nop\n    dmb\n" + FINISH + WAIT
    )
    plain = run(code, tmp_path, *SHORT)
    kept = run(code, tmp_path, *SHORT, *CACHE)
    cold = run(code, tmp_path, *SHORT, *CACHE, "--cold")
    for counted in (kept, cold):
        for region, without in zip(counted.regions, plain.regions, strict=True):
            assert region["core_cycles"] == without["cycles"]
            assert region["cycles"] == without["cycles"] + 50 * region["cache_misses"]
    # The store of the first mark lies at 0x10000112: ten lines more, and its own, which it has brought in.
    assert [r["cache_misses"] for r in kept.regions] == [10, 1]
    assert [r["cache_misses"] for r in cold.regions] == [11, 2]
    assert kept.end["cache_misses"] > 12 and kept.end["cycle"] == plain.end["cycle"]
    assert plain.end["cache_misses"] == 0
    reads = "    ldr r3, =0x10002000\n    ldr r0, [r3]\n    ldr r0, [r3, #4]\n    ldr r0, [r3, #8]\n" + BEGIN
    reads += "    ldr r0, [r3]\n    ldr r0, [r3, #16]\n    ldr r0, [r2]\n    .balign 8\n"
    (region,) = run(reads + FINISH + WAIT, tmp_path, *SHORT, "--cache", "65536:8:8").regions
    (flushed,) = run(
        reads.replace(BEGIN, "    ldr r1, =0x14000004\n    str r6, [r1]\n" + BEGIN) + FINISH + WAIT,
        tmp_path,
        *SHORT,
        "--cache",
        "65536:8:8",
    ).regions
    assert region["cache_misses"] + 1 <= flushed["cache_misses"] <= region["cache_misses"] + 2
    assert region["cycles"] == region["core_cycles"], "a miss costs what is told, here nothing"


def test_an_instruction_of_two_halves_may_lie_in_two_lines(tmp_path: Path) -> None:
    for pad, misses in (("", 0), ("    nop\n", 1)):
        code = (
            "    b go\n    .balign 64\ngo:\n"
            + BEGIN
            + "    nop\n"
            + pad
            + "    dmb\n    b on\n    .balign 64\non:\n"
        )
        ran = run(code + FINISH + WAIT, tmp_path, *SHORT, *CACHE)
        assert ran.regions[0]["cache_misses"] == 1 + max(misses, 0) or misses == 0


def test_the_boards_time_holds_the_misses(tmp_path: Path) -> None:
    code = (
        "    ldr r3, =0xE000E010\n    ldr r0, =0xFFFFFF\n    str r0, [r3, #4]\n    movs r0, #5\n"
        "    str r0, [r3]\n    b go\n    .balign 64\ngo:\n"
    )
    code += (
        "    ldr r1, [r3, #8]\n    nop\n    nop\n    nop\n    ldr r2, [r3, #8]\n    subs r1, r2\n"
        "    str r1, [r4]\n"
    )
    assert bytes_of(run(code + WAIT, tmp_path, *CACHE)) == [5 + 50]
    assert bytes_of(run(code + WAIT, tmp_path)) == [5]


# --- the UART and the deadline ---------------------------------------------------------------------------

ECHO = (
    "    movs r0, #'!'\n    str r0, [r4]\n    movs r0, #0x7e\n    str r0, [r4]\nagain:\n"
    "    ldr r0, [r4, #0x18]\n    lsls r0, #27\n    bmi again\n    ldr r0, [r4]\n"
    "    str r0, [r4]\n    b again\n"
)


def test_requests_are_read_when_the_firmware_waits_for_them(tmp_path: Path) -> None:
    frames = b"".join(b"%04d~" % n for n in range(1300))  # more than the driver reads or writes at once
    ran = run(ECHO, tmp_path, given=frames)
    ended(ran, 0, "end", "input closed")
    assert ran.output == b"!~" + frames


def test_the_rest_of_a_request_may_take_a_second(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    try:
        os.write(writer, b"half")
        ended(run(ECHO, tmp_path, given=reader), 3, "fault", "the firmware waits for the rest of a request")
    finally:
        os.close(reader)
        os.close(writer)
    assert run(ECHO, tmp_path, given=b"half").end["detail"] == "input closed"


def test_a_flood_is_a_fault(tmp_path: Path) -> None:
    ran = run("again:\n    str r5, [r4]\n    b again\n", tmp_path)
    ended(
        ran, 3, "fault", "the firmware floods its UART: more than 131072 bytes without being asked", "flood"
    )
    assert len(ran.output) == 131073
    much = (
        "    ldr r1, =70000\n    movs r0, #'a'\n{0}:\n    str r0, [r4]\n    subs r1, #1\n"
        "    bne {0}\n    movs r0, #0x7e\n    str r0, [r4]\n"
    )
    take = "take:\n    ldr r0, [r4, #0x18]\n    lsls r0, #27\n    bmi take\n    ldr r0, [r4]\n"
    assert (
        run(much.format("one") + take + much.format("two") + WAIT, tmp_path, given=b"x").end["detail"]
        == "input closed"
    )


def test_each_request_has_its_deadline(tmp_path: Path) -> None:
    before = PRELUDE_CYCLES + 2
    for most in (before + 200, before + 201, before + 202):
        ran = run("    b .\n", tmp_path, "--max-cycles", str(most))
        at = ENTRY + PRELUDE_BYTES
        ended(ran, 3, "fault", f"no answer within {most} cycles: the firmware is at {at:#x}", "silent")
        assert ran.end["cycle"] == most + (most - PRELUDE_CYCLES) % 2
    work = "    ldr r1, =2000\n{0}:\n    subs r1, #1\n    bne {0}\n"
    take = "take:\n    ldr r0, [r4, #0x18]\n    lsls r0, #27\n    bmi take\n    ldr r0, [r4]\n"
    code = (
        work.format("one")
        + "    movs r0, #'a'\n    str r0, [r4]\n    movs r0, #0x7e\n    str r0, [r4]\n"
        + take
        + work.format("two")
    )
    assert run(code + WAIT, tmp_path, "--max-cycles", "8000", given=b"x").end["detail"] == "input closed"
    assert run(code + WAIT, tmp_path, "--max-cycles", "5900", given=b"x").end["kind"] == "silent"
    frame = "    movs r0, #'a'\n    str r0, [r4]\n    movs r0, #0x7e\n    str r0, [r4]\n"
    more = code + frame + take.replace("take", "again") + work.format("three")
    ran = run(more + WAIT, tmp_path, "--max-cycles", "8000", given=b"xy")
    assert ran.end["detail"] == "input closed", "two requests that came together"
    unanswered = code + take.replace("take", "again") + work.format("three")
    assert run(unanswered + WAIT, tmp_path, "--max-cycles", "8000", given=b"xy").end["kind"] == "silent"


# --- faults ----------------------------------------------------------------------------------------------

AT = ENTRY + PRELUDE_BYTES


@pytest.mark.parametrize(
    ("address", "what"),
    [
        (0x3000, " (the boot ROM is not modelled)"),
        (0x3FFC, " (the boot ROM is not modelled)"),
        (0x4000, ""),
        (0x50000000, " (DMA is not modelled)"),
        (0x500FFFFC, " (DMA is not modelled)"),
        (0x50100000, " (USB is not modelled)"),
        (0x501FFFFC, " (USB is not modelled)"),
        (0x50200000, " (PIO is not modelled)"),
        (0x503FFFFC, " (PIO is not modelled)"),
        (0x50400000, ""),
        (0x4FFFFFFC, ""),
        (0x10010000, " (beyond the flash)"),
        (0x10FFFFFC, " (beyond the flash)"),
        (0x11000000, ""),
        (0x20010000, ""),
    ],
)
def test_what_is_not_there_is_named(tmp_path: Path, address: int, what: str) -> None:
    ran = run(f"    ldr r0, ={address}\n    b go\ngo:\n    ldr r1, [r0]\n", tmp_path)
    ended(
        ran,
        3,
        "fault",
        f"the firmware read from {address:#x}, where nothing is, at {AT + 4:#x}, return address 0x0{what}",
    )


def test_other_accesses_that_are_none(tmp_path: Path) -> None:
    end = ", at 0x{:x}, return address 0x0{}"
    ran = run("    ldr r0, =0x30000000\n    b go\ngo:\n    str r1, [r0]\n", tmp_path)
    ended(ran, 3, "fault", "the firmware wrote to 0x30000000, where nothing is" + end.format(AT + 4, ""))
    ran = run("    ldr r0, =0x10000000\n    b go\ngo:\n    str r1, [r0]\n", tmp_path)
    assert ran.end["detail"].startswith("the firmware wrote to the flash at 0x10000000, at 0x")
    ran = run("    ldr r0, =0x30000001\n    bx r0\n", tmp_path)
    assert ran.end["detail"].startswith("the firmware jumped to 0x30000000, where nothing is, at 0x")
    ran = run("    ldr r0, =0x20000001\n    bx r0\n", tmp_path)
    assert ran.end["detail"].startswith("the firmware jumped to data at 0x20000000, at 0x")
    for code, said in (
        ("udf #0", "undefined instruction"),
        ("svc #0", "supervisor call (2)"),
        ("bkpt #0", "breakpoint (7)"),
    ):
        ran = run(f"    {code}\n    nop\n", tmp_path)
        assert (
            ran.code == 3 and ran.end["detail"].startswith(said) and f"at {AT:#x}"[:-1] in ran.end["detail"]
        ), ran.end
    ran = run("    ldr r0, =0x10000200\n    bx r0\n", tmp_path)
    assert "ARM state" in ran.end["detail"]
    ran = run("    wfi\n    nop\n", tmp_path)
    assert ran.end["detail"].startswith("the firmware sleeps, and nothing can wake it at 0x")


# --- memories and files ----------------------------------------------------------------------------------


def test_code_in_ram_runs_where_the_file_says_that_it_is_code(tmp_path: Path) -> None:
    code = assemble(
        "    movs r0, #'r'\n    str r0, [r4]\n    ldr r1, =0x10000201\n    bx r1\n",
        tmp_path,
        RAM + 0x1000,
        prelude="    .syntax unified\n    .cpu cortex-m0plus\n    .thumb\n",
    )
    jump = "    ldr r0, =0x20001001\n    bx r0\n    .org 0x100\n" + WAIT
    ran = run(jump, tmp_path, segments=(Segment(RAM + 0x1000, code),))
    assert ran.output == b"r!~"
    outside = run(jump, tmp_path, segments=(Segment(RAM + 0xFFFC, bytes(5)),))
    assert (outside.code, outside.said) == (
        2,
        [f"arm: {tmp_path / 'f.elf'} has a segment outside the device's memories"],
    )
    assert run(WAIT, tmp_path, segments=(Segment(RAM + 0xFFFC, bytes(4)),)).end["event"] == "end"
    erased = "    ldr r0, =0x1000F000\n    ldrb r0, [r0]\n" + TOLD + "    ldrb r0, [r2]\n" + TOLD
    assert bytes_of(run(erased + WAIT, tmp_path)) == [0xFF, 0]


def test_the_command_line_is_followed(tmp_path: Path) -> None:
    (tmp_path / "f.elf").write_bytes(elf_of([Segment(VECTORS, assemble(WAIT, tmp_path))], ARM, ENTRY | 1))

    def said(*arguments: str | Path) -> tuple[int, str]:
        done = subprocess.run(
            [driver("arm"), *arguments], capture_output=True, text=True, timeout=40, check=False
        )
        return done.returncode, done.stderr

    elf = tmp_path / "f.elf"
    assert said(*options(), "--vectors", "0x30000000", elf) == (
        2,
        "arm: the vectors lie outside the memories\n",
    )
    assert said(*options(), "--vectors", "0x1000FFFC", elf) == (
        2,
        "arm: the vectors lie outside the memories\n",
    )
    assert said(*options(), "--events", "99", elf)[0] == 2
    extra = ["--ram", "0x30000000:4096", "--ram", "0x30001000:4096"]
    assert said(*options(), *extra, elf)[0] == 0
    assert said(*options(), *extra, "--ram", "0x30002000:4096", elf) == (
        2,
        "arm: --ram must be BASE:BYTES, a multiple of 4096 bytes\n",
    )
    assert said(*options(), "--ram", "0x10000000:4096", elf)[0] == 2, "there is something already"
    assert said(*options(), "--free", "--port", "none", elf) == (2, "arm: none: No such file or directory\n")
    assert said(*options(), "--free", "--pty", tmp_path, elf) == (2, f"arm: {tmp_path}: File exists\n")
    profile = ["--profile", str(tmp_path / "p"), "--functions"]
    assert said(*options(), "--free", *profile, "none", elf) == (2, "arm: none: cannot be read\n")
    reader, writer = os.pipe()
    done = subprocess.run(
        [driver("arm"), *options(), "--events", str(writer), elf],
        pass_fds=[writer],
        input=b"",
        capture_output=True,
        timeout=40,
        check=False,
    )
    os.close(writer)
    assert done.stderr == b"" and b'"input closed"' in os.read(reader, 4096)
    os.close(reader)


def test_a_firmware_that_looks_is_told_that_it_is_simulated(tmp_path: Path) -> None:
    code = "    ldr r0, [r7, #4]\n" + TOLD
    assert bytes_of(run(code + WAIT, tmp_path, "--simulated", "0x40058010")) == [0x55]
    assert bytes_of(run(code + WAIT, tmp_path)) == [0]


def test_memory_that_this_computer_has_not(tmp_path: Path) -> None:
    def little() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))

    command = [driver("arm"), *options(), "--ram", "0x30000000:0xC0000000", tmp_path / "none"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=40, check=False, preexec_fn=little)
    assert (done.returncode, done.stderr) == (2, "arm: --ram finds no memory\n")


# --- storage ---------------------------------------------------------------------------------------------

#: The flash's interface off and on again with a divider of 4, its chip select forced; then bytes one by one.
NOR = """
    .equ PROGRAM, 0x02
    ldr r3, =0x18000000
    str r5, [r3, #8]
    movs r0, #4
    str r0, [r3, #0x14]
    str r6, [r3, #8]
    ldr r1, =0x4001800C
    b nor_on
select:
    ldr r0, =0x200
    str r0, [r1]
    bx lr
leave:
    ldr r0, =0x300
    str r0, [r1]
    bx lr
give:
    str r0, [r3, #0x60]
poll:
    ldr r2, [r3, #0x28]
    lsrs r2, #4
    bcc poll
    ldr r0, [r3, #0x60]
    bx lr
nor_on:
"""


def nor(*values: int) -> str:
    return "    bl select\n" + "".join(f"    movs r0, #{v}\n    bl give\n" for v in values) + "    bl leave\n"


NOR_WAIT = (
    "{0}:\n    bl select\n    movs r0, #5\n    bl give\n    movs r0, #0\n    bl give\n"
    "    mov r8, r0\n    bl leave\n    mov r0, r8\n    lsrs r0, #1\n    bcs {0}\n"
)


def test_the_flash_is_erased_and_programmed(tmp_path: Path) -> None:
    code = (
        NOR
        + BEGIN
        + nor(6)
        + nor(0x20, 0, 0x20, 0)
        + NOR_WAIT.format("a")
        + nor(6)
        + nor(2, 0, 0x20, 1, 0x5A, 0xC3)
    )
    code += NOR_WAIT.format("b") + FINISH + BEGIN + nor(5, 0) + FINISH
    code += (
        "    ldr r3, =0x10002000\n    ldrb r0, [r3]\n"
        + TOLD
        + "    ldrb r0, [r3, #1]\n"
        + TOLD
        + "    ldrb r0, [r3, #2]\n"
        + TOLD
    )
    ran = run(code + WAIT, tmp_path, "--nor", "3000:50000:60000:70000")
    assert bytes_of(ran) == [0xFF, 0x5A, 0xC3]
    busy, quiet = ran.regions
    assert (busy["programs"], busy["erases"], busy["storage_busy"]) == (1, 1, 53000)
    assert 53000 < busy["cycles"] < 53000 + 3000 and "programs" not in quiet
    twice = NOR + BEGIN + nor(6) + nor(0x20, 0, 0x20, 0) + NOR_WAIT.format("a") + FINISH
    twice += BEGIN + nor(6) + nor(2, 0, 0x20, 1, 0x5A) + NOR_WAIT.format("b") + FINISH
    twice += BEGIN + nor(6) + nor(0x20, 0, 0x20, 0) + NOR_WAIT.format("c") + FINISH
    regions = run(twice + WAIT, tmp_path, "--nor", "3000:50000:60000:70000").regions
    counted = [(r["programs"], r["erases"], r["storage_busy"]) for r in regions]
    assert counted == [(0, 1, 50000), (1, 0, 3000), (0, 1, 50000)]
    for command, cycles in ((0x52, 60000), (0xD8, 70000)):
        erase = NOR + BEGIN + nor(6) + nor(command, 0, 0x20, 0) + NOR_WAIT.format("a") + FINISH + WAIT
        # The firmware's own code lies there, too: it runs on from what was translated of it.
        (region,) = run(
            erase.replace("0, 0x20, 0", "0"), tmp_path, "--nor", "3000:50000:60000:70000"
        ).regions[:1] or [{}]
        assert region.get("storage_busy", cycles) == cycles
    (slow,) = run(NOR + BEGIN + nor(5, 0, 0, 0) + FINISH + WAIT, tmp_path, "--nor", "1:2:3:4").regions
    (fast,) = run(
        NOR.replace("movs r0, #4", "movs r0, #2") + BEGIN + nor(5, 0, 0, 0) + FINISH + WAIT,
        tmp_path,
        "--nor",
        "1:2:3:4",
    ).regions
    assert 40 < slow["cycles"] - fast["cycles"] < 90, "four bytes of 8 clocks, of 4 or 2 cycles each"


def test_the_flashs_interface_is_watched(tmp_path: Path) -> None:
    nor_times = ("--nor", "1:2:3:4")
    ran = run(NOR + "    str r5, [r3, #0x14]\n" + WAIT, tmp_path, *nor_times)
    ended(ran, 3, "fault", "the flash interface's register 0x14 is set while the interface is on")
    assert (
        run(NOR + "    str r5, [r3, #8]\n    str r5, [r3, #0x14]\n" + WAIT, tmp_path, *nor_times).end["event"]
        == "end"
    )
    assert run(NOR + "    str r5, [r3, #0x14]\n" + WAIT, tmp_path).end["event"] == "end", (
        "without a flash nobody looks"
    )
    ran = run(NOR + "    bl select\n    nop\n" + WAIT, tmp_path, *nor_times, *CACHE)
    assert ran.end["detail"].startswith("code runs from the flash at 0x100001") and ran.end[
        "detail"
    ].endswith(" while the flash takes a command")
    full = (
        NOR + "    bl select\n    movs r0, #0x9F\n    str r0, [r3, #0x60]\n    str r0, [r3, #0x60]\n"
        "    str r5, [r3, #8]\n    ldr r0, [r3, #0x28]\n"
    )
    assert bytes_of(run(full + TOLD + WAIT, tmp_path, *nor_times)) == [6], "switched off, its FIFOs are empty"
    plain = "    ldr r3, =0x18000000\n    ldr r0, [r3, #0x28]\n" + TOLD
    assert bytes_of(run(plain + WAIT, tmp_path)) == [0]
    assert bytes_of(run(plain + WAIT, tmp_path, *nor_times)) == [6]


SD = """
    ldr r3, =0x4003C000
    movs r0, #2
    str r0, [r3, #0x10]
    movs r0, #7
    str r0, [r3]
    ldr r1, =0xD0000010
    b sd_on
give:
    str r0, [r3, #8]
poll:
    ldr r2, [r3, #12]
    lsrs r2, #3
    bcc poll
    ldr r0, [r3, #8]
    str r0, [r4]
    bx lr
sd_on:
    ldr r0, =0x20000
"""


def sd(*values: int) -> str:
    return "".join(f"    movs r0, #{v}\n    bl give\n" for v in values)


def test_a_card_answers_on_its_bus(tmp_path: Path) -> None:
    hello = sd(0x40, 0, 0, 0, 0, 0x95, 255, 255)
    card = ("--sd", "8:5000:9000")
    silent = [255] * 8
    assert bytes_of(run(SD + hello + WAIT, tmp_path, *card)) == silent, "it is not selected"
    assert bytes_of(run(SD + "    str r0, [r1, #8]\n" + hello + WAIT, tmp_path, *card)) == [255] * 7 + [1]
    selected = SD + "    str r0, [r1, #8]\n"
    assert bytes_of(run(selected + "    str r0, [r1, #4]\n" + hello + WAIT, tmp_path, *card)) == silent
    assert bytes_of(run(SD + "    str r0, [r1, #12]\n" + hello + WAIT, tmp_path, *card)) == silent
    assert (
        bytes_of(run(SD + "    lsls r0, #1\n    str r0, [r1, #8]\n" + hello + WAIT, tmp_path, *card))
        == silent
    )
    ready = hello + sd(0x77, 0, 0, 0, 0, 0, 255, 255, 0x69, 0x40, 0, 0, 0, 0, 255, 255)
    find = "find{0}:\n    movs r0, #255\n    bl give\n    cmp r0, #0xFE\n    bne find{0}\n"
    read = BEGIN + sd(0x51, 0, 0, 0, 3, 0, 255, 255) + find.format(1) + FINISH + BEGIN + FINISH
    ran = run(selected + ready + read + WAIT, tmp_path, *card)
    first, second = ran.regions
    assert (first["reads"], first["programs"], first["storage_busy"]) == (
        1,
        0,
        5000,
    ) and "reads" not in second
    assert 5000 < first["cycles"] < 5000 + 1500
    rest = (
        "    ldr r0, =514\n    mov r8, r0\nfill:\n    movs r0, #7\n    bl give\n    mov r0, r8\n"
        "    subs r0, #1\n    mov r8, r0\n    bne fill\n"
    )
    busy = "busy:\n    movs r0, #255\n    bl give\n    cmp r0, #0\n    beq busy\n"
    write = BEGIN + sd(0x58, 0, 0, 0, 3, 0, 255, 255, 0xFE) + rest + sd(255, 255) + busy + FINISH
    (region,) = run(selected + ready + write + WAIT, tmp_path, *card).regions
    assert (region["reads"], region["programs"], region["storage_busy"]) == (0, 1, 9000) and region[
        "cycles"
    ] > 9000
    none = run(
        SD
        + "    str r0, [r1, #8]\n"
        + hello.replace("    bl give\n", "    str r0, [r3, #8]\n    ldr r0, [r3, #8]\n    str r0, [r4]\n")
        + WAIT,
        tmp_path,
    )
    assert bytes_of(none) == [0x40, 0, 0, 0, 0, 0x95, 255, 255], "without a card plain registers"
    assert bytes_of(run(selected + hello + WAIT, tmp_path, "--sd", "0:1:1")) == silent


# --- free runs -------------------------------------------------------------------------------------------

FREE = ("--free", "--max-seconds", "0.01")
#: The UART on at 6.5 MHz and 115,207 baud: as many cycles a byte as ten bits take, 564.
UART_ON = (
    "    movs r0, #3\n    str r0, [r4, #0x24]\n    movs r0, #34\n    str r0, [r4, #0x28]\n"
    "    ldr r0, =0x301\n    str r0, [r4, #0x30]\n"
)
BYTE = int(10.0 * 6.5e6 / (4 * 6.5e6 / (3 * 64 + 34)))
SEND = "    movs r0, #'{0}'\n    str r0, [r4]\n"


def test_a_free_run_ends_as_it_is_told(tmp_path: Path) -> None:
    ran = run(STOP, tmp_path, *FREE)
    ended(ran, 0, "stop", "it has ended: an empty loop with interrupts off")
    assert ran.end["stack"] == 0 and ran.end["clock_hz"] == 6500000
    assert ran.end["cycle"] == PRELUDE_CYCLES + 1 + 2 + 2 * (
        ran.end["instructions"] - PRELUDE_INSTRUCTIONS - 2
    )
    assert ran.end["seconds"] == pytest.approx(ran.end["cycle"] / 6.5e6, abs=1e-6)
    ran = run("    b .\n", tmp_path, *FREE)
    ended(ran, 0, "limit", "the time is over")
    # It looks at the time at its first block and each millisecond of 6500 cycles from there.
    assert (ran.end["cycle"], ran.end["pc"]) == (PRELUDE_CYCLES + 2 + 65000, AT)
    twice = run("    b .\n", tmp_path, "--free", "--max-seconds", "0.02")
    assert twice.end["cycle"] - ran.end["cycle"] == pytest.approx(65000, abs=10)
    ran = run("    udf #0\n", tmp_path, *FREE)
    assert (ran.code, ran.end["event"]) == (3, "fault") and "kind" not in ran.end
    ran = run("".join(map(SEND.format, "abcd")) + STOP, tmp_path, *FREE, "--until", "bc")
    ended(ran, 0, "until", "the text has come")
    assert ran.output == b"abc"
    ran = run("".join(map(SEND.format, "abcd")) + STOP, tmp_path, *FREE, "--max-output", "2")
    ended(ran, 0, "flood", "more than 2 bytes came from the UART")
    assert ran.output == b"abc"
    ran = run(SEND.format("a") + STOP, tmp_path, *FREE, "--stamps")
    assert ran.output == b"     0.000001  a"
    bare = run(STOP, tmp_path, *FREE, "--bare")
    assert bare.end["event"] == "limit" and bare.end["stack"] == 0


def test_the_deepest_stack_of_a_free_run(tmp_path: Path) -> None:
    for code, deepest in (
        ("    push {r0-r3}\n    pop {r0-r3}\n    push {r0}\n", 16),
        (
            "    push {r0}\n    b over\nover:\n    push {r0, r1}\n    pop {r0}\n    b more\n"
            "more:\n    push {r0}\n    sub sp, #4\n",
            16,
        ),
        ("    sub sp, #508\n    add sp, #508\n", 508),
        ("    mov r0, sp\n    subs r0, #100\n    mov sp, r0\n    b over\nover:\n    push {r0}\n", 104),
        ("    bl f\n    b g\nf:\n    push {r4, lr}\n    pop {r4, pc}\ng:\n    push {r0}\n", 8),
        ("", 0),
    ):
        assert run(code + "    b last\nlast:\n" + STOP, tmp_path, *FREE).end["stack"] == deepest, code


def test_a_byte_goes_at_the_lines_pace(tmp_path: Path) -> None:
    flags = "    ldr r0, [r4, #0x18]\n    ldr r1, =0x14000030\n    nop\n"
    code = (
        UART_ON
        + "    ldr r0, [r4, #0x18]\n    strb r0, [r2]\n"
        + SEND.format("a")
        + "    ldr r0, [r4, #0x18]\n    strb r0, [r2, #1]\n"
    )
    code += (
        SEND.format("b")
        + "    ldr r0, [r4, #0x18]\n    strb r0, [r2, #2]\n"
        + "".join(SEND.format("c") for _ in range(30))
    )
    code += "    ldr r0, [r4, #0x18]\n    strb r0, [r2, #3]\n" + SEND.format("d") + SEND.format("e")
    code += "    ldr r0, [r4, #0x18]\n    strb r0, [r2, #4]\n" + flags
    count = (
        "    movs r1, #0\nidle:\n    adds r1, #1\n    ldr r0, [r4, #0x18]\n    lsrs r0, #4\n    bcs idle\n"
    )
    told = "".join(f"    ldrb r0, [r2, #{n}]\n    str r0, [r4]\n" for n in range(5))
    told += (
        "    strh r1, [r2]\n    ldrb r0, [r2]\n    str r0, [r4]\n    ldrb r0, [r2, #1]\n    str r0, [r4]\n"
    )
    ran = run(code + count + told + STOP, tmp_path, *FREE)
    *flags_seen, low, high = ran.output[34:]
    idle, waiting = 0x90, 0x10
    assert flags_seen == [idle, idle | 0x08, waiting | 0x08, waiting | 0x08, waiting | 0x28]
    # 34 bytes leave in 34 times ten bits; each look takes 1 + 2 + 1 + 1 + 1 cycles.
    assert abs((low | high << 8) * 6 - 34 * BYTE) < 300


def test_input_comes_at_the_lines_pace(tmp_path: Path) -> None:
    echo = (
        UART_ON + "    movs r3, #0\nagain:\n    adds r3, #1\n    ldr r0, [r4, #0x18]\n    lsls r0, #27\n"
        "    bmi again\n    ldr r0, [r4]\n    str r0, [r4]\n    b again\n"
    )
    ran = run(
        echo, tmp_path, "--free", "--max-seconds", "1", "--input", "--until", "z", given=b"a" * 99 + b"z"
    )
    ended(ran, 0, "until", "the text has come")
    assert ran.output == b"a" * 99 + b"z"
    assert 99 * BYTE < ran.end["cycle"] < 6500 * 2 + 101 * BYTE
    empty = UART_ON + "    ldr r0, [r4]\n    adds r0, #'a'\n" + TOLD + STOP
    assert run(empty, tmp_path, *FREE, "--input", given=b"xyz").output == b"a"
    assert run(echo, tmp_path, *FREE, given=b"xyz").output == b"", "only when it is asked for"
    off = echo.replace("ldr r0, =0x301", "ldr r0, =0x300")
    assert run(off, tmp_path, *FREE, "--input", given=b"xyz").output == b"", "its receiver is off"


NOTED = [
    (0x40038000, 0x4003BFFC, "UART1: not modelled; nothing is sent or received", True),
    (0x4003C000, 0x40043FFC, "SPI: not modelled; its registers only keep what is written", True),
    (0x40044000, 0x4004BFFC, "I2C: not modelled; its registers only keep what is written", True),
    (0x4004C000, 0x4004FFFC, "ADC: not modelled; its registers only keep what is written", True),
    (0x40050000, 0x40053FFC, "PWM: not modelled; its registers only keep what is written", True),
    (0x4005C000, 0x4005FFFC, "RTC: not modelled; its registers only keep what is written", True),
    (0x40054010, 0x4005401C, "the timer's alarms: not modelled; they never go off", False),
    (0xE000E100, 0xE000E100, "interrupts: not modelled; none is ever delivered", False),
    (0xD0000050, 0xD0000058, "the second core: not modelled; it never answers", True),
    (0xD0000080, 0xD00000FC, "the interpolators: not modelled", True),
]


@pytest.mark.parametrize(
    ("first", "last", "what", "by_reading"), NOTED, ids=[n[2].split(":")[0] for n in NOTED]
)
def test_what_is_not_modelled_is_said_once(
    tmp_path: Path, first: int, last: int, what: str, by_reading: bool
) -> None:
    def noted(code: str) -> list[str]:
        return [e["detail"] for e in run(code + STOP, tmp_path, *FREE).events if e["event"] == "note"]

    both = (
        f"    ldr r0, ={first}\n    str r5, [r0]\n    ldr r0, ={last}\n    str r5, [r0]\n    str r5, [r0]\n"
    )
    assert noted(both) == [what]
    assert noted(f"    ldr r0, ={last}\n    str r5, [r0]\n") == [what]
    assert noted(f"    ldr r0, ={last}\n    strb r5, [r0, #3]\n") == [what]
    read = f"    ldr r0, ={first}\n    ldr r1, [r0]\n"
    assert noted(read) == ([what] if by_reading else [])
    outside = f"    ldr r0, ={first - 4}\n    ldr r1, [r0]\n    ldr r0, ={last + 4}\n    ldr r1, [r0]\n"
    assert what not in noted(outside)
    if first >> 28 == 4:
        assert noted(f"    ldr r0, ={first & ~0x3000 | 0x2000 | first & 0xFFF}\n    str r5, [r0]\n") == [what]


def test_a_note_has_its_time(tmp_path: Path) -> None:
    ran = run("    ldr r0, =0x40044000\n    str r5, [r0]\n" + STOP, tmp_path, *FREE)
    assert ran.events[0] == {"event": "note", "detail": NOTED[2][2], "cycle": ran.events[0]["cycle"]}
    assert abs(ran.events[0]["cycle"] - PRELUDE_CYCLES - 4) <= 4


def test_a_pseudo_terminal_in_real_time(tmp_path: Path) -> None:
    echo = (
        UART_ON + "again:\n    ldr r0, [r4, #0x18]\n    lsls r0, #27\n    bmi again\n    ldr r0, [r4]\n"
        "    adds r0, #1\n    str r0, [r4]\n    b again\n"
    )
    (tmp_path / "f.elf").write_bytes(elf_of([Segment(VECTORS, assemble(echo, tmp_path))], ARM, ENTRY | 1))
    command = [driver("arm"), *options(), "--free", "--real", "--pty", "pty", tmp_path / "f.elf"]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    with ended_in_time(running):
        assert running.stderr is not None
        port = json.loads(running.stderr.readline())
        assert port["event"] == "port"
        terminal = os.open(port["detail"], os.O_RDWR | os.O_NOCTTY)
        started = time.monotonic()
        time.sleep(0.2)
        os.write(terminal, b"HAL")
        got = b""
        while len(got) < 3 and time.monotonic() < started + 20:
            got += os.read(terminal, 3)
        assert got == b"IBM"
        running.terminate()
        _, said = running.communicate(timeout=20)
        passed = time.monotonic() - started
        os.close(terminal)
    end = json.loads(said.decode().splitlines()[-1])
    assert (end["event"], end["detail"], running.returncode) == ("stopped", "stopped by a signal", 0)
    assert end["seconds"] < passed + 5, "it is not ahead of the wall clock"


# --- profiles --------------------------------------------------------------------------------------------


def profiled(
    code: str, folder: Path, *symbols: str, more: tuple[str | Path, ...] = ()
) -> tuple[Outcome, dict[str, dict[str, int]], dict[int, tuple[int, int]]]:
    """Run with functions from each of the labels named to the next one; costs by label and by address."""
    assemble(code, folder)
    listing = subprocess.run(
        ["arm-none-eabi-nm", "-n", folder / "f.built"], capture_output=True, text=True, check=True, timeout=20
    ).stdout
    at = {
        line.split()[2]: int(line.split()[0], 16) for line in listing.splitlines() if len(line.split()) == 3
    }
    ends = [*(at[name] for name in symbols[1:]), at["end"]]
    (folder / "functions").write_text(
        "".join(f"{at[n]:x} {e:x}\n" for n, e in zip(symbols, ends, strict=True))
    )
    ran = run(code, folder, *FREE, "--profile", folder / "p", "--functions", folder / "functions", *more)
    told = [json.loads(line) for line in (folder / "p").read_text().splitlines()]
    names = dict(enumerate(symbols, 1))
    functions = {
        names.get(cost["function"], f"{cost['start']:#x}"): cost for cost in told if "function" in cost
    }
    return ran, functions, {cost["pc"] - VECTORS: (cost["n"], cost["c"]) for cost in told if "pc" in cost}


#: The comments tell the distance from `main`, which begins a block of its own.
CALLS = """
    b main
main:
    bl work             @ 0x0
    movs r3, #3         @ 0x4
loop:
    bl deep             @ 0x6
    subs r3, #1         @ 0xa
    bne loop            @ 0xc
    ldr r0, =work + 1   @ 0xe
    blx r0              @ 0x10
    ldr r0, [r7]        @ 0x12
    b stop              @ 0x14
work:
    nop                 @ 0x16
    bx lr               @ 0x18
deep:
    push {r4, lr}       @ 0x1a
    bl work             @ 0x1c
    sub sp, #8          @ 0x20
    add sp, #8          @ 0x22
    pop {r4, pc}        @ 0x24
stop:
    cpsid i             @ 0x26
    b .                 @ 0x28
end:
    nop
"""


def test_each_function_and_instruction_is_counted(tmp_path: Path) -> None:
    ran, functions, counts = profiled(
        CALLS, tmp_path, "main", "work", "deep", "stop", more=("--bus", "5:7:1")
    )
    assert ran.end["event"] == "stop"
    main_at = ENTRY - VECTORS + PRELUDE_BYTES + 2
    assert (
        counts[main_at + 0x0] == (1, 3)
        and counts[main_at + 0x6] == (3, 9)
        and counts[main_at + 0xA] == (3, 3)
    )
    assert (
        counts[main_at + 0xC] == (3, 3 + 2)
        and counts[main_at + 0x10] == (1, 2)
        and counts[main_at + 0x12] == (1, 2 + 5)
    )
    assert (
        counts[main_at + 0x16] == (5, 5)
        and counts[main_at + 0x18] == (5, 10)
        and counts[main_at + 0x1A] == (3, 9)
        and counts[main_at + 0x24] == (3, 15)
    )
    assert counts[main_at + 0x22] == (3, 3) and counts[main_at + 0x26] == (1, 1)
    work, deep, main, stop = (functions[name] for name in ("work", "deep", "main", "stop"))
    assert (work["calls"], work["inclusive"], work["self"], work["stack"]) == (5, 15, 15, 0)
    assert work["inclusive_range"] == [3, 3, 3]
    each = 3 + 3 + 1 + 1 + 5
    assert (deep["calls"], deep["self"], deep["inclusive"], deep["stack"]) == (
        3,
        3 * each,
        3 * (each + 3),
        16,
    )
    assert (main["calls"], stop["calls"]) == (1, 1)
    assert sum(f["self"] for f in functions.values()) == ran.end["cycle"]
    assert sum(c for _, c in counts.values()) == ran.end["cycle"]


def test_a_frame_that_no_push_makes_is_stack(tmp_path: Path) -> None:
    code = """
    b main
main:
    bl f
    b stop
f:
    push {r4, lr}
    ldr r3, =-512
    add sp, r3
    b over
over:
    nop
    b back
back:
    ldr r3, =512
    add sp, r3
    pop {r4, pc}
stop:
    cpsid i
    b .
end:
    nop
"""
    ran, functions, _ = profiled(code, tmp_path, "main", "f", "stop")
    assert functions["f"]["stack"] == ran.end["stack"] == 512 + 8


def test_a_branch_that_is_taken_once(tmp_path: Path) -> None:
    code = "    b main\nmain:\n    cmp r5, #0\n    beq over\n    nop\nover:\n    cpsid i\n    b .\n"
    code += "end:\n    nop\n"
    ran, _, counts = profiled(code, tmp_path, "main", more=("--bus", "0:0:0"))
    main_at = ENTRY - VECTORS + PRELUDE_BYTES + 2
    assert counts[main_at] == (1, 1) and counts[main_at + 2] == (1, 2) and main_at + 4 not in counts
    assert sum(cycles for _, cycles in counts.values()) == ran.end["cycle"]


def test_functions_without_symbols_and_ways_out_of_them(tmp_path: Path) -> None:
    code = """
    b main
main:
    ldr r0, =first + 1
    bl call
    bl call
    b stop
call:
    bx r0
first:
    push {r4, lr}
    nop
    ldr r1, =second + 1
    mov pc, r1
second:
    movs r1, #2
back:
    subs r1, #1
    bne back
    pop {r4, pc}
stop:
    cpsid i
    b .
end:
    nop
"""
    ran, functions, _ = profiled(code, tmp_path, "main", "call", "first", "second", "stop")
    assert ran.end["event"] == "stop", ran.end
    second = 1 + 2 + 2 + 1 - 0 + 5
    assert [functions[n]["calls"] for n in ("call", "first", "second")] == [2, 2, 2]
    assert functions["second"]["self_range"] == [second] * 3
    assert functions["first"]["inclusive_range"] == [3 + 1 + 2 + 2 + second] * 3
    assert functions["call"]["inclusive_range"] == [2 + 3 + 1 + 2 + 2 + second] * 3
    assert functions["first"]["stack"] == 8
    ran, functions, _ = profiled(code, tmp_path, "main", "stop")
    assert functions["main"]["calls"] == 3, "calls of what lies in it"


@pytest.mark.parametrize("place", [0x1000, 0, 0xFFFA])
def test_a_profile_of_code_in_ram(tmp_path: Path, place: int) -> None:
    """Also of the first and the last code that a memory may hold."""
    plain = "    .syntax unified\n    .cpu cortex-m0plus\n    .thumb\n"
    code = assemble("    nop\n    nop\n    bx lr\n", tmp_path, RAM + place, prelude=plain)[:6]
    call = f"main:\n    ldr r0, ={RAM + place + 1}\n    blx r0\n    blx r0\n    cpsid i\n    b .\n"
    call += "end:\n    nop\n"
    (tmp_path / "functions").write_text("10000112 1000011c\n")
    more = ("--profile", tmp_path / "p", "--functions", tmp_path / "functions")
    ran = run(call, tmp_path, *FREE, *more, segments=(Segment(RAM + place, code),))
    told = [json.loads(line) for line in (tmp_path / "p").read_text().splitlines()]
    (found,) = [cost for cost in told if cost.get("start") == RAM + place]
    assert (found["calls"], found["inclusive"]) == (2, 8) and ran.end["event"] == "stop"
    at = RAM + place + 4
    assert [cost for cost in told if cost.get("pc") == at] == [{"pc": at, "n": 2, "c": 4}]
    assert FLASH < VECTORS
