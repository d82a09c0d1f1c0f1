"""Profiles of the ARM driver: each function, each instruction."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from arm_assembly import (
    ENTRY,
    FLASH,
    FREE,
    PRELUDE_BYTES,
    RAM,
    VECTORS,
    Outcome,
    assemble,
    run,
)

from motecrypt.simulate.emulate.images import Segment
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("pico")


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


#: The comments state the distance from `main`, which begins a block of its own.
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
