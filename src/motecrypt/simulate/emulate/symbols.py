"""What an ELF records about its code: functions, source lines, and what was inlined where."""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from motecrypt.base import process
from motecrypt.base.elf import BaseAddressEntry, ELFFile, code_ranges, elf_file, symbols_of

#: Programs that print the names of C++ in full, by runner.
DEMANGLERS = {
    "simavr": "avr-c++filt",
    "arm": "arm-none-eabi-c++filt",
    "riscv": "riscv64-unknown-elf-c++filt",
}


@dataclass(frozen=True)
class Function:
    """A function's name and the addresses [start, end)."""

    name: str
    start: int
    end: int


@dataclass(frozen=True)
class Inlined:
    """A function that the compiler has put into another one: where it is there."""

    name: str
    into: str
    ranges: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Symbols:
    """Functions in order of their addresses, labels in code, lines, inlined functions."""

    functions: tuple[Function, ...]
    labels: dict[int, str]
    lines: tuple[tuple[int, str, int], ...]
    inlined: tuple[Inlined, ...]

    def line_at(self, address: int) -> tuple[str, int] | None:
        """File and line of the instruction at an address; None where that is not known."""
        at = bisect.bisect_right(self.lines, address, key=lambda line: line[0]) - 1
        return self.lines[at][1:] if at >= 0 and self.lines[at][2] else None

    def function_at(self, address: int) -> Function | None:
        """The function that an address is in."""
        at = bisect.bisect_right(self.functions, address, key=lambda f: f.start) - 1
        return self.functions[at] if at >= 0 and address < self.functions[at].end else None

    def name_at(self, address: int) -> str:
        """The name of what begins at an address, or the address."""
        return self.labels.get(address, f"{address:#x}")


def read_symbols(elf: Path, demangler: str) -> Symbols:
    """Read what there is; an ELF that was stripped gives empty lists.

    Parameters
    ----------
    demangler
        A program such as avr-c++filt; without it names stay as they are in the file.
    """
    with elf_file(elf) as opened:
        raw, labels = _functions(opened)
        try:
            lines, inlined = _debug(opened)
        except Exception:  # of a damaged file, or of a kind that is not understood
            lines, inlined = [], []
    names = _demangled({*raw.values(), *labels.values(), *_names(inlined)}, demangler)
    functions = tuple(Function(names[name], start, end) for (start, end), name in sorted(raw.items()))
    plain = tuple(Inlined(names[i.name], names[i.into], i.ranges) for i in inlined)
    return Symbols(functions, {a: names[n] for a, n in labels.items()}, tuple(lines), plain)


def _names(inlined: Sequence[Inlined]) -> Iterator[str]:
    for one in inlined:
        yield from (one.name, one.into)


def _functions(elf: ELFFile) -> tuple[dict[tuple[int, int], str], dict[int, str]]:
    thumb = elf["e_machine"] == "EM_ARM"
    code = code_ranges(elf)
    sized: dict[int, tuple[int, str]] = {}
    labels: dict[int, str] = {}
    for symbol in symbols_of(elf):
        kind, address, name = symbol["st_info"]["type"], symbol["st_value"], symbol.name
        if not name or name.startswith("$") or not any(a <= address < b for a, b in code):
            continue
        if kind == "STT_FUNC" and ".cold" not in name:  # a cold part belongs to the function that jumps to it
            start = address & ~1 if thumb else address
            size, known = sized.get(start, (symbol["st_size"], name))
            sized[start] = (max(size, symbol["st_size"]), min(known, name, key=_for_people))
        elif kind in ("STT_NOTYPE", "STT_FUNC"):
            labels[address & ~1 if thumb else address] = name
    starts = sorted(sized)
    raw: dict[tuple[int, int], str] = {}
    for number, start in enumerate(starts):
        size, name = sized[start]
        following = starts[number + 1] if number + 1 < len(starts) else _end_of(code, start)
        raw[(start, min(start + size, following) if size else min(following, _end_of(code, start)))] = name
    return raw, {**labels, **{start: name for start, (_, name) in sized.items()}}


def _end_of(code: Sequence[tuple[int, int]], address: int) -> int:
    return next(b for a, b in code if a <= address < b)


def _for_people(name: str) -> tuple[bool, int, str]:
    """By this order the first of several names for one address is the one that a person would use."""
    return name.startswith("__bad"), name.count("_"), name


def _demangled(names: set[str], demangler: str) -> dict[str, str]:
    mangled = sorted(n for n in names if n.startswith("_Z"))
    plain = {n: n for n in names}
    for first in range(0, len(mangled), 500):
        some = mangled[first : first + 500]
        outcome = process.run([demangler, *some], work_s=process.ASKED_S)
        said = outcome.output.splitlines()
        if outcome.ok and len(said) == len(some):
            plain.update(zip(some, said, strict=True))
    return plain


# --- DWARF ---------------------------------------------------------------------------------------------


def _debug(elf: ELFFile) -> tuple[list[tuple[int, str, int]], list[Inlined]]:
    if not elf.has_dwarf_info():
        return [], []
    dwarf: Any = elf.get_dwarf_info()
    lines: dict[int, tuple[str, int]] = {}
    inlined: list[Inlined] = []
    for unit in dwarf.iter_CUs():
        program = dwarf.line_program_for_CU(unit)
        if program is not None:
            _add_lines(program, unit.get_top_DIE(), lines)
        for die in unit.get_top_DIE().iter_children():
            _add_inlined(dwarf, unit, die, "", inlined)
    return [(a, *lines[a]) for a in sorted(lines)], inlined


def _add_lines(program: Any, top: Any, lines: dict[int, tuple[str, int]]) -> None:
    files = _file_names(program, top)
    for entry in program.get_entries():
        state = entry.state
        if state is None:
            continue
        if state.end_sequence:
            lines.setdefault(state.address, ("", 0))
        else:
            lines[state.address] = (files.get(state.file, "?"), state.line)


def _file_names(program: Any, top: Any) -> dict[int, str]:
    new = program.header["version"] >= 5
    folders = [str(_text(d)) for d in program.header["include_directory"]]
    names = {}
    for number, file in enumerate(program.header["file_entry"], start=0 if new else 1):
        folder = file.dir_index if new else file.dir_index - 1
        name = _text(file.name)
        names[number] = name if name.startswith("/") or folder < 0 else f"{folders[folder]}/{name}"
    return names


def _text(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def _add_inlined(dwarf: Any, unit: Any, die: Any, inside: str, found: list[Inlined]) -> None:
    if die.tag == "DW_TAG_subprogram":
        inside = _name_of(die) or inside
    elif die.tag == "DW_TAG_inlined_subroutine":
        name, ranges = _name_of(die), _ranges_of(dwarf, unit, die)
        if name and ranges:
            found.append(Inlined(name, inside, ranges))
    for child in die.iter_children():
        if child.tag in (
            "DW_TAG_subprogram",
            "DW_TAG_inlined_subroutine",
            "DW_TAG_lexical_block",
            "DW_TAG_namespace",
            "DW_TAG_class_type",
            "DW_TAG_structure_type",
        ):
            _add_inlined(dwarf, unit, child, inside, found)


def _name_of(die: Any) -> str:
    for _ in range(4):
        for attribute in ("DW_AT_linkage_name", "DW_AT_MIPS_linkage_name", "DW_AT_name"):
            if attribute in die.attributes:
                return _text(die.attributes[attribute].value)
        link = next(
            (a for a in ("DW_AT_abstract_origin", "DW_AT_specification") if a in die.attributes), None
        )
        if link is None:
            return ""
        die = die.get_DIE_from_attribute(link)
    return ""


def _ranges_of(dwarf: Any, unit: Any, die: Any) -> tuple[tuple[int, int], ...]:
    if "DW_AT_low_pc" in die.attributes and "DW_AT_high_pc" in die.attributes:
        low, high = die.attributes["DW_AT_low_pc"].value, die.attributes["DW_AT_high_pc"]
        return ((low, high.value if high.form == "DW_FORM_addr" else low + high.value),)
    if "DW_AT_ranges" not in die.attributes:
        return ()
    low = unit.get_top_DIE().attributes.get("DW_AT_low_pc")
    base = low.value if low is not None else 0
    ranges = []
    entries = dwarf.range_lists().get_range_list_at_offset(die.attributes["DW_AT_ranges"].value, cu=unit)
    for entry in entries:
        if isinstance(entry, BaseAddressEntry):
            base = entry.base_address
        elif entry.end_offset > entry.begin_offset:
            offset = 0 if getattr(entry, "is_absolute", False) else base
            ranges.append((entry.begin_offset + offset, entry.end_offset + offset))
    return tuple(ranges)
