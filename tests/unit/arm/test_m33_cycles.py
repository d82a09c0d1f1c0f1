"""The Cortex-M33's cycle model on snippets counted by hand, and the Pico 2's image.

The rules are measurements of an RP2350 (github.com/jnk0le/random, notes on the Cortex-M33). Before a snippet
r0 is 0, r1 2, r2 an address in RAM, r3 4, and Z is set; it must leave r5 to r7 alone. Before and after it is
a move of 16 bits that sets no flags.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from arm_snippets import assembled, run

from motecrypt.base.errors import InputError
from motecrypt.base.model import Device
from motecrypt.build.toolchain.scripts import link_flags
from motecrypt.catalog import FIRMWARE, Catalog
from motecrypt.simulate.emulate.images import Segment, elf_of, read_image
from motecrypt.simulate.runners import Fault, Options
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("pico")
MOVE = "mov r10, r10"


def pico2() -> Device:
    return Catalog.load().device("pico2")


def code(folder: Path, text: str) -> list[int]:
    return assembled(folder, text, "cortex-m33")


SNIPPETS = [
    # One cycle each, whatever follows uses.
    pytest.param("adds r0, #1; add.w r8, r0, r3; mov r9, r8; cmp r9, r1", 4, id="add, mov, cmp"),
    pytest.param("lsls r0, r1, #3; adds r0, r3; ror.w r4, r0, #5; adds r4, r3", 4, id="a shift alone"),
    pytest.param("bfi r0, r3, #4, #4; adds r0, r1; ubfx r4, r3, #0, #3; adds r4, r1", 4, id="fields"),
    pytest.param("uxtb.w r0, r1, ror #8; adds r0, r3; rev r4, r0; adds r4, r0", 4, id="extend, reverse"),
    pytest.param("eor.w r0, r1, #0x1b1b1b1b; adds r0, r3; add.w r0, r1, #200; adds r0, r3", 4, id="numbers"),
    # Results of the second stage: one cycle later.
    pytest.param("eor.w r0, r1, r3, ror #8; adds r0, r3", 2 + 1, id="a shifted operand"),
    pytest.param("eor.w r0, r1, r3, ror #8; adds r4, r3; adds r0, r3", 3, id="used two later"),
    pytest.param("eor.w r0, r1, #0x1fc0; adds r0, r3", 2 + 1, id="a shifted number"),
    pytest.param("eors.w r0, r1, #0x1fc0; adds r4, r3", 2 + 1, id="a shifted number that sets flags"),
    pytest.param("eors.w r0, r1, r3, ror #8; adds r4, r3", 2, id="a shifted operand that sets flags"),
    pytest.param("movs.w r0, r1, ror #8; adds r0, r3", 2, id="a move that shifts"),
    pytest.param("uxtab r0, r1, r3; adds r0, r3", 2 + 1, id="extend and add"),
    pytest.param(
        "uadd8 r0, r1, r3; adds r0, r3; qadd r0, r1, r3; adds r0, r3", 4 + 2, id="parallel, saturating"
    ),
    pytest.param(
        "pkhbt r0, r1, r3, lsl #8; adds r0, r3; ssat r0, #5, r3; adds r0, r3", 4 + 2, id="pack, saturate"
    ),
    # Multiplications: what they add may come late, what they multiply may not.
    pytest.param("mla r0, r1, r3, r4; mla r0, r1, r3, r0; mla r0, r1, r3, r0", 3, id="a chain of sums"),
    pytest.param("mla r0, r1, r3, r4; mla r4, r0, r3, r4", 2 + 1, id="a chain of products"),
    pytest.param("mul r0, r1, r3; adds r0, r3", 2 + 1, id="mul.w"),
    pytest.param("muls r0, r1, r0; adds r4, r3", 2 + 1, id="muls"),
    pytest.param("umull r0, r4, r1, r3; umaal r0, r4, r1, r3; adds r4, r3", 3 + 1, id="long"),
    # Loads and stores.
    pytest.param("ldr r0, [r2]; ldr r1, [r2, #4]; ldrb r4, [r2]", 3, id="loads"),
    pytest.param("ldr r0, [r2]; adds r0, #1", 2 + 1, id="a loaded word used at once"),
    pytest.param("str r2, [r2]; ldr r0, [r2]; ldr r1, [r0]", 3 + 1, id="a loaded address"),
    pytest.param("ldr r0, [r2]; str r0, [r2, #4]; str r1, [r2]", 3, id="a loaded word is stored"),
    pytest.param("ldr r0, [r2]; mla r0, r1, r3, r0", 2, id="a loaded word is added to a product"),
    pytest.param("ldr r0, [r2], #4; adds r2, #4", 2, id="a base is there at once"),
    pytest.param("ldrd r0, r1, [r2]; strd r0, r3, [r2]", 2 + 2, id="two registers"),
    pytest.param("ldm r2, {r0, r1, r3}; adds r0, #1; stm r2, {r0, r1, r3}", 3 + 1 + 3, id="several"),
    pytest.param("push {r0, r1, r3}; pop {r0, r1, r3}", 3 + 3, id="push, pop"),
    # Pairs of 16-bit instructions: NOP, IT and branches issue with the one before.
    pytest.param("nop", 0, id="nop with the move before"),
    pytest.param("nop; nop", 1, id="the second nop alone"),
    pytest.param(f"add.w r0, r1, r3; nop; {MOVE}; nop", 1 + 1 + 1, id="not with 32 bits"),
    pytest.param("it eq; addeq r0, r1", 0 + 1, id="it"),
    pytest.param("it ne; addne r0, r1", 0 + 1, id="it, not run"),
    pytest.param("bne 1f; nop; 1: nop", 0 + 1 + 0, id="not taken with the move before"),
    pytest.param("add.w r0, r1, r3; bne 1f; 1:", 1 + 1, id="not taken alone"),
    pytest.param("beq 1f; nop; 1:", 1, id="taken with the move before"),
    pytest.param("cmp r0, r0; beq 1f; nop; 1:", 1 + 2, id="taken, the flags are just set"),
    pytest.param("cmp r0, r0; b 1f; nop; 1:", 1 + 1, id="b needs no flags"),
    pytest.param("add.w r0, r1, r3; beq 1f; nop; 1:", 1 + 2, id="taken alone"),
    pytest.param("ldm r2!, {r0, r1}; bne 1f; 1:", 2, id="after several loads"),
    pytest.param("movs r4, #10; 1: subs r4, #1; bne 1b", 1 + 9 * 3 + 1, id="loop"),
    pytest.param(
        "movs r4, #10; 1: subs r4, #1; mov r10, r10; bne 1b", 1 + 9 * 3 + 2, id="loop, flags before"
    ),
]


@pytest.mark.parametrize("trace", [False, True], ids=["fast", "traced"])
@pytest.mark.parametrize(("text", "cycles"), SNIPPETS)
def test_a_snippet(tmp_path: Path, text: str, cycles: int, trace: bool) -> None:
    options = Options(trace=trace)
    empty = run(tmp_path, [], options, pico2()).cycles
    assert run(tmp_path, code(tmp_path, text), options, pico2()).cycles - empty == cycles


def test_acquire_and_release(tmp_path: Path) -> None:
    """Instructions of ARMv8-M alone: they run, and a Cortex-M4 refuses them by name."""
    text = code(tmp_path, "stl r1, [r2]; lda r0, [r2]; cmp r0, r1; beq 1f; udf #0; 1:")
    assert run(tmp_path, text, Options(trace=True), pico2()).cycles > 0
    with pytest.raises(Fault, match=r"undefined instruction \(STL or STLEX\) at 0x800001a"):
        run(tmp_path, code(tmp_path, "stl r1, [r2]"), None, Catalog.load().device("stm32f4"))


def test_the_cache_is_cold_when_told(tmp_path: Path) -> None:
    text = code(tmp_path, ";".join(["add.w r0, r1, r3"] * 8))
    warm, cold = (run(tmp_path, text, Options(cache=kind), pico2()) for kind in ("warm", "cold"))
    misses = cold.extra["cache_misses"]
    assert 4 <= misses <= 7 and cold.cycles == warm.cycles + misses * 96 * 4


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("udf #0", "undefined instruction at 0x1000001a"),
        ("vadd.f32 s0, s1, s2", "that unit is not modelled; compile with -mfloat-abi=soft"),
        ("mov r2, #0x50000000; ldr r0, [r2]", "(DMA is not modelled)"),
        ("mov r2, #0x20000000; add r2, #0x82000; ldr r0, [r2]", "(beyond the RAM)"),
        ("mov r2, #0; ldr r0, [r2]", "(the boot ROM is not modelled)"),
    ],
)
def test_what_it_lacks_is_a_fault(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(Fault) as fault:
        run(tmp_path, assembled(tmp_path, ".fpu fpv5-sp-d16\n" + text, "cortex-m33"), None, pico2())
    assert said in str(fault.value)


def linked(folder: Path, source: str, *flags: str) -> Path:
    target = pico2()
    (folder / "firmware.c").write_text('#include "hal.h"\n' + source)
    command: list[str | Path] = ["arm-none-eabi-gcc", *(flags or target.compiler.machine_flags), "-Os"]
    command += [
        f"-I{FIRMWARE / 'include'}",
        folder / "firmware.c",
        *(target.folder / name for name in target.hal),
    ]
    subprocess.run([*command, *link_flags(target, "flash"), "-o", folder / "a.elf"], check=True, timeout=60)
    return folder / "a.elf"


def test_its_image_is_one_that_the_boot_rom_starts(tmp_path: Path) -> None:
    """A block of five words in the first 4 KB (RP2350 datasheet, 5.9.5.1)."""
    image = read_image(linked(tmp_path, "int main(void) { hal_init(); for (;;) {} }"), pico2())
    block = bytes.fromhex("d3deffff 42012110 ff010000 00000000 793512ab")
    assert image.segments[0].address == 0x10000000
    assert 0 <= image.segments[0].data.find(block) < 4096 - len(block)
    assert image.segments[0].data.find(block) % 4 == 0


def test_firmware_that_is_too_large_or_for_another_core(tmp_path: Path) -> None:
    large = "static volatile uint8_t data[533000]; int main(void) { data[hal_read()] = 1; }"
    with pytest.raises(InputError, match=r"its variables take \d+,\d+ of 532,480 bytes of RAM"):
        read_image(linked(tmp_path, large), pico2())
    foreign = tmp_path / "foreign.elf"
    foreign.write_bytes(elf_of([Segment(0x10000000, b"\0\0\0\0")], 243, 0x10000000))
    with pytest.raises(InputError, match="built for RISC-V, and pico2 is RP2350; choose another --device"):
        read_image(foreign, pico2())
