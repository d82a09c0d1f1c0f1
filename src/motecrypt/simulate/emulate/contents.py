"""What a firmware is made of: its functions and variables, with the bytes that each takes of the memories."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from motecrypt.base.elf import ELFFile, elf_file, symbols_of
from motecrypt.base.model import Memory
from motecrypt.simulate.emulate.symbols import Symbols


@dataclass(frozen=True)
class ContentItem:
    """A function or a variable: its address, and the bytes that it takes. Initialised data takes both."""

    name: str
    address: int
    flash: int
    ram: int
    is_code: bool


def contents_of(elf: Path, symbols: Symbols, memory: Mapping[str, Memory]) -> list[ContentItem]:
    """The functions of `symbols`, and the named variables and tables of the file.

    Raises
    ------
    InputError
        The file is not an ELF, or is damaged.
    """
    ram = memory.get("ram")
    items = [
        ContentItem(
            f.name, f.start, f.end - f.start, f.end - f.start if ram and ram.holds(f.start) else 0, True
        )
        for f in symbols.functions
    ]
    with elf_file(elf) as opened:
        return items + _variables(opened, ram)


def _variables(elf: ELFFile, ram: Memory | None) -> list[ContentItem]:
    kinds = {n: s["sh_type"] for n, s in enumerate(elf.iter_sections())}
    found: dict[tuple[str, int], ContentItem] = {}
    for symbol in symbols_of(elf):
        if symbol["st_info"]["type"] != "STT_OBJECT" or not symbol["st_size"] or not symbol.name:
            continue
        address, size, kind = symbol["st_value"], symbol["st_size"], kinds.get(symbol["st_shndx"])
        in_ram = ram is not None and ram.holds(address)
        in_flash = not in_ram or kind != "SHT_NOBITS"
        name = _without_number(symbol.name)
        found[name, address] = ContentItem(
            name, address, size if in_flash else 0, size if in_ram else 0, False
        )
    return list(found.values())


def _without_number(name: str) -> str:
    """A static variable's name without the number that the compiler adds, which changes with other code."""
    plain, dot, number = name.rpartition(".")
    return plain if dot and number.isdigit() else name
