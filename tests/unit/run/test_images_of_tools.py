"""Firmware files as objcopy and picotool write them by default: what is in them, and where."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from motecrypt.base.errors import InputError
from motecrypt.catalog import Catalog
from motecrypt.simulate.emulate.images import Image, Segment, flat, read_image
from tool_sets import needs_tool_set

DEVICE = Catalog.load().device
READERS = Path(__file__).resolve().parents[2] / "data" / "readers"
AVR = """
#include <avr/eeprom.h>
unsigned char EEMEM kept[3] = {1, 2, 3};
volatile int value = 7;
int main(void) { for (;;) value++; }
"""
OTHERS = """
int main(void);
void start(void) { main(); for (;;) {} }
__attribute__((section(".first"), used))
void (*const vectors[64])(void) = {(void (*)(void))0x20001000, start};
static volatile int value = 7;
int main(void) { for (;;) value++; }
"""
SCRIPT = """SECTIONS {{ . = {flash}; .text : {{ KEEP(*(.first)) *(.text*) *(.rodata*) }}
  .data {ram} : AT({flash} + 0x200) {{ *(.data*) *(.sdata*) }} }}"""


def built(folder: Path, device: str, *command: str) -> Path:
    """A small firmware with a variable that has a value; on AVR it has an EEPROM, too."""
    source, elf = folder / "firmware.c", folder / "firmware.elf"
    more: list[str | Path] = []
    source.write_text(AVR if device == "uno" else OTHERS)
    if device != "uno":
        memory = DEVICE(device).memory
        script = SCRIPT.format(flash=memory["flash"].address, ram=memory["ram"].address)
        (folder / "firmware.ld").write_text(script)
        more = ["-nostdlib", "-ffreestanding", "-e", "start", "-T", folder / "firmware.ld"]
    subprocess.run([*command, "-Os", *more, source, "-o", elf], check=True)
    return elf


TOOLS = {
    "uno": ("avr-objcopy", "avr-gcc", "-mmcu=atmega328p"),
    "pico": ("arm-none-eabi-objcopy", "arm-none-eabi-gcc", "-mcpu=cortex-m0plus", "-mthumb"),
    "hifive1": ("riscv64-unknown-elf-objcopy", "riscv64-unknown-elf-gcc", "-march=rv32imac", "-mabi=ilp32"),
}


def in_flash(image: Image, device: str) -> list[Segment]:
    flash = DEVICE(device).memory["flash"]
    return [s for s in image.segments if flash.address <= s.address < flash.address + flash.bytes]


@pytest.mark.parametrize(
    "device",
    [
        pytest.param("uno", marks=needs_tool_set("avr")),
        pytest.param("pico", marks=needs_tool_set("pico")),
        pytest.param("hifive1", marks=needs_tool_set("riscv")),
    ],
)
def test_objcopy_s_hex_and_bin_are_the_elf_s(tmp_path: Path, device: str) -> None:
    objcopy, *compiler = TOOLS[device]
    elf = built(tmp_path, device, *compiler)
    whole = read_image(elf, DEVICE(device))
    parts = in_flash(whole, device)
    for form, name, more in (("ihex", "firmware.hex", []), ("binary", "firmware.bin", ["-R", ".eeprom"])):
        subprocess.run([objcopy, "-O", form, *more, elf, tmp_path / name], check=True)
        image = read_image(tmp_path / name, DEVICE(device))
        start, data = flat(image, parts[0].address, parts[0].address + 0x10000)
        assert start == parts[0].address and len(data) == parts[-1].address + len(parts[-1].data) - start
        for part in parts:
            assert data[part.address - start :][: len(part.data)] == part.data
        if form == "ihex":  # includes the EEPROM of an AVR, which is not in the flash
            assert image.segments[-1].address == whole.segments[-1].address
            assert image.flash_bytes == whole.flash_bytes


def test_picotool_s_files_for_both_chips(tmp_path: Path) -> None:
    """For the RP2350 the first block is a placeholder at the end of the flash, as the SDK asks for."""
    for device, name in (("pico", "picotool-pico.uf2"), ("pico2", "picotool-pico2.uf2")):
        image = read_image(READERS / name, DEVICE(device))
        ((address, data),) = [(s.address, s.data) for s in image.segments]
        assert (address, len(data), image.flash_bytes) == (0x10000000, 768, 768)
        assert data[:4] == bytes.fromhex("00100020") and data[0x200:0x204] == bytes([7, 0, 0, 0])
    assert len((READERS / "picotool-pico2.uf2").read_bytes()) == 4 * 512
    for device, other in (("pico", "picotool-pico2.uf2"), ("pico2", "picotool-pico.uf2")):
        with pytest.raises(InputError, match="built for another chip"):
            read_image(READERS / other, DEVICE(device))
    both = tmp_path / "both.uf2"
    both.write_bytes(b"".join((READERS / f"picotool-{chip}.uf2").read_bytes() for chip in ("pico", "pico2")))
    for device in ("pico", "pico2"):
        assert read_image(both, DEVICE(device)).flash_bytes == 768
    cut = tmp_path / "cut.uf2"
    cut.write_bytes((READERS / "picotool-pico2.uf2").read_bytes()[:-512])
    with pytest.raises(InputError, match="truncated: 2 of 3 blocks"):
        read_image(cut, DEVICE("pico2"))
