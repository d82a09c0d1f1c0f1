"""Profiles of free runs by the AVR driver: what each instruction and each function took."""

from __future__ import annotations

import json
from pathlib import Path

from avr_snippets import STOP, avr_run, profile_options

from tool_sets import needs_tool_set

pytestmark = needs_tool_set("avr")


def costs(folder: Path) -> tuple[dict[int, dict[str, int]], dict[int, tuple[int, int]]]:
    """Functions by their number, and how often and how long the instruction at each address ran."""
    told = [json.loads(line) for line in (folder / "p").read_text().splitlines()]
    functions = {cost["function"]: cost for cost in told if "function" in cost}
    return functions, {cost["pc"]: (cost["n"], cost["c"]) for cost in told if "pc" in cost}


def test_each_instruction_is_counted_where_it_is(tmp_path: Path) -> None:
    code = """
    ldi r16, 3       ; 0
again:
    rcall work       ; 2
    dec r16          ; 4
    brne again       ; 6
    call far         ; 8
    ldi r30, 16      ; 12: work, in words
    ldi r31, 0       ; 14
    icall            ; 16
    rcall .+0        ; 18: makes room
    pop r0           ; 20
    pop r0           ; 22
    ldi r30, 19      ; 24
    ijmp             ; 26: far, which never returns
    nop              ; 28
    nop              ; 30
work:
    nop              ; 32
    ret              ; 34
    nop              ; 36
far:
    nop              ; 38
    push r0          ; 40
    pop r0           ; 42
    sbrc r16, 0      ; 44
    jmp 32           ; 46
    dec r16          ; 50
    cli              ; 52
    ret              ; 54
"""
    ran = avr_run(code, tmp_path, *profile_options(tmp_path, "0 20\n20 24\n26 38\n"), "--max-cycles", "150")
    functions, counts = costs(tmp_path)
    assert ran.end["event"] in ("limit", "stop", "fault")
    assert counts[0] == (1, 1) and counts[2] == (3, 9) and counts[4] == (3, 3) and counts[6] == (3, 5)
    assert counts[8] == (1, 4) and counts[16] == (1, 3) and counts[18] == (1, 3) and counts[26] == (1, 2)
    root, first, work, far = (functions[n] for n in range(4))
    assert (root["calls"], root["self"], root["inclusive"]) == (1, 37, 85)
    # The last `far` jumps to `work`, which finds no address to return to: 0xFFFF beyond the RAM, the end.
    assert (work["calls"], work["inclusive"], work["self_range"], work["stack"]) == (5, 25, [5, 5, 5], 2)
    assert (far["calls"], far["self"], far["inclusive"], far["stack"]) == (2, 14 + 9, 14 + 9 + 5, 3)
    assert counts[32] == (5, 5) and counts[34] == (5, 20) and counts[40] == (2, 4) and counts[44] == (2, 4)
    assert counts[46] == (1, 3) and counts[54] == (1, 4) and 28 not in counts and 36 not in counts
    assert sum(cycles for _, cycles in counts.values()) == ran.end["cycle"] == 85
    assert (first["calls"], first["self"]) == (1, 0), "where it ended"


def test_rounds_of_a_wait_for_the_eeprom_are_counted_as_if_each_had_been_made(tmp_path: Path) -> None:
    code = "    sbi 0x1f, 2\n    sbi 0x1f, 1\nwait:\n    sbic 0x1f, 1\n    rjmp wait\n" + STOP
    ran = avr_run(code, tmp_path, *profile_options(tmp_path, "0 8\n"))
    functions, counts = costs(tmp_path)
    rounds, cycles = counts[6]
    assert rounds > 10_000 and cycles == 2 * rounds
    assert counts[4] == (rounds + 1, rounds + 2)
    assert sum(cycles for _, cycles in counts.values()) == ran.end["cycle"]
    assert sum(cost["self"] for cost in functions.values()) == ran.end["cycle"]


def test_interrupts_in_a_profile(tmp_path: Path) -> None:
    """Timer 0 overflows every 256 cycles; its handler takes as many cycles as it always does."""
    code = """
    rjmp start
    .org 0x40
    rjmp handler
    .org 0x80
handler:
    nop
    nop
    reti
start:
    ldi r16, 1
    sts 0x6E, r16
    out 0x25, r16
    sei
wait:
    rcall work
    rjmp wait
work:
    nop
    nop
    ret
"""
    end = 0x80 + 6
    functions = f"80 86\n{end:x} {end + 14:x}\n{end + 14:x} {end + 20:x}\n"
    ran = avr_run(code, tmp_path, *profile_options(tmp_path, functions), "--max-cycles", "26000")
    found, counts = costs(tmp_path)
    interrupts = ran.end["interrupts"]
    assert 99 <= interrupts <= 101
    assert found[1]["calls"] == interrupts
    low, middle, high = found[1]["inclusive_range"]  # type: ignore[misc]
    assert (low, middle, high) == (4 + 2 + 2 + 4,) * 3
    assert counts[0x80] == (interrupts, interrupts) and counts[0x40] == (interrupts, 2 * interrupts)
    assert found[3]["inclusive_range"] == [6, 6, 6]
    assert found[3]["stack"] == 2 and found[1]["stack"] == 2
    assert sum(cost["self"] for cost in found.values()) == ran.end["cycle"]
    unprofiled = avr_run(code, tmp_path, "--max-cycles", "26000")
    assert unprofiled.end == ran.end


def test_a_call_that_makes_room_is_stack_and_no_call(tmp_path: Path) -> None:
    code = "    rcall f\n" + STOP + "f:\n    rcall .+0\n    pop r0\n    pop r0\n    ret\n"
    avr_run(code, tmp_path, *profile_options(tmp_path, "6 10\n"))
    functions, _ = costs(tmp_path)
    assert (functions[1]["calls"], functions[1]["stack"]) == (1, 4)
    assert set(functions) == {0, 1}


def test_code_without_symbols_that_jumps_is_one_piece(tmp_path: Path) -> None:
    code = (
        "    rjmp a\n    nop\na:\n    ldi r30, lo8(gs(b))\n    ldi r31, hi8(gs(b))\n    ijmp\n    nop\nb:\n"
        + STOP
    )
    avr_run(code, tmp_path, *profile_options(tmp_path, ""))
    functions, _ = costs(tmp_path)
    assert set(functions) == {0} and functions[0]["calls"] == 1


def test_a_profile_of_the_end_of_the_flash(tmp_path: Path) -> None:
    code = "    rcall f\n    rjmp .+2\nf:\n    ret\n" + STOP
    base = 32768 - 10
    options = profile_options(tmp_path, f"{base + 4:x} {base + 6:x}\n{base + 6:x} {base + 10:x}\n")
    ran = avr_run(code, tmp_path, "--base", str(base), "--start", str(base), *options)
    assert ran.end["event"] == "stop" and ran.end["pc"] == 32766
    functions, counts = costs(tmp_path)
    assert (functions[1]["calls"], functions[1]["inclusive"]) == (1, 4)
    assert (functions[2]["calls"], functions[2]["self"]) == (1, 3)
    assert counts[32766] == (1, 2)
