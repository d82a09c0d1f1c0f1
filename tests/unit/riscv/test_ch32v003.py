"""The CH32V003: cycles of its core, the instructions that it has and lacks, and its hal.c.

The cycles are counted by hand from measurements of the chip (github.com/jnk0le/random, "ch32v003 (qkv2)").
Before a snippet a0 is 0, a1 2, a2 an address in RAM, a3 4. It begins at a multiple of 4.
"""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

import pytest
from riscv_snippets import device, run

from motecrypt.base.errors import InputError
from motecrypt.base.model import Device
from motecrypt.catalog import FIRMWARE, Catalog
from motecrypt.measuring import bench
from motecrypt.results import Results
from motecrypt.simulate.emulate.images import read_image
from motecrypt.simulate.emulate.profiling import profile
from motecrypt.simulate.emulate.run import FreeRun, Uart, run_freely
from motecrypt.simulate.runners import Fault, Options
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("riscv")
STORE = 2


CLOCKS = {"ch32v003": 48_000_000, "ch32v003-24mhz": 24_000_000}


def chip(wait_states: int = 1) -> Device:
    return device("ch32v003" if wait_states else "ch32v003-24mhz")


NO_WAIT_STATES = [
    pytest.param("", 0, id="nothing"),
    pytest.param("c.add a0, a1; c.li a4, 1; add a0, a1, a3; lui a4, 5", 4, id="one cycle"),
    pytest.param("lw a0, 0(a2); lbu a1, 4(a2); sw a0, 0(a2); sb a0, 5(a2)", 8, id="two for loads and stores"),
    pytest.param("lw a0, 0(a2); c.addi a0, 1", 2 + 1, id="a loaded word used at once"),
    pytest.param("c.bnez a0, 1f; c.nop; 1: c.nop", 3, id="not taken"),
    pytest.param("c.beqz a0, 1f; c.nop; 1: c.nop", 3 + 1, id="taken"),
    pytest.param("c.nop; c.beqz a0, 1f; c.nop; 1: c.nop", 1 + 3 + 1, id="taken to the second half of a word"),
    # A target of 4 bytes in two words: one more.
    pytest.param(
        ".option norvc; beqz a0, 1f; .option rvc; c.nop; .option norvc; 1: addi a0, a0, 1",
        3 + 1 + 1,
        id="to two words",
    ),
    pytest.param("c.j 1f; c.nop; 1: c.nop", 3 + 1, id="jump"),
    pytest.param(
        "jal t0, 1f; c.j 2f; c.nop; 1: c.jr t0; c.nop; 2: c.nop", 4 * 3 - 3 + 1, id="call, return, jump"
    ),
    # li 1; nine rounds of 1 + 3, the last one 1 + 1
    pytest.param("c.li a4, 10; c.nop; 1: c.addi a4, -1; c.bnez a4, 1b", 1 + 1 + 9 * 4 + 2, id="loop"),
]


@pytest.mark.parametrize("trace", [False, True], ids=["fast", "traced"])
@pytest.mark.parametrize(("text", "cycles"), NO_WAIT_STATES)
def test_a_snippet_without_wait_states(tmp_path: Path, text: str, cycles: int, trace: bool) -> None:
    assert run(tmp_path, text, chip(0), Options(trace=trace)).cycles == STORE + cycles


# A word of the flash takes two cycles; two may come ahead. Before a snippet there is no word ahead.
ONE_WAIT_STATE = [
    pytest.param("", 0, id="nothing"),
    pytest.param(
        ".option norvc; add a0, a1, a3; add a0, a1, a3; add a0, a1, a3", 3 * 2, id="two for each 4 bytes"
    ),
    pytest.param("c.add a0, a1; c.add a0, a1; c.add a0, a1; c.add a0, a1", 4, id="one for each 2 bytes"),
    pytest.param(".option norvc; lw a0, 0(a2); lw a0, 4(a2)", 2 * 2, id="loads hide the words' time"),
    # The loads take 8 cycles, in which two further words come: the next two take one, the store's word waits.
    pytest.param(
        "c.lw a0, 0(a2); c.lw a0, 4(a2); c.lw a0, 0(a2); c.lw a0, 4(a2); .option norvc;"
        "add a0, a1, a3; add a0, a1, a3",
        8 + 1 + 1,
        id="words that came ahead",
    ),
    # The third of four needs the word whose fetch begins as the first one issues, at 8: it is there at 10.
    # The word after the fourth one is there at 14.
    pytest.param(
        "c.lw a0, 0(a2); c.lw a0, 4(a2); c.lw a0, 0(a2); c.lw a0, 4(a2); .option norvc;"
        "add a0, a1, a3; add a0, a1, a3; add a0, a1, a3; add a0, a1, a3",
        14,
        id="no more than two words come ahead",
    ),
    # Taken branches: 4 cycles, and the second word after the target waits again.
    pytest.param("c.beqz a0, 1f; c.nop; 1: c.nop; c.nop", 4 + 2, id="taken"),
    pytest.param(
        "c.nop; c.beqz a0, 1f; c.nop; c.nop; c.nop; 1: c.nop", 1 + 4 + 1 + 1, id="to the second half"
    ),
    pytest.param(".option norvc; beqz a0, 1f; nop; 1: nop", 4 + 2, id="taken to 4 bytes"),
]


@pytest.mark.parametrize(("text", "cycles"), ONE_WAIT_STATE)
def test_a_snippet_with_a_wait_state(tmp_path: Path, text: str, cycles: int) -> None:
    empty = run(tmp_path, "", chip()).cycles
    assert run(tmp_path, text, chip()).cycles - empty == cycles


def test_code_in_ram_does_not_wait(tmp_path: Path) -> None:
    """c.add and ret of 2 bytes each, copied to RAM: the call and the return are 3 each."""
    text = "li a4, 0x8082952e; sw a4, 0(a2); .balign 4; .option norvc; nop; nop; nop; jalr ra, 0(a2)"
    flash = run(tmp_path, text.replace("jalr ra, 0(a2)", "nop"), chip())
    assert 0 < run(tmp_path, text, chip()).cycles - flash.cycles < 10


@pytest.mark.parametrize(
    ("stored", "code", "value"),
    [
        # xw.c.lbu a4, 11(a2): offset bits 0, 4:3, 2:1 at 12, 11:10, 6:5
        (0xAABBCCDD, 0b001_1_01_100_01_110_00, 0xAA),
        # xw.c.lhu a4, 10(a2): offset bits 5:3, 2:1 at 12:10, 6:5
        (0xAABBCCDD, 0b001_001_100_01_110_10, 0xAABB),
    ],
)
def test_its_own_loads(tmp_path: Path, stored: int, code: int, value: int) -> None:
    text = (
        f"li a4, {stored:#x}; sw a4, 8(a2); .hword {code}; li a5, {value:#x}; beq a4, a5, 1f; ebreak; 1: nop"
    )
    run(tmp_path, text, chip())


def test_its_own_stores(tmp_path: Path) -> None:
    byte = 0b101_1_01_100_01_110_00  # xw.c.sb a4, 11(a2)
    half = 0b101_001_100_00_110_10  # xw.c.sh a4, 8(a2)
    text = (
        f"sw zero, 8(a2); li a4, 0x11223344; .hword {byte}; .hword {half}; lw a4, 8(a2);"
        "li a5, 0x44003344; beq a4, a5, 1f; ebreak; 1: nop"
    )
    run(tmp_path, text, chip())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (".word 0x02b50533", "mul (02b50533) at 0x"),
        (".word 0x02b50533", "is not in the core qingke-v2a"),
        (".word 0x02b54533", "div (02b54533) at"),
        (".word 0x00b6252f", "amoadd.w (00b6252f) at"),
        (".word 0x00b50833", "add (00b50833) at"),  # add x16, a0, a1
        (
            ".word 0x01058533",
            "names a register above x15, which is not in the core qingke-v2a",
        ),  # add a0, a1, x16
        ("li a0, 0x08000000; lw a0, 0(a0)", "(the flash is modelled at address 0 only)"),
        ("lw a0, 2(a2)", "unaligned access to 0x20000402"),
        ("li a0, 0x20000800; lw a0, 0(a0)", "(beyond the RAM)"),
    ],
)
def test_what_the_core_lacks_is_a_fault(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(Fault) as fault:
        run(tmp_path, text, chip())
    assert said in str(fault.value)


# ---- the hal, and firmware ----


def built(folder: Path, source: str, *flags: str, name: str = "ch32v003") -> Path:
    own_folder = FIRMWARE / "devices" / name
    (folder / "firmware.c").write_text('#include "hal.h"\n' + source)
    own = [own_folder / file for file in ("hal.c", "startup.S")]
    machine = flags or device("ch32v003").compiler.machine_flags
    command: list[str | Path] = ["riscv64-unknown-elf-gcc", *machine, "-Os", "-g", "-nostartfiles"]
    command += [f"-I{FIRMWARE / 'include'}", f"-T{own_folder / 'flash.ld'}", *own, folder / "firmware.c"]
    subprocess.run([*command, "-o", folder / "firmware.elf"], check=True, timeout=60)
    return folder / "firmware.elf"


SOURCE = """
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
    number(*(volatile uint32_t *)0x4002008C);
    number(*(volatile uint32_t *)0x40013808);
    number(hal_read());
    for (;;) {}
}
"""


@pytest.mark.parametrize("name", CLOCKS)
def test_the_hal_does_what_it_says(tmp_path: Path, name: str) -> None:
    target, hz = device(name), CLOCKS[name]
    seen: list[bytes] = []
    line = tmp_path / "line"
    line.write_bytes(b"k")
    with line.open() as file:
        how = FreeRun(uart=Uart(input=file.fileno()))
        ended = run_freely(read_image(built(tmp_path, SOURCE, name=name), target), target, how, seen.append)
    clock, before, after, timed, mark, divisor, read = struct.unpack("<7I", b"".join(seen))
    assert ended.reason == "stop" and ended.extra["clock_hz"] == hz == clock == target.clock_hz
    assert before < 40 and 120 <= after <= 200
    round_of_the_loop = 1 + 3 + (hz > 24_000_000)
    assert 9000 * round_of_the_loop - 10 < timed < 9000 * round_of_the_loop + 60
    assert (mark, divisor, read) == (5, round(hz / 115_200), ord("k"))
    assert ended.seconds == pytest.approx(ended.cycles / hz, rel=0.05)


def test_systick_counts_every_eighth_cycle_unless_told(tmp_path: Path) -> None:
    source = """
#define COUNT (*(volatile uint32_t *)0xE000F008)
int main(void) {
    hal_init();
    *(volatile uint32_t *)0xE000F000 = 1;
    COUNT = 1000;
    uint32_t first = COUNT;
    uint32_t left = 8000;
    __asm__ volatile(".balign 4\\n1: c.addi %0, -1\\n c.bnez %0, 1b" : "+r"(left));
    uint32_t took = COUNT - first;
    hal_write((uint8_t)(first / 250));
    hal_write((uint8_t)(took / 25));
    for (;;) {}
}
"""
    seen: list[bytes] = []
    target = device("ch32v003")
    run_freely(read_image(built(tmp_path, source), target), target, FreeRun(), seen.append)
    assert b"".join(seen) == bytes([1000 // 250, 8000 * 5 // 8 // 25])


def test_a_profile_of_a_firmware(tmp_path: Path) -> None:
    target = device("ch32v003")
    found = profile(
        read_image(built(tmp_path, SOURCE), target), target, FreeRun(max_seconds=0.01), lambda _: None
    )
    costs = {cost.name: cost for cost in found.functions}
    assert costs["deep"].calls == 1 and costs["number"].calls == 6
    assert sum(cost.self_cycles for cost in found.functions if cost.calls is not None) == found.ended.cycles


def test_a_firmware_that_is_too_large_or_for_other_registers(tmp_path: Path) -> None:
    target = device("ch32v003")
    large = "const uint8_t data[17000] = {1}; int main(void) { hal_write(data[hal_read()]); }"
    with pytest.raises(InputError, match=r"too large: needs 17,\d\d\d of 16,384 bytes of flash"):
        read_image(built(tmp_path, large), target)
    large = "static volatile uint8_t data[2100]; int main(void) { data[hal_read()] = 1; }"
    with pytest.raises(InputError, match=r"too large: its variables take 2,\d\d\d of 2,048 bytes of RAM"):
        read_image(built(tmp_path, large), target)
    other = built(
        tmp_path,
        "int main(void) {}",
        "-march=rv32ic",
        "-misa-spec=2.2",
        "-mabi=ilp32",
        "--specs=picolibc.specs",
    )
    with pytest.raises(InputError, match="other registers than CH32V003's; take -mabi=ilp32e"):
        read_image(other, target)


def test_a_stack_that_runs_into_the_data_is_a_stored_fault(results: Results) -> None:
    catalog = Catalog.load(ciphers=[Path(__file__).parents[2] / "data" / "faulty"])
    target = catalog.device("ch32v003")
    body = catalog.implementations_of("faulty-stack", "ch32v003")[0]
    cells = bench.cells_for(catalog, target, body, message_bytes=[16], placements=["flash"])
    reasons = {m.reason for m in bench.ensure(cells, results, catalog).values() if m.operation == "encrypt"}
    assert len(reasons) == 1 and "the stack ran into the data" in reasons.pop()
