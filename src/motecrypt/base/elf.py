"""ELF files that somebody else made, read by pyelftools. Independent of devices.

What we have just linked is read faster in `build.toolchain.sizes`, which knows sections and symbols only.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from elftools.dwarf.ranges import BaseAddressEntry
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import Symbol, SymbolTableSection

from motecrypt.base.errors import InputError
from motecrypt.base.paths import open_regular

__all__ = ["BaseAddressEntry", "ELFFile", "code_bytes", "code_ranges", "elf_file", "symbols_of"]

_EXECUTABLE = 0x4


@contextmanager
def elf_file(path: Path, content: bytes | None = None) -> Iterator[ELFFile]:
    """An ELF, open for reading; `content` if it is read already.

    Raises
    ------
    InputError
        The file cannot be read or is not an ELF, or the code within finds it damaged.
    """
    with open_regular(path) if content is None else io.BytesIO(content) as file:
        try:
            yield ELFFile(file)
        except InputError:
            raise
        except Exception as error:  # pyelftools says it in many ways
            what = str(error) or type(error).__name__
            raise InputError(f"{path}: damaged ELF file ({what}); copy or build it again") from None


def code_ranges(elf: ELFFile) -> tuple[tuple[int, int], ...]:
    """Where code is, section by section: the first address, and the one after the last."""
    sections = (s for s in elf.iter_sections() if s["sh_flags"] & _EXECUTABLE)
    return tuple((s["sh_addr"], s["sh_addr"] + s["sh_size"]) for s in sections)


def code_bytes(elf: ELFFile) -> tuple[tuple[int, bytes], ...]:
    """The code in the file, section by section: its address and its bytes."""
    sections = (s for s in elf.iter_sections() if s["sh_flags"] & _EXECUTABLE)
    return tuple((s["sh_addr"], s.data()) for s in sections if s["sh_type"] != "SHT_NOBITS")


def symbols_of(elf: ELFFile) -> Iterator[Symbol]:
    """All symbols; none of a stripped file."""
    table = elf.get_section_by_name(".symtab")
    return table.iter_symbols() if isinstance(table, SymbolTableSection) else iter(())
