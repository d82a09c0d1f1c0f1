"""The HiFive1's hal.c on the simulated chip: clock, line, timer, marks and stack; free runs and profiles."""

from __future__ import annotations

import json
import struct
import subprocess
from pathlib import Path

import pytest
from riscv_snippets import device

from motecrypt.catalog import FIRMWARE
from motecrypt.simulate.emulate.images import Image, read_image
from motecrypt.simulate.emulate.profiling import Profile, profile
from motecrypt.simulate.emulate.run import Ended, FreeRun, run_freely
from motecrypt.simulate.runners import Options, riscv
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("riscv")
DEVICE = FIRMWARE / "devices" / "hifive1"
HZ = 16_000_000
NUMBERS = 4 + 4 + 1 + 10
STOP = "for (;;) {}"


def built(target: Path, source: Path | str) -> Path:
    own = [DEVICE / name for name in ("hal.c", "startup.S")]
    if isinstance(source, str):
        (target.with_suffix(".c")).write_text(source)
        source = target.with_suffix(".c")
    flags = [
        *device("hifive1").compiler.machine_flags,
        "-Os",
        "-g",
        "-nostartfiles",
        f"-I{FIRMWARE / 'include'}",
    ]
    command: list[str | Path] = [
        "riscv64-unknown-elf-gcc",
        *flags,
        f"-T{DEVICE / 'flash.ld'}",
        *own,
        source,
        "-o",
        target,
    ]
    subprocess.run(command, check=True, timeout=60)
    return target


def image(folder: Path, source: str) -> Image:
    return read_image(built(folder / "firmware.elf", source), device("hifive1"))


def free(folder: Path, source: str, how: FreeRun | None = None) -> tuple[Ended, bytes]:
    """How a firmware ends and what it sends."""
    seen: list[bytes] = []
    ended = run_freely(image(folder, source), device("hifive1"), how or FreeRun(), seen.append)
    return ended, b"".join(seen)


@pytest.mark.parametrize("simulated", [False, True])
def test_all_that_it_can_do(tmp_path: Path, simulated: bool) -> None:
    firmware = built(tmp_path / "hal.elf", Path(__file__).parents[1] / "drivers" / "hal_firmware.c")
    command = [str(part) for part in riscv.command(device("hifive1"), firmware, Options())]
    for key in ["--max-cycles", *([] if simulated else ["--simulated"])]:
        del command[command.index(key) : command.index(key) + 2]
    command[command.index("--events") + 1] = "2"
    command += ["--free", "--input", "--until", "!~", "--max-seconds", "9"]
    done = subprocess.run(command, input=b"ab", capture_output=True, timeout=60, check=False)
    end = json.loads(done.stderr.splitlines()[-1])
    assert end["event"] == "until" and end["clock_hz"] == HZ
    numbers = struct.unpack(f"<{2 * NUMBERS}I", done.stdout[: 8 * NUMBERS])
    for number in range(2):
        clock, before, after, again, long, short, longest, last, read, *registers = numbers[
            number * NUMBERS : (number + 1) * NUMBERS
        ]
        assert clock == HZ
        assert before < 40 and 120 <= after <= 200 and again < 40
        assert 90_000 < long < 90_100 and 900 < short < 1000 and 900 < last < 1000
        assert 19_200_000 < longest < 19_200_100
        assert read == b"ab"[number]
        assert registers == [
            *(137, 1, 1),  # 16 MHz / 138; sender and receiver on
            *(3 << 16, 0),  # pins 16 and 17 are UART0's
            4,  # the ring oscillator is off
            3 << 30,  # the crystal is on and ready
            1 << 31 | 7 << 16,  # past the PLL, from the crystal, used
            1 << 8,  # not divided
            1 + number,  # the mark
        ]


def test_a_byte_takes_its_time_on_the_line(tmp_path: Path) -> None:
    """Ten bits a byte at 16 MHz / 138; the sender holds eight."""
    send = "for (int i = 0; i < 100; i++) { hal_write('a'); } hal_write('!');"
    ended, seen = free(tmp_path, f'#include "hal.h"\nint main(void) {{ hal_init(); {send} {STOP} }}')
    assert seen == b"a" * 100 + b"!" and ended.reason == "stop"
    assert 92 * 1380 < ended.cycles < 95 * 1380


def test_seconds_follow_the_clock_that_is_set(tmp_path: Path) -> None:
    """MTIME counts 32,768 a second, and a run ends after its simulated time."""
    source = """
#include "hal.h"
#define AT(address) (*(volatile uint32_t *)(address))
int main(void) {
    hal_init();
    while (AT(0x0200BFF8) < 3277) {}
    hal_write((uint8_t)'t');
    AT(0x10008008) = 1u << 18;   /* back to the ring oscillator of 13.8 MHz */
    __asm__ volatile("csrsi mstatus, 8");
    for (;;) {}
}
"""
    ended, seen = free(tmp_path, source, FreeRun(max_seconds=0.3))
    assert seen == b"t" and ended.reason == "limit"
    assert ended.seconds == pytest.approx(0.3, abs=0.002)
    assert ended.cycles == pytest.approx(0.1 * HZ + 0.2 * 13.8e6, rel=0.01)


def test_the_pll_multiplies_the_crystal(tmp_path: Path) -> None:
    """R 2, F 2 x 32, Q 8: 16 MHz / 2 x 64 / 8; and the output by 4 (manual, 6.5)."""
    source = f"""
#include "hal.h"
#define AT(address) (*(volatile uint32_t *)(address))
int main(void) {{
    hal_init();
    AT(0x10008008) = 1u << 17 | 3u << 10 | 31u << 4 | 1u;
    AT(0x1000800C) = 1u;
    AT(0x10008008) |= 1u << 16;
    {STOP}
}}
"""
    ended, _ = free(tmp_path, source)
    assert ended.extra["clock_hz"] == 16e6 / 2 * 64 / 8 / 4


def test_what_is_not_modelled_is_told(tmp_path: Path) -> None:
    source = f"""
#include "hal.h"
#define AT(address) (*(volatile uint32_t *)(address))
int main(void) {{
    hal_init();
    AT(0x10014000) = 1; AT(0x10016000) = 1; AT(0x02004000) = 5; (void)AT(0x02004004);
    {STOP}
}}
"""
    ended, _ = free(tmp_path, source)
    assert [note.split(":")[0] for note in ended.notes] == ["SPI", "I2C", "the timer's interrupt"]


def test_a_stack_is_counted_from_the_first_call(tmp_path: Path) -> None:
    source = f"""
#include "hal.h"
void __attribute__((naked, noinline)) deep(void) {{
    __asm__("addi sp, sp, -512; sw ra, 0(sp); addi sp, sp, 512; ret");
}}
int main(void) {{ deep(); {STOP} }}
"""
    ended, _ = free(tmp_path, source)
    assert ended.stack_bytes is not None and 512 <= ended.stack_bytes <= 512 + 32


SOURCE = f"""
#include "hal.h"
volatile uint32_t out;
static uint32_t __attribute__((noinline)) inner(uint32_t n) {{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < n; i++) {{ sum += i * i; }}
    return sum;
}}
static uint32_t __attribute__((noinline)) outer(uint32_t n) {{
    volatile uint32_t room[20];
    room[n] = inner(10) + inner(20);
    return room[n] / 7;
}}
int main(void) {{
    hal_init();
    for (uint32_t i = 0; i < 5; i++) {{ out += outer(i); }}
    {STOP}
}}
"""


def profiled(folder: Path) -> Profile:
    return profile(image(folder, SOURCE), device("hifive1"), FreeRun(), lambda _: None)


def test_a_profile_counts_calls_cycles_and_stack(tmp_path: Path) -> None:
    found = profiled(tmp_path)
    costs = {cost.name: cost for cost in found.functions}
    inner, outer = costs["inner"], costs["outer"]
    assert (inner.calls, outer.calls) == (10, 5)
    assert outer.cycles == outer.self_cycles + inner.cycles
    assert (
        outer.cycles_range is not None
        and 5 * outer.cycles_range[0] <= outer.cycles <= 5 * outer.cycles_range[2]
    )
    assert inner.stack_bytes == 0 and outer.stack_bytes is not None and 80 <= outer.stack_bytes <= 128
    assert outer.file.endswith("firmware.c") and found.calls_dropped == 0
    assert any(stack[-3:] == ("main", "outer", "inner") for stack, _ in found.stacks)


def test_a_profile_counts_every_cycle(tmp_path: Path) -> None:
    found = profiled(tmp_path)
    assert sum(cost.self_cycles for cost in found.functions if cost.calls is not None) == found.ended.cycles
    rows = {row.line: row.times for row in found.lines if row.file.endswith("firmware.c")}
    assert (rows[6], rows[11]) == (10, 5)
