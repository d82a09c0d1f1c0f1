"""The STM32F4's hal.c on the simulated chip: clock, line, timer, marks and painted stack; profiles, too."""

from __future__ import annotations

import json
import struct
import subprocess
from pathlib import Path

import pytest
from arm_assembly import Outcome

from motecrypt.catalog import FIRMWARE, Catalog
from motecrypt.simulate.emulate.images import read_image
from motecrypt.simulate.emulate.profiling import profile
from motecrypt.simulate.emulate.run import FreeRun, run_freely
from motecrypt.simulate.runners import Options, arm
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("pico")
DEVICE = FIRMWARE / "devices" / "stm32f4"
HZ = 24_000_000
NUMBERS = 4 + 4 + 1 + 12


def built(target: Path, source: Path | str) -> Path:
    own = [DEVICE / name for name in ("hal.c", "startup.S")]
    link = ["-nostartfiles", "--specs=nano.specs", f"-T{DEVICE / 'flash.ld'}", f"-I{FIRMWARE / 'include'}"]
    if isinstance(source, str):
        (target.with_suffix(".c")).write_text(source)
        source = target.with_suffix(".c")
    chip = ["-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=soft", "-Os"]
    command: list[str | Path] = ["arm-none-eabi-gcc", *chip, *link, *own, source, "-o", target]
    subprocess.run(command, check=True, timeout=60)
    return target


@pytest.fixture(scope="module")
def firmware(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("stm32f4") / "hal.elf", Path(__file__).with_name("hal_firmware.c"))


def run(firmware: Path, *more: str, simulated: bool, given: bytes) -> Outcome:
    command = [str(part) for part in arm.command(Catalog.load().device("stm32f4"), firmware, Options())]
    for key in ["--events", "--max-cycles", *([] if simulated else ["--simulated"])]:
        del command[command.index(key) : command.index(key) + 2]
    done = subprocess.run([*command, *more], input=given, capture_output=True, timeout=60, check=False)
    return Outcome(done.returncode, done.stdout, [json.loads(line) for line in done.stderr.splitlines()], [])


@pytest.mark.parametrize("simulated", [False, True])
def test_all_that_it_can_do(firmware: Path, simulated: bool) -> None:
    ran = run(
        firmware, "--free", "--input", "--until", "!~", "--max-seconds", "5", simulated=simulated, given=b"ab"
    )
    assert ran.end["event"] == "until" and ran.end["clock_hz"] == HZ
    numbers = struct.unpack(f"<{2 * NUMBERS}I", ran.output[: 8 * NUMBERS])
    for number in range(2):
        clock, before, after, again, long, short, longest, last, read, *registers = numbers[
            number * NUMBERS : (number + 1) * NUMBERS
        ]
        assert clock == HZ
        assert before < 40 and 120 <= after <= 200 and again < 40
        # A round of SUBS and BNE is 1 + 1 + 1, and the calls are around it.
        assert 90_000 < long < 90_100 and 900 < short < 1000 and 900 < last < 1000
        assert 19_200_000 < longest < 19_200_100
        assert read == b"ab"[number]
        assert registers == [
            *(208, 1 << 13 | 3 << 2),  # 24 MHz / 115,200; on, sender, receiver
            *(2 << 4 | 2 << 6, 7 << 8 | 7 << 12),  # the pins are the UART's
            *(8 | 192 << 6 | 3 << 16 | 1 << 22 | 4 << 24, 2 | 2 << 2),  # the PLL: from the crystal, used
            0x83 | 3 << 16 | 3 << 24,  # oscillators and PLL on and ready
            7 << 8,  # no wait states, caches and prefetch on
            1 + number,  # the mark
            *(1 << 24, 1, 0x410FC241),  # trace on, counter on, the core's number
        ]


def test_the_paint_goes_to_the_stacks_end_on_a_board_alone(firmware: Path) -> None:
    counts = []
    for simulated in (False, True):
        free = ("--free", "--input", "--until", "!~", "--max-seconds", "5")
        counts.append(run(firmware, *free, simulated=simulated, given=b"ab").end["cycle"])
    assert (
        counts[0] - counts[1] > 4 * 7000 * 5
    )  # four times 8192 words in place of 1024, painted and looked at


def test_a_byte_takes_its_time_on_the_line(tmp_path: Path) -> None:
    """Ten bits a byte at 24 MHz / 208; the second byte waits in the data register while the first is sent."""
    source = """
#include "hal.h"
int main(void) {
    hal_init();
    for (int i = 0; i < 100; i++) { hal_write('a'); }
    hal_write('!');
    __asm__ volatile("cpsid i");
    for (;;) {}
}
"""
    image = read_image(built(tmp_path / "line.elf", source), Catalog.load().device("stm32f4"))
    seen: list[bytes] = []
    ended = run_freely(image, Catalog.load().device("stm32f4"), FreeRun(), seen.append)
    assert b"".join(seen) == b"a" * 100 + b"!" and ended.reason == "stop"
    assert 99 * 2080 < ended.cycles < 101 * 2080


@pytest.mark.parametrize(
    ("code", "cycles"),
    [
        ("ldr r0, [sp]; ldr r1, [sp, #4]; ldr.w r2, [sp, #8]", 3),  # all of them overlap
        ("nop; itt ne; ldrne r0, [sp]; ldrne.w r1, [sp]", 3),  # skipped
        ("nop; itt eq; ldreq r0, [sp]; ldreq.w r1, [sp]", 5),
    ],
)
def test_where_the_engine_cuts_straight_code_changes_nothing(tmp_path: Path, code: str, cycles: int) -> None:
    """Loads on both sides of a cut overlap, and an IT block continues."""
    rounds = 700
    source = f"""
#include "hal.h"
#define CYCLES (*(volatile uint32_t *)0xE0001004)
#define ROUNDS(name, n) \\
    __attribute__((naked, noinline)) void name(void) {{ \\
        __asm__ volatile(".syntax unified; cmp r0, r0; .rept " n "; {code}; .endr; bx lr"); \\
    }}
ROUNDS(once, "{rounds}")
ROUNDS(twice, "{2 * rounds}")
static void timed(void (*rounds)(void)) {{
    uint32_t before = CYCLES, took;
    rounds();
    took = CYCLES - before;
    for (int i = 0; i < 32; i += 8) {{
        hal_write((uint8_t)(took >> i));
    }}
}}
int main(void) {{
    hal_init();
    timed(once);
    timed(twice);
    __asm__ volatile("cpsid i");
    for (;;) {{}}
}}
"""
    device = Catalog.load().device("stm32f4")
    seen: list[bytes] = []
    run_freely(read_image(built(tmp_path / "cut.elf", source), device), device, FreeRun(), seen.append)
    once, twice = struct.unpack("<II", b"".join(seen))
    assert twice - once == rounds * cycles


def test_the_counter_is_set_stopped_and_continued(tmp_path: Path) -> None:
    source = """
#include "hal.h"
#define CYCLES (*(volatile uint32_t *)0xE0001004)
#define CONTROL (*(volatile uint32_t *)0xE0001000)
static void number(uint32_t value) { for (int i = 0; i < 32; i += 8) { hal_write((uint8_t)(value >> i)); } }
int main(void) {
    hal_init();
    CYCLES = 1000000;
    uint32_t set = CYCLES;
    CONTROL = 0;
    uint32_t stopped = CYCLES, still = CYCLES;
    CONTROL = 1;
    uint32_t continued = CYCLES;
    number(set); number(stopped); number(still); number(continued);
    __asm__ volatile("cpsid i");
    for (;;) {}
}
"""
    device = Catalog.load().device("stm32f4")
    seen: list[bytes] = []
    run_freely(read_image(built(tmp_path / "dwt.elf", source), device), device, FreeRun(), seen.append)
    set_, stopped, still, continued = struct.unpack("<IIII", b"".join(seen))
    assert 1_000_000 < set_ < stopped == still < continued < 1_000_030


def test_what_is_not_modelled_is_told(tmp_path: Path) -> None:
    source = """
#include "hal.h"
#define AT(address) (*(volatile uint32_t *)(address))
int main(void) {
    hal_init();
    AT(0x40023C00) = 5;  /* wait states */
    AT(0x40013000) = 1;  /* SPI1 */
    AT(0x40000000) = 1;  /* TIM2 */
    __asm__ volatile("cpsid i");
    for (;;) {}
}
"""
    device = Catalog.load().device("stm32f4")
    ended = run_freely(
        read_image(built(tmp_path / "told.elf", source), device), device, FreeRun(), lambda _: None
    )
    assert {note.split(":")[0] for note in ended.notes} == {"the flash's wait states", "SPI", "the timers"}


def test_a_profile_counts_every_cycle(tmp_path: Path) -> None:
    """Calls, divisions, IT blocks and taken branches: the parts make the whole."""
    source = """
#include "hal.h"
static volatile uint32_t input = 1000, zero;
__attribute__((noinline)) uint32_t divided(uint32_t a, uint32_t b) { return a / b; }
__attribute__((noinline)) uint32_t chosen(uint32_t *p, uint32_t n) { if (n & 1) { *p += n; } return *p; }
int main(void) {
    hal_init();
    uint32_t sum = zero;
    for (uint32_t i = 1; i < 50; i++) { sum += divided(input, i); chosen(&sum, i); }
    hal_write((uint8_t)sum);
    __asm__ volatile("cpsid i");
    for (;;) {}
}
"""
    device = Catalog.load().device("stm32f4")
    found = profile(read_image(built(tmp_path / "p.elf", source), device), device, FreeRun(), lambda _: None)
    functions = {cost.name: cost for cost in found.functions}
    assert sum(cost.self_cycles for cost in found.functions) == found.ended.cycles
    assert functions["divided"].calls == functions["chosen"].calls == 49
    # BX LR is 1 + 2, UDIV 2 + 2 and one for each four bits of the quotient: 10 for 1000 / 1, 5 for 1000 / 49.
    # One more if the function, which begins with UDIV, is in the second half of a word.
    least = 3 + 2 + 2 + 2 + (functions["divided"].address >> 1 & 1)
    assert functions["divided"].cycles_range is not None
    assert functions["divided"].cycles_range[::2] == (least, least + 1)
