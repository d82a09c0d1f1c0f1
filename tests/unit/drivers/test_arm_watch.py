"""What the ARM driver records of a few instructions besides their cycles: the flash cache, and faults."""

from __future__ import annotations

from pathlib import Path

import pytest
from arm_assembly import (
    AT,
    BEGIN,
    CACHE,
    FINISH,
    SHORT,
    WAIT,
    assemble,
    bytes_of,
    run,
)
from driver_runs import ended

from motecrypt.simulate.emulate.images import Segment
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("pico")
ONES = 2**64 - 1
THUMB = "    .syntax unified\n    .cpu cortex-m0plus\n    .thumb\n"


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
    # The store of the first mark is at 0x10000112: ten lines more, and its own, which it has brought in.
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


def test_the_cache_serves_16_mib_from_the_flashs_base_on(tmp_path: Path) -> None:
    """The last byte of these, and code behind them, which is RAM here."""
    behind = assemble("    bx r0\n    .word 7\n", tmp_path, 0x11000000, THUMB)
    code = (
        "    ldr r3, =0x{0}\n    ldr r1, =0x11000001\n    adr r0, on\n    adds r0, #1\n    .balign 8\n"
        + BEGIN
        + "    {1}\n    b on\n    .balign 8\non:\n"
        + FINISH
    )
    memories = ("--ram", "0x10FF0000:0x10000", "--ram", "0x11000000:4096")
    found = []
    for address, access in (
        ("10FFFFFF", "nop"),
        ("10FFFFFF", "ldrb r0, [r3]"),
        ("11000000", "ldrb r0, [r3]"),
        ("11000000", "bx r1"),
    ):
        text = code.format(address, access) + WAIT
        ran = run(text, tmp_path, *SHORT, *memories, *CACHE, segments=(Segment(0x11000000, behind),))
        found.append(ran.regions[0]["cache_misses"])
    assert found == [found[0], found[0] + 1, found[0], found[0]]


def test_an_instruction_of_two_halves_may_lie_in_two_lines(tmp_path: Path) -> None:
    # The call leads away, so that nothing but its own second half is fetched from the line behind.
    found = []
    for pad in range(4):
        code = "    b go\n    .balign 64\ngo:\n" + BEGIN + "    nop\n" * pad + "    bl on\n"
        ran = run(code + "    .balign 64\non:\n" + FINISH + WAIT, tmp_path, *SHORT, *CACHE)
        found.append(ran.regions[0]["cache_misses"])
    assert found == [1, 1, 2, 2]  # the line that it leads to; across two lines, and in the next, one more


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


# --- faults ----------------------------------------------------------------------------------------------


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
    for erased in ("mvns r0, r5", "mov r0, r6"):  # a pointer to a function is read from where none is
        ran = run(f"    {erased}\n    bx r0\n", tmp_path)
        to = "fffffffe" if erased[:4] == "mvns" else "0"
        assert ran.end["detail"].startswith(f"the firmware jumped to 0x{to}, where nothing is, at 0x{to}")
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
