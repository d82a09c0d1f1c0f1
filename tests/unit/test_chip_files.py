"""The files of the chips: every device has one, they say what the drivers do, and a wrong one is refused."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import pytest

from motecrypt.base import process
from motecrypt.base.errors import InputError
from motecrypt.base.model import Device
from motecrypt.catalog import Catalog
from motecrypt.catalog.chips import CHIPS, Block, ChipData, chip_of
from motecrypt.catalog.devices import read_device
from motecrypt.simulate.emulate.avr_names import register_names
from motecrypt.simulate.emulate.images import read_image
from motecrypt.simulate.emulate.run import FreeRun, run_freely
from tool_sets import needs_tool_set
from unit.drivers.natively import compiled

CATALOG = Catalog.load()
SIMULATED = [name for name, device in CATALOG.devices.items() if device.simulated]
AVRS = [name for name in SIMULATED if CATALOG.device(name).runner == "simavr"]
OTHERS = [name for name in SIMULATED if name not in AVRS]
WITHOUT_CHIP_REGISTER = {("SAMD21G18A", 0x40000C40): 0x40000C04}
"""Where a driver keeps a register that has a selector on the chip (GENCTRL of generator 0)."""


def chip(name: str) -> ChipData:
    """The chip of one of our devices."""
    found = chip_of(CATALOG.device(name))
    assert found is not None
    return found


@pytest.mark.parametrize("name", SIMULATED)
def test_every_device_has_a_chip_with_its_memories(name: str) -> None:
    device, found = CATALOG.device(name), chip(name)
    assert found.name == device.chip and len(found.blocks) > 15
    for memory in device.memory:
        assert found.memory[memory].modelled
    if device.runner == "arm" and not found.memory["flash"].external:
        assert found.vectors.address == device.simulator["vectors"]


def test_a_chip_is_one_file_that_its_devices_share() -> None:
    for pair in (("uno", "nano"), ("ch32v003", "ch32v003-24mhz"), ("stm32f4", "stm32f4-168")):
        assert chip(pair[0]) == chip(pair[1])
    assert {path.stem for path in CHIPS.iterdir()} == {CATALOG.device(name).chip for name in SIMULATED}


def test_the_host_has_no_chip() -> None:
    assert chip_of(CATALOG.device("host")) is None


@pytest.mark.parametrize("name", SIMULATED)
def test_registers_that_a_device_names_are_in_a_block(name: str) -> None:
    device, found = CATALOG.device(name), chip(name)
    for key in ("mark_address", "simulated_address", "line_address"):
        if key in device.simulator:
            block = found.block_at(device.simulator[key])
            states = ("modelled", "partly") if key != "line_address" else ("kept",)
            assert block is not None and block.state in states, key


# ---- what the drivers of ARM and RISC-V chips do ----


@dataclass
class Rows:
    """What the drivers know of a chip: ranges are pairs of the first address and the one after the last."""

    windows: list[tuple[int, int]] = field(default_factory=list)
    known: list[tuple[int, int]] = field(default_factory=list)
    outputs: list[tuple[int, int]] = field(default_factory=list)
    gaps: list[tuple[int, int, bool, str]] = field(default_factory=list)
    resets: dict[int, int] = field(default_factory=dict)
    absent: list[tuple[int, str]] = field(default_factory=list)
    hz: int = 0


def read_rows(text: str) -> dict[str, Rows]:
    """The output of chip_rows.c."""
    found: dict[str, Rows] = {}
    for line in text.splitlines():
        kind, _, rest = line.partition(" ")
        if kind == "chip":
            name, rows = rest, found.setdefault(rest, Rows())
            continue
        first, *more = rest.split(" ", 3)
        if kind == "hz":
            rows.hz = int(first)
        elif kind == "reset":
            rows.resets[WITHOUT_CHIP_REGISTER.get((name, int(first)), int(first))] = int(more[0])
        elif kind == "absent":
            rows.absent.append((int(first), " ".join(more)))
        elif kind == "gap":
            rows.gaps.append((int(first), int(more[0]), more[1] == "1", more[2]))
        else:
            span = (int(first), int(first) + int(more[0]))
            {"window": rows.windows, "known": rows.known, "output": rows.outputs}[kind].append(span)
    return found


CHECKED = {
    "RP2040": "5c3db47d53c2",
    "STM32F407VG": "ac428dbcc11e",
    "STM32L100RC": "38a43c8bca5c",
    "STM32F103C8": "d881a97fc139",
    "AT91SAM3X8E": "25dcd5484496",
    "nRF52840": "6fa6e61d81a6",
    "nRF51822": "d6be9850be9d",
    "SAMD21G18A": "5dd381b017ed",
    "STM32F051R8": "9909a31769a1",
    "RP2350": "a885b6d57c80",
    "RP2350, bare": "c0fafc69ce40",
    "FE310-G002": "1b9e0307cb09",
    "CH32V003": "45ccade2d4e1",
    "ESP32-C3": "bcecb47aaa42",
}
"""SHA-256 of each chip's rows, begun: of rows that were compared with the data sheet when they were made."""


def test_what_the_drivers_know_is_what_was_compared_with_data_sheets(drivers: dict[str, Rows]) -> None:
    sums = {name: hashlib.sha256(repr(rows).encode()).hexdigest()[:12] for name, rows in drivers.items()}
    assert sums == CHECKED, {name: rows for name, rows in drivers.items() if sums[name] != CHECKED.get(name)}


@pytest.fixture(scope="module")
def drivers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Rows]:
    """What the drivers say themselves, by the name of the chip."""
    program = compiled("chip_rows.c", tmp_path_factory.mktemp("rows"), "-D_GNU_SOURCE")
    done = subprocess.run([program], capture_output=True, text=True, timeout=60, check=True)
    return read_rows(done.stdout)


@pytest.mark.parametrize("name", OTHERS)
def test_gaps_resets_and_the_clock_are_those_of_the_driver(name: str, drivers: dict[str, Rows]) -> None:
    found, rows = chip(name), drivers[CATALOG.device(name).chip]
    assert len(rows.gaps) > 6 and rows.hz > 0

    def told(what: str, effect: str) -> str:
        return f"{what}: not modelled" + (f"; {effect}" if effect else "")

    gaps = {(gap.address, gap.bytes, gap.writes_only, told(gap.what, gap.effect)) for gap in found.gaps}
    assert gaps == set(rows.gaps)
    assert {each.address: each.value for each in found.resets} == rows.resets
    assert found.clock.hz_after_reset == rows.hz


@pytest.mark.parametrize("name", OTHERS)
def test_the_state_of_a_block_is_that_of_the_driver(name: str, drivers: dict[str, Rows]) -> None:
    found, rows = chip(name), drivers[CATALOG.device(name).chip]
    gaps = [(gap.address, gap.end) for gap in found.gaps]
    for block in found.blocks:
        spans = [(span.address, span.end) for span in block.spans]
        assert (block.state == "absent") != meets(spans, rows.windows), block
        known = outside([*rows.known, *rows.outputs], gaps)
        assert (block.state in ("modelled", "partly")) == meets(spans, known), block
        assert not (block.state == "modelled" and meets(spans, gaps)), block


def meets(some: list[tuple[int, int]], others: list[tuple[int, int]]) -> bool:
    """Whether a range of one list has an address that one of the other has."""
    return any(a < d and c < b for a, b in some for c, d in others)


def outside(some: list[tuple[int, int]], others: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The ranges that no range of the others covers whole."""
    return [(a, b) for a, b in some if not any(c <= a and b <= d for c, d in others)]


# ---- AVRs: what the compiler's headers say, and what a run reports ----


@cache
def macros(mcu: str) -> str:
    asked = ["avr-gcc", f"-mmcu={mcu}", "-E", "-dM", "-include", "avr/io.h", "-x", "c", "/dev/null"]
    return process.run(asked, timeout_s=process.ASKED_S).output


@needs_tool_set("avr")
@pytest.mark.parametrize("name", AVRS)
def test_registers_and_interrupts_of_an_avr_are_those_of_its_header(name: str) -> None:
    device, found = CATALOG.device(name), chip(name)
    without = {address for address, text in register_names(device.simulator["mcu"]).items() if text in GONE}
    named = set(register_names(device.simulator["mcu"])) - without
    assert len(named) > 50 and all(found.block_at(address) is not None for address in named)
    vectors: dict[int, set[str]] = {}
    for text, number in re.findall(r"#define (\w+)_vect_num\s+(\d+)", macros(device.simulator["mcu"])):
        vectors.setdefault(int(number), set()).add(text)
    names = dict(enumerate(found.vectors.names))
    assert names.pop(0) == "RESET"
    assert {number for number, text in names.items() if text} == set(vectors)
    assert all(names[number] in each for number, each in vectors.items())


GONE = ("TIFR5", "TIMSK5")
"""Registers of a timer that iom32u4.h names and the ATmega32U4 lacks."""


@needs_tool_set("avr")
@pytest.mark.parametrize("name", AVRS)
def test_the_state_of_an_avrs_block_is_what_a_run_reports(name: str, tmp_path: Path) -> None:
    device, found = CATALOG.device(name), chip(name)
    unmodelled = read_once(device, found, tmp_path)
    for block in found.blocks:
        registers = addresses(block)
        kept = [address in unmodelled or address >= IO_END for address in registers]
        expected = "kept" if all(kept) else "partly" if any(kept) else "modelled"
        assert block.state == expected, block


IO_END = 0x20 + 280
"""From here on libsimavr has no registers, and nothing is reported."""


def addresses(block: Block) -> list[int]:
    return [address for span in block.spans for address in range(span.address, span.end)]


def read_once(device: Device, found: ChipData, folder: Path) -> set[int]:
    """What a run reports of a firmware that reads each register once."""
    reads = (
        f"(void)*(volatile unsigned char *){each};" for block in found.blocks for each in addresses(block)
    )
    source, elf = folder / "reads.c", folder / "reads.elf"
    source.write_text(f"int main(void) {{ {' '.join(reads)} for (;;) {{}} }}")
    flags = [*device.compiler.machine_flags, "-O1", source, "-o", elf]
    subprocess.run([device.compiler.command, *flags], check=True, timeout=60)
    ended = run_freely(read_image(elf, device), device, FreeRun(max_seconds=0.01), lambda _: None)
    return {each.address for each in ended.touched}


# ---- a user's own ----


def own_device(folder: Path, text: str | None = None) -> Device:
    """A copy of the bluepill in a folder of one's own, with a chip's file next to it."""
    target = folder / "mine"
    shutil.copytree(CATALOG.device("bluepill").folder, target)
    if text is not None:
        (target / "chip.toml").write_text(text)
    return read_device(target)


def ours() -> str:
    return (CHIPS / "STM32F103C8.toml").read_text()


def test_a_device_may_bring_its_chip(tmp_path: Path) -> None:
    own = chip_of(own_device(tmp_path, ours().replace('name = "TIM3"', 'name = "MY_TIMER"')))
    assert own is not None and own.names_of([0x40000424, 0x40000800, 0x40000420]) == "MY_TIMER, TIM4"
    assert chip("bluepill").names_of([0x40000424, 0x40000C00]) == "TIM3"


def test_a_device_without_a_chips_file_has_none(tmp_path: Path) -> None:
    own = own_device(tmp_path)
    assert chip_of(own) == chip("bluepill")
    for name in ("AT90X", "../chips/RP2040", "nowhere/RP2040"):
        assert chip_of(replace(own, chip=name)) is None


TIM3 = "0x40000400, bytes = 0x400"
TIM3_KIND = '"TIM3", kind = "timer", state = "kept"'
GAP = "{ address = 0x40012c00, bytes = 0x400, what"


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('name = "STM32F103C8"', 'name = "STM32F103"', "'name' is 'STM32F103'; expected 'STM32F103C8'"),
        ("bytes = 20_480", "bytes = 20_484", r"20484 bytes at 0x20000000; device\.toml of mine has 20480"),
        ("address = 0x20000000", "address = 0x20000004", "'memory.ram' is 20480 bytes at 0x20000004"),
        ("\nram = ", "\nram2 = ", "'memory.ram' is missing; device.toml of mine has it"),
        ("bytes = 65_536, access", "bytes = 65_537, access", "memory.flash has 65537 bytes at 0x8000000"),
        ('"TIM4", kind', '"TIM3", kind', "two blocks have the name 'TIM3'"),
        (TIM3, "0x40000400, bytes = 0x404", "'TIM3' and block 'TIM4' overlap at 0x40000800"),
        (TIM3, "0x20000000, bytes = 0x400", "memory.ram and block 'TIM3' overlap at 0x20000000"),
        (TIM3, "0x40000402, bytes = 0x200", "'TIM3' has 512 bytes at 0x40000402; expected mul"),
        (TIM3, "0xfffffffc, bytes = 8", "'bytes' is 8; expected a whole number from 1 to 4"),
        (TIM3_KIND, TIM3_KIND.replace("timer", "time"), "one of core, .*did you mean 'timer'"),
        (TIM3_KIND, TIM3_KIND.replace("kept", "keeps"), "did you mean 'kept'"),
        ("[vectors]\naddress = 0x0", "[vectors]\naddress = 0x3", "is 0x38000000, where no memory is"),
        ('"PVD",', '"WWDG",', "vectors: 'names' has 'WWDG' twice"),
        (
            'after_reset = "HSI"',
            'after_reset = "HSX"',
            "'after_reset' is 'HSX'; expected one of HSI, HSE, PLL",
        ),
        ("hz_after_reset = 8_000_000", "hz_after_reset = 72_000_001", "'hz_after_reset' is 72000001"),
        ("hz = [4_000_000, 16_000_000]", "hz = [16_000_000, 4_000_000]", "frequency, or the least and"),
        ("hz = [8_000_000]", "hz = []", "expected one frequency, or the least and the most"),
        (GAP, GAP.replace("12c00", "30000"), "gap: 'address' is 0x40030000, where no block"),
        ("0x40022000, value", "0x40024000, value", "reset: 'address' is 0x40024000, where no block"),
        ('"kept", address = 0x40012c00', '"absent", address = 0x40012c00', "gap: 'address' is 0x40012c00"),
        ('access = "rx" }', 'access = "x" }', "'access' is 'x'; expected one of r, rw, rx, rwx"),
        ("first = 16", "first = 16\nlast = 2", "vectors: unknown 'last'"),
    ],
)
def test_a_wrong_chip_is_refused_in_one_line(tmp_path: Path, before: str, after: str, said: str) -> None:
    text = ours()
    assert before in text
    device = own_device(tmp_path, text.replace(before, after, 1))
    with pytest.raises(InputError, match=said) as told:
        chip_of(device)
    assert "\n" not in str(told.value) and str(told.value).startswith(str(tmp_path / "mine" / "chip.toml"))


def test_a_board_may_have_less_of_an_external_memory_not_more() -> None:
    pico = CATALOG.device("pico")
    window = chip("pico").memory["flash"]
    assert pico.memory["flash"].bytes < window.bytes and chip("esp32c3").memory["flash"].external
    for bytes_, address in ((window.bytes + 4, window.address), (4, window.address - 4)):
        flash = replace(pico.memory["flash"], bytes=bytes_, address=address)
        with pytest.raises(InputError, match=r"'memory\.flash' is 16777216 bytes"):
            chip_of(replace(pico, memory={**pico.memory, "flash": flash}))
