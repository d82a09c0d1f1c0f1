"""Firmware files that somebody else made: ELF, Intel hex, UF2, bin. Read, checked against a device, laid out.

Every refusal is one line: what is wrong, where, and what to do. Independent of simulators.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from motecrypt.base.elf import ELFFile, code_ranges, elf_file
from motecrypt.base.errors import InputError
from motecrypt.base.model import Device
from motecrypt.base.paths import read_regular

AVR, ARM, RISCV = 83, 40, 243
_MACHINES = {
    2: "SPARC",
    3: "x86",
    8: "MIPS",
    20: "PowerPC",
    62: "x86-64",
    94: "Xtensa",
    105: "MSP430",
    183: "AArch64",
}
_MACHINES |= {AVR: "AVR", ARM: "ARM", RISCV: "RISC-V"}
_AVR_ARCH_MASK = 0x7F
_AVR_EEPROM, _AVR_AREA_BYTES = 0x810000, 0x10000
_UF2 = struct.Struct("<IIIIIIII476sI")
_UF2_MAGIC = (0x0A324655, 0x9E5D5157, 0x0AB16F30)
_UF2_NOT_FLASH, _UF2_FAMILY = 0x1, 0x2000
RP2040_FAMILY, RP2350_FAMILY = 0xE48BFF56, 0xE48BFF59
_ABSOLUTE_FAMILY = 0xE48BFF57
#: How the images of esptool begin. Their parts are at other addresses than in the file.
_ESP_IMAGE = 0xE9
_FAMILIES = {  # github.com/microsoft/uf2, utils/uf2families.json
    "RP2040": (RP2040_FAMILY,),
    "RP2350": (RP2350_FAMILY, 0xE48BFF5B, _ABSOLUTE_FAMILY),  # Arm, secure or not; absolute addresses
    "STM32F407VG": (0x57755A57, 0x6D0922FA, 0x8FB060FE),  # of the series, of the F407, of the chip
    "STM32L100RC": (0x9AF03E33,),
    "STM32F103C8": (0x5EE21072,),
    "nRF52840": (0xADA52840,),
    "SAMD21G18A": (0x68ED2B88,),
    "STM32F051R8": (0x647824B6,),
}


@dataclass(frozen=True)
class Segment:
    """Bytes and the address where they are before the firmware starts. AVR: EEPROM from 0x810000 on."""

    address: int
    data: bytes


@dataclass(frozen=True)
class Image:
    """A firmware as it goes into a chip.

    Parameters
    ----------
    path
        Where it came from.
    segments
        In order of their addresses.
    entry
        Where it starts; None if the file does not state it.
    flash_bytes, ram_bytes
        Bytes taken; None for RAM if the file does not state it (hex, UF2).
    data_end
        Address after the last variable, from the linker; 0 if the file does not state it.
    elf
        The file itself, where it is an ELF: for symbols and lines.
    code
        Where code runs, as the file's sections say: addresses from the first to before the second.
    """

    path: Path
    segments: tuple[Segment, ...]
    entry: int | None
    flash_bytes: int
    ram_bytes: int | None
    data_end: int
    elf: Path | None
    code: tuple[tuple[int, int], ...] = ()


def read_image(path: Path, device: Device) -> Image:
    """Read a firmware file for a device.

    Raises
    ------
    InputError
        When it cannot be read, is damaged, is for another chip, or is too large.
    """
    content = read_regular(path)
    if content.startswith(b"\x7fELF"):
        image = _read_elf(path, content, device)
    elif content[:4] == _UF2_MAGIC[0].to_bytes(4, "little"):
        image = _read_uf2(path, content, device)
    elif content[:1] == b":":
        image = _read_hex(path, content, device)
    elif not content:
        raise InputError(f"{path}: empty")
    elif path.suffix == ".bin" and not (_machine_of(device) == RISCV and content[0] == _ESP_IMAGE):
        image = _plain(path, (Segment(device.memory["flash"].address, content),), device)
    else:
        raise InputError(
            f"{path}: not firmware: neither ELF nor Intel hex nor UF2, nor the flash as .bin; give the ELF"
        )
    _check_size(image, device)
    return image


# --- ELF ---------------------------------------------------------------------------------------------


def _read_elf(path: Path, content: bytes, device: Device) -> Image:
    with elf_file(path, content) as elf:
        header: Any = elf.header
        _check_chip(path, elf, device)
        if header["e_type"] != "ET_EXEC":
            raise InputError(
                f"{path}: an ELF that is not linked ({header['e_type']}); give the linked firmware"
            )
        segments = []
        for part in elf.iter_segments("PT_LOAD"):
            if part["p_offset"] + part["p_filesz"] > len(content):
                raise InputError(f"{path}: truncated: it ends inside a segment; copy or build it again")
            if part["p_filesz"]:
                segments.append(Segment(part["p_paddr"], part.data()))
        ram, data_end = _ram_of(elf, device)
        code = code_ranges(elf)
    if not segments:
        raise InputError(f"{path}: an ELF without segments to load")
    ordered = tuple(sorted(segments, key=lambda s: s.address))
    flash = _flash_bytes(ordered, device)
    return Image(path, ordered, header["e_entry"], flash, ram, data_end, path, code)


def _flash_bytes(segments: Sequence[Segment], device: Device) -> int:
    """All but an AVR's EEPROM, fuses and the like."""
    return sum(len(s.data) for s in segments if s.address < _AVR_EEPROM or _machine_of(device) != AVR)


def _plain(path: Path, segments: tuple[Segment, ...], device: Device) -> Image:
    """An image of a file that states no more than bytes and addresses."""
    return Image(path, segments, None, _flash_bytes(segments, device), None, 0, None)


def _machine_of(device: Device) -> int:
    return AVR if device.core.startswith("avr") else RISCV if device.runner == "riscv" else ARM


def _check_chip(path: Path, elf: ELFFile, device: Device) -> None:
    header: Any = elf.header
    number = _machine_number(elf)
    if number != _machine_of(device):
        name = _MACHINES.get(number, f"machine {number}")
        raise InputError(
            f"{path}: built for {name}, and {device.name} is {device.chip}; choose another --device"
        )
    if number == AVR:
        arch = header["e_flags"] & _AVR_ARCH_MASK
        wanted = int(device.core.removeprefix("avr"))
        chip = _avr_chip(elf)
        if arch != wanted or (chip and chip != device.chip.lower()):
            told, asked = chip or f"avr{arch}", device.chip.lower()
            raise InputError(
                f"{path}: built for {told}, and {device.name} is {device.chip}; compile with -mmcu={asked}"
            )
    elif number == RISCV:
        _check_riscv(path, elf, device)
    else:
        core = _arm_architecture(elf)
        if core is not None and core not in _ARM_RUNS.get(device.core, _CORTEX_M0):
            raise InputError(
                f"{path}: built for another ARM core ({_ARM_NAMES.get(core, f'architecture {core}')}), "
                f"and {device.name} is a {device.core}; compile with -mcpu={device.core} -mthumb"
            )


_RISCV_FLOAT, _RISCV_E, _RISCV_FEWER = 0x6, 0x8, {"qingke-v2a"}


def _check_riscv(path: Path, elf: ELFFile, device: Device) -> None:
    """By the header: the word, floating-point registers, and how many others (RISC-V ELF psABI, 8.1). What an
    instruction set lacks shows when the instruction runs."""
    if elf.elfclass != 32:
        raise InputError(
            f"{path}: built for RISC-V of 64 bits, and {device.name} has 32; compile with -march=rv32..."
        )
    flags = int(elf.header["e_flags"])
    fewer = device.core in _RISCV_FEWER
    if flags & _RISCV_FLOAT or bool(flags & _RISCV_E) != fewer:
        takes = "ilp32e" if fewer else "ilp32"
        raise InputError(
            f"{path}: built for other registers than {device.chip}'s; take -mabi={takes} and its -march"
        )


def _machine_number(elf: ELFFile) -> int:
    elf.stream.seek(18)
    return int.from_bytes(elf.stream.read(2), "little" if elf.little_endian else "big")


def _avr_chip(elf: ELFFile) -> str:
    """The chip's name from .note.gnu.avr.deviceinfo, which avr-gcc's start-up files carry; or ""."""
    section = elf.get_section_by_name(".note.gnu.avr.deviceinfo")
    if section is None:
        return ""
    for word in section.data().split(b"\0"):
        if word.startswith((b"atmega", b"attiny", b"at90", b"atxmega")):
            return str(word.decode("ascii", "replace"))
    return ""


_CORTEX_M0 = (11, 12, 1, 2, 3, 4)  # v6-M, v6S-M; v4 to v5TE Thumb code that happens to be tagged so
_ARM_RUNS = {
    "cortex-m0": _CORTEX_M0,
    "cortex-m0plus": _CORTEX_M0,
    "cortex-m3": (*_CORTEX_M0, 10),
    "cortex-m4": (*_CORTEX_M0, 10, 13),
    "cortex-m33": (*_CORTEX_M0, 10, 13, 16, 17),
}
_ARM_NAMES = {10: "v7", 13: "v7E-M, as Cortex-M4", 14: "v8-A", 16: "v8-M baseline", 17: "v8-M mainline"}


def _arm_architecture(elf: ELFFile) -> int | None:
    """Tag_CPU_arch of .ARM.attributes (ARM IHI 0045); None where there is none."""
    section: Any = elf.get_section_by_name(".ARM.attributes")
    if section is None:
        return None
    for part in section.iter_subsections("aeabi"):
        for scope in part.iter_subsubsections("TAG_FILE"):
            for attribute in scope.iter_attributes("TAG_CPU_ARCH"):
                return int(attribute.value)
    return None


def _ram_of(elf: ELFFile, device: Device) -> tuple[int | None, int]:
    """Bytes of RAM that variables take, and the address after them."""
    ram = device.memory["ram"]
    spans = [
        (s["sh_addr"], s["sh_size"])
        for s in elf.iter_sections()
        if s["sh_flags"] & 0x2 and s["sh_size"] and ram.holds(s["sh_addr"])
    ]
    if not spans:
        parts = [p for p in elf.iter_segments("PT_LOAD") if ram.holds(p["p_vaddr"])]
        spans = [(p["p_vaddr"], p["p_memsz"]) for p in parts]
    return sum(size for _, size in spans), max((a + n for a, n in spans), default=0)


# --- Intel hex and UF2 ---------------------------------------------------------------------------------


def _read_hex(path: Path, content: bytes, device: Device) -> Image:
    memory: dict[int, bytes] = {}
    base, ended = 0, False
    for number, line in enumerate(content.decode("ascii", "replace").splitlines(), start=1):
        if not line.strip() or ended:
            continue
        try:
            record = bytes.fromhex(line.strip()[1:])
        except ValueError:
            record = b""
        if line[0] != ":" or len(record) < 5 or len(record) != record[0] + 5 or sum(record) & 0xFF:
            raise InputError(f"{path}: line {number} is damaged; copy or build the hex file again")
        data, kind = record[4:-1], record[3]
        if kind == 0:
            memory[base + int.from_bytes(record[1:3], "big")] = data
        elif kind == 1:
            ended = True
        elif kind in (2, 4):
            base = int.from_bytes(data, "big") << (4 if kind == 2 else 16)
    if not ended or not memory:
        raise InputError(f"{path}: truncated: it has no end record; copy or build the hex file again")
    return _plain(path, _joined(memory), device)


def _joined(memory: dict[int, bytes]) -> tuple[Segment, ...]:
    joined: list[tuple[int, bytearray]] = []
    for address, data in sorted(memory.items()):
        if joined and joined[-1][0] + len(joined[-1][1]) == address:
            joined[-1][1].extend(data)
        else:
            joined.append((address, bytearray(data)))
    return tuple(Segment(address, bytes(data)) for address, data in joined)


def _read_uf2(path: Path, content: bytes, device: Device) -> Image:
    """The blocks of the device's families; a file may have other families' blocks, counted on their own."""
    memory: dict[int, bytes] = {}
    families = _FAMILIES.get(device.chip, ())
    own, announced, others = 0, 0, []
    if len(content) % 512:
        raise InputError(f"{path}: truncated: a UF2 file has blocks of 512 bytes; copy or build it again")
    for number, block in enumerate(_UF2.iter_unpack(content), start=1):
        first, second, flags, address, size, _, total, family, data, last = block
        if (first, second, last) != _UF2_MAGIC or size > 476:
            raise InputError(f"{path}: block {number} is damaged; copy or build the UF2 file again")
        if _is_placeholder(block):
            continue
        if flags & _UF2_FAMILY and family not in families:
            others.append(family)
            continue
        own, announced = own + 1, total
        if not flags & _UF2_NOT_FLASH:
            memory[address] = data[:size]
    if not own and others:
        told = f"{device.chip}'s is {families[0]:#x}" if families else f"{device.chip} has none"
        raise InputError(f"{path}: built for another chip (UF2 family {others[0]:#x}); {told}")
    if announced not in (own, own + len(others)):
        raise InputError(f"{path}: truncated: {own} of {announced} blocks; copy or build it again")
    return _plain(path, _joined(memory), device)


def _is_placeholder(block: tuple[Any, ...]) -> bool:
    """The block that picotool puts first for the RP2350 (erratum E10): at the flash's end, not to be kept."""
    _, _, flags, _, size, number, total, family, data, _ = block
    known = flags & _UF2_FAMILY and family == _ABSOLUTE_FAMILY and (number, total) == (0, 2)
    return bool(known) and data[:size] == b"\xef" * size


def uf2(segments: Sequence[Segment], family: int = RP2040_FAMILY) -> bytes:
    """A UF2 file (github.com/microsoft/uf2): pages of 256 bytes, the rest of a page filled with zeros."""
    pages: dict[int, bytearray] = {}
    for segment in segments:
        for offset, byte in enumerate(segment.data):
            address = segment.address + offset
            pages.setdefault(address & ~0xFF, bytearray(256))[address & 0xFF] = byte
    blocks = []
    for number, (address, page) in enumerate(sorted(pages.items())):
        blocks.append(
            _UF2.pack(
                *(_UF2_MAGIC[0], _UF2_MAGIC[1], _UF2_FAMILY, address, 256, number, len(pages), family),
                *(bytes(page), _UF2_MAGIC[2]),
            )
        )
    return b"".join(blocks)


def intel_hex(segments: Sequence[Segment]) -> str:
    """An Intel hex file of what is in flash below 64 KB."""
    lines = []
    for segment in segments:
        for offset in range(0, len(segment.data), 16):
            data = segment.data[offset : offset + 16]
            record = bytes([len(data)]) + (segment.address + offset).to_bytes(2, "big") + b"\0" + data
            lines.append(f":{record.hex().upper()}{-sum(record) & 0xFF:02X}")
    return "\n".join([*lines, ":00000001FF", ""])


# --- what a device can hold ----------------------------------------------------------------------------


def _check_size(image: Image, device: Device) -> None:
    flash, ram = device.memory["flash"], device.memory["ram"]
    if image.ram_bytes is not None and image.ram_bytes > ram.bytes:
        raise InputError(
            f"{image.path}: too large: its variables take {image.ram_bytes:,} of {ram.bytes:,} bytes of RAM"
        )
    for segment in image.segments:
        size = len(segment.data)
        end = segment.address + size
        if _machine_of(device) == AVR:
            above = segment.address - _AVR_EEPROM  # and above it, in areas of their own, fuses and the like
            if 0 <= above < _AVR_AREA_BYTES:
                fits = above + size <= device.memory["eeprom"].bytes
            else:
                fits = end <= flash.bytes or above >= 0
        else:
            fits = any(m.address <= segment.address and end <= m.address + m.bytes for m in (flash, ram))
        if not fits and flash.address <= segment.address < flash.address + flash.span:
            raise InputError(
                f"{image.path}: too large: needs {end - flash.address:,} of {flash.bytes:,} bytes of flash"
            )
        if not fits:
            raise InputError(
                f"{image.path}: has {size:,} bytes at {segment.address:#x}, where {device.name} has no memory"
            )


def flat(image: Image, first: int, last: int) -> tuple[int, bytes]:
    """The address and bytes of all segments from `first` up to `last`, gaps filled with 0xff."""
    parts = [s for s in image.segments if first <= s.address < last and s.data]
    if not parts:
        return first, b""
    start = min(s.address for s in parts)
    memory = bytearray(b"\xff" * (max(s.address + len(s.data) for s in parts) - start))
    for segment in parts:
        memory[segment.address - start : segment.address - start + len(segment.data)] = segment.data
    return start, bytes(memory)


def elf_of(segments: Sequence[Segment], machine: int, entry: int) -> bytes:
    """A minimal 32-bit ELF executable of these segments, for drivers that load no other file."""
    header_bytes, part_bytes = 52, 32
    offset = header_bytes + part_bytes * len(segments)
    parts, data = b"", b""
    for s in segments:
        size = len(s.data)
        parts += struct.pack("<8I", 1, offset + len(data), s.address, s.address, size, size, 5, 4)
        data += s.data
    ident = b"\x7fELF\x01\x01\x01" + bytes(9)
    header = ident + struct.pack(
        "<HHIIIIIHHHHHH",
        2,
        machine,
        1,
        entry,
        header_bytes,
        0,
        0,
        header_bytes,
        part_bytes,
        len(segments),
        40,
        0,
        0,
    )
    return header + parts + data


__all__ = ["ARM", "AVR", "RISCV", "Image", "Segment", "elf_of", "flat", "intel_hex", "read_image", "uf2"]
