"""The Cortex-M4's cycle model on snippets and functions counted by hand: ARM DDI 0439, table 3-1 and 3.3.2.

Before a snippet r0 is 0, r1 2, r2 an address in RAM, r3 4, and Z is set; it must leave r5 to r7 alone. The
first of its instructions is in the second half of a word.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from arm_snippets import SCRATCH, assembled, changed, notes_of, run, run_freely, stm32f4

from motecrypt.simulate.runners import Fault, Options
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("pico")

AROUND = 1 + 1 + 1  # the store that opens the region, and a NOP before and after the snippet

SNIPPETS = [
    pytest.param("", 0, id="nothing"),
    # One cycle each: table 3-1.
    pytest.param("adds r0, #1; add.w r8, r1, r3; mov r9, r0; cmp r0, r1", 4, id="add, mov, cmp"),
    pytest.param("movw r0, #257; movt r0, #1; mvns r1, r0; orr.w r0, r1, r3, ror #3", 4, id="logic"),
    pytest.param("ubfx r0, r1, #0, #3; bfi r0, r3, #4, #4; ssat r1, #5, r3; clz r4, r3", 4, id="fields"),
    pytest.param("uadd8 r0, r1, r3; sel r0, r1, r3; pkhbt r0, r1, r3; uxtab r0, r1, r3", 4, id="dsp"),
    pytest.param(
        "mul r0, r1, r3; mla r0, r1, r3, r4; mls r0, r1, r3, r4; smlabb r0, r1, r3, r4", 4, id="mul"
    ),
    pytest.param("umull r0, r4, r1, r3; smlal r0, r4, r1, r3; umaal r0, r4, r1, r3", 3, id="long mul"),
    pytest.param("nop; nop.w; dmb; cpsie i", 4, id="nop, dmb, cps"),
    # Loads: 2, neighbours overlap: 1 + N; the address of the second comes from the first: no overlap.
    pytest.param("ldr r0, [r2]", 2, id="load"),
    pytest.param("ldr r0, [r2]; ldrb r1, [r2, #4]; ldrh.w r4, [r2, #8]", 1 + 3, id="three loads"),
    pytest.param("ldr r0, [r2]; nop; ldr r1, [r2]", 2 + 1 + 2, id="loads apart"),
    pytest.param("str r2, [r2]; nop; ldr r0, [r2]; ldr r1, [r0]", 1 + 1 + 2 + 2, id="a chain of loads"),
    pytest.param("ldr r0, [r2], #4; ldr r1, [r2], #4", 2 + 2, id="the same new base"),
    pytest.param("ldr r0, [r2, r3]; ldr r1, [r2, r3, lsl #2]", 2 + 1, id="base and register"),
    pytest.param("ldrd r0, r1, [r2]", 1 + 2, id="ldrd"),
    pytest.param("ldr r4, [r2]; ldrd r0, r1, [r2]; ldr r4, [r2]", 2 + 3 + 2, id="ldrd overlaps with nothing"),
    # Stores: 1, with a register 2; after a load they hide its second cycle; a load after one waits for it.
    pytest.param("str r0, [r2]", 1, id="store"),
    pytest.param("str r0, [r2]; strb r1, [r2, #5]; strh.w r3, [r2, #6]", 3, id="three stores"),
    pytest.param("str r0, [r2, r3]", 2, id="store, base and register"),
    pytest.param("ldr r0, [r2]; str r0, [r2, #4]", 2, id="a store hides a load's second cycle"),
    pytest.param("str r0, [r2]; ldr r1, [r2]", 1 + 1 + 2, id="a load waits for a store"),
    pytest.param("strd r0, r1, [r2]", 1 + 2, id="strd"),
    # An address that the instruction before has computed: one more.
    pytest.param("add.w r4, r2, #8; ldr r0, [r4]", 1 + 1 + 2, id="address just computed"),
    pytest.param("add.w r4, r2, #8; nop; ldr r0, [r4]", 1 + 1 + 2, id="address computed before"),
    pytest.param("add.w r4, r2, #8; str r4, [r2]", 1 + 1, id="value just computed"),
    pytest.param("adds r3, #4; str r0, [r2, r3]", 1 + 1 + 2, id="index just computed"),
    # Several registers: 1 + N.
    pytest.param("ldm r2, {r0, r1, r3}; stm r2, {r0, r1, r3, r4}", (1 + 3) + (1 + 4), id="ldm, stm"),
    pytest.param("push {r0, r1}; pop {r0, r1}", 3 + 3, id="push, pop"),
    pytest.param("push.w {r4, r8-r11}; pop.w {r4, r8-r11}", 6 + 6, id="push.w, pop.w"),
    # Branches: 1 + P. P is 1 with the target in the instruction, 2 in a register, 3 in memory; 1 more where
    # the target is a 32-bit instruction in two words. The snippet begins in the second half of a word.
    pytest.param("b 1f; nop; 1: nop", 2 + 1, id="b"),
    pytest.param("b 1f; 1: nop.w", 2 + 1, id="b to the next word"),
    pytest.param("b 1f; nop; 1: nop.w", 2 + 1 + 1, id="b to a split instruction"),
    pytest.param("beq 1f; nop; 1: nop", 2 + 1, id="beq taken"),
    pytest.param("bne 1f; nop; 1: nop", 1 + 1 + 1, id="bne not taken"),
    pytest.param("bne.w 1f; nop; 1: nop", 1 + 1 + 1, id="bne.w not taken"),
    pytest.param("cbz r0, 1f; nop; 1: nop", 2 + 1, id="cbz taken"),
    pytest.param("cbnz r0, 1f; nop; 1: nop", 1 + 1 + 1, id="cbnz not taken"),
    pytest.param("bl 1f; b 2f; 1: bx lr; nop; 2: nop", 2 + 3 + 2 + 1, id="bl, bx lr"),
    pytest.param(
        "bl 1f; b 2f; 1: push {r4, lr}; pop {r4, pc}; 2: nop", 2 + 3 + (1 + 2 + 3) + 2 + 1, id="pop pc"
    ),
    pytest.param("bl 1f; b 2f; 1: push.w {r8, lr}; pop.w {r8, pc}; 2: nop", 2 + 3 + 6 + 2 + 1, id="pop.w pc"),
    pytest.param("adr r4, 1f + 1; nop; bx r4; .balign 4; 1: nop", 1 + 1 + 3 + 1, id="bx"),
    pytest.param("tbb [pc, r0]; .byte 1, 1; nop", 2 + 3 + 1, id="tbb"),
    pytest.param(
        "movs r0, #0; tbb [pc, r0]; .byte 1, 1; nop", 1 + (2 + 3) + 1, id="tbb, index just computed"
    ),
    pytest.param(
        "tbb [pc, r0]; .byte 2, 2; nop; nop.w", 2 + 3 + 1, id="tbb to a split instruction: P is 3 at most"
    ),
    pytest.param("movs r0, #10; 1: subs r0, #1; bne 1b", 1 + 10 * 1 + 9 * 2 + 1, id="loop of 10"),
    # IT: nothing after a 16-bit instruction, else 1; an instruction whose condition fails takes 1.
    pytest.param("nop; it eq; addeq r0, #1", 1 + 0 + 1, id="it folded"),
    pytest.param("nop.w; it eq; addeq r0, #1", 1 + 1 + 1, id="it after a 32-bit instruction"),
    pytest.param("nop; ite ne; ldrne r0, [r2]; ldreq r0, [r2]", 1 + 0 + 1 + 2, id="one of two loads runs"),
    pytest.param("nop; itt ne; pushne {r0, r1}; popne {r0, r1}", 1 + 0 + 1 + 1, id="none runs"),
    pytest.param("nop; itt eq; pusheq {r0, r1}; popeq {r0, r1}", 1 + 0 + 3 + 3, id="both run"),
    pytest.param("nop; it ne; bne 1f; nop; 1: nop", 1 + 0 + 1 + 2, id="branch in it, not taken"),
    pytest.param("bl 1f; b 2f; 1: nop; it eq; bxeq lr; nop; 2: nop", 2 + 1 + 3 + 2 + 1, id="return in it"),
    # Division: 2 cycles for a quotient of 0, else 2 + 2 and one for each four bits of it; at most 12.
    pytest.param("udiv r4, r1, r3", 2, id="2 / 4"),
    pytest.param("udiv r4, r3, r1", 2 + 2 + 1, id="4 / 2: a quotient of up to 2 bits"),
    pytest.param("mvn r4, #0; sdiv r4, r4, r1", 1 + 2, id="-1 / 2"),
    pytest.param("mvn r4, #0; movs r0, #1; udiv r4, r4, r0", 1 + 1 + 12, id="32 bits of quotient"),
    pytest.param("udiv r4, r3, r0", 2, id="4 / 0"),
    pytest.param("nop; it ne; udivne r4, r3, r1", 1 + 0 + 1, id="a division that is skipped"),
    pytest.param("nop; it eq; udiveq r4, r3, r1", 1 + 0 + 2 + 2 + 1, id="a division in an IT block"),
    pytest.param("mrs r0, msp; msr msp, r0", 2 + 2, id="mrs, msr"),
]


@pytest.mark.parametrize("trace", [False, True], ids=["fast", "traced"])
@pytest.mark.parametrize(("text", "cycles"), SNIPPETS)
def test_a_snippet_takes_what_the_manual_says(tmp_path: Path, text: str, cycles: int, trace: bool) -> None:
    code = assembled(tmp_path, text)
    assert run(tmp_path, code, Options(trace=trace), stm32f4()).cycles == AROUND + cycles


@pytest.mark.parametrize("way", ["bare", "run", "profile"])
@pytest.mark.parametrize("more", ["", "push {r0, r1}; pop {r0, r1};"])
def test_a_free_run_counts_alike_wherever_code_is_entered_from(tmp_path: Path, more: str, way: str) -> None:
    """CPSIE ends a block. IT after it costs nothing, and after a branch 1."""
    looped = f"1: cpsie i; 2: it eq; addeq r0, #1; {more} subs r4, #1; bne 1b"
    code = assembled(tmp_path, f"movs r4, #4; b 2f; {looped}")
    functions = tmp_path / "functions"
    functions.touch()
    profiled = ["--profile", tmp_path / "profile", "--functions", functions]
    options = {"bare": ["--bare"], "run": [], "profile": profiled}[way]
    # IT and ADD, what is in between, SUBS, BNE; instead of IT then CPSIE; the last BNE is not taken.
    a_round = 1 + 1 + (3 + 3 if more else 0) + 1 + 2
    region = run_freely(tmp_path, code, stm32f4(), *options)
    assert region.cycles == AROUND + 1 + 2 + 4 * a_round - 1


# Whole functions, called by BL (1 + 1) and left by BX LR (1 + 2) or by loading PC; B after the call is 1 + 1.
FUNCTIONS = [
    # A sum of four products: LDM of 4 is 5, LDM of 4 is 5, MUL and three MLA 4.
    pytest.param(
        "push {r4-r7}; ldm r2, {r0, r1, r3, r4}; ldm r2, {r8-r11}; mul r0, r0, r8; mla r0, r1, r9, r0;"
        "mla r0, r3, r10, r0; mla r0, r4, r11, r0; pop {r4-r7}; bx lr",
        (1 + 4) + 5 + 5 + 4 + (1 + 4) + 3,
        id="sum of products",
    ),
    # Five rounds of LDRB after an address that is not just computed (2), STRB that hides its second cycle
    # (0), SUBS 1, BNE 2 (the last 1): 5 x 5 - 1.
    pytest.param(
        "movs r0, #5; mov r4, r2; nop; nop; 1: ldrb r1, [r2], #1; strb r1, [r4], #1; subs r0, #1; bne 1b;"
        "bx lr",
        4 + 5 * (2 + 0 + 1 + 2) - 1 + 3,
        id="copy of bytes",
    ),
    # The greatest common divisor of 2 and 4, by subtraction with IT: the first round swaps to 2 and 2.
    # CMP 1, BEQ 1, ITE 1 (not folded onto a branch), SUBGT skipped 1, SUBLE 1, B 2; then equal: CMP 1, BEQ 2.
    pytest.param(
        "1: cmp r1, r3; beq 3f; ite gt; subgt r1, r3; suble r3, r1; b 1b; 3: bx lr",
        (1 + 1 + 1 + 1 + 1 + 2) + (1 + 2) + 3,
        id="greatest common divisor",
    ),
    # A byte swap of one word in memory: LDR 2, REV 1, STR 1 (its address is old, its value new): 4.
    pytest.param("ldr r0, [r2]; rev r0, r0; str r0, [r2]; bx lr", 2 + 1 + 1 + 3, id="byte swap"),
    # PUSH 3, ADDS 1, a table look-up at an address just computed 1 + 2, POP with PC 1 + 2 + 3.
    pytest.param("push {r4, lr}; adds r2, #8; ldr r4, [r2]; pop {r4, pc}", 3 + 1 + 3 + 6, id="look-up"),
    # A rotation of 64 bits: LSL, LSR, ORR twice: 6.
    pytest.param(
        "lsls r4, r1, #5; orr.w r4, r4, r3, lsr #27; lsls r0, r3, #5; orr.w r0, r0, r1, lsr #27; bx lr",
        4 + 3,
        id="rotation of 64 bits",
    ),
]


@pytest.mark.parametrize("trace", [False, True], ids=["fast", "traced"])
@pytest.mark.parametrize(("text", "cycles"), FUNCTIONS)
def test_a_function_takes_what_was_counted_by_hand(
    tmp_path: Path, text: str, cycles: int, trace: bool
) -> None:
    calls = f"push {{r5-r7}}; nop; bl 5f; b 6f; .balign 4; 5: {text}; .balign 4; 6: pop {{r5-r7}}"
    code = assembled(tmp_path, calls)
    around = AROUND + (1 + 3) + 1 + 2 + 2 + (1 + 3)
    assert run(tmp_path, code, Options(trace=trace), stm32f4()).cycles == around + cycles


@pytest.mark.parametrize(
    ("text", "extra"),
    [
        ("ldr r0, [r2, #1]", 2),  # a byte, a halfword, a byte
        ("ldr r0, [r2, #2]", 1),  # two halfwords
        ("ldr r0, [r2, #3]", 2),
        ("ldrh r0, [r2, #1]", 1),  # two bytes
        ("str r0, [r2, #2]", 1),
        ("strh r0, [r2, r3]", 0),
        ("ldrb r0, [r2, #3]", 0),
    ],
)
def test_an_unaligned_access_takes_more_where_each_instruction_is_followed(
    tmp_path: Path, text: str, extra: int
) -> None:
    aligned = text.replace("#1", "#4").replace("#2", "#4").replace("#3", "#4")
    expected = run(tmp_path, assembled(tmp_path, aligned), Options(trace=True), stm32f4()).cycles
    assert run(tmp_path, assembled(tmp_path, text), Options(trace=True), stm32f4()).cycles == expected + extra


@pytest.mark.parametrize("way", ["run", "profile"])
@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("ldr r0, [r2, #1]", SCRATCH + 1),
        ("strh r0, [r2, #3]", SCRATCH + 3),
        ("ldr r0, [r2]; ldrb r0, [r2, #1]; ldrd r0, r1, [r2, #4]", None),
        # In a loop, later: seen when a slice of time ends there.
        (
            "movw r4, #60000; movw r3, #59000; 1: cmp r4, r3; itt eq; addeq r2, #1; nopeq; b 2f; "
            "2: ldr r0, [r2]; subs r4, #1; bne 1b",
            SCRATCH + 1,
        ),
        # The block computes the address itself; a condition may skip the access.
        ("adds r2, #1; b 1f; 1: subs r2, #1; ldr r0, [r2]", None),
        ("it ne; ldrne r0, [r2, #1]", None),
    ],
)
def test_a_free_run_says_that_it_does_not_count_unaligned_accesses(
    tmp_path: Path, text: str, address: int | None, way: str
) -> None:
    functions = tmp_path / "functions"
    functions.touch()
    profiled: list[str | Path] = ["--profile", tmp_path / "profile", "--functions", functions]
    text = "b 3f; 3: " + text  # in a block of its own
    notes = notes_of(tmp_path, assembled(tmp_path, text), stm32f4(), *(profiled if way == "profile" else []))
    assert [note.partition(" at ")[0] for note in notes if "unaligned" in note] == (
        [] if address is None else [f"unaligned access to 0x{address:x}"]
    )


@pytest.mark.parametrize(
    "text", ["adds r2, #2; ldm r2, {r0, r1}", "ldrd r0, r1, [r2, #4]!; adds r2, #1; strd r0, r1, [r2]"]
)
def test_several_registers_must_be_aligned(tmp_path: Path, text: str) -> None:
    with pytest.raises(Fault, match="unaligned access to 0x2001000"):
        run(tmp_path, assembled(tmp_path, text), Options(trace=True), stm32f4())


def test_the_costs_are_data(tmp_path: Path) -> None:
    device = stm32f4()
    slow = changed(device, cycles={**device.simulator["cycles"], "multiply_long": 5})
    code = assembled(tmp_path, "umull r0, r4, r1, r3")
    assert run(tmp_path, code, device=slow).cycles == run(tmp_path, code, device=device).cycles + 4


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("vmov s0, r0", "floating-point or coprocessor instruction at 0x800001a: that unit is not modelled"),
        ("udf #0", "undefined instruction at 0x800001a"),
        ("udf.w #0", "undefined instruction (UDF) at 0x800001a"),
        ("ldr r0, =0x50000000; ldr r0, [r0]", "USB, camera and random numbers are not modelled"),
        ("movs r0, #0x10; lsls r0, #24; ldr r0, [r0]", "core-coupled memory is not modelled"),
        ("svc #0", "supervisor call"),
    ],
)
def test_a_fault_is_told_in_one_line(tmp_path: Path, text: str, said: str) -> None:
    fpu = ".cpu cortex-m4\n.fpu fpv4-sp-d16\n" if text.startswith("v") else ""
    with pytest.raises(Fault) as caught:
        run(tmp_path, assembled(tmp_path, fpu + text.replace("; ", "\n")), device=stm32f4())
    assert said in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("udiv r0, r1, r3", "UDIV"),
        ("sdiv r0, r1, r3", "SDIV"),
        ("movw r0, #257", "MOVW"),
        ("cbz r0, 1f; nop; 1: nop", "CBZ"),
        ("cbnz r1, 1f; nop; 1: nop", "CBNZ"),
        ("it eq; moveq r0, r1", "IT"),
        ("ldrd r0, r1, [r2]", "LDRD"),
        ("ldr.w r0, [r2]", "LDR"),
        ("bfi r0, r1, #2, #3", "BFI or BFC"),
        ("tbb [pc, r0]", "TBB"),
        ("clz r0, r1", "QADD, REV, RBIT, SEL, CLZ or one of their kin"),
        ("umull r0, r1, r2, r3", "UMULL or SMULL"),
    ],
)
def test_the_pico_names_what_its_core_lacks(tmp_path: Path, text: str, name: str) -> None:
    with pytest.raises(Fault) as caught:
        run(tmp_path, assembled(tmp_path, text))
    assert f"undefined instruction ({name}) at 0x10000118" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "accesses"),
    [
        ("ldr r0, [r2, #8]; ldr.w r0, [r2, #260]; ldrb r0, [r2], #5; ldrh r0, [r2, #-2]", [8, 260, 0, 3]),
        ("ldr r0, [r2, #12]!; strb r0, [r2, #1]; strd r0, r1, [r2, #-8]!", [12, 13, 4, 8]),
        ("ldr r0, [r2, r3, lsl #2]; ldrsh.w r0, [r2, r3]; strh.w r1, [r2, r1, lsl #1]", [16, 4, 4]),
        (
            "mov r8, r2; ldrd r0, r1, [r8, #16]; ldmdb r8, {r0, r1}; stm.w r8!, {r0, r1}",
            [16, 20, -8, -4, 0, 4],
        ),
        ("ldrex r0, [r2, #4]; strex r1, r0, [r2, #4]; ldrexb r0, [r2]", [4, 4, 0]),
        (
            "nop; itt eq; ldreq r0, [r2, #4]; streq r0, [r2, #8]; ite ne; strne r0, [r2]; ldreq r0, [r2, #1]",
            [4, 8, 1],
        ),
    ],
)
def test_the_trace_has_every_address(tmp_path: Path, text: str, accesses: list[int]) -> None:
    dump = tmp_path / "dump"
    run(tmp_path, assembled(tmp_path, text), Options(trace=True, dump=dump), stm32f4())
    seen = [int(line.split()[1], 16) for line in dump.read_text().splitlines() if line != "end"]
    assert [address - SCRATCH for address in seen if abs(address - SCRATCH) < 1 << 12] == accesses


def test_a_choice_without_branch_and_access_is_no_difference(tmp_path: Path) -> None:
    """IT MOV takes the same cycles whether it runs or not: not one trace for each; a load or a branch is."""
    for text, same in (
        ("movne r0, r1", True),
        ("ldrne r0, [r2]", False),
        ("bne 1f; nop; nop; 1: nop", False),
    ):
        traces, cycles = set(), set()
        for flags in ("cmp r1, #2", "cmp r1, #3"):
            code = assembled(tmp_path, f"{flags}; nop; it ne; {text}; nop")
            region = run(tmp_path, code, Options(trace=True), stm32f4())
            traces.add(region.trace)
            cycles.add(region.cycles)
        assert (len(traces) == 1, len(cycles) == 1) == (same, same)
