"""One contract over every simulated device: a firmware that uses a part that is not modelled gets one line
for each block of registers; one that uses what is modelled alone gets none.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pytest

from command_line import run
from motecrypt import simulate
from motecrypt.base.model import Device
from motecrypt.build.toolchain.scripts import link_flags
from motecrypt.catalog import FIRMWARE, Catalog
from motecrypt.catalog.chips import CHIPS
from motecrypt.catalog.devices import read_device
from motecrypt.simulate.emulate.images import read_image
from motecrypt.simulate.emulate.run import Ended, FreeRun, Uart, run_freely, with_places
from tool_sets import needs_tool_set, on_devices

CATALOG = Catalog.load()
Build = Callable[[str], Path]
SIMULATED = [
    device
    for name, device in CATALOG.devices.items()
    if device.simulated and not name.startswith("attiny")  # without a line in a free run
]
SOURCE = """
#include "hal.h"
#define AT(address) (*(volatile WIDTH *)(address))
static __attribute__((noinline)) void touch(uint8_t what) {
    switch (what) {
CASES
    default: break;
    }
}
int main(void) {
    hal_init();
    hal_stack_paint();
    hal_timer_start();
    hal_mark(1);
    hal_mark(0);
    hal_write(hal_timer_cycles() + hal_stack_depth() + hal_clock_hz() != 0 ? '+' : '-');
    touch(hal_read());
    hal_write('.');
    for (;;) {}
}
"""
FIRST_CASE = SOURCE.splitlines().index("CASES") + 1


@dataclass(frozen=True)
class Part:
    """A part that a device's model lacks: its block, the register that is used, the name of the block."""

    block: int
    register: int
    name: str


STM32_TIMER = Part(0x40000400, 0x40000424, "TIM3")
LACKS = {
    "STM32F103C8": STM32_TIMER,
    "STM32F051R8": STM32_TIMER,
    "STM32F407VG": STM32_TIMER,
    "STM32L100RC": STM32_TIMER,
    "AT91SAM3X8E": Part(0x40080000, 0x40080010, "TC0"),
    "nRF51822": Part(0x40008000, 0x40008504, "TIMER0"),
    "SAMD21G18A": Part(0x42002C00, 0x42002C10, "TC3"),
    "nRF52840": Part(0x4000B000, 0x4000B504, "RTC0"),
    "RP2040": Part(0x40050000, 0x40052004, "PWM"),
    "RP2350": Part(0x400B8000, 0x400BA024, "TIMER1"),
    "CH32V003": Part(0x40012C00, 0x40012C24, "TIM1"),
    "ESP32-C3": Part(0x60023000, 0x60023004, "SYSTIMER"),
    "FE310-G002": Part(0x10015000, 0x10015008, "PWM0"),
    "ATmega328P": Part(0x66, 0x66, "OSCCAL"),
    "nano": Part(0x64, 0x64, "PRR"),
    "ATmega32U4": Part(0xC4, 0xC4, "TCCR4E"),
    "ATmega2560": Part(0x75, 0x75, "XMCRB"),
    "ATmega1284P": Part(0x66, 0x66, "OSCCAL"),
    "ATmega644P": Part(0x66, 0x66, "OSCCAL"),
    "ATmega128RFA1": Part(0x66, 0x66, "OSCCAL"),
    "ATmega8": Part(0x51, 0x51, "OSCCAL"),
}
"""By chip; of one device by its name. Every chip of the runner `arm` has one."""
PPB = [device for device in SIMULATED if device.runner == "arm"]
WITH_CSR = ("hifive1", "esp32c3")
WITHOUT_EXCEPTIONS = [device for device in PPB if device.name not in ("pico", "pico2")]


NOTHING = "(void)0"
MPU = 0xE000ED94
SYSTICK_COUNTS = "AT(0xE000E014) = 999; AT(0xE000E010) = 5"
SYSTICK_INTERRUPTS = "AT(0xE000E014) = 999; AT(0xE000E010) = 7"
PENDSV = "AT(0xE000ED04) = 1u << 28"
RESET = "AT(0xE000ED0C) = 0x05FA0004"
ENABLES = "AT(0xE000E100) = 1"
RTC_AND_RESETS = (0x400E1A00, 0x400E1A60, 0x400E1A04)
"""Of the due: a block of the driver, and registers in it of two peripherals."""
MIE = '__asm__ volatile("csrw mie, %0" : : "r"(0x80))'


#: Registers of the UNO, one of each part that is modelled.
AVR_PARTS = {
    "ports": 0x25,
    "EEPROM": 0x41,
    "SPI": 0x4C,
    "comparator": 0x50,
    "self-programming": 0x57,
    "sleep": 0x53,
    "cause of the reset": 0x54,
    "stack pointer": 0x5D,
    "stack pointer, high": 0x5E,
    "flags": 0x5F,
    "watchdog": 0x60,
    "external interrupts": 0x69,
    "pin changes": 0x6B,
    "timer 1's interrupts": 0x6F,
    "ADC": 0x7A,
    "timer 1": 0x84,
    "TWI": 0xB8,
    "UART": 0xC0,
}
READS = "; ".join(f"(void)AT({address:#x})" for address in AVR_PARTS.values())


WAYS = {
    "ld r0, X": (1, 0),
    "st X, r0": (0, 1),
    "ld r0, X+\\n ld r0, -X": (2, 0),
    "st Y+, r0\\n st -Y, r0": (0, 2),
    "ldd r0, Y+0\\n std Z+0, r0": (1, 1),
    "st Z+, r0\\n ld r0, -Z": (1, 1),
    "lds r0, 0x144\\n sts 0x144, r0": (1, 1),
}
"""How an AVR reads and writes an address, and the reads and writes that each way makes."""
SETS = "push r28\\n push r29\\n" + "\\n".join(
    f"ldi r{low}, 0x44\\n ldi r{low + 1}, 0x01" for low in (26, 28, 30)
)
CHANGES = '"r0", "r26", "r27", "r30", "r31", "memory"'
IN_EACH_WAY = "; ".join(
    f'__asm__ volatile("{SETS}\\n {way}\\n pop r29\\n pop r28" : : : {CHANGES})' for way in WAYS
)
"""Uses of TRX_CTRL_1 of the ATmega128RFA1's transceiver: libsimavr knows no registers that high."""


def lacks(device: Device) -> Part | None:
    """What is tried of a device."""
    return LACKS.get(device.name) or LACKS.get(device.chip)


def stores(address: int) -> str:
    """Two writes and a read."""
    return f"AT({address:#x}) = 1; AT({address:#x}) = AT({address:#x})"


def touches(device: Device) -> list[str]:
    """What the firmware of a device can be asked to do, by one byte: the number in this list."""
    found = [NOTHING]
    part = lacks(device)
    if part is not None:
        found.append(stores(part.register))
    if device.runner == "arm":
        assert part is not None, f"LACKS has nothing of {device.chip}"
        both = f"{stores(MPU)}; {stores(part.register)}"
        found += [both, SYSTICK_COUNTS, SYSTICK_INTERRUPTS, PENDSV, RESET, ENABLES]
    if device.name in WITH_CSR:
        found.append(MIE)
    if device.name == "uno":
        found.append(READS)
    if device.name == "atmega128rfa1":
        found.append(IN_EACH_WAY)
    if device.name == "due":
        found.append("; ".join(map(stores, RTC_AND_RESETS[1:])))
    return found


@pytest.fixture(scope="module")
def firmware(tmp_path_factory: pytest.TempPathFactory) -> Build:
    """The firmware of a device, which is built once."""

    @cache
    def built(name: str) -> Path:
        device = CATALOG.device(name)
        folder = tmp_path_factory.mktemp(name)
        source, elf = folder / "firmware.c", folder / "firmware.elf"
        cases = (f"    case {number}: {what}; break;" for number, what in enumerate(touches(device)))
        width = "uint8_t" if device.runner == "simavr" else "uint32_t"
        source.write_text(SOURCE.replace("CASES", "\n".join(cases)).replace("WIDTH", width))
        compiler = device.compiler
        command: list[str | Path] = [compiler.command, *compiler.machine_flags, "-O1", "-gdwarf-2", source]
        command += [device.folder / name for name in device.hal]
        command += [f"-D{name}" for name in compiler.defines]
        command += [f"-I{FIRMWARE / 'include'}", *link_flags(device, "flash"), "-o", elf]
        subprocess.run(command, check=True, timeout=60)
        return elf

    return built


def ran(elf: Path, device: Device, touch: str) -> Ended:
    asked = elf.with_suffix(".asked")
    asked.write_bytes(bytes([touches(device).index(touch)]))
    said: list[bytes] = []
    with asked.open("rb") as given:
        how = FreeRun(uart=Uart(input=given.fileno()), until=".", max_seconds=1)
        ended = run_freely(read_image(elf, device), device, how, said.append)
    assert (ended.reason, b"".join(said)) == ("until", b"+.")
    return ended


@pytest.mark.parametrize("name", on_devices(*SIMULATED))
def test_what_is_modelled_gets_no_line(firmware: Build, name: str) -> None:
    device = CATALOG.device(name)
    ended = ran(firmware(name), device, NOTHING)
    assert (ended.unmodelled, ended.touched, ended.notes) == ((), (), ())


@needs_tool_set("avr")
def test_no_part_of_an_avr_that_is_modelled_gets_a_line(firmware: Build) -> None:
    ended = ran(firmware("uno"), CATALOG.device("uno"), READS)
    assert (ended.unmodelled, ended.touched, ended.notes) == ((), (), ())


@pytest.mark.parametrize("name", on_devices(*filter(lacks, SIMULATED)))
def test_what_is_not_modelled_gets_one_line(firmware: Build, name: str) -> None:
    device = CATALOG.device(name)
    part = lacks(device)
    assert part is not None
    ended = ran(firmware(name), device, stores(part.register))
    (block,) = ended.unmodelled
    assert (block.address, block.name) == (part.block, part.name)
    assert (block.reads, block.writes, block.function) == (1, 2, "touch")
    assert Path(block.file).name == "firmware.c" and block.line == FIRST_CASE + 1 and block.pc != 0
    assert sum(t.reads + t.writes for t in ended.touched) == 3


@needs_tool_set("avr")
def test_each_way_to_a_register_of_an_avr_counts(firmware: Build) -> None:
    ended = ran(firmware("atmega128rfa1"), CATALOG.device("atmega128rfa1"), IN_EACH_WAY)
    (block,) = ended.unmodelled
    reads, writes = map(sum, zip(*WAYS.values(), strict=True))
    assert (block.name, block.reads, block.writes) == ("TRX_CTRL_1", reads, writes)


@pytest.mark.parametrize("name", on_devices(*PPB))
def test_each_block_gets_its_own_line_core_peripherals_too(firmware: Build, name: str) -> None:
    device = CATALOG.device(name)
    part = lacks(device)
    assert part is not None
    ended = ran(firmware(name), device, f"{stores(MPU)}; {stores(part.register)}")
    assert [(b.address, b.name, b.accesses) for b in ended.unmodelled] == [
        (0xE000ED90, "MPU", 3),
        (part.block, part.name, 3),
    ]


@needs_tool_set("pico")
def test_a_block_with_several_peripherals_names_those_that_are_used(firmware: Build) -> None:
    device = CATALOG.device("due")
    ended = ran(firmware("due"), device, "; ".join(map(stores, RTC_AND_RESETS[1:])))
    assert [(b.address, b.name, b.accesses) for b in ended.unmodelled] == [
        (RTC_AND_RESETS[0], "RTC, RSTC", 6)
    ]


@needs_tool_set("pico")
def test_a_devices_own_chip_names_its_blocks(firmware: Build, tmp_path: Path) -> None:
    folder = tmp_path / "bluepill"
    shutil.copytree(CATALOG.device("bluepill").folder, folder)
    text = (CHIPS / "STM32F103C8.toml").read_text()
    (folder / "chip.toml").write_text(text.replace('name = "TIM3"', 'name = "MY_TIMER"'))
    ended = ran(firmware("bluepill"), read_device(folder), stores(STM32_TIMER.register))
    assert [block.name for block in ended.unmodelled] == ["MY_TIMER"]


@needs_tool_set("pico")
def test_the_driver_names_the_blocks_of_a_chip_without_a_file(firmware: Build) -> None:
    device = CATALOG.device("bluepill")
    ended = ran(firmware("bluepill"), device, stores(STM32_TIMER.register))
    image = read_image(firmware("bluepill"), device)
    (block,) = ended.unmodelled
    told = replace(ended, unmodelled=(replace(block, name="the timers"),))
    assert with_places(told, image, replace(device, chip="STM32F9")).unmodelled[0].name == "the timers"
    assert with_places(told, image, device).unmodelled[0].name == "TIM3"
    unlisted = replace(block, address=0x40013800, name="")  # the driver lists at most 256 registers
    both = with_places(replace(told, unmodelled=(block, unlisted)), image, device)
    assert [each.name for each in both.unmodelled] == ["TIM3", "USART1"]


@pytest.mark.parametrize("name", on_devices(*WITHOUT_EXCEPTIONS))
def test_systick_says_that_its_interrupt_never_comes(firmware: Build, name: str) -> None:
    device = CATALOG.device(name)
    ended = ran(firmware(name), device, SYSTICK_INTERRUPTS)
    assert ended.notes == ("SysTick's interrupt: not modelled; it never comes",)
    assert [(b.address, b.name, b.accesses) for b in ended.unmodelled] == [(0xE000E010, "SysTick", 1)]


@pytest.mark.parametrize("name", on_devices(*PPB))
def test_systick_that_only_counts_is_modelled(firmware: Build, name: str) -> None:
    device = CATALOG.device(name)
    ended = ran(firmware(name), device, SYSTICK_COUNTS)
    assert (ended.unmodelled, ended.notes) == ((), ())


@pytest.mark.parametrize(
    ("touch", "note"),
    [
        (PENDSV, "PendSV: not modelled; it never comes"),
        (RESET, "a reset by the firmware: not modelled; it runs on"),
        (ENABLES, "interrupts: not modelled; they are never delivered"),
    ],
)
@pytest.mark.parametrize("name", ["stm32f4", "nrf52840", "bluepill"])
def test_what_asks_for_an_exception_has_a_note(firmware: Build, name: str, touch: str, note: str) -> None:
    device = CATALOG.device(name)
    ended = ran(firmware(name), device, touch)
    assert ended.notes == (note,) and len(ended.unmodelled) == 1


@pytest.mark.parametrize("name", on_devices(*map(CATALOG.device, WITH_CSR)))
def test_interrupts_of_riscv_have_a_note(firmware: Build, name: str) -> None:
    device = CATALOG.device(name)
    ended = ran(firmware(name), device, MIE)
    assert ended.notes == ("interrupts: not modelled; they are never delivered",)
    assert [(b.address, b.name, b.writes) for b in ended.unmodelled] == [(0x304, "CSR mie", 1)]


@pytest.fixture
def ticking(firmware: Build, tmp_path: Path) -> list[str]:
    """The arguments after `run` or `profile` for a firmware that waits for SysTick's interrupt."""
    device = CATALOG.device("stm32f4")
    (tmp_path / "asked").write_bytes(bytes([touches(device).index(SYSTICK_INTERRUPTS)]))
    return [
        str(firmware("stm32f4")),
        "--device",
        "stm32f4",
        "--input",
        str(tmp_path / "asked"),
        "--until",
        ".",
    ]


@needs_tool_set("pico")
@pytest.mark.parametrize("command", ["run", "profile"])
def test_the_commands_have_the_line(
    ticking: list[str], capsys: pytest.CaptureFixture[str], command: str
) -> None:
    code, _, said = run(capsys, command, *ticking)
    assert code == 0 and "motecrypt: SysTick's interrupt: not modelled; it never comes\n" in said
    (line,) = [line for line in said.splitlines() if line.startswith("  0x")]
    assert re.fullmatch(
        r"  0xe000e010 SysTick: 1 access, the first at 0x080[0-9a-f]{5} in touch \(firmware\.c:\d+\)", line
    )
    code, shown, said = run(capsys, command, *ticking, "--json")
    assert code == 0
    found = json.loads(shown)
    (block,) = (found["run"] if command == "profile" else found)["unmodelled"]
    assert (block["address"], block["name"], block["reads"], block["writes"]) == (0xE000E010, "SysTick", 0, 1)
    assert block["function"] == "touch" and block["line"] > FIRST_CASE


OTHERS = """
#include "hal.h"
volatile uint8_t leak_input[2], taken;
__attribute__((noinline)) void work(void) {
    USES
    taken = leak_input[0] ^ leak_input[1];
}
int main(void) {
    hal_init();
    work();
    hal_write('.');
    for (;;) {}
}
"""


def _built(folder: Path, uses: str) -> Path:
    """A firmware of the STM32F4 that calls `work` once, and needs no input."""
    device, elf = CATALOG.device("stm32f4"), folder / "uses.elf"
    source = folder / "uses.c"
    source.write_text(OTHERS.replace("USES", uses))
    compiler = device.compiler
    command: list[str | Path] = [compiler.command, *compiler.machine_flags, "-O1", "-g", source]
    command += [device.folder / name for name in device.hal]
    command += [f"-I{FIRMWARE / 'include'}", *link_flags(device, "flash"), "-o", elf]
    subprocess.run(command, check=True, timeout=60)
    return elf


def _line_of(command: str, elf: Path) -> list[str]:
    if command == "leak":
        return ["leak", str(elf), "--device", "stm32f4", "--function", "work", "--traces", "1000"]
    if command == "stack":
        return ["stack", str(elf), "--device", "stm32f4", "--until", "."]
    config = elf.parent / "motecrypt.toml"
    config.write_text(f'[[firmware]]\nname = "uses"\ndevice = "stm32f4"\nfile = "{elf.name}"\nuntil = "."\n')
    return ["ci", "--no-base", "--config", str(config)]


def _blocks(command: str, shown: str) -> list[dict[str, object]]:
    told = json.loads(shown)
    found = told["run"] if command == "stack" else told
    blocks: list[dict[str, object]] = found["unmodelled"]
    return blocks if command != "ci" else found["unmodelled"]["stm32f4/uses"]


@needs_tool_set("pico")
@pytest.mark.parametrize("command", ["leak", "stack", "ci"])
def test_the_other_commands_that_run_firmware_have_the_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    uses = "*(volatile uint32_t *)0xE000E014 = 999; *(volatile uint32_t *)0xE000E010 = 7;"
    words = _line_of(command, _built(tmp_path, uses))
    code, shown, said = run(capsys, *words)
    told = " ".join((shown + said).split())
    assert code == 0 and "SysTick's interrupt: not modelled; it never comes" in told
    form = r"0xe000e010 SysTick: 1 access, the first at 0x080[0-9a-f]{5} in work \(uses\.c:5\)"
    assert re.search(form, told)
    code, shown, _ = run(capsys, *words, "--json")
    (block,) = _blocks(command, shown)
    assert code == 0
    assert (block["address"], block["name"], block["function"]) == (0xE000E010, "SysTick", "work")


@needs_tool_set("pico")
@pytest.mark.parametrize("command", ["leak", "stack", "ci"])
def test_the_other_commands_have_no_line_without_need(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    words = _line_of(command, _built(tmp_path, ""))
    code, shown, said = run(capsys, *words)
    assert code == 0 and "not modelled" not in shown + said
    code, shown, _ = run(capsys, *words, "--json")
    assert code == 0 and _blocks(command, shown) == []


@needs_tool_set("avr")
def test_the_serial_port_of_a_leonardo_has_a_note(tmp_path: Path) -> None:
    """The USB macro is switched on (USBCON, PLLCSR), as the Arduino core does before Serial is used, and a
    byte is sent (UENUM, UEDATX). libsimavr prints a warning then, which the firmware's line must not have."""
    device, source, elf = CATALOG.device("leonardo"), tmp_path / "usb.c", tmp_path / "usb.elf"
    sends = "USBCON = 0x80; PLLCSR = 0x12; UENUM = 2; UEDATX = 'h';"
    source.write_text(
        f'#include <avr/io.h>\nint main(void) {{ {sends} __asm__ volatile("cli"); for (;;) {{}} }}'
    )
    flags = [*device.compiler.machine_flags, "-O1", source, "-o", elf]
    subprocess.run([device.compiler.command, *flags], check=True, timeout=60)
    said: list[bytes] = []
    ended = run_freely(read_image(elf, device), device, FreeRun(max_seconds=1), said.append)
    assert (ended.reason, said) == ("stop", [])
    (note,) = ended.notes
    assert note.startswith("USB: not modelled; what is sent to Serial on a Leonardo is not seen")


@needs_tool_set("avr")
@pytest.mark.parametrize("name", ["attiny84", "attiny85"])
def test_an_attiny_without_a_line_has_it_too(tmp_path: Path, name: str) -> None:
    device, source, elf = CATALOG.device(name), tmp_path / "tiny.c", tmp_path / "tiny.elf"
    body = (
        'DDRB = 1; PORTB ^= 1; TCCR0B = 1; GPIOR2 = TCNT0; OSCCAL = 1; __asm__ volatile("cli"); for (;;) {}'
    )
    source.write_text(f"#include <avr/io.h>\nint main(void) {{ {body} }}")
    flags = [*device.compiler.machine_flags, "-O1", source, "-o", elf]
    subprocess.run([device.compiler.command, *flags], check=True, timeout=60)
    ended = run_freely(read_image(elf, device), device, FreeRun(max_seconds=1), lambda _: None)
    assert ended.reason == "stop"
    assert [(b.address, b.name, b.reads, b.writes) for b in ended.unmodelled] == [(0x51, "OSCCAL", 0, 1)]


DRIVERS = Path(simulate.__file__).parent / "drivers"
GAPS = re.compile(r"struct chip_gap (\w+)\[\] = \{(.*?)\n\};", re.DOTALL)
ROW = re.compile(r"\{(0x[0-9A-F]+)u, (0x[0-9A-F]+)u, [01], \"")


def test_what_is_not_modelled_are_whole_registers() -> None:
    chips = dict(match.groups() for path in DRIVERS.glob("*.h") for match in GAPS.finditer(path.read_text()))
    assert len(chips) > 6
    for chip, rows in chips.items():
        blocks = [(int(at, 16), int(size, 16)) for at, size in ROW.findall(rows)]
        assert len(blocks) == len(re.findall(r"\{0x", rows)), chip
        assert all(at % 4 == size % 4 == 0 and size for at, size in blocks), chip
