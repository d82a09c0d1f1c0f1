"""A flash with wait states: what a core waits for it, counted by hand on a Cortex-M3.

Snippets are as in test_m3_cycles.py. What they wait is the difference to the same one on a flash without wait
states, and of two lengths, so that the code around does not matter.
"""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from arm_snippets import FLASH_L1, assembled, changed, run

from motecrypt.base.errors import InputError
from motecrypt.build.toolchain.scripts import link_flags
from motecrypt.catalog import FIRMWARE, Catalog
from motecrypt.catalog.devices import read_device
from motecrypt.simulate.runners import Options, arm
from motecrypt.simulate.runners.session import DriverSession
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("pico")
PLAIN = {"wait_states": 2, "line_bytes": 8}


def waited(folder: Path, text: str, memory: dict[str, int], cache: str = "none", trace: bool = False) -> int:
    """Cycles that a snippet waits for the flash."""
    device = Catalog.load().device("stm32l1")
    code = assembled(folder, text)
    slow = run(folder, code, Options(cache=cache, trace=trace), changed(device, memory=memory))
    fast = run(folder, code, Options(trace=trace), device)
    assert slow.cycles - fast.cycles == slow.extra["wait_cycles"]
    return slow.cycles - fast.cycles


@pytest.mark.parametrize("trace", [False, True], ids=["fast", "traced"])
@pytest.mark.parametrize(
    ("instruction", "memory", "cycles"),
    [
        # A line of two instructions is used in two cycles. Reading it takes two more.
        ("mov.w r0, r1", PLAIN, 2),
        # Four instructions a line: the same wait.
        ("mov r0, r1; mov r0, r1", PLAIN, 2),
        # The next line is read meanwhile: 1 + 2 cycles for 2 of use, so 1 is left; none for 4 of use.
        ("mov.w r0, r1", {**PLAIN, "reads_ahead": 1}, 1),
        ("mov r0, r1; mov r0, r1", {**PLAIN, "reads_ahead": 1}, 0),
        # Reading begins later by two cycles: 2 + 2 of wait states after the line is first used, for 2 of use.
        ("mov.w r0, r1", {**PLAIN, "reads_ahead": 1, "ahead_delay": 2}, 2),
        # The core asks for a line when it begins the word before: one cycle of two is hidden.
        ("mov.w r0, r1", {**PLAIN, "core_ahead_bytes": 4}, 1),
        # But it takes a line word by word: it asks when it has both, after the line's two cycles of use.
        ("mov.w r0, r1", {**PLAIN, "core_ahead_bytes": 4, "core_word_cycles": 1}, 2),
        # Of four cycles of use two are left, and all is hidden.
        ("mov r0, r1; mov r0, r1", {**PLAIN, "core_ahead_bytes": 4, "core_word_cycles": 1}, 0),
        # Lines of 16 bytes: half as often.
        ("mov.w r0, r1; mov.w r0, r1", {**PLAIN, "line_bytes": 16}, 2),
    ],
)
def test_each_line_of_straight_code_waits(
    tmp_path: Path, instruction: str, memory: dict[str, int], cycles: int, trace: bool
) -> None:
    """`instruction` fills half a line; 40 lines against 20."""
    short = waited(tmp_path, "; ".join([instruction] * 40), memory, trace=trace)
    long = waited(tmp_path, "; ".join([instruction] * 80), memory, trace=trace)
    assert long - short == 20 * cycles


WORDS = {**PLAIN, "core_ahead_bytes": 4, "core_word_cycles": 1}


def test_a_core_that_takes_words_asks_for_a_line_when_it_has_the_one_before(tmp_path: Path) -> None:
    mixed = "; ".join(["mov.w r0, r1; mov r0, r1; mov r0, r1"] * 20)  # 20 lines, three cycles of use each
    for memory, cycles in (({**PLAIN, "core_ahead_bytes": 4}, 0), (WORDS, 1)):
        assert waited(tmp_path, f"{mixed}; {mixed}", memory) - waited(tmp_path, mixed, memory) == 20 * cycles


def test_a_jump_into_a_line_leaves_fewer_words_of_it_to_take(tmp_path: Path) -> None:
    """The second word of a line, a line of two, and one with the jump. Each wait is of two cycles.

    The line after the jump is asked for one word later: with two words to take it would wait for a third.
    """
    words = "mov.w r1, r3; " * 3
    loop = "movs r0, #{}; .balign 8; mov.w r1, r3; 1: " + words + "subs.w r0, #1; bne.w 1b"
    for memory, cycles in (({**PLAIN, "core_ahead_bytes": 4}, 2 + 2 + 1), (WORDS, 2 + 2 + 2)):
        short = waited(tmp_path, loop.format(10), memory)
        assert waited(tmp_path, loop.format(30), memory) - short == 20 * cycles


@pytest.mark.parametrize("offset", range(8))
def test_a_jump_to_a_cached_line_waits_for_no_word(tmp_path: Path, offset: int) -> None:
    """Wherever in a line it goes to, with a 32-bit instruction in two words, too."""
    cached = {**WORDS, "line_bytes": 16, "code_lines": 8, "code_ways": 8}
    body = "nop; " * offset + "1: mov.w r1, r3; mov.w r1, r3; nop; nop; nop; nop; nop; subs r0, #1; bne.n 1b"
    loop = "movs r0, #{}; .balign 16; " + body
    assert waited(tmp_path, loop.format(30), cached) == waited(tmp_path, loop.format(10), cached)


def test_a_jump_out_of_a_line_leaves_its_words(tmp_path: Path) -> None:
    """Each line begins with a jump, so that its second word, which takes eight cycles, is never taken."""
    loop = "movs r0, #{}; .balign 8; 1: b.n 2f; .balign 8; 2: b.n 3f; .balign 8; 3: subs r0, #1; bne.n 1b"
    for memory in (PLAIN, {**WORDS, "core_word_cycles": 8}):
        short = waited(tmp_path, loop.format(10), memory)
        assert waited(tmp_path, loop.format(30), memory) - short == 20 * 3 * 2


@pytest.mark.parametrize(
    ("memory", "each"),
    [
        (PLAIN, 4),  # the loop is in two lines, and only one can be in use
        ({**PLAIN, "code_lines": 4, "code_ways": 4}, 0),
        ({**PLAIN, "code_lines": 2, "code_ways": 1}, 0),
    ],
)
def test_a_loop_stays_in_a_cache(tmp_path: Path, memory: dict[str, int], each: int) -> None:
    loop = "movs r0, #{}; .balign 8; 1: mov.w r1, r3; mov.w r1, r3; nop; subs r0, #1; bne 1b; nop"
    short = waited(tmp_path, loop.format(10), memory)
    assert waited(tmp_path, loop.format(30), memory) - short == 20 * each


def test_a_cache_that_is_too_small_loses_the_line_not_used_for_longest(tmp_path: Path) -> None:
    """Three lines in turn through two places of one set: each was replaced when its turn comes."""
    loop = "movs r0, #{}; .balign 8; 1: " + "mov.w r1, r3; " * 4 + "nop; subs r0, #1; bne 1b; nop"
    for lines, each in ((2, 3 * 2), (4, 0)):
        memory = {**PLAIN, "code_lines": lines, "code_ways": lines}
        short = waited(tmp_path, loop.format(10), memory)
        assert waited(tmp_path, loop.format(30), memory) - short == 20 * each


@pytest.mark.parametrize(
    ("memory", "cycles"),
    [
        ({}, 4 * 3),  # each read waits
        ({"data_lines": 1, "data_ways": 1}, 2 * 3),  # two lines, each read twice
        ({"code_lines": 64, "code_ways": 64, "shared": 1}, 2 * 3),
    ],
)
def test_a_read_of_data_waits(tmp_path: Path, memory: dict[str, int], cycles: int) -> None:
    figures = {**PLAIN, "wait_states": 0, "data_wait_states": 3, **memory}
    place = f"movw r0, #{FLASH_L1 + 0x8000 & 0xFFFF}; movt r0, #{FLASH_L1 >> 16}; "
    reads = "ldr r1, [r0]; nop; ldr r1, [r0, #4]; nop; ldr r1, [r0, #8]; nop; ldr r1, [r0, #12]"
    assert waited(tmp_path, place + reads, figures) == cycles


UNCACHED = {**PLAIN, "wait_states": 0, "data_wait_states": 3}
ONE_LINE = {**UNCACHED, "data_lines": 1, "data_ways": 1}
TWO_LINES = {**UNCACHED, "data_lines": 2, "data_ways": 2}


@pytest.mark.parametrize("trace", [False, True], ids=["fast", "traced"])
@pytest.mark.parametrize(
    ("reads", "memory", "waits"),
    [
        # Two halfwords; a byte, a halfword and a byte; two bytes; one word.
        ("ldr r1, [r0, #2]", UNCACHED, 2),
        ("ldr r1, [r0, #1]", UNCACHED, 3),
        ("ldr r1, [r0, #3]", UNCACHED, 3),
        ("ldrh r1, [r0, #1]", UNCACHED, 2),
        ("ldrsh r1, [r0, #3]", UNCACHED, 2),
        ("ldrh r1, [r0, #2]", UNCACHED, 1),
        (
            "ldr r1, [r0, #2]; nop; ldr r1, [r0, #5]; nop; ldrh r1, [r0, #7]; nop; ldr r1, [r0, #8]",
            UNCACHED,
            8,
        ),
        ("ldrd r2, r3, [r0]; adds r0, #4; ldr r1, [r0, #-1]; ldr r0, [r0, #3]", UNCACHED, 2 + 3 + 3),
        # Inside a line of 8 bytes: the first access brings it in. Over its end: each line once.
        ("ldr r1, [r0, #1]", ONE_LINE, 1),
        ("ldr r1, [r0, #3]", ONE_LINE, 1),
        ("ldrh r1, [r0, #3]", ONE_LINE, 1),
        ("ldr r1, [r0, #5]", ONE_LINE, 2),
        ("ldr r1, [r0, #6]", ONE_LINE, 2),
        ("ldr r1, [r0, #7]", ONE_LINE, 2),
        ("ldrh r1, [r0, #7]", ONE_LINE, 2),
        # The second line has taken the place of the first; with room for both, neither is read again.
        ("ldr r1, [r0, #6]; nop; ldr r1, [r0]; nop; ldr r1, [r0, #6]", ONE_LINE, 2 + 1 + 1),
        ("ldr r1, [r0, #6]; nop; ldr r1, [r0]; nop; ldr r1, [r0, #6]", TWO_LINES, 2),
        # Words that follow each other are not halves of one.
        ("ldr r1, [r0]; nop; ldr r1, [r0, #4]; nop; ldr r1, [r0, #8]", UNCACHED, 3),
    ],
)
def test_each_part_of_an_unaligned_read_waits(
    tmp_path: Path, reads: str, memory: dict[str, int], waits: int, trace: bool
) -> None:
    place = f"movw r0, #{FLASH_L1 + 0x8000 & 0xFFFF}; movt r0, #{FLASH_L1 >> 16}; "
    assert waited(tmp_path, place + reads, memory, trace=trace) == waits * 3


def test_an_aligned_read_is_no_half_of_one_before_it_when_each_instruction_is_followed(
    tmp_path: Path,
) -> None:
    """With what is in r0 afterwards, the first read would be an unaligned one that ends with the second."""
    place = f"movw r0, #{FLASH_L1 + 0x8000 & 0xFFFF}; movt r0, #{FLASH_L1 >> 16}; "
    reads = "ldr r1, [r0]; adds r0, #1; ldr r1, [r0, #3]"
    assert waited(tmp_path, place + reads, UNCACHED, trace=True) == 2 * 3


def test_reads_wait_alike_after_the_engine_has_parted_the_pages(tmp_path: Path) -> None:
    """A word of the flash and one of RAM, in pages of the same low bits: each round brings both in again."""
    place = f"movw r0, #{(FLASH_L1 + 0x1800) & 0xFFFF}; movt r0, #{FLASH_L1 >> 16}; "
    loop = "movw r4, #{0}; movt r4, #{1}; 1: ldr r1, [r0]; str r1, [r2]; subs r4, #1; bne 1b"
    memory = {"wait_states": 0, "line_bytes": 8, "data_wait_states": 3}
    for rounds in (1000, 150_000):
        code = place + loop.format(rounds & 0xFFFF, rounds >> 16)
        assert waited(tmp_path, code, memory) == 3 * rounds


def test_reads_of_the_flash_give_its_bytes(tmp_path: Path) -> None:
    """All widths, signed and not: a loop of two instructions runs once more for each wrong one."""
    device = changed(Catalog.load().device("stm32l1"), memory={**PLAIN, "data_wait_states": 3})
    loads = {
        "ldrb r1, [r0, #1]": 0x92,
        "ldrsb r1, [r0, #2]": 0xFFFFFFA3,
        "ldrh r1, [r0, #4]": 0xD6C5,
        "ldrsh r1, [r0, #6]": 0xFFFFF8E7,
        "ldr r1, [r0, #4]": 0xF8E7D6C5,
        "ldr r1, [r0, #1]": 0xC5B4A392,
    }

    def instructions(expected: dict[str, int]) -> int:
        text = "b 1f; .balign 4; 2: .word 0xb4a39281, 0xf8e7d6c5; 1: adr r0, 2b; movs r3, #1; "
        for load, value in expected.items():
            text += f"{load}; movw r2, #{value & 0xFFFF}; movt r2, #{value >> 16}; cmp r1, r2; "
            text += "it ne; addne r3, #1; "
        code = assembled(tmp_path, text + "3: subs r3, #1; bne 3b")
        return int(run(tmp_path, code, Options(), device).extra["instructions"])

    right = instructions(loads)
    for load, value in loads.items():
        assert instructions({**loads, load: value ^ 0x8000}) == right + 2


REGIONS = """
#include "hal.h"
__attribute__((noinline, naked, aligned(16))) static void work(void) {
    __asm__ volatile(".rept 40; nop; .endr; bx lr");
}
int main(void) {
    hal_init();
    for (int i = 0; i < 3; i++) { hal_mark(1); work(); hal_mark(0); }
    hal_write(0x7e);
    for (;;) { hal_read(); }
}
"""


def test_a_region_finds_the_lines_that_it_has_left_unless_cold(tmp_path: Path) -> None:
    device = changed(Catalog.load().device("stm32l1"), memory={**PLAIN, "code_lines": 64, "code_ways": 64})
    source, elf = tmp_path / "regions.c", tmp_path / "regions.elf"
    source.write_text(REGIONS)
    command: list[str | Path] = ["arm-none-eabi-gcc", *device.compiler.machine_flags, "-O1", source]
    command += [device.folder / name for name in device.hal]
    command += [f"-I{FIRMWARE / 'include'}", *link_flags(device, "flash"), "-o", elf]
    subprocess.run(command, check=True, timeout=60)
    seen = {}
    for cache in ("warm", "cold"):
        with DriverSession(arm.command(device, elf, Options(cache=cache))) as session:
            session.read(time.monotonic() + 20)
            seen[cache] = [region.extra["wait_cycles"] for region in session.regions()]
    first, *warm = seen["warm"]
    assert warm == [0, 0] and first >= 10 * 2  # work is in ten lines
    assert len(set(seen["cold"])) == 1 and seen["cold"][0] >= first


@pytest.mark.parametrize(
    ("memory", "said"),
    [
        ({"line_bytes": 12}, "'line_bytes' is 12; expected a power of two"),
        ({"line_bytes": 8, "code_lines": 6, "code_ways": 2}, "'code_lines' is 6; expected a power of two"),
        ({"line_bytes": 8, "code_lines": 8}, "'code_ways'"),
        ({"line_bytes": 8, "data_lines": 2, "data_ways": 4}, "'data_ways' is 4"),
        ({"line_bytes": 8, "wait_states": 65}, "'wait_states' is 65"),
        ({"line_bytes": 8, "lines": 4}, "'lines'"),
    ],
)
def test_figures_that_do_not_fit_are_refused(tmp_path: Path, memory: dict[str, Any], said: str) -> None:
    text = (FIRMWARE / "devices" / "stm32l1" / "device.toml").read_text()
    given = "\n".join(f"{name} = {value}" for name, value in memory.items())
    table = f"[simulator.memory]\n{given}\n[simulator.cycles]"
    (tmp_path / "device.toml").write_text(text.replace("[simulator.cycles]", table))
    with pytest.raises(InputError) as caught:
        read_device(tmp_path)
    assert said in str(caught.value)
