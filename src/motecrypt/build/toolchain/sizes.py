"""What a linked firmware takes of each memory, in all and by object. Pure over an ELF and its map."""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from motecrypt.base.model import Memory

_ALLOC = 0x2  # of a section's flags
_SYMBOLS, _NOBITS = 2, 8  # kinds of sections

_LOADED = (
    ".text",
    ".progmem",
    ".rodata",
    ".data",
    ".bss",
    ".noinit",
    ".eeprom",
    ".jumptables",
    ".vectors",
    "COMMON",
)

_INPUT_SECTION = re.compile(r"^ (\.[^\s]+|COMMON)\s+0x([0-9a-f]+)\s+0x([0-9a-f]+)\s+(\S+)$")


@dataclass(frozen=True)
class Sizes:
    """Bytes in each memory. Initialised data counts in flash (its image) and in RAM."""

    flash: int
    ram: int
    eeprom: int


@dataclass(frozen=True)
class _Section:
    kind: int
    flags: int
    address: int
    offset: int
    bytes: int
    link: int


def _sections(content: bytes) -> tuple[list[_Section], bool, str]:
    """An ELF's sections, whether it is of 32 bits, and its byte order for `struct`.

    System V ABI, "ELF Header" and "Sections". pyelftools takes milliseconds for the same.
    """
    narrow, order = content[4] == 1, "<" if content[5] == 1 else ">"
    (table,) = struct.unpack_from(f"{order}{'I' if narrow else 'Q'}", content, 32 if narrow else 40)
    entry_bytes, count = struct.unpack_from(f"{order}HH", content, 46 if narrow else 58)
    entry = struct.Struct(f"{order}{'6I' if narrow else 'IIQQQQ'}I")
    rows = (entry.unpack_from(content, table + number * entry_bytes) for number in range(count))
    sections = [
        _Section(kind=kind, flags=flags, address=address, offset=offset, bytes=size, link=link)
        for _, kind, flags, address, offset, size, link in rows
    ]
    return sections, narrow, order


def elf_sizes(elf: Path, memory: Mapping[str, Memory]) -> Sizes:
    """Sum the allocated sections of an ELF by the memory that their addresses mean."""
    flash = ram = eeprom = 0
    for section in _sections(elf.read_bytes())[0]:
        if not section.flags & _ALLOC:
            continue
        if "eeprom" in memory and memory["eeprom"].holds(section.address):
            eeprom += section.bytes
        elif "ram" in memory and memory["ram"].holds(section.address):
            ram += section.bytes
            flash += section.bytes if section.kind != _NOBITS else 0
        else:
            flash += section.bytes
    return Sizes(flash, ram, eeprom)


def symbols(elf: Path) -> dict[str, int]:
    """Addresses of the ELF's named symbols."""
    content = elf.read_bytes()
    sections, narrow, order = _sections(content)
    table = next((section for section in sections if section.kind == _SYMBOLS), None)
    if table is None:
        return {}
    names = sections[table.link]
    text = content[names.offset : names.offset + names.bytes]
    entries = content[table.offset : table.offset + table.bytes]
    rows = struct.iter_unpack(f"{order}IIIBBH" if narrow else f"{order}IBBHQQ", entries)
    found = ((row[0], row[1] if narrow else row[4]) for row in rows)
    named = ((text[at : text.index(b"\0", at)].decode(errors="replace"), value) for at, value in found)
    return {name: value for name, value in named if name}


def object_sizes(link_map: str, objects: set[str], memory: Mapping[str, Memory]) -> Sizes:
    """What certain objects brought into the firmware, from the linker's map.

    `objects` are file names; link-time optimisation moves code into objects of the linker's own,
    whose names hold ".ltrans", and these count as theirs (nothing else is optimised at link time).
    """
    flash = ram = eeprom = 0
    text = re.sub(r"\n (\.[^\s]+)\n\s+", r"\n \1 ", link_map)
    start = text.find("Linker script and memory map")
    for line in text[start:].splitlines():
        match = _INPUT_SECTION.match(line)
        if not match or not match[1].startswith(_LOADED):
            continue
        address, size = int(match[2], 16), int(match[3], 16)
        name = Path(match[4]).name
        if not size or not (name in objects or ".ltrans" in name):
            continue
        if "eeprom" in memory and memory["eeprom"].holds(address):
            eeprom += size
        elif "ram" in memory and memory["ram"].holds(address):
            ram += size
            flash += 0 if match[1].startswith((".bss", "COMMON", ".noinit")) else size
        elif address:
            flash += size
    return Sizes(flash, ram, eeprom)
