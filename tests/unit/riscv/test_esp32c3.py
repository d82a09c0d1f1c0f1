"""The ESP32-C3: cycles of its core, its cache, two addresses of a memory, what it lacks; its hal.c.

Before a snippet a0 is 0, a1 2, a2 an address in RAM, a3 4. It begins at a multiple of 4.
"""

from __future__ import annotations

import dataclasses
import struct
import subprocess
from pathlib import Path

import pytest
from riscv_snippets import device, run

from motecrypt.base.errors import InputError
from motecrypt.catalog import FIRMWARE
from motecrypt.simulate.emulate.images import Segment, elf_of, read_image
from motecrypt.simulate.emulate.profiling import profile
from motecrypt.simulate.emulate.run import FreeRun, Uart, run_freely
from motecrypt.simulate.runners import Fault, Options
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("riscv")
FOLDER = FIRMWARE / "devices" / "esp32c3"
STORE = 1


@pytest.mark.parametrize("trace", [False, True], ids=["fast", "traced"])
@pytest.mark.parametrize(
    ("text", "cycles"),
    [
        pytest.param("", 0, id="nothing"),
        pytest.param(
            "c.add a0, a1; add a0, a1, a3; lui a4, 5; mul a4, a1, a3; add a4, a4, a3", 5, id="one cycle"
        ),
        pytest.param("lw a0, 0(a2); sw a1, 4(a2); lbu a0, 0(a2)", 3, id="one for loads and stores"),
        pytest.param("lw a0, 0(a2); addi a0, a0, 1", 2 + 1, id="a loaded word used at once"),
        pytest.param("c.bnez a0, 1f; c.nop; 1: c.nop", 3, id="not taken"),
        pytest.param("c.beqz a0, 1f; c.nop; 1: c.nop", 3 + 1, id="taken"),
        pytest.param("c.j 1f; c.nop; 1: c.nop", 3 + 1, id="jump"),
        pytest.param(
            "jal t0, 1f; c.j 2f; c.nop; 1: c.jr t0; c.nop; 2: c.nop", 3 * 3 + 1, id="call, return, jump"
        ),
    ],
)
def test_a_snippet_with_a_warm_cache(tmp_path: Path, text: str, cycles: int, trace: bool) -> None:
    assert run(tmp_path, text, device("esp32c3"), Options(trace=trace)).cycles == STORE + cycles


def test_a_line_of_the_flash_is_read_once(tmp_path: Path) -> None:
    """Code and constants: each line of 32 bytes is missed once, and costs 168 clocks of 4 cycles."""
    target = device("esp32c3")
    tables = 0x3C000000 + 0x8000
    loads = f"li a4, {tables:#x}; lw a0, 0(a4); lw a0, 28(a4); lw a0, 32(a4); lw a0, 0(a4)"
    warm = run(tmp_path, loads, target, Options(cache="warm"))
    cold = run(tmp_path, loads, target, Options(cache="cold"))
    none = ";".join([loads.partition(";")[0], *["addi a0, a4, 0"] * 4])
    empty = run(tmp_path, none, target, Options(cache="cold"))
    in_ram = run(tmp_path, loads.replace(f"{tables:#x}", "0x3fc80400"), target, Options(cache="cold"))
    misses = cold.extra["cache_misses"]
    assert cold.cycles == cold.extra["core_cycles"] + 4 * 168 * misses
    assert misses == 3 and cold.extra["core_cycles"] <= warm.cycles, "waiting for a line hides late results"
    assert empty.extra["cache_misses"] == in_ram.extra["cache_misses"] == misses - 2


def test_ram_has_an_address_for_data_and_one_for_code(tmp_path: Path) -> None:
    """addi a0, a0, 1 is written as data, runs, and is then overwritten through both addresses."""
    text = """
        li a4, 0x00150513; li a5, 0x00008067; sw a4, 0(a2); sw a5, 4(a2)
        li t1, 0x40380400; jalr t1; li a4, 0x00450513; sw a4, 0(a2); jalr t1
        li a4, 5; bne a0, a4, 2f; li a4, 0x00250513; sw a4, 0(t1); jalr t1; lw a5, 0(a2); bne a4, a5, 2f
        li a4, 7; beq a0, a4, 1f; 2: ebreak; 1: nop
    """
    assert run(tmp_path, text, device("esp32c3")).cycles > 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (".word 0x00b6252f", "amoadd.w (00b6252f) at 0x420000"),
        (".word 0x00b6252f", "is not in the core esp32c3"),
        (".word 0x00b57553", "a floating-point instruction (00b57553) at 0x420000"),
        (".word 0", "illegal instruction (0000) at 0x420000"),
        ("lw a0, 2(a2)", "unaligned access to 0x3fc80402"),
        ("li a0, 0x42800000; lw a0, 0(a0)", "where nothing is"),
        ("li a0, 0x42400000; lw a0, 0(a0)", "(beyond the flash)"),
        ("li a0, 0x42000000; sw a0, 0(a0)", "wrote to the flash at 0x420000"),
        ("li a0, 0x3c000000; sw a0, 0(a0)", "wrote to the flash at 0x3c000000"),
        ("li a0, 0x3fcde000; lw a0, 0(a0)", "(beyond the RAM; its end belongs to the boot ROM)"),
        ("li a0, 0x4037c000; lw a0, 0(a0)", "(the cache's memory is not modelled as RAM)"),
        ("li a0, 0x40000010; jr a0", "(the boot ROM is not modelled)"),
    ],
)
def test_what_the_chip_lacks_is_a_fault(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(Fault) as fault:
        run(tmp_path, text, device("esp32c3"))
    assert said in str(fault.value)


# ---- the hal, and firmware ----


def built(folder: Path, source: str, *machine: str) -> Path:
    (folder / "firmware.c").write_text('#include "hal.h"\n' + source)
    own = [FOLDER / file for file in ("hal.c", "startup.S")]
    flags = machine or device("esp32c3").compiler.machine_flags
    command: list[str | Path] = ["riscv64-unknown-elf-gcc", *flags, "-Os", "-g", "-nostartfiles"]
    command += [f"-I{FIRMWARE / 'include'}", f"-T{FOLDER / 'flash.ld'}", *own, folder / "firmware.c"]
    subprocess.run([*command, "-o", folder / "firmware.elf"], check=True, timeout=60)
    return folder / "firmware.elf"


SOURCE = """
static const uint32_t table[2] = {0x12345678, 0x9abcdef0};
static uint32_t set = 77, cleared;
static void number(uint32_t value) { for (int i = 0; i < 4; i++) { hal_write((uint8_t)value); value >>= 8; } }
static void __attribute__((noinline)) deep(void) {
    volatile uint8_t room[120];
    for (int i = 0; i < 120; i++) { room[i] = 1; }
}
int main(void) {
    hal_init();
    number(hal_clock_hz());
    hal_stack_paint();
    number(hal_stack_depth());
    deep();
    number(hal_stack_depth());
    hal_timer_start();
    uint32_t left = 9000;
    __asm__ volatile(".balign 4\\n1: c.addi %0, -1\\n c.bnez %0, 1b" : "+r"(left));
    number(hal_timer_cycles());
    hal_mark(5);
    number(*(volatile uint32_t *)0x60008058);
    number(hal_read());
    number(table[(set - 76) & 1]);
    number(set + cleared);
    number((uint32_t)&table);
    for (;;) {}
}
"""


def test_the_hal_does_what_it_says(tmp_path: Path) -> None:
    target = device("esp32c3")
    seen: list[bytes] = []
    line = tmp_path / "line"
    line.write_bytes(b"k")
    with line.open() as file:
        how = FreeRun(uart=Uart(input=file.fileno()))
        ended = run_freely(read_image(built(tmp_path, SOURCE), target), target, how, seen.append)
    numbers = struct.unpack("<9I", b"".join(seen))
    clock, before, after, timed, mark, read, entry, data, address = numbers
    assert ended.reason == "stop" and ended.extra["clock_hz"] == 160_000_000 == clock == target.clock_hz
    assert before < 40 and 120 <= after <= 200
    assert 9000 * 4 - 10 < timed < 9000 * 4 + 60
    assert (mark, read, entry, data) == (5, ord("k"), 0x9ABCDEF0, 77)
    assert 0x3C000000 < address < 0x3C400000, "constant tables are read where data of the flash are"


SET_UP = """
static void number(uint32_t value) { for (int i = 0; i < 4; i++) { hal_write((uint8_t)value); value >>= 8; } }
static const uint32_t blocks[] = {0x6001f040, 0x60008080, 0x600c0000, 0x600c0050};
int main(void) {
    for (int i = 0; i < 64; i++) { ((volatile uint32_t *)blocks[i / 16])[i % 16] = 0x7fffffff; }
    *(volatile uint32_t *)0x60000078 = 0x3ff000;
    hal_init();
    for (int i = 0; i < 64; i++) { number(((volatile uint32_t *)blocks[i / 16])[i % 16]); }
    number(*(volatile uint32_t *)0x60000014);
    number(*(volatile uint32_t *)0x60000078 & 0x7ff000);
    for (;;) {}
}
"""
WRITTEN = {
    0x6001F048: 0,  # TIMG_WDTCONFIG0
    0x6001F064: 0x50D83AA1,  # TIMG_WDTWPROTECT
    0x60008090: 0,  # RTC_CNTL_WDTCONFIG0
    0x600080A8: 0x50D83AA1,  # RTC_CNTL_WDTWPROTECT
    0x600080AC: 0xFFFFFFFF,  # RTC_CNTL_SWD_CONF: SWD_AUTO_FEED_EN
    0x600080B0: 0x8F1D312A,  # RTC_CNTL_SWD_WPROTECT
    0x600C0008: 0x7FFFFFFD,  # SYSTEM_CPU_PER_CONF: 480 MHz, divided by 3
    0x600C0058: 0x7FFFF7FF,  # SYSTEM_SYSCLK_CONF: the PLL
}
"""Registers of the manual after the set-up. Before, they and those around them had all bits but one."""


def test_the_set_up_writes_the_registers_of_the_manual_and_no_others(tmp_path: Path) -> None:
    target, seen = device("esp32c3"), list[bytes]()
    run_freely(read_image(built(tmp_path, SET_UP), target), target, FreeRun(max_seconds=1), seen.append)
    *found, divider, clock = struct.unpack("<66I", b"".join(seen))
    blocks = (0x6001F040, 0x60008080, 0x600C0000, 0x600C0050)
    expected = {block + 4 * i: 0x7FFFFFFF for block in blocks for i in range(16)} | WRITTEN
    assert dict(zip(expected, found, strict=True)) == expected
    # 40 MHz from the crystal (3), on (1 << 2), divided by 1, for 115,200 baud in sixteenths
    assert divider == 347 | 4 << 20 and round(16 * 40e6 / 115_200) == 16 * 347 + 4 and clock == 7 << 20


def test_it_begins_as_direct_boot_wants_it(tmp_path: Path) -> None:
    target = device("esp32c3")
    image = read_image(built(tmp_path, SOURCE), target)
    first = image.segments[0]
    assert first.address == 0x42000000 and first.data[:8] == bytes.fromhex("1d04dbae1d04dbae")
    assert image.entry == 0x42000008, "the boot ROM jumps to what follows the two words"


def test_a_profile_of_a_firmware(tmp_path: Path) -> None:
    target = device("esp32c3")
    found = profile(
        read_image(built(tmp_path, SOURCE), target), target, FreeRun(max_seconds=0.01), lambda _: None
    )
    costs = {cost.name: cost for cost in found.functions}
    assert costs["deep"].calls == 1 and costs["number"].calls == 5
    assert sum(cost.self_cycles for cost in found.functions if cost.calls is not None) == found.ended.cycles


def test_firmware_that_is_too_large_or_for_another_core(tmp_path: Path) -> None:
    target = device("esp32c3")
    small = dataclasses.replace(
        target, memory={**target.memory, "flash": dataclasses.replace(target.memory["flash"], bytes=512)}
    )
    with pytest.raises(InputError, match=r"too large: needs .* of 512 bytes of flash"):
        read_image(built(tmp_path, SOURCE), small)
    large = "static volatile uint8_t data[390000]; int main(void) { data[hal_read()] = 1; }"
    with pytest.raises(InputError, match=r"its variables take \d+,\d+ of 385,024 bytes of RAM"):
        read_image(built(tmp_path, large), target)
    foreign = tmp_path / "foreign.elf"
    foreign.write_bytes(elf_of([Segment(0x42000000, b"\0\0\0\0")], 40, 0x42000000))
    with pytest.raises(InputError, match="built for ARM, and esp32c3 is ESP32-C3; choose another --device"):
        read_image(foreign, target)
