"""What a linked firmware takes of each memory, in all and by object. Pure over an ELF and its map."""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from motecrypt.model import Memory

_ALLOC = 0x2

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


def elf_sizes(elf: Path, memory: Mapping[str, Memory]) -> Sizes:
    """Sum the allocated sections of an ELF by the memory that their addresses mean."""
    from elftools.elf.elffile import ELFFile  # takes longer than most commands that never build

    flash = ram = eeprom = 0
    with elf.open("rb") as file:
        for section in ELFFile(file).iter_sections():
            if not section["sh_flags"] & _ALLOC:
                continue
            size, address = section["sh_size"], section["sh_addr"]
            loaded = section["sh_type"] != "SHT_NOBITS"
            if "eeprom" in memory and memory["eeprom"].holds(address):
                eeprom += size
            elif "ram" in memory and memory["ram"].holds(address):
                ram += size
                flash += size if loaded else 0
            else:
                flash += size
    return Sizes(flash, ram, eeprom)


def symbols(elf: Path) -> dict[str, int]:
    """Addresses of the ELF's named symbols."""
    from elftools.elf.elffile import ELFFile
    from elftools.elf.sections import SymbolTableSection

    with elf.open("rb") as file:
        read = ELFFile(file)
        table = read.get_section_by_name(".symtab")
        if not isinstance(table, SymbolTableSection):
            return {}
        entries, text = table.data(), table.stringtable.data()
        narrow, order = read.elfclass == 32, "<" if read.little_endian else ">"
    # All in one go: pyelftools takes a quarter of a millisecond for each.
    rows = struct.iter_unpack(f"{order}IIIBBH" if narrow else f"{order}IBBHQQ", entries)
    found = ((row[0], row[1] if narrow else row[4]) for row in rows)
    names = ((text[at : text.index(b"\0", at)].decode(errors="replace"), value) for at, value in found)
    return {name: value for name, value in names if name}


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
