"""Every chip of drivers/arm_plain_chips.h with its hal: clock, baud rate, counter, stack, a byte in and out.

And what is reported of parts that it does not have, and of firmware that does not fit.
"""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import pytest

from motecrypt.base.errors import InputError
from motecrypt.build.toolchain.scripts import link_flags
from motecrypt.catalog import FIRMWARE, Catalog
from motecrypt.simulate.emulate.images import read_image
from motecrypt.simulate.emulate.profiling import profile
from motecrypt.simulate.emulate.run import FreeRun, Uart, run_freely
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("pico")
CATALOG = Catalog.load()
DEVICES = [
    name
    for name, device in CATALOG.devices.items()
    if device.runner == "arm" and name not in ("pico", "stm32f4")
]
ROUNDS = {"cortex-m0": 4, "cortex-m0plus": 3, "cortex-m3": 3, "cortex-m4": 3, "cortex-m33": 3}
"""Cycles of SUBS and a taken branch."""
SOURCE = """
#include "hal.h"
static void number(uint32_t value) { for (int i = 0; i < 32; i += 8) { hal_write((uint8_t)(value >> i)); } }
__attribute__((naked, noinline, aligned(16))) static void rounds(uint32_t count) {
    __asm__ volatile(".syntax unified\\n1: subs r0, #1\\n bne 1b\\n bx lr");
}
__attribute__((noinline)) static void deep(void) {
    volatile uint8_t room[200];
    for (int i = 0; i < 200; i++) { room[i] = 1; }
}
__attribute__((noinline, noclone)) static uint32_t timed(uint32_t count) {
    hal_timer_start();
    rounds(count);
    return hal_timer_cycles();
}
int main(void) {
    uint32_t once, twice, depth;
    hal_init();
    hal_stack_paint();
    deep();
    depth = hal_stack_depth();
    once = timed(1000);
    twice = timed(3000);
    hal_mark(1);
    hal_mark(0);
    number(hal_clock_hz());
    number(twice - once);
    number(depth);
    for (int i = 0; i < 100; i++) { hal_write('-'); }
    hal_write(hal_read());
    TOUCH;
    __asm__ volatile("cpsid i");
    for (;;) {}
}
"""


def built(device: str, folder: Path, touch: str = "(void)0") -> Path:
    described = CATALOG.device(device)
    source, elf = folder / "chip.c", folder / "chip.elf"
    source.write_text(SOURCE.replace("TOUCH", touch))
    command: list[str | Path] = ["arm-none-eabi-gcc", *described.compiler.machine_flags, "-O1", source]
    command += [described.folder / name for name in described.hal]
    command += [f"-I{FIRMWARE / 'include'}", *link_flags(described, "flash"), "-o", elf]
    subprocess.run(command, check=True, timeout=60)
    return elf


@pytest.mark.parametrize("name", DEVICES)
def test_a_chip_comes_up_as_its_folder_says(tmp_path: Path, name: str) -> None:
    device = CATALOG.device(name)
    image = read_image(built(name, tmp_path), device)
    given = tmp_path / "given"
    given.write_bytes(b"x")
    seen: list[bytes] = []
    with given.open() as port:
        ended = run_freely(image, device, FreeRun(uart=Uart(input=port.fileno()), max_seconds=1), seen.append)
    output = b"".join(seen)
    assert ended.reason == "stop" and not ended.notes
    clock, rounds, depth = struct.unpack("<III", output[:12])
    assert clock == device.clock_hz and output[12:] == b"-" * 100 + b"x"
    # A cache may have kept a line of the first call for the second one.
    assert -16 < rounds - 2000 * ROUNDS[device.core] <= 0
    assert rounds == 2000 * ROUNDS[device.core] or "code_lines" in device.simulator.get("memory", {})
    assert 200 <= depth < 400
    # 112 bytes go out before the answer, ten bits each at 115,200 baud.
    line = ended.seconds - 4000 * ROUNDS[device.core] / device.clock_hz
    assert 112 * 10 / 115_200 * 0.98 < line < 112 * 10 / 115_200 * 1.02 + 0.0015


@pytest.mark.parametrize("name", ["due", "mkrzero", "nrf52840"])
def test_a_profile_has_every_cycle_that_the_core_waited(tmp_path: Path, name: str) -> None:
    device = CATALOG.device(name)
    given = tmp_path / "given"
    given.write_bytes(b"x")
    with given.open() as port:
        free = FreeRun(uart=Uart(input=port.fileno()), max_seconds=1)
        found = profile(read_image(built(name, tmp_path), device), device, free, lambda _: None)
    assert sum(cost.self_cycles for cost in found.functions) == found.ended.cycles


@pytest.mark.parametrize(
    ("name", "touch", "said"),
    [
        ("stm32l1", "*(volatile uint32_t *)0x40013000 = 1", "SPI: not modelled"),
        ("stm32l1", "*(volatile uint32_t *)0xE000E100 = 1", "interrupts: not modelled"),
        ("nrf52840", "*(volatile uint32_t *)0x4000E000 = 1", "the AES block: not modelled"),
        ("pico2", "*(volatile uint32_t *)0x400F8000 = 1", "the SHA-256 block: not modelled"),
    ],
)
def test_what_is_not_modelled_is_told(tmp_path: Path, name: str, touch: str, said: str) -> None:
    device = CATALOG.device(name)
    given = tmp_path / "given"
    given.write_bytes(b"x")
    with given.open() as line:
        free = FreeRun(uart=Uart(input=line.fileno()), max_seconds=1)
        ended = run_freely(read_image(built(name, tmp_path, touch), device), device, free, lambda _: None)
    assert [note for note in ended.notes if note.startswith(said)]


@pytest.mark.parametrize(
    ("name", "address", "said"),
    [
        ("stm32l1", 0x20008000, "beyond the RAM"),
        ("stm32l1", 0x1FF00000, "boot loader in ROM"),
        ("mkrzero", 0x806024, "calibration"),
    ],
)
def test_an_address_without_anything_is_told_in_one_line(
    tmp_path: Path, name: str, address: int, said: str
) -> None:
    device = CATALOG.device(name)
    touch = f"(void)*(volatile uint32_t *){address:#x}"
    given = tmp_path / "given"
    given.write_bytes(b"x")
    with given.open() as line:
        free = FreeRun(uart=Uart(input=line.fileno()), max_seconds=1)
        ended = run_freely(read_image(built(name, tmp_path, touch), device), device, free, lambda _: None)
    assert ended.reason == "fault"
    assert f"read from {address:#x}, where nothing is" in ended.detail and said in ended.detail


def test_firmware_that_is_larger_than_the_chip_is_refused_in_one_line(tmp_path: Path) -> None:
    device = CATALOG.device("stm32l1")
    big = "static const uint8_t big[300000] = {1}; number(big[hal_read()])"
    with pytest.raises(InputError, match=r"too large: needs 30\d,\d{3} of 262,144 bytes of flash$"):
        read_image(built("stm32l1", tmp_path, big), device)


def test_firmware_of_a_larger_core_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"another ARM core \(v7E-M.*stm32l1 is a cortex-m3; compile with"):
        source, elf = tmp_path / "m4.c", tmp_path / "m4.elf"
        source.write_text("void reset(void) {}\n")
        flags = [
            "-mcpu=cortex-m4",
            "-mthumb",
            "-mfloat-abi=soft",
            "-nostartfiles",
            "-nostdlib",
            "-Wl,-ereset",
        ]
        subprocess.run(["arm-none-eabi-gcc", *flags, source, "-o", elf], check=True, timeout=60)
        read_image(elf, CATALOG.device("stm32l1"))
