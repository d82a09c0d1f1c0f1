"""Loops that only wait are skipped, with the same results as stepping each round.

A bare run steps every instruction: the others are compared with it.
"""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest
from avr_snippets import STOP, UART, Outcome, avr_run, profile_options

from motecrypt.build.toolchain import libraries
from motecrypt.build.toolchain.drivers import DRIVERS
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("avr")

#: So many cycles are stepped in more processor time than a driver has in these tests.
LONG = 6_000_000_000

#: Timer 1 interrupts every 2,500 * 64 cycles and counts in r20 and at 0x0200; the line at 9600 baud.
TIMED = f"""
    rjmp start
    .org 4 * 11
    rjmp tick
    .org 0x68
tick:
    push r16
    in r16, 0x3f
    push r16
    inc r20
    sts 0x0200, r20
    pop r16
    out 0x3f, r16
    pop r16
    reti
start:
{UART}
    ldi r24, 0
    sts UCSR0A, r24
    ldi r24, 103
    sts 0xC4, r24
    ldi r24, 0x0B
    sts 0x81, r24
    ldi r24, 0x09
    sts 0x89, r24
    ldi r24, 0xC3
    sts 0x88, r24
    ldi r24, 2
    sts 0x6F, r24
    ldi r20, 0
    clr r1
    sts 0x0200, r20
    ldi r26, 0x00
    ldi r27, 0x02
    ldi r28, 0xF0
    ldi r29, 0x01
    ldi r30, 0xE0
    ldi r31, 0x01
    sei
"""

LOOKED = "cp r22, r21; breq 1b"
#: What a loop may look at until the next tick, r21 being the count at its beginning.
WAITS = {
    "a byte by its address": f"1: lds r22, 0x0200; {LOOKED}",
    "X": f"1: ld r22, X; {LOOKED}",
    "Y": f"1: ldd r22, Y+16; {LOOKED}",
    "Z": f"1: ldd r22, Z+32; {LOOKED}",
    "Z, one byte on": f"ldi r30, 0xFF; ldi r31, 1; 1: ldd r22, Z+1; {LOOKED}",
    "Y, eight bytes on": f"ldi r28, 0xF8; 1: ldd r22, Y+8; {LOOKED}; ldi r28, 0xF0",
    "a register": "1: cpse r20, r21; rjmp 2f; rjmp 1b; 2:",
    "a register, round about": "1: mov r22, r20; movw r18, r22; eor r18, r21; brne 2f; rjmp 1b; 2:",
    "one operand": "1: lds r22, 0x0200; com r22; neg r22; swap r22; swap r22; neg r22; com r22; "
    "sub r22, r21; breq 1b",
    "up and down": f"1: lds r22, 0x0200; inc r22; dec r22; mov r23, r22; asr r23; lsr r23; ror r23; {LOOKED}",
    "words": "1: mov r24, r20; ldi r25, 0; sbiw r24, 1; adiw r24, 1; cp r24, r21; breq 1b",
    "numbers": f"1: lds r22, 0x0200; andi r22, 255; ori r22, 0; subi r22, 5; subi r22, 251; {LOOKED}",
    "carry": "1: mov r22, r20; ldi r23, 0; subi r22, 0; sbci r23, 0; cp r22, r21; cpc r23, r23; nop; breq 1b",
    "flags": "1: bst r20, 0; bld r22, 0; bst r21, 0; bld r23, 0; eor r22, r23; sbrs r22, 0; rjmp 1b",
    "flags, the other way": "1: mov r22, r20; eor r22, r21; sbrc r22, 0; rjmp 2f; rjmp 1b; 2:",
    "the stack pointer": f"1: in r22, 0x3d; lds r22, 0x0200; {LOOKED}",
    "two loops": f"1: lds r22, 0x0200; cp r22, r21; brne 2f; {LOOKED}; 2:",
    "a flag of the timer": "1: sbis 0x16, 2; rjmp 2f; 2: sbic 0x16, 2; rjmp 3f; 3: cp r20, r21; breq 1b",
    "the line's status": f"1: lds r22, 0xC0; lds r22, 0x0200; {LOOKED}",
    "the last of 32": f"1: {'nop; ' * 29} lds r22, 0x0200; {LOOKED}",
}
#: These do more than look, or look at what changes by itself: their rounds are worked out side by side.
ROUNDS = {
    "a timer's count": f"1: lds r23, 0x84; lds r22, 0x0200; {LOOKED}",
    "a timer's count by X": "ldi r26, 0x84; ldi r27, 0; 1: ld r23, X; cp r20, r21; breq 1b; "
    "ldi r26, 0; ldi r27, 2",
    "a timer's count by Y": "ldi r28, 0x80; ldi r29, 0; 1: ldd r23, Y+4; cp r20, r21; breq 1b; "
    "ldi r28, 0xF0; ldi r29, 1",
    "a timer's count by Z": "ldi r30, 0x64; ldi r31, 0; 1: ldd r23, Z+32; cp r20, r21; breq 1b; "
    "ldi r30, 0xE0; ldi r31, 1",
    "both bytes of a count": f"1: lds r23, 0x84; lds r24, 0x85; lds r22, 0x0200; {LOOKED}; mov r18, r24",
    "a count that stands still": f"1: in r22, 0x26; lds r22, 0x0200; {LOOKED}",
    "and stores": f"1: sts 0x0201, r20; lds r22, 0x0200; {LOOKED}",
    "and stores by a pointer": f"1: st -Y, r20; ldd r22, Y+17; adiw r28, 1; {LOOKED}",
    "and stores a count": f"1: lds r23, 0x84; sts 0x0204, r23; lds r22, 0x0200; {LOOKED}; lds r24, 0x0204",
    "and pushes": f"1: push r20; pop r22; {LOOKED}",
    "and steps on": f"1: ldi r26, 0; ld r22, X+; {LOOKED}; ldi r26, 0",
    "with interrupts off": f"1: cli; lds r22, 0x0200; sei; {LOOKED}",
    "with interrupts as they were": f"1: in r19, 0x3F; cli; lds r22, 0x0200; out 0x3F, r19; {LOOKED}",
    "with a call": f"1: rcall 3f; {LOOKED}; rjmp 2f; 3: lds r22, 0x0200; ret; 2:",
    "with calls in calls": f"1: rcall 3f; {LOOKED}; rjmp 2f; 3: push r16; ldi r16, 5; rcall 4f; pop r16; "
    "ret; 4: lds r22, 0x0200; add r22, r16; sub r22, r16; ret; 2:",
    "one too many to look": f"1: {'nop; ' * 30} lds r22, 0x0200; {LOOKED}",
    "until a count is reached": "1: lds r23, 0x84; lds r24, 0x85; cpi r23, 0x10; cpc r24, r1; brlo 1b; "
    f"3: lds r22, 0x0200; {LOOKED.replace('1b', '3b')}",
    "what is left of a time": "sts 0x0206, r1; 1: lds r23, 0x84; lds r24, 0x85; lds r18, 0x0206; "
    f"sub r23, r18; sbc r24, r1; lsl r23; rol r24; com r24; neg r23; lds r22, 0x0200; {LOOKED}",
}
#: Each operation on a count, which differs from round to round; the last result is sent.
for operation in (
    "add",
    "adc",
    "sub",
    "sbc",
    "and",
    "or",
    "eor",
    "com",
    "neg",
    "inc",
    "dec",
    "asr",
    "lsr",
    "ror",
    "swap",
):
    operands = "r23, r24" if operation in ("add", "adc", "sub", "sbc", "and", "or", "eor") else "r23"
    loop = f"1: lds r23, 0x84; lds r24, 0x85; {operation} {operands}; lds r22, 0x0200; {LOOKED}"
    ROUNDS[f"{operation} of a count"] = f"{loop}; mov r24, r23; rcall send"
#: None of these only waits.
ACTS = {
    "a pin": f"1: in r22, 0x03; lds r22, 0x0200; {LOOKED}",
    "one pin": f"1: sbic 0x03, 0; nop; lds r22, 0x0200; {LOOKED}",
    "one pin, set": f"1: sbis 0x09, 0; nop; lds r22, 0x0200; {LOOKED}",
    "and counts": f"1: inc r19; lds r22, 0x0200; {LOOKED}; mov r24, r19; rcall send",
    "and adds up a count": f"1: lds r23, 0x84; add r19, r23; lds r22, 0x0200; {LOOKED}; "
    "mov r24, r19; rcall send",
    "and turns a flag": "1: brtc 2f; clt; rjmp 3f; 2: set; 3: cp r20, r21; breq 1b",
    "and sets a pin": f"1: sbi 0x05, 5; lds r22, 0x0200; {LOOKED}",
    "and puts out": f"1: out 0x05, r20; lds r22, 0x0200; {LOOKED}",
    "and counts in memory": f"1: lds r22, 0x0202; inc r22; sts 0x0202, r22; lds r22, 0x0200; {LOOKED}; "
    "lds r24, 0x0202; rcall send",
    "by what the round before read": f"1: mov r19, r23; lds r23, 0x84; cp r19, r23; brsh 2f; nop; "
    f"2: lds r22, 0x0200; {LOOKED}",
}


def lines(text: str) -> str:
    """Assembly, an instruction or a label a line."""
    return "".join(f"{part.strip()}\n" for part in text.split(";"))


#: Six more ticks, in a loop that counts.
STEPPED = "end:\n    inc r19\n    rjmp end\n"


def same(code: str, folder: Path, cycles: int = 3_000_000) -> Outcome:
    """The outcome, the same whether rounds were skipped or not; its profile too, byte by byte."""
    most = ("--max-cycles", str(cycles))
    quick, stepped = avr_run(code, folder, *most), avr_run(code, folder, "--bare", *most)
    most += profile_options(folder, "0 68\n68 80\n80 400\n")
    profiles = []
    for bare in ((), ("--bare",)):
        counted = avr_run(code, folder, *bare, *most)
        assert (counted.output, counted.end["cycle"]) == (quick.output, quick.end["cycle"])
        profiles.append((folder / "p").read_bytes())
    assert profiles[0] == profiles[1] and profiles[0].count(b"\n") > 10
    kept = ("event", "cycle", "pc", "interrupts", "resets")
    assert (quick.output, quick.code) == (stepped.output, stepped.code)
    assert [quick.end[name] for name in kept] == [stepped.end[name] for name in kept]
    return quick


@pytest.mark.parametrize(
    ("what", "waits"), [*((w, True) for w in (*WAITS, *ROUNDS)), *((w, False) for w in ACTS)]
)
def test_a_loop_looks_until_the_next_tick(what: str, waits: bool, tmp_path: Path) -> None:
    """Twelve times; the timer's count after each is its delay."""
    loop = {**WAITS, **ROUNDS, **ACTS}[what]
    told = "lds r24, 0x84; rcall send; mov r24, r20; rcall send; dec r17; breq .+2; rjmp again"
    code = TIMED + lines(f"ldi r17, 12; clt; again: mov r21, r20; {loop}; {told}")
    ran = same(code + STEPPED, tmp_path)
    assert len(ran.output) >= 24 and ran.end["interrupts"] == 18
    # A tick comes every 160,000 cycles, and `send` waits for the line now and then.
    assert (ran.end["waited"] > 1_500_000) == waits, ran.end["waited"]


def test_it_is_not_stepped(tmp_path: Path) -> None:
    """Six minutes of the chip's time, in less than would be needed to step them."""
    end = "end:\n    rjmp end\n"
    look = "end:\n    lds r22, 0x0201\n    tst r22\n    breq end\n"
    for code in (TIMED + end, TIMED + look, "    sei\n" + end, UART + "    rcall take\n" + STOP):
        ran = avr_run(code, tmp_path, "--max-cycles", str(LONG))
        assert (ran.code, ran.end["event"], ran.end["cycle"] - LONG < 8) == (0, "limit", True)
    ticks = avr_run(TIMED + end, tmp_path, "--max-cycles", str(LONG)).end["interrupts"]
    assert ticks == LONG // 160_000 - 1  # the first one comes late: the line is set up before


def test_the_line_is_waited_for(tmp_path: Path) -> None:
    """At 9600 baud each byte takes 10 bits of 1,667 cycles, in which the loop goes round."""
    code = TIMED + "    ldi r17, 30\n1:  mov r24, r17\n    rcall send\n    dec r17\n    brne 1b\n"
    code += "    lds r24, 0x84\n    rcall send\nend:\n    rjmp end\n"
    ran = same(code, tmp_path, 1_000_000)
    assert len(ran.output) == 31
    echo = TIMED + "1:  rcall take\n    rcall send\n    rjmp 1b\n"
    ran = avr_run(
        echo, tmp_path, "--max-cycles", "4000000", "--input", "--until", "waited", given=b"it has waited"
    )
    assert (ran.output, ran.end["event"]) == (b"it has waited", "until")


@pytest.mark.parametrize("seed", range(12))
def test_made_up_loops_come_out_as_they_are_stepped(seed: int, tmp_path: Path) -> None:
    """Any few instructions, in loops in loops: most change something, some only wait."""
    draw = random.Random(seed)
    instructions = (
        "lds r22, 0x0200",
        "ld r22, X",
        "ldd r23, Y+16",
        "ldd r18, Z+32",
        "in r22, 0x16",
        "lds r23, 0x84",
        "lds r22, 0xC0",
        "sbis 0x16, 0",
        "sbic 0x16, 1",
        "cp r20, r21",
        "eor r22, r22",
        "mov r23, r20",
        "movw r18, r22",
        "andi r22, 3",
        "subi r19, 255",
        "sbci r19, 0",
        "swap r23",
        "lsr r23",
        "adiw r24, 0",
        "nop",
        "sbrc r20, 1",
        "cpse r20, r21",
        "sts 0x0210, r22",
    )
    code = TIMED
    for loop in range(25):
        body = "; ".join(draw.choice(instructions) for _ in range(draw.randrange(1, 7)))
        # It ends with the tick, by a register that nothing else here changes.
        ends = f"cpse r20, r21; rjmp done{loop}; rjmp loop{loop}; done{loop}:"
        told = "; ".join(f"mov r24, r{n}; rcall send" for n in (18, 19, 22, 23))
        code += lines(f"mov r21, r20; loop{loop}: {body}; {ends} {told}; lds r24, 0x84; rcall send")
    ran = same(code + "end:\n    rjmp end\n", tmp_path, 9_000_000)
    assert len(ran.output) == 125


#: What a round may do besides: with registers, flags, the stack, memory, functions and both timers.
DOES = (
    *("add", "adc", "sub", "sbc", "and", "or", "eor", "mov", "cp", "cpc"),
    *("com", "neg", "inc", "dec", "asr", "lsr", "ror", "swap"),
    *("cpi", "sbci", "subi", "ori", "andi", "ldi"),
    *(
        "adiw",
        "sbiw",
        "movw",
        "count",
        "count",
        "count",
        "saved",
        "status",
        "store",
        "load",
        "call",
        "skip",
        "table",
    ),
)


def made_up_round(draw: random.Random, label: str) -> list[str]:
    """A few instructions that leave r17, r20, r21 and the pointers alone."""
    body = []
    for at in range(draw.randrange(2, 12)):
        what, d, r = draw.choice(DOES), draw.choice((16, 18, 19, 22, 23, 24, 25)), draw.randrange(16, 26)
        number = draw.randrange(256)
        match what:
            case "com" | "neg" | "inc" | "dec" | "asr" | "lsr" | "ror" | "swap":
                body.append(f"{what} r{d}")
            case "cpi" | "sbci" | "subi" | "ori" | "andi" | "ldi":
                body.append(f"{what} r{d}, {number}")
            case "adiw" | "sbiw":
                body.append(f"{what} r24, {number % 64}")
            case "movw":
                body.append(f"movw r{draw.choice((18, 22, 24))}, r{draw.choice((16, 18, 20, 22, 24))}")
            case "count":
                body.append(
                    f"{draw.choice(('lds', 'lds', 'lds'))} r{d}, {draw.choice(('0x46', '0xB2', '0x84'))}"
                )
            case "saved":
                body += [f"push r{r}", f"ldi r{d}, {number}", f"pop r{d}"]
            case "status":
                body += [f"in r{d}, 0x3F", "cli", f"out 0x3F, r{d}"]
            case "store":
                body.append(draw.choice((f"sts 0x0210, r{r}", f"std Y+{32 + number % 8}, r{r}")))
            case "load":
                body.append(draw.choice((f"lds r{d}, 0x0210", f"ldd r{d}, Y+{32 + number % 8}")))
            case "call":
                body.append(f"rcall {draw.choice(('left', 'right'))}")
            case "skip":
                skip = draw.choice(
                    (f"sbrc r{r}, {number % 8}", f"sbrs r{r}, {number % 8}", f"cpse r{d}, r{r}")
                )
                branch = draw.choice(("brcc", "brcs", "breq", "brne", "brmi", "brvs", "brlt", "brhs"))
                body += draw.choice(([skip, f"inc r{d}"], [f"{branch} {label}{at}", "nop", f"{label}{at}:"]))
            case "table":
                body += [
                    "movw r26, r30",
                    f"ldi r30, {number}",
                    "ldi r31, 0",
                    f"lpm r{d}, Z+",
                    "movw r30, r26",
                ]
                body += ["ldi r26, 0", "ldi r27, 2"]
            case _:
                body.append(f"{what} r{d}, r{r}")
    return body


@pytest.mark.parametrize("seed", range(16))
def test_made_up_rounds_come_out_as_they_are_stepped(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed)
    functions = "left:\n    push r18\n    lds r18, 0x46\n    add r22, r18\n    pop r18\n    ret\n"
    functions += "right:\n    rcall left\n    mov r23, r22\n    lsr r23\n    ret\n"
    code = TIMED.replace("start:\n", f"{functions}start:\n", 1)
    code += lines(
        f"ldi r24, {draw.choice((1, 3, 5))}; sts 0xB0, r24; ldi r24, {draw.randrange(1, 6)}; sts 0xB1, r24"
    )
    code += lines(f"ldi r24, {draw.randrange(1, 6)}; out 0x25, r24")
    for loop in range(12):
        body = "; ".join(made_up_round(draw, f"l{loop}at"))
        ends = f"cpse r20, r21; rjmp done{loop}; rjmp loop{loop}; done{loop}:"
        told = "; ".join(f"mov r24, r{n}; rcall send" for n in (16, 18, 19, 22, 23, 24))
        flags = "in r25, 0x3F; push r25; "
        tells = (
            f"{flags} push r24; {told}; pop r24; rcall send; pop r24; rcall send; lds r24, 0x84; rcall send"
        )
        code += lines(f"mov r21, r20; loop{loop}: {body}; {ends} {tells}")
    ran = same(code + "end:\n    rjmp end\n", tmp_path, 4_500_000)
    assert len(ran.output) == 12 * 9


def test_what_is_worked_out_is_what_is_stepped(tmp_path: Path) -> None:
    """Every operation on bytes and words that the rounds know, with all operands, against libsimavr's own.

    Then with operands that differ from round to round, or are not known.
    """
    harness = tmp_path / "harness"
    source = Path(__file__).with_name("rounds_harness.c")
    command = ["gcc", "-O2", f"-I{DRIVERS}", source, *libraries.flags("simavr", "gcc"), "-o", harness]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    assert subprocess.run([harness], capture_output=True, text=True, timeout=120).stdout == "compared\n"
