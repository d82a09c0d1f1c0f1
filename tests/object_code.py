"""Object files compared: what a linker takes of them, whatever their names begin with."""

from __future__ import annotations

from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection


def code_of(path: Path, prefix: str) -> list[tuple[str, bytes, list[tuple[str, int, int, int]]]]:
    """All sections that a linker takes, each with its relocations, without the prefix in any name."""
    with path.open("rb") as file:
        elf = ELFFile(file)
        symbols = elf.get_section_by_name(".symtab")
        found = []
        for number, section in enumerate(elf.iter_sections()):
            if not section["sh_flags"] & 2:
                continue
            changes: list[tuple[str, int, int, int]] = []
            for other in elf.iter_sections():
                if isinstance(other, RelocationSection) and other["sh_info"] == number:
                    for one in other.iter_relocations():
                        symbol = symbols.get_symbol(one["r_info_sym"])
                        name = symbol.name or elf.get_section(symbol["st_shndx"]).name
                        entry = one.entry
                        place = (entry["r_offset"], entry["r_info_type"], entry.get("r_addend", 0))
                        changes.append((name.replace(prefix, ""), *place))
            found.append((section.name.replace(prefix, ""), section.data(), changes))
    return sorted(found)
