"""What a Cortex-M3 does otherwise than an M4: multiplications, and no DSP instructions. Source: ARM DDI 0337.

Before a snippet r0 is 0, r1 2, r2 an address in RAM, r3 4, and Z is set; it must leave r5 to r7 alone.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from arm_snippets import assembled, run

from motecrypt.base.model import Device
from motecrypt.catalog import Catalog
from motecrypt.simulate.runners import Fault, Options
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("pico")

AROUND = 1 + 1 + 1  # the store that opens the region, and a NOP before and after the snippet
WIDE = "mvn r4, #0; mov r0, r4"


def stm32l1() -> Device:
    return Catalog.load().device("stm32l1")


@pytest.mark.parametrize("trace", [False, True], ids=["fast", "traced"])
@pytest.mark.parametrize(
    ("text", "cycles"),
    [
        ("mul r0, r1, r3; mla r0, r1, r3, r4; mls r0, r1, r3, r4", 1 + 2 + 2),
        # 3 to 5 by how many operands have more than 16 bits; with an accumulator 4 to 7.
        ("umull r0, r4, r1, r3", 3),
        (f"{WIDE}; umull r0, r4, r1, r4", 2 + 4),
        (f"{WIDE}; umull r0, r4, r0, r4", 2 + 5),
        (f"{WIDE}; smull r0, r4, r0, r4", 2 + 3),  # -1 times -1: both are short
        ("umlal r0, r4, r1, r3", 4),
        (f"{WIDE}; umlal r0, r4, r0, r1", 2 + 6),
        (f"{WIDE}; umlal r1, r3, r0, r4", 2 + 7),
        (f"{WIDE}; nop; it ne; umullne r0, r4, r0, r4", 2 + 1 + 0 + 1),
        (f"{WIDE}; nop; it eq; umulleq r0, r4, r0, r4", 2 + 1 + 0 + 5),
        # As on an M4.
        ("ldr r0, [r2]; ldr r1, [r2, #4]; str r0, [r2]", 2 + 1 + 0),
        ("udiv r4, r3, r1; b 1f; nop; 1: nop", 2 + 2 + 1 + 2 + 1),
    ],
)
def test_a_snippet_takes_what_the_manual_says(tmp_path: Path, text: str, cycles: int, trace: bool) -> None:
    code = assembled(tmp_path, text)
    assert run(tmp_path, code, Options(trace=trace), stm32l1()).cycles == AROUND + cycles


#: The DSP extension (ARM DDI 0403, A4.4.3 to A4.4.7), by what each instruction takes.
DSP = [
    *(
        f"{kind}{what} r0, r1, r3"
        for kind in ("s", "q", "sh", "u", "uq", "uh")
        for what in ("add8", "sub16", "asx", "sax")
    ),
    *(
        f"{name} r0, r1, r3"
        for name in ("qadd", "qsub", "qdadd", "qdsub", "sel", "pkhbt", "sxtab", "sxtab16")
    ),
    *(
        f"{name} r0, r1, r3"
        for name in ("sxtah", "uxtab", "uxtab16", "uxtah", "usad8", "smuad", "smuadx", "smusd")
    ),
    *(f"{name} r0, r1, r3" for name in ("smusdx", "smulwb", "smulwt", "smulbb", "smultt", "smmul", "smmulr")),
    *(
        f"{name} r0, r1, r3, r4"
        for name in ("smlabb", "smlatt", "smlad", "smladx", "smlawb", "smlawt", "smlsd")
    ),
    *(f"{name} r0, r1, r3, r4" for name in ("smmla", "smmlar", "smmls", "smmlsr", "usada8")),
    *(f"{name} r0, r4, r1, r3" for name in ("smlalbb", "smlaltt", "smlald", "smlaldx", "smlsld", "umaal")),
    *(f"{name} r0, r1" for name in ("sxtb16", "uxtb16")),
    "ssat16 r0, #4, r1",
    "usat16 r0, #4, r1",
]


@pytest.mark.parametrize("text", DSP)
def test_an_instruction_of_the_m4_is_a_fault_with_its_address(tmp_path: Path, text: str) -> None:
    with pytest.raises(Fault) as caught:
        run(tmp_path, assembled(tmp_path, text), device=stm32l1())
    said = str(caught.value)
    assert "undefined instruction (" in said and " at 0x800001a" in said and "\n" not in said


def test_what_looks_like_it_runs(tmp_path: Path) -> None:
    text = "ssat r0, #4, r1, asr #1; usat r0, #4, r1, asr #4; ssat r0, #4, r1; sxtb.w r0, r1"
    text += "; uxth.w r0, r1, ror #8"
    text += (
        "; sxth.w r0, r1; uxtb.w r0, r1, ror #16; smull r0, r4, r1, r3; umlal r0, r4, r1, r3; sdiv r0, r3, r1"
    )
    assert run(tmp_path, assembled(tmp_path, text), device=stm32l1()).cycles > AROUND
