"""The Pico's own second boot stage: its checksum, and what it sets up, on a model of the flash interface.

The interface's rules (RP2040 datasheet 4.10.13): settings change only while it is off; CTRLR0 has the
lines and the frame, SPI_CTRLR0 the lengths of command and address, the waiting clocks, the command in
execute-in-place.
"""

from __future__ import annotations

import struct
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from arm_snippets import FLASH, RAM, VECTORS, pico
from elftools.elf.elffile import ELFFile

from motecrypt.build.toolchain import BuildRequest, build
from motecrypt.catalog import empty_implementation
from motecrypt.simulate.emulate.images import read_image
from motecrypt.simulate.emulate.run import FreeRun, run_freely
from motecrypt.simulate.runners import arm
from tool_sets import needs_tool_set

pytestmark = needs_tool_set("pico")

BOOT_AT = 0x20041F00  # where the boot ROM copies it (datasheet 2.8.1.3.1)
SSI, VTOR = 0x18000000, 0xE000ED08
CTRLR0, CTRLR1, SSIENR, SER, BAUDR, STATUS, DATA, SPI_CTRLR0 = 0x00, 0x04, 0x08, 0x10, 0x14, 0x28, 0x60, 0xF4


def flash_image() -> bytes:
    """The flash as a board would hold it."""
    image = bytearray(b"\xff" * 0x10000)
    with build(BuildRequest(pico(), empty_implementation(), "flash")).elf.open("rb") as file:
        for segment in ELFFile(file).iter_segments("PT_LOAD"):
            at = segment["p_paddr"] - FLASH
            if 0 <= at < len(image):
                image[at : at + segment["p_filesz"]] = segment.data()
    return bytes(image)


def crc32(data: bytes) -> int:
    """The boot ROM's checksum (datasheet 2.8.1.3.1): 0x04c11db7, from ones, nothing reflected or inverted."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte << 24
        for _ in range(8):
            crc = (crc << 1 ^ (0x04C11DB7 if crc >> 31 else 0)) & 0xFFFFFFFF
    return crc


def test_the_checksum_is_right() -> None:
    boot = flash_image()[:256]
    right = crc32(boot[:252])
    assert struct.unpack("<I", boot[252:])[0] == right, f"boot2.S: BOOT2_CHECKSUM must be 0x{right:08X}"


@dataclass
class Interface:
    """The flash interface with a flash whose status register 2 is `status2`."""

    status2: int
    registers: dict[int, int] = field(default_factory=lambda: dict.fromkeys(range(0, 0x100, 4), 0))
    sent: list[int] = field(default_factory=list)
    transfers: list[tuple[int, list[int]]] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    changed_while_on: list[int] = field(default_factory=list)

    def write(self, offset: int, value: int) -> None:
        """A register is written."""
        on = self.registers[SSIENR] & 1
        if offset == DATA:
            assert on, "data while the interface is off"
            self.sent.append(value)
            if len(self.sent) == 2:  # each transfer of boot2 is of two words
                self.transfers.append((self.registers[CTRLR0], self.sent))
                self.answers += [0, self.status2]
                self.sent = []
            return
        if on and offset != SSIENR:
            self.changed_while_on.append(offset)
        self.registers[offset] = value

    def read(self, offset: int) -> int:
        """A register is read."""
        if offset == STATUS:
            return 0x4 | (0 if not self.sent else 1)
        if offset == DATA:
            return self.answers.pop(0)
        return self.registers[offset]


def boot(status2: int) -> tuple[Interface, int, int, int]:
    """Run boot2; the interface, the stack pointer, the program counter and the vector table's address."""
    unicorn = pytest.importorskip("unicorn", reason="the unicorn package is missing")
    from unicorn import arm_const

    interface = Interface(status2)
    image = flash_image()
    tables: list[int] = []
    engine = unicorn.Uc(unicorn.UC_ARCH_ARM, unicorn.UC_MODE_THUMB | unicorn.UC_MODE_MCLASS)
    engine.ctl_set_cpu_model(arm_const.UC_CPU_ARM_CORTEX_M0)
    engine.mem_map(FLASH, 0x10000)
    engine.mem_map(RAM, 0x42000)
    engine.mem_write(FLASH, image)
    engine.mem_write(BOOT_AT, image[:256])
    engine.mmio_map(
        SSI,
        0x1000,
        lambda _uc, offset, _size, _data: interface.read(offset),
        None,
        lambda _uc, offset, _size, value, _data: interface.write(offset, value),
        None,
    )
    engine.mmio_map(
        0xE000E000,
        0x1000,
        lambda _uc, _offset, _size, _data: 0,
        None,
        lambda _uc, offset, _size, value, _data: tables.append(value) if offset == VTOR & 0xFFF else None,
        None,
    )
    entry = struct.unpack("<I", image[0x104:0x108])[0]
    engine.emu_start(BOOT_AT | 1, entry & ~1, count=10_000)
    return (
        interface,
        engine.reg_read(arm_const.UC_ARM_REG_SP),
        engine.reg_read(arm_const.UC_ARM_REG_PC),
        tables[-1],
    )


def clocks(interface: Interface) -> int:
    """Flash clocks of one read of 8 bytes, with the present registers."""
    lines = {0: 1, 1: 2, 2: 4}[interface.registers[CTRLR0] >> 21 & 3]
    settings = interface.registers[SPI_CTRLR0]
    address_lines = lines if settings & 3 else 1
    command_lines = lines if settings & 3 == 2 else 1
    command_bits = {0: 0, 1: 4, 2: 8, 3: 16}[settings >> 8 & 3]
    address_bits = (settings >> 2 & 15) * 4
    return command_bits // command_lines + address_bits // address_lines + (settings >> 11 & 31) + 64 // lines


@pytest.mark.parametrize(
    ("status2", "read"), [(0x02, 0), (0x00, 2)], ids=["quad enabled", "quad not enabled"]
)
def test_it_sets_up_the_read_that_the_descriptor_counts(status2: int, read: int) -> None:
    interface, sp, pc, table = boot(status2)
    described = arm.flash_reads(pico())[read]
    assert clocks(interface) == described.clocks
    assert interface.registers[BAUDR] == described.divider
    assert interface.changed_while_on == []
    assert interface.registers[SSIENR] == 1
    assert interface.registers[SER] == 1
    assert interface.registers[CTRLR1] == 0
    assert interface.transfers[0][1][0] == 0x35  # read status register 2
    assert (sp, pc, table) == (RAM + 0x8000, VECTORS + 0xC0, VECTORS)
    if status2 & 2:
        assert interface.transfers[1][1] == [0xEB, 0xA0]  # and from now on without the command
        assert interface.registers[SPI_CTRLR0] >> 24 == 0xA0
    else:
        assert interface.registers[SPI_CTRLR0] >> 24 == 0x03


def test_nothing_is_ever_written_to_the_flash() -> None:
    for status2 in (0, 2):
        commands = [words[0] for _, words in boot(status2)[0].transfers]
        assert set(commands) <= {0x35, 0xEB}


#: A loader that the file carries as data copies `far` to RAM; `far` sends a letter and goes to the program.
LOADER = """
    .syntax unified
    .cpu cortex-m0plus
    .thumb
    .section .loader, "a"
    .global loader
    .word 0x20002000, loader + 1
loader:
    ldr r0, =0x20003000
    adr r1, far
    ldr r1, [r1]
    str r1, [r0]
    ldr r4, =0x40034000
    movs r0, #1
    str r0, [r4, #0x24] @ the UART on
    ldr r0, =0x301
    str r0, [r4, #0x30]
    movs r0, #'L'
    ldr r2, =program + 1
    ldr r1, =0x20003001
    bx r1
    .align 2
far:
    str r0, [r4]
    bx r2
    .align 4
    .pool
    .text
program:
    movs r0, #'P'
    str r0, [r4]
    ldr r1, =0x20003001
    movs r0, #'.'
    adr r2, end
    adds r2, #1
    bx r1
    .align 2
end:
    b end
    .pool
"""


def test_a_loader_that_the_file_calls_data_runs_code_that_it_copies(tmp_path: Path) -> None:
    """As that of Arduino-Pico does. A jump into data of a file without one stays a fault."""
    source, elf = tmp_path / "f.s", tmp_path / "f.elf"
    command = ["arm-none-eabi-gcc", "-nostdlib", "-Wl,--section-start=.loader=0x10000100,-e,loader"]
    for text, wanted in ((LOADER, "LP."), (LOADER.replace('"a"', '"ax"'), "")):
        source.write_text(text)
        subprocess.run([*command, "-Wl,-Ttext=0x10001000", source, "-o", elf], check=True, timeout=60)
        heard = bytearray()
        how = FreeRun(until=".", max_seconds=0.01)
        ended = run_freely(read_image(elf, pico()), pico(), how, heard.extend)
        assert heard.decode() == wanted, ended
        assert ("jumped to data" in ended.detail) == (not wanted), ended
