"""The ARM driver by itself, on a few instructions: what it counts and how it ends."""

from __future__ import annotations

import os
import resource
import subprocess
import threading
from pathlib import Path

import pytest
from arm_assembly import (
    BEGIN,
    ENTRY,
    FINISH,
    PRELUDE_BYTES,
    PRELUDE_CYCLES,
    PRELUDE_INSTRUCTIONS,
    RAM,
    SHORT,
    TOLD,
    VECTORS,
    WAIT,
    assemble,
    bytes_of,
    options,
    run,
)
from driver_runs import ended, outcome

from motecrypt.build.toolchain.drivers import driver
from motecrypt.simulate.emulate.images import ARM, Segment, elf_of
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("pico")
ONES = 2**64 - 1
THUMB = "    .syntax unified\n    .cpu cortex-m0plus\n    .thumb\n"


# --- counting --------------------------------------------------------------------------------------------


def test_the_end_tells_all_that_was_counted(tmp_path: Path) -> None:
    ran = run(WAIT, tmp_path)
    assert (ran.code, ran.output, ran.said) == (0, b"!~", [])
    # It reads the UART twice before the driver detects that it waits.
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
    twice = BEGIN + "    nop\n" + BEGIN + FINISH + "    ldr r3, =0x187\n    str r3, [r7]\n    nop\n" + FINISH
    ran = run(twice + BEGIN + FINISH + WAIT, tmp_path, *SHORT)
    assert ran.regions == [
        {"event": "region", "cycles": 2, "instructions": 1},
        {"event": "region", "cycles": 3, "instructions": 2, "label": 0x43},
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


def test_who_looks_for_input_between_other_accesses_does_not_wait_for_it(tmp_path: Path) -> None:
    """Only the same access again and again is a wait: this one's input has ended, and it continues."""
    for between in ("ldr r0, [r1]", "str r0, [r3]"):
        code = f"""
    ldr r1, =0x40014000
    ldr r3, =0x40034018
    movs r2, #3
again:
    {between}
    ldr r0, [r3]
    subs r2, #1
    bne again
    movs r0, #7
"""
        assert bytes_of(run(code + TOLD + WAIT, tmp_path)) == [7], between


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
    written = "    str r0, [r3, #8]\n    ldr r1, [r3, #8]\n    nop\n    ldr r2, [r3, #8]\n"
    told = "    subs r1, r1, r2\n    str r1, [r4]\n"  # a write before a read is another access
    assert bytes_of(run(clock + written + told + WAIT, tmp_path)) == [3]
    looped = (
        "    movs r3, #0\n    ldr r1, =0xE000E010\n    ldr r0, =0xFFFFFF\n    str r0, [r1, #4]\n"
        "    movs r0, #5\n    str r0, [r1]\n"
    )
    looped += (
        "    ldr r2, [r1, #8]\nagain:\n    ldr r0, [r1, #8]\n    subs r0, r2, r0\n"
        "    str r0, [r4]\n    adds r3, #1\n    cmp r3, #3\n    bne again\n"
    )
    assert bytes_of(run(looped + WAIT, tmp_path)) == [2, 2 + 9, 2 + 18]


def test_of_64_accesses_without_a_branch_each_has_its_moment(tmp_path: Path) -> None:
    """Later ones of the same kind have the 65th's."""
    clock = "    ldr r3, =0xE000E010\n    ldr r0, =0xFFFFFF\n    str r0, [r3, #4]\n    movs r0, #5\n"
    clock += "    str r0, [r3]\n    b go\n    .ltorg\ngo:\n" + "    ldr r0, [r3, #8]\n" * 63
    for register in (0, 1, 2, 3):
        clock += f"    ldr r{register}, [r3, #8]\n"
    told = "    subs r0, r1\n    subs r1, r2\n    subs r2, r3\n"
    told += "".join(f"    str r{register}, [r4]\n" for register in range(3))
    assert bytes_of(run(clock + told + WAIT, tmp_path)) == [2, 0, 0]


def test_an_address_that_changes_within_a_block_is_of_the_later_access(tmp_path: Path) -> None:
    """The first access of the block went elsewhere: its register was another one then."""
    for before, cycles in (
        ("str r5, [r3]", 2),
        ("ldr r0, [r3]\n    str r0, [r3]", 4),
        ("push {r5, r6}\n    str r5, [r3]", 5),
        ("ldr r3, =0x20000100\n    str r5, [r3]\n    eors r6, r6", 5),  # what r6 has then is not followed
    ):
        code = f"    ldr r3, =0x40058010\n{BEGIN}    b 1f\n1:  {before}\n    nop\n    nop\n    mov r3, r7\n"
        for end in (FINISH, "    str r5, [r3]\n"):
            (region,) = run(code + end + WAIT, tmp_path, *SHORT).regions
            assert region["cycles"] == 2 + 2 + cycles + 3, before + end


def moments(registers: str, x: int, y: int, kind: str = "ldr") -> str:
    """Sends how many cycles are between two readings of SysTick at this place; then another block begins."""
    return (
        f"    {kind} r{x}, [{registers}]\n    nop\n    {kind} r{y}, [{registers}]\n"
        f"    ldr r4, =0x40034000\n    subs r{x}, r{x}, r{y}\n    str r{x}, [r4]\n    b 9f\n    .ltorg\n9:\n"
    )


def test_whatever_registers_give_its_address_a_reading_has_its_moment(tmp_path: Path) -> None:
    clock = "    ldr r3, =0xE000E010\n    ldr r0, =0xFFFFFF\n    str r0, [r3, #4]\n"
    clock += "    movs r0, #5\n    str r0, [r3]\n"
    code = ""
    for register in range(8):
        x, y, other = [number for number in range(4) if number != register][:3]
        code += f"    ldr r{register}, =0xE000E010\n" + moments(f"r{register}, #8", x, y)
        code += f"    movs r{register}, #8\n    ldr r{other}, =0xE000E010\n"
        code += moments(f"r{other}, r{register}", x, y)
        code += f"    ldr r{other}, =0xE000E010\n    movs r{register}, #8\n"
        code += moments(f"r{register}, r{other}", x, y)
    code += (
        "    ldr r3, =0xE000E010\n    mov r8, sp\n    mov sp, r3\n"
        + moments("sp, #8", 0, 1)
        + "    mov sp, r8\n"
    )
    code += "    ldr r3, =0xE000E018\n" + moments("r3", 0, 1, "ldrh") + moments("r3", 0, 1, "ldrb")
    assert bytes_of(run(clock + code + WAIT, tmp_path)) == [3] * (3 * 8 + 3)


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
    assert (ran.end["stack_pointer"], ran.end["stack_limit"]) == (top - 8, top - 7)
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
        end = run(below.format(address), tmp_path, "--stack-limit", "0x20000000").end
        assert end["kind"] == kind and "stack_pointer" not in end, "how deep it is cannot be known"
    ran = run("    ldr r0, =0x1FFFEFFC\n    ldr r0, [r0]\n", tmp_path, "--stack-limit", "0x20000000")
    assert ran.end["kind"] == ""


def test_unaligned_accesses_are_faults_where_they_are_looked_for(tmp_path: Path) -> None:
    for code, address in (("ldr r0, [r2, r6]", 1), ("ldrh r0, [r2, r6]", 1), ("ldr r0, [r2, r3]", 2)):
        ran = run(f"    movs r3, #2\n    {code}\n" + WAIT, tmp_path, "--trace")
        at = ENTRY + PRELUDE_BYTES + 2
        ended(ran, 3, "fault", f"unaligned access to {RAM + 0x4000 + address:#x} at {at:#x}")
    for code in ("ldrb r0, [r2, r6]", "ldrh r0, [r2, r3]"):
        assert run(f"    movs r3, #2\n    {code}\n" + WAIT, tmp_path, "--trace").end["event"] == "end"


# --- the UART and the deadline ---------------------------------------------------------------------------

ECHO = (
    "    movs r0, #'!'\n    str r0, [r4]\n    movs r0, #0x7e\n    str r0, [r4]\nagain:\n"
    "    ldr r0, [r4, #0x18]\n    lsls r0, #27\n    bmi again\n    ldr r0, [r4]\n"
    "    str r0, [r4]\n    b again\n"
)


def test_requests_are_read_when_the_firmware_waits_for_them(tmp_path: Path) -> None:
    frames = b"".join(b"%04d~" % n for n in range(1300))  # more than the driver reads or writes in one call
    ran = run(ECHO, tmp_path, given=frames)
    ended(ran, 0, "end", "input closed")
    assert ran.output == b"!~" + frames


def test_the_rest_of_a_request_may_take_as_long_as_it_takes(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.write(writer, b"half")
    late = threading.Timer(1.2, lambda: (os.write(writer, b"~"), os.close(writer)))
    late.start()
    ran = run(ECHO, tmp_path, given=reader)
    late.join()
    os.close(reader)
    ended(ran, 0, "end", "input closed")
    assert ran.output == b"!~half~"
    assert run(ECHO, tmp_path, given=b"half").end["detail"] == "input closed"


SILENT = "again:\n    ldr r0, [r4, #0x18]\n    lsls r0, #27\n    bmi again\n    ldr r0, [r4]\n    b again\n"


@pytest.mark.parametrize("given", [b"~whole~", b"whole~", b"~one~~two~", b"x" * 9000 + b"~"])
def test_a_firmware_that_waits_for_more_than_a_whole_request_is_ended(tmp_path: Path, given: bytes) -> None:
    """Although nobody closes its input."""
    reader, writer = os.pipe()
    try:
        os.write(writer, given)
        ran = run(SILENT, tmp_path, given=reader)
        ended(ran, 3, "fault", "the firmware waits for the rest of a request")
    finally:
        os.close(reader)
        os.close(writer)


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
    ran = run("    b .\n", tmp_path, costs={"branch": 4_000_000_000})
    assert ran.end["detail"].startswith("no answer within 4000000000 cycles: ")
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


# --- memories and files ----------------------------------------------------------------------------------


def test_code_in_ram_runs_where_the_file_says_that_it_is_code(tmp_path: Path) -> None:
    code = assemble(
        "    movs r0, #'r'\n    str r0, [r4]\n    ldr r1, =0x10000201\n    bx r1\n",
        tmp_path,
        RAM + 0x1000,
        THUMB,
    )
    jump = "    ldr r0, =0x20001001\n    bx r0\n    .org 0x100\n" + WAIT
    ran = run(jump, tmp_path, segments=(Segment(RAM + 0x1000, code),))
    assert ran.output == b"r!~"
    (tmp_path / "even.elf").write_bytes(elf_of([Segment(VECTORS, assemble(WAIT, tmp_path))], ARM, ENTRY))
    assert outcome([driver("arm"), *options(), tmp_path / "even.elf"]).output == b"!~"
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
        "arm: the vectors are outside the memories\n",
    )
    assert said(*options(), "--vectors", "0x1000FFFC", elf) == (
        2,
        "arm: the vectors are outside the memories\n",
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
